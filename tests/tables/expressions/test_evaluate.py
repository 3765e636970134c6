"""Expressions evaluated in Python agree with DuckDB, value by value: the keys of a policy must match an engine's."""

from __future__ import annotations

import datetime
import math

import duckdb
import numpy as np
import pytest

from tacit.errors import InvalidParameter
from tacit.tables.engines.duckdb.dialect import DIALECT
from tacit.tables.expressions.evaluate import evaluate_rows
from tacit.tables.expressions.tree import Call, Case, Column, Expression, Literal, Value
from tacit.tables.query.to_sql import expression_sql

DAYS = [datetime.date(2024, 1, 31), datetime.date(2023, 12, 31), datetime.date(2020, 2, 29), datetime.date(1969, 7, 20)]
MOMENTS = [
    datetime.datetime(2024, 2, 29, 23, 59, 59),
    datetime.datetime(2001, 1, 1),
    datetime.datetime(1999, 12, 31, 5, 7),
]
NUMBERS = [0.0, 1.5, -1.5, 2.25, -7.75, 100.0, 1e10]
WHOLES = [0, 1, -1, 7, -7, 42, 1000]
TEXTS = ["Oslo", "", " a ", "ångström", "A%b", "12", "-3.5", "2024-01-31", "true", "no", "🙂🙂"]
TYPES = {"d": "DATE", "t": "TIMESTAMP", "x": "DOUBLE", "i": "BIGINT", "s": "VARCHAR", "b": "BOOLEAN"}
VALUES: dict[str, list[Value]] = {
    "d": [*DAYS, None], "t": [*MOMENTS, None], "x": [*NUMBERS, None], "i": [*WHOLES, None], "s": [*TEXTS, None],
    "b": [True, False, None],
}  # fmt: skip


def call(name: str, *arguments: object) -> Call:
    return Call(name, tuple(one if isinstance(one, Expression) else Literal(one) for one in arguments))  # type: ignore[arg-type]


D, T, X, N, S, B = (Column(name) for name in "dtxisb")
CASES = [
    *(call(name, D) for name in ("year", "quarter", "month", "week", "day", "weekday")),
    *(call(name, T) for name in ("year", "week", "weekday", "hour", "minute")),
    *(call("date_trunc", unit, D) for unit in ("year", "quarter", "month", "week", "day")),
    *(call("date_trunc", unit, T) for unit in ("year", "quarter", "month", "week", "day", "hour", "minute", "second")),
    *(call("date_add", unit, n, T) for unit in ("year", "quarter", "month", "week", "hour") for n in (1, -3)),
    *(call("date_add", unit, 1, D) for unit in ("year", "month", "day")),
    *(call("date_diff", unit, T, Literal(MOMENTS[0])) for unit in ("year", "quarter", "month", "day", "hour")),
    *(call(name, S) for name in ("lower", "upper", "length", "to_text")),
    call("trim", S), call("substring", S, 2), call("substring", S, 2, 3), call("concat", S, "x", S),
    call("like", S, "%s%"), call("like", S, "A\\%b"), call("ilike", S, "os_o"), call("starts_with", S, "O"),
    call("contains", S, "a"), call("ends_with", S, "o"), call("strpos", S, "s"), call("strpos", S, ""),
    *(call(name, S) for name in ("ltrim", "rtrim")), call("right", S, 2), call("right", S, 0),
    call("replace", S, "🙂", "é"), call("split_part", S, "-", 2), call("split_part", S, "-", -1),
    call("split_part", S, "o", 9), call("regexp_extract", S, "."),
    call("regexp_matches", S, "^[A-Z]"), call("regexp_extract", S, "([0-9]+)-([0-9]+)", 2),
    *(call(name, D) for name in ("dayofyear", "isoyear", "dayname", "monthname")),
    *(call(name, T) for name in ("dayofyear", "isoyear", "dayname", "monthname", "second")),
    call("strftime", D, "%d.%m.%y"), call("strftime", T, "%A %H:%M:%S"),
    call("strptime", call("strftime", T, "%d %b %Y"), "%d %b %Y"),
    *(call(name, X) for name in ("abs", "negative")), call("sign", X), call("exp", Literal(1.5)),
    *(call(sign, X, 2.5) for sign in ("+", "-", "*", "/", "%", "=", "<>", "<", "<=", ">", ">=")),
    *(call(sign, N, 7) for sign in ("+", "-", "*", "%", "//", "=", "<", ">=")),
    call("in", N, 7, 42, 5), call("in", N, 7, None), call("is_null", S), call("nullif", N, 7), call("coalesce", X, 3.5),
    call("and", B, call("is_null", N)), call("or", B, call(">", N, 0)), call("not", B), call("and", B, None),
    call("to_integer", B), call("to_real", N), call("to_date", T), call("to_timestamp", D), call("to_text", D),
    call("to_text", B), call("to_text", T), call("to_text", N),
    call("power", X, 2), call("ln", Literal(2.0)),
    Case(((call(">", N, 5), Literal("big")), (call("<", N, 0), Literal("small"))), Literal("some")),
    Case(((call(">", X, 5), Literal(1)),), X),
]  # fmt: skip


def same(one: Value, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, int | float) and not isinstance(other, bool):
        return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-300)
    return one == other and (one is None) == (other is None)


@pytest.mark.parametrize("expression", CASES, ids=expression_sql)
def test_python_computes_what_the_engine_does(expression: Expression) -> None:
    names = sorted({node.name for node in expression.walk() if isinstance(node, Column)}) or ["i"]
    connection = duckdb.connect()
    connection.execute("CREATE TABLE v (" + ", ".join(f"{name} {TYPES[name]}" for name in names) + ")")
    length = max(len(VALUES[name]) for name in names)
    rows = [[VALUES[name][i % len(VALUES[name])] for name in names] for i in range(length)]
    connection.executemany("INSERT INTO v VALUES (" + ", ".join("?" for _ in names) + ")", rows)
    text = expression_sql(expression).replace("2.5", "2.5::DOUBLE")
    if isinstance(expression, Call) and expression.operator == "date_trunc" and names == ["d"]:
        text = f"CAST({text} AS DATE)"  # what is a date stays one
    engine = [row[0] for row in connection.execute(f"SELECT {text} FROM v").fetchall()]
    values = {Column(name): [row[place] for row in rows] for place, name in enumerate(names)}
    ours = evaluate_rows(expression, values, length)
    assert len(ours) == len(engine)
    assert all(same(one, other) for one, other in zip(ours, engine, strict=True)), list(zip(ours, engine, strict=True))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (call("/", N, 0), [None] * 8),
        (call("%", N, 0), [None] * 8),
        (call("ln", N), [None, 0.0, None, math.log(7), None, math.log(42), math.log(1000), None]),
        (call("sqrt", N), [0.0, 1.0, None, math.sqrt(7), None, math.sqrt(42), math.sqrt(1000), None]),
        (call("*", call("*", N, 1e200), 1e200), [0.0, None, None, None, None, None, None, None]),
        (call("*", call("*", N, 10**10), 10**10), [0, None, None, None, None, None, None, None]),
        (call("exp", N), [1.0, math.e, 1 / math.e, math.exp(7), math.exp(-7), math.exp(42), None, None]),
        (call("round", call("/", N, 4), 1), [0.0, 0.3, -0.2, 1.8, -1.7, 10.5, 250.0, None]),
        (call("round", call("/", N, 2)), [0, 1, 0, 4, -3, 21, 500, None]),
        (call("width_bucket", N, 0, 10, 5), [1, 1, 0, 4, 0, 6, 6, None]),
        (call("least", N, 3), [0, 1, -1, 3, -7, 3, 3, None]),
        (call("greatest", N, None), [None] * 8),
        (call("to_integer", call("/", N, 2)), [0, 0, 0, 4, -4, 21, 500, None]),
    ],
    ids=lambda one: expression_sql(one) if isinstance(one, Expression) else "",
)
def test_what_cannot_be_computed_is_null(expression: Expression, expected: list[Value]) -> None:
    found = evaluate_rows(expression, {N: VALUES["i"]}, 8)
    assert all(same(one, other) for one, other in zip(found, expected, strict=True)), found


def test_weeks_start_on_monday() -> None:
    weeks = evaluate_rows(call("date_diff", "week", T, Literal(MOMENTS[0])), {T: VALUES["t"]}, 4)
    monday = [day - datetime.timedelta(days=day.weekday()) for day in (moment.date() for moment in MOMENTS)]
    assert weeks == [(monday[0] - one).days // 7 for one in monday] + [None]


def test_texts_are_read_as_the_engine_reads_them() -> None:
    found = {
        name: evaluate_rows(call(name, S), {S: VALUES["s"]}, 12) for name in ("to_integer", "to_real", "to_boolean")
    }
    assert found["to_integer"] == [None] * 5 + [12] + [None] * 6
    assert found["to_real"] == [None] * 5 + [12.0, -3.5] + [None] * 5
    assert found["to_boolean"] == [None] * 8 + [True, False] + [None] * 2
    assert evaluate_rows(call("to_date", S), {S: VALUES["s"]}, 12)[7] == datetime.date(2024, 1, 31)


def test_what_has_no_value_is_said_by_its_name_and_kind_alone() -> None:
    """Trees that no checked question holds: an error of ours, of schema and question, without a value in it."""
    for expression, says in (
        (Column("nobody"), "expression: given 'Column'; allowed: keys, aggregates and constants"),
        (call("+", S, 1.0), r"\+: given 'text, real'; allowed: "),
    ):
        with pytest.raises(InvalidParameter, match=says) as caught:
            evaluate_rows(expression, {S: VALUES["s"]}, 12)
        assert "12" not in str(caught.value)
    with pytest.raises(InvalidParameter, match="constant: given 'bytes'"):
        DIALECT.literal(b"4711")  # type: ignore[arg-type]


def test_a_million_values_take_a_moment() -> None:
    cells: list[Value] = np.arange(10**6, dtype=float).tolist()  # type: ignore[assignment]
    assert len(evaluate_rows(call("+", call("*", X, 2.0), 1.0), {X: cells}, 10**6)) == 10**6
