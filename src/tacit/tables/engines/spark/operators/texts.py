"""Functions of texts. Capitals and small letters come from one table of ours: Java's change how many letters there are.

Regular expressions are refused: Java's try all ways, in time that can grow exponentially with the text.
"""

from __future__ import annotations

from collections.abc import Callable

from tacit.tables.engines.chain.form import Form, Given
from tacit.tables.engines.chain.operators.texts import ALIKE, changed_letters, refused, written
from tacit.tables.engines.spark.operators.patterns import like
from tacit.tables.engines.spark.terms import once, short, text_literal
from tacit.tables.expressions.kinds import Kind, is_text
from tacit.tables.expressions.texts import lower, upper

__all__ = ["ON_TEXTS", "REFUSED"]


def _in_letters(function: str, letters: Callable[[str], str], text: str) -> str:
    """ASCII by the engine, what else there is by the table."""
    here, there = map(text_literal, changed_letters(letters, 65))
    return once(
        lambda x: (
            f"CASE WHEN octet_length({x}) = length({x}) THEN {function}({x}) ELSE translate({x}, {here}, {there}) END"
        ),
        text,
    )


def _like(given: Given) -> str:
    """Null if the pattern is no text."""
    pattern = given.constants[1]
    return once(lambda x: like(x, pattern), given.sql(0, Kind.TEXT)) if is_text(pattern) else given.nothing


def _ilike(given: Given) -> str:
    """Both in small letters."""
    pattern = given.constants[1]
    if not is_text(pattern):
        return given.nothing
    small = _in_letters("lower", lower, given.sql(0, Kind.TEXT))
    return once(lambda x: like(x, lower(pattern)), small)


def _letters(function: str, letters: Callable[[str], str]) -> Form:
    """Small letters or capitals, which can take half as many bytes again."""
    return lambda given: short(_in_letters(function, letters, given.sql()))


REFUSED = {
    "regexp_matches": "LIKE, CONTAINS, STARTS_WITH or SPLIT_PART: Spark looks for regular expressions by trying",
    "regexp_extract": "SPLIT_PART or SUBSTRING: Spark looks for regular expressions by trying",
}
"""Operators that have no form of the same meaning in linear time, and what to write instead."""

ON_TEXTS: dict[str, Form] = {
    **ALIKE,
    "like": _like,
    "ilike": _ilike,
    "starts_with": written("startswith({}, {})"),
    "ends_with": written("endswith({}, {})"),
    "contains": written("contains({}, {})"),
    "lower": _letters("lower", lower),
    "upper": _letters("upper", upper),
    "trim": written("trim(BOTH ' ' FROM {})"),
    "ltrim": written("trim(LEADING ' ' FROM {})"),
    "rtrim": written("trim(TRAILING ' ' FROM {})"),
    "strpos": written("CAST(instr({}, {}) AS BIGINT)"),
    **{name: refused(name, instead) for name, instead in REFUSED.items()},
    "length": written("CAST(length({}) AS BIGINT)"),
}
