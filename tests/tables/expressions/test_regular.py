"""Regular expressions: what is allowed means in Python what it means in RE2, and a text is read once."""

from __future__ import annotations

import random

import duckdb
import pytest

from tacit.tables.expressions.regular import LONGEST_EXPRESSION, MOST_PLACES, Regular, problem, regular

ATOMS = [
    "a", "b", "c", ".", "\\d", "\\w", "[ab]", "[^a]", "[a-c]", "\\s", "é", "[^é]", "\\.", "x", "🙂", "\\W", "[\\d_]",
    "1", "-", "\\-", "_", "\\$", "\\^", "[-a]", "[a-]", "[\\]\\[]", "\\t", "\\n", "[^\\W\\d]", "}", "]", ",",
]  # fmt: skip
TIMES = ["*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}", "*?", "+?", "??", "{1,2}?"]
SIGNS = "aabbc1_ .-é🙂\nx]}$^"


class Expressions:
    """Makes expressions at random, a few of which are none."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def whole(self) -> str:
        ends = [("", ""), ("", ""), ("^", ""), ("", "$"), ("^", "$")]
        parts = [self.rng.choice(ends) for _ in range(self.rng.choice([1, 1, 2]))]
        return "|".join(f"{begin}{self.part(3)}{end}" for begin, end in parts)

    def part(self, depth: int) -> str:
        kind = self.rng.random()
        if depth == 0 or kind < 0.35:
            return self.rng.choice(ATOMS)
        if kind < 0.6:
            return "".join(self.part(depth - 1) for _ in range(self.rng.randint(1, 3)))
        if kind < 0.72:
            return f"({self.part(depth - 1)})"
        if kind < 0.8:
            return f"(?:{self.part(depth - 1)}|{self.part(depth - 1)})"
        if kind < 0.85:
            return f"({self.part(depth - 1)}|{self.part(depth - 1)}|)"
        return f"{self.rng.choice(['(', '(?:'])}{self.part(depth - 1)}){self.rng.choice(TIMES)}"

    def texts(self, count: int) -> list[str]:
        return ["", *("".join(self.rng.choices(SIGNS, k=self.rng.randint(0, 12))) for _ in range(count))]


def found_by(expression: Regular, text: str) -> tuple[object, ...]:
    groups = expression.groups(text)
    assert expression.finds(text) == (groups is not None)
    return (groups is not None, *(groups or ("",) * (expression.captured + 1))[:10])


def compared(seed: int, count: int, read: object = None) -> int:
    """How many random expressions find in random texts what RE2 does; raises where one does not."""
    make, database, held = Expressions(seed), duckdb.connect(), 0
    texts = make.texts(30)
    database.execute(
        "CREATE TABLE held AS SELECT unnest(?::VARCHAR[]) AS t, unnest(range(?)) AS i", [texts, len(texts)]
    )
    for _ in range(count):
        written = make.whole()
        if problem(written):
            continue
        held += 1
        expression = regular(written)
        groups = range(min(expression.captured, 9) + 1)
        columns = ["regexp_matches(t, ?)", *(f"regexp_extract(t, ?, {group})" for group in groups)]
        rows = database.execute(
            f"SELECT {', '.join(columns)} FROM held ORDER BY i", [written] * len(columns)
        ).fetchall()
        for text, row in zip(texts, rows, strict=True):
            assert found_by(expression, text) == row, (written, text)
    return held


def test_random_expressions_find_what_re2_finds() -> None:
    assert compared(1, 400) > 300


def test_a_machine_that_prefers_the_shorter_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from tacit.tables.expressions import regular as room

    def shorter(self: room._Repeated, to: list[room._Step], fork: int) -> None:
        to[fork] = room._Step("fork", len(to), fork + 1)

    monkeypatch.setattr(room._Repeated, "_close", shorter)
    regular.cache_clear()
    with pytest.raises(AssertionError):
        compared(1, 400)
    regular.cache_clear()


@pytest.mark.parametrize("sign", [chr(code) for code in range(32, 127) if not chr(code).isalnum()])
@pytest.mark.thorough
def test_every_sign_that_can_be_escaped_is_one_for_re2(sign: str) -> None:
    """An expression that RE2 could not read would be an error after payment."""
    for written in (f"\\{sign}", f"[\\{sign}a]", sign, f"[{sign}]", f"a{sign}", f"[a{sign}b]", f"[^{sign}]"):
        if not problem(written):
            (found,) = duckdb.connect().execute("SELECT regexp_matches(?, ?)", [f"xa{sign}b", written]).fetchall()
            assert found == (regular(written).finds(f"xa{sign}b"),), written


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("(", r"\( has no end"),
        ("a)", r"\) has no beginning"),
        ("[ab", r"\[ has no end"),
        ("[]", "holds nothing"),
        ("[z-a]", "later one"),
        ("*a", "repeats nothing"),
        ("a{", "for the sign"),
        ("a{3,2}", "larger one"),
        ("a{300}", "0 to 200"),
        ("(a*)*", "must not be empty"),
        ("a**", "not repeated"),
        ("(?=a)", "of groups there are"),
        ("(?i)a", "of groups there are"),
        (r"\1", "of escapes there are"),
        (r"\bword", "of escapes there are"),
        ("\\", "of escapes there are"),
        ("a$b", "at the end"),
        ("(^a)", "at the beginning"),
        ("a" * 201, "more than 200"),
        ("(((a{9}){9}){9}){9}", "more than 500"),
        ("(" * 30 + "a" + ")" * 30, "20 deep"),
    ],
)
def test_what_is_no_expression_is_said(written: str, says: str) -> None:
    assert pytest.importorskip("re").search(says, problem(written)), problem(written)


def test_the_worst_expressions_read_a_text_once() -> None:
    """Backtracking would take longer than the universe; steps are counted by what is remembered, not by a clock."""
    for written in ("a?" * 60 + "a{60}c", "(?:a|b|ab)+c", "a[ab]{190}c", "(?:a.+)+c", "(?:a+)+b"):
        assert not problem(written)
        expression = regular(written)
        assert expression.places <= MOST_PLACES
        assert len(written) <= LONGEST_EXPRESSION
        assert not expression.finds("a" * 300)
        assert expression.groups("a" * 40) is None
        assert len(expression._next) <= 5_000
