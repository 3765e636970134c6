"""Functions of texts."""

from __future__ import annotations

from tacit.tables.engines.duckdb.operators.form import Form, Given
from tacit.tables.engines.duckdb.operators.patterns import like
from tacit.tables.engines.duckdb.terms import once, short
from tacit.tables.expressions.kinds import Kind, is_text, is_whole
from tacit.tables.expressions.texts import LONGEST_TEXT, lower

__all__ = ["ON_TEXTS"]

_LONGEST = 1_000_000_000


def _written(form: str) -> Form:
    """A form with a place for each argument."""
    return lambda given: form.format(*given.each(Kind.TEXT))


def _like(given: Given) -> str:
    """Null if the pattern is no text."""
    pattern = given.constants[1]
    return like(given.sql(0, Kind.TEXT), pattern) if is_text(pattern) else given.nothing


def _ilike(given: Given) -> str:
    """Both in small letters."""
    pattern = given.constants[1]
    return like(f"lower({given.sql(0, Kind.TEXT)})", lower(pattern)) if is_text(pattern) else given.nothing


def _letters(function: str) -> Form:
    """Small letters or capitals, which can take half as many bytes again."""
    return lambda given: short(f"{function}({given.sql()})")


def _concat(given: Given) -> str:
    """Lengths are added up first: what would be too long is never made."""

    def joined(*texts: str) -> str:
        length = " + ".join(f"strlen({text})" for text in texts)
        return f"CASE WHEN {length} <= {LONGEST_TEXT} THEN {' || '.join(texts)} END"

    return once(joined, *given.each())


def _substring(given: Given) -> str:
    """Characters from a position (the first is 1), as SQL counts; null if the constants are no whole numbers."""
    if not all(is_whole(one) for one in given.constants[1:]):
        return given.nothing
    start, *rest = (int(one) for one in given.constants[1:] if is_whole(one))
    end = start + rest[0] if rest else _LONGEST
    if rest and rest[0] < 0:
        return given.nothing
    first = min(max(start, 1), _LONGEST)
    return f"substring({given.sql()}, {first}, {min(max(end - first, 0), _LONGEST)})"


ON_TEXTS: dict[str, Form] = {
    "like": _like,
    "ilike": _ilike,
    "starts_with": _written("starts_with({}, {})"),
    "contains": _written("contains({}, {})"),
    "lower": _letters("lower"),
    "upper": _letters("upper"),
    "trim": _written("trim({}, ' ')"),
    "length": _written("CAST(length({}) AS BIGINT)"),
    "substring": _substring,
    "concat": _concat,
}
