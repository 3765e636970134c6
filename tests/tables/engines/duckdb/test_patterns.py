"""LIKE and ILIKE: the same texts as a plain regular expression, in time that grows with the text alone."""

from __future__ import annotations

import random
import subprocess
import sys

import duckdb
import pytest

from tacit.errors import InvalidParameter
from tacit.tables.engines.duckdb.expressions import render
from tacit.tables.engines.duckdb.operators import FORMS
from tacit.tables.engines.duckdb.operators.patterns import like as like_sql
from tacit.tables.engines.duckdb.terms import text_literal
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.texts import LONGEST_PATTERN, LONGEST_TEXT, like, lower, upper
from tacit.tables.expressions.tree import Call, Column, Expression, Literal
from tests.tables.engines.row_oracle import like as plain_like

SIGNS = [
    "a",
    "b",
    "A",
    "%",
    "_",
    "é",
    "日",
    "👩",
    "\n",
    "\0",
    "\\",
    ".",
    "*",
    "(",
    "[",
    "^",
    "$",
    "'",
    " ",
    "ẞ",
    "\u200d",
]
HOSTILE = [
    ("%_a" * 30 + "b", "a"),
    ("%a" * 60 + "_b", "a"),
    ("%" + "_%" * 90 + "b", "ab"),
    ("%a" + "_" * 190 + "b", "ab"),
]
"""A pattern, and what the text is made of."""


def test_random_patterns_find_what_a_plain_expression_finds() -> None:
    rng, database = random.Random(5), duckdb.connect()

    def made(signs: list[str], most: int) -> str:
        return "".join(rng.choice(signs) for _ in range(rng.randint(0, most)))

    texts = [made([one for one in SIGNS if one != "%"], 6) for _ in range(400)] + ["", "%", "_"]
    database.execute("CREATE TABLE held AS SELECT unnest(?::VARCHAR[]) AS t", [texts])
    found = 0
    for _ in range(400):
        pattern = made([*SIGNS, "%", "%", "_", "_"], 5)
        answers = database.execute(f"SELECT t, {like_sql('t', pattern)} FROM held").fetchall()
        expected = {text: plain_like(text, pattern) for text in texts}
        test = like(pattern)
        assert dict(answers) == expected == {text: test(text) for text in texts}, pattern
        found += sum(expected.values())
    assert found > 2_000


@pytest.mark.thorough
def test_small_letters_and_capitals_are_those_of_the_engine_for_every_character() -> None:
    signs = [chr(code) for code in range(1, 0x110000) if not 0xD800 <= code <= 0xDFFF]
    query = "SELECT t, lower(t) AS a, upper(t) AS b FROM (SELECT unnest(?::VARCHAR[]) AS t) WHERE a <> t OR b <> t"
    changed = {sign: pair for sign, *pair in duckdb.connect().execute(query, [signs]).fetchall()}
    assert changed == {one: [lower(one), upper(one)] for one in signs if lower(one) != one or upper(one) != one}
    for sign, pair in changed.items():
        assert max(len(one.encode()) for one in pair) <= 1.5 * len(sign.encode())


CHILD = """
import resource, sys
import duckdb
used = int(resource.getrusage(resource.RUSAGE_SELF).ru_utime) + 1
resource.setrlimit(resource.RLIMIT_CPU, (used + int(sys.argv[1]), used + int(sys.argv[1])))
for sql in sys.stdin.read().split(";"):
    duckdb.connect().execute(sql).fetchall()
"""


def finishes(statements: list[str], seconds: int) -> bool:
    """Whether the engine needs less than that much of a processor: an interrupt is not heard within one row."""
    command = [sys.executable, "-c", CHILD, str(seconds)]
    return subprocess.run(command, input=";".join(statements), text=True, capture_output=True).returncode == 0


def armed(operator: str, pattern: str, text: str) -> str:
    """Twenty rows against the pattern."""
    condition = render(Call(operator, (Column("s"), Literal(pattern))), {"s": Kind.TEXT}).sql
    return f"SELECT count(*) FROM (SELECT {text_literal(text)} AS s FROM range(20)) AS rows WHERE {condition}"


def test_a_hostile_pattern_is_read_once() -> None:
    statements = []
    for pattern, unit in HOSTILE:
        assert len(pattern) <= LONGEST_PATTERN
        text = (unit * LONGEST_TEXT)[:LONGEST_TEXT]
        like(pattern)(text)
        statements += [armed(operator, pattern, text) for operator in ("like", "ilike")]
    assert finishes(statements, 20)


def test_the_engines_own_like_would_not_finish(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hole as it was: planted, it is noticed."""
    monkeypatch.setitem(FORMS, "like", lambda given: f"({given.sql(0, Kind.TEXT)} LIKE {given.terms[1].sql})")
    pattern, unit = HOSTILE[0]
    assert not finishes([armed("like", pattern, unit * 400)], 1)


@pytest.mark.parametrize("operator", ["like", "ilike"])
def test_a_pattern_too_long_is_refused(operator: str) -> None:
    expression: Expression = Call(operator, (Column("s"), Literal("_" * (LONGEST_PATTERN + 1))))
    with pytest.raises(InvalidParameter, match="at most 200"):
        render(expression, {"s": Kind.TEXT})
