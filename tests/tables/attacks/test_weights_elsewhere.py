"""What an operator takes on the hardest text is about what its weight says, also on PostgreSQL and Spark.

By the clock: the rule of `docs/proofs/work.md` counts weights in steps of 50 ns, whichever engine reads the rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tacit.tables.engines.chain.form import Given
from tacit.tables.engines.chain.terms import Term
from tacit.tables.engines.postgres.dialect import DIALECT
from tacit.tables.engines.postgres.operators import texts
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.operators import OPERATORS
from tests.postgres import Servers
from tests.tables.engines.postgres_rows import PostgresRows

pytestmark = pytest.mark.attacks
STEP = 50e-9
SLOWER = 15
"""A machine that is busy with other work, and an engine's own constant factors."""
AT_LEAST = 3e-6
"""Seconds for each operator, however small its weight: what any step on 4 096 bytes takes."""
ENOUGH = 0.2
"""Seconds that are measured."""

SIGNS, LETTERS, DIGITS = "é" * 2048, "a" * 4096, " " * 10 + "1" * 4000
CASES: list[tuple[str, str, tuple[Any, ...], Kind]] = [
    *((name, SIGNS, (), Kind.TEXT) for name in ("upper", "lower", "trim", "length")),
    ("ilike", SIGNS, ("%z_é%",), Kind.BOOLEAN),
    ("like", LETTERS, ("%" + "a" * 190 + "_b%",), Kind.BOOLEAN),
    ("like", LETTERS, ("%" + "%".join(["a" * 20 + "b"] * 9) + "%",), Kind.BOOLEAN),
    ("like", SIGNS, ("%" + "_" * 180 + "z%",), Kind.BOOLEAN),
    *((name, LETTERS, ("b" + "a" * 2000,), Kind.INTEGER) for name in ("contains", "strpos")),
    *((name, LETTERS, ("a" * 2000 + "b",), Kind.INTEGER) for name in ("contains", "strpos")),
    *(("replace", LETTERS, (sign, "c"), Kind.TEXT) for sign in ("a", "b" + "a" * 100, "b" + "a" * 2000)),
    *(("split_part", LETTERS, (sign, 2), Kind.TEXT) for sign in ("a", "b" + "a" * 100, "b" + "a" * 2000)),
    ("split_part", LETTERS, ("a", -900), Kind.TEXT),
    *((f"to_{kind.value}", DIGITS, (), kind) for kind in Kind if kind is not Kind.TEXT),
]  # fmt: skip

Run = Callable[[str, str, int], float]
"""Seconds that an expression over a text ``h.t`` takes on so many rows with that text."""


@pytest.fixture(scope="module")
def on_postgres(postgres_servers: Servers) -> Iterator[Run]:
    held = PostgresRows(postgres_servers[18])
    held.database.execute("SET jit = off")

    def run(expression: str, text: str, rows: int) -> float:
        given = f"(SELECT '{text}'::text COLLATE \"C\" AS t FROM generate_series(1, {rows}) OFFSET 0) AS h"
        began = time.perf_counter()
        held.database.execute(f"SELECT count(v) FROM (SELECT {expression} AS v FROM {given} OFFSET 0) AS q")  # type: ignore[call-overload,unused-ignore]
        return time.perf_counter() - began

    yield run
    held.end()


@pytest.fixture(scope="module")
def on_spark(spark: Any) -> Run:
    from tests.tables.engines.spark_rows import SparkRows

    session = SparkRows(spark).session

    def run(expression: str, text: str, rows: int) -> float:
        session.createDataFrame([(text,)], "t string").createOrReplaceTempView("hard")
        given = f"hard AS h LATERAL VIEW explode(sequence(1L, {rows}L)) made AS k WHERE rand() >= 0"
        began = time.perf_counter()
        session.sql(f"SELECT count(v) FROM (SELECT {expression} AS v FROM {given})").collect()
        return time.perf_counter() - began

    return run


def _each(run: Run, expression: str, text: str) -> float:
    """Seconds for each row: what more rows take more."""
    rows = 64
    while True:
        few, many = run(expression, text, 8), run(expression, text, rows)
        if many - few > ENOUGH or rows > 200_000:
            return max(many - few, 0.0) / (rows - 8)
        rows *= 4


def _allowed(name: str, arguments: tuple[Any, ...]) -> float:
    return max(OPERATORS[name].weight((None, *arguments)) * STEP, AT_LEAST) * SLOWER


@pytest.mark.parametrize(("name", "text", "arguments", "kind"), CASES)
def test_the_hardest_texts_take_about_what_is_counted_on_postgres(
    on_postgres: Run, name: str, text: str, arguments: tuple[Any, ...], kind: Kind
) -> None:
    expression = DIALECT.forms[name](_given(name, arguments, kind, DIALECT))
    assert _each(on_postgres, expression, text) < _allowed(name, arguments)


@pytest.mark.engines
@pytest.mark.parametrize(("name", "text", "arguments", "kind"), CASES)
def test_the_hardest_texts_take_about_what_is_counted_on_spark(
    on_spark: Run, name: str, text: str, arguments: tuple[Any, ...], kind: Kind
) -> None:
    from tacit.tables.engines.spark.dialect import DIALECT as SPARK

    expression = SPARK.forms[name](_given(name, arguments, kind, SPARK))
    assert _each(on_spark, expression, text) < _allowed(name, arguments)


def _given(name: str, arguments: tuple[Any, ...], kind: Kind, dialect: Any) -> Given:
    terms = [Term("h.t", Kind.TEXT), *map(dialect.literal, arguments)]
    return Given(terms, kind, [None, *arguments], dialect)


def test_planted_letters_looked_up_one_by_one_are_noticed(on_postgres: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: TRANSLATE compares each character with all of its table. Both are timed here: machines differ."""
    from tacit.tables.expressions.texts import lower

    given = _given("lower", (), Kind.TEXT, DIALECT)
    now = DIALECT.forms["lower"](given)
    signs = [chr(code) for code in range(128, 0x20000) if not 0xD800 <= code < 0xE000 and lower(chr(code)) != chr(code)]
    here, there = "".join(signs), "".join(map(lower, signs))
    monkeypatch.setattr(
        texts, "_in_letters", lambda function, letters, text: f"translate(lower({text}), '{here}', '{there}')"
    )
    planted = DIALECT.forms["lower"](given)
    assert ("translate" in planted, "translate" in now) == (True, False)
    assert _each(on_postgres, planted, SIGNS) > 5 * _each(on_postgres, now, SIGNS)
