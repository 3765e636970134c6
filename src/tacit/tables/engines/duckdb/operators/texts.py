"""Functions of texts."""

from __future__ import annotations

from tacit.tables.engines.chain.form import Form, Given
from tacit.tables.engines.chain.operators.texts import ALIKE, written
from tacit.tables.engines.duckdb.operators.patterns import like
from tacit.tables.engines.duckdb.terms import short, text_literal
from tacit.tables.expressions.kinds import Kind, is_text, is_whole
from tacit.tables.expressions.texts import lower

__all__ = ["ON_TEXTS"]


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


def _regexp_matches(given: Given) -> str:
    """By RE2, in time linear in the text; null if there is no such expression."""
    from tacit.tables.expressions.regular import problem  # where one is written

    expression = given.constants[1]
    if not is_text(expression) or problem(expression):
        return given.nothing
    return f"regexp_matches({given.sql(0, Kind.TEXT)}, {text_literal(expression)})"


def _regexp_extract(given: Given) -> str:
    """'' if nothing is matched, or by this group; null if there is no such expression or group."""
    from tacit.tables.expressions.regular import problem, regular

    expression, group = given.constants[1], given.constants[2] if len(given.terms) > 2 else 0
    if not is_text(expression) or problem(expression) or not is_whole(group, 0, min(regular(expression).captured, 9)):
        return given.nothing
    return f"regexp_extract({given.sql()}, {text_literal(expression)}, {group})"


ON_TEXTS: dict[str, Form] = {
    **ALIKE,
    "like": _like,
    "ilike": _ilike,
    "starts_with": written("starts_with({}, {})"),
    "ends_with": written("ends_with({}, {})"),
    "contains": written("contains({}, {})"),
    "lower": _letters("lower"),
    "upper": _letters("upper"),
    "trim": written("trim({}, ' ')"),
    "ltrim": written("ltrim({}, ' ')"),
    "rtrim": written("rtrim({}, ' ')"),
    "length": written("CAST(length({}) AS BIGINT)"),
    "strpos": written("CAST(strpos({}, {}) AS BIGINT)"),
    "regexp_matches": _regexp_matches,
    "regexp_extract": _regexp_extract,
}
