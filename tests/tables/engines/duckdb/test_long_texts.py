"""No text is longer than a public length, whatever is put together of whatever: longer ones are null in their row."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

import tacit
from tacit.tables.engines.chain.operators.truth import joined
from tacit.tables.engines.chain.relations import Schema, source
from tacit.tables.engines.duckdb.dialect import DIALECT
from tacit.tables.engines.duckdb.expressions import render
from tacit.tables.engines.duckdb.operators import FORMS
from tacit.tables.expressions.evaluate import evaluate_rows
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.texts import LONGEST_TEXT
from tacit.tables.expressions.tree import Call, Case, Column, Expression, Literal
from tacit.tables.query.per_unit import Fact, PerUnit, UnitKey
from tests.tables.small import columns, rows

KINDS = {"who": Kind.INTEGER, "s": Kind.TEXT, "armed": Kind.BOOLEAN}
TEXTS = [
    "x" * LONGEST_TEXT,
    "x" * (LONGEST_TEXT + 1),
    "é" * 2048,
    "é" * 2049,
    "日" * 1365,
    "日" * 1366,
    "short",
    "y" * 900_000,
]
EXPECTED = [text if len(text.encode()) <= LONGEST_TEXT else None for text in TEXTS]


def bomb(levels: int) -> PerUnit:
    """A text that grows sixteenfold at each level, for rows that are armed."""
    start: Expression = Case(((Column("armed"), Literal("x" * 16)),), Literal(""))
    relation = PerUnit((UnitKey("who", Column("who")),), (Fact("s", "max", start),))
    for _ in range(levels):
        grown = Call("concat", (Column("s"),) * 16)
        relation = PerUnit((UnitKey("who", Column("who")),), (Fact("s", "max", grown),), None, relation)
    return relation


def longest(relation: PerUnit) -> int:
    """Of the texts at any level, for one person who is armed and one who is not."""
    database = duckdb.connect()
    database.execute(
        "CREATE TABLE rows AS SELECT * FROM (VALUES (1, 'a', TRUE), (2, 'b', FALSE)) AS rows(who, s, armed)"
    )
    found = database.execute(
        f"SELECT max(strlen(s)) FROM {source(relation, Schema(KINDS, {}, '', DIALECT)).sql}"
    ).fetchone()
    assert found is not None
    return found[0] or 0


def test_texts_do_not_grow_through_nested_subqueries() -> None:
    assert [longest(bomb(levels)) for levels in range(6)] == [16, 256, 4096, 0, 0, 0]


def test_a_concatenation_without_the_rule_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hole as it was."""
    monkeypatch.setitem(FORMS, "concat", joined("||"))
    assert longest(bomb(3)) == 16**4


def test_what_a_person_holds_does_not_decide_whether_there_is_an_answer(tmp_path: Path) -> None:
    armed = "CASE WHEN age > 90 THEN 'xxxxxxxxxxxxxxxx' ELSE '' END"
    parts = [f"a0 AS (SELECT user_id, MAX({armed}) AS s FROM t GROUP BY user_id)"]
    grown = " || ".join(["s"] * 64)
    parts += [f"a{i} AS (SELECT user_id, MAX({grown}) AS s FROM a{i - 1} GROUP BY user_id)" for i in range(1, 9)]
    sql = f"WITH {', '.join(parts)} SELECT COUNT(*) AS n FROM a8 WHERE LENGTH(s) = 0"
    for ages in ([50, 95], [50, 51]):
        path = tmp_path / f"{ages[1]}" / "t.csv"
        path.parent.mkdir()
        path.write_text("user_id,age\n" + "".join(f"{who},{age}\n" for who, age in enumerate(ages)), encoding="utf-8")
        table = tacit.open(
            path, unit="user_id", budget=tacit.PureDP(10**9), ledger=tacit.InMemory(), bounds={"age": (0, 120)}
        )
        assert round(table.sql(sql, epsilon=10**6)["n"].value) == sum(age <= 90 for age in ages)


EXPRESSIONS: list[Expression] = [
    Call("concat", (Column("s"), Column("s"))),
    Call("concat", (Column("s"), Literal(""))),
    Call("concat", (Literal("ab"), Column("s"), Literal("cd"))),
    Call("upper", (Column("s"),)),
    Call("lower", (Column("s"),)),
    Call("trim", (Column("s"),)),
    Call("replace", (Column("s"), Literal("x"), Literal("xx"))),
    Call("replace", (Column("s"), Literal("xx"), Literal("xxx"))),
    Call("replace", (Column("s"), Literal("ɐ"), Literal("日"))),
    Call("replace", (Column("s"), Literal("x"), Literal("y" * 4096))),
    Call("replace", (Column("s"), Literal(" "), Literal(""))),
    Call("regexp_extract", (Column("s"), Literal("x+"))),
    Call("substring", (Column("s"), Literal(1), Literal(4096))),
    Call("coalesce", (Call("concat", (Column("s"), Literal("a"))), Literal("too long"))),
]
HELD = [
    "",
    "a",
    "x" * 2048,
    "x" * 2049,
    "x" * 4092,
    "x" * 4093,
    "x" * 4096,
    "ɐ" * 2048,
    "ɐ" * 1365,
    "Ⱥ" * 2000,
    " " * 4096,
    None,
]


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=lambda one: one.operator)
def test_the_engine_and_python_agree_on_what_is_too_long(expression: Expression) -> None:
    database = duckdb.connect()
    database.execute("CREATE TABLE rows AS SELECT unnest(?::VARCHAR[]) AS s", [HELD])
    answers = database.execute(f"SELECT {render(expression, {'s': Kind.TEXT}).sql} FROM rows").fetchall()
    found = [value for (value,) in answers]
    assert found == evaluate_rows(expression, {Column("s"): HELD}, len(HELD))
    assert all(len(text.encode()) <= LONGEST_TEXT for text in found if text is not None)


def test_what_a_replacement_would_make_is_never_made() -> None:
    """A text of 4 096 signs, each replaced by 4 096, is 16 MB: for each of 10 000 rows it would not fit."""
    database = duckdb.connect()
    database.execute("SET memory_limit = '200MB'; SET threads = 1")
    database.execute("CREATE TABLE rows AS SELECT repeat('x', 4096) AS s FROM range(2000)")
    replaced = render(Call("replace", (Column("s"), Literal("x"), Literal("y" * 4096))), {"s": Kind.TEXT}).sql
    assert database.execute(f"SELECT count({replaced}) FROM rows").fetchall() == [(0,)]


def test_texts_too_long_are_null_in_every_source(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("s,n\n" + "".join(f"{text},1\n" for text in TEXTS), encoding="utf-8")
    (tmp_path / "t.jsonl").write_text(
        "".join(json.dumps({"s": text, "n": 1}) + "\n" for text in TEXTS), encoding="utf-8"
    )
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT unnest(?::VARCHAR[]) AS s, 1 AS n", [TEXTS])
    for name in ("t.csv", "t.jsonl", "t.duckdb"):
        found = rows(tmp_path / name, columns(s="text", n="integer"))
        assert found == [(text, 1) for text in EXPECTED], name
    pandas = pytest.importorskip("pandas")
    assert rows(pandas.DataFrame({"s": TEXTS}), columns(s="text"), name="t") == [(text,) for text in EXPECTED]
