"""Functions of texts."""

from __future__ import annotations

from tacit.tables.engines.chain.form import Form, Given
from tacit.tables.engines.duckdb.operators.patterns import like
from tacit.tables.engines.duckdb.terms import once, short, text_literal
from tacit.tables.expressions.kinds import Kind, is_text, is_whole
from tacit.tables.expressions.texts import LONGEST_TEXT, fits, lower

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


def _replace(given: Given) -> str:
    """Every occurrence; how long it would be is found first, from what would be left out: what is too long is never
    made. Null if the constants are other than they may be."""
    old, new = given.constants[1:]
    if not is_text(old) or not is_text(new) or not old or not (fits(old) and fits(new)):
        return given.nothing
    grows = len(new.encode()) - len(old.encode())
    was, instead = text_literal(old), text_literal(new)

    def replaced(text: str) -> str:
        made = f"replace({text}, {was}, {instead})"
        left = f"strlen(replace({text}, {was}, ''))"
        length = f"strlen({text}) + (strlen({text}) - {left}) // {len(old.encode())} * {grows}"
        return made if grows <= 0 else f"CASE WHEN {length} <= {LONGEST_TEXT} THEN {made} END"

    return once(replaced, given.sql())


def _split_part(given: Given) -> str:
    """'' if there is no such part; null if the constants are other than they may be."""
    between, place = given.constants[1:]
    if not is_text(between) or not between or not is_whole(place, -(10**6), 10**6) or place == 0:
        return given.nothing
    return f"split_part({given.sql()}, {text_literal(between)}, {place})"


def _right(given: Given) -> str:
    """The last characters; null if it is not said how many."""
    count = given.constants[1]
    return f"right({given.sql()}, {count})" if is_whole(count, 0, _LONGEST) else given.nothing


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
    "like": _like,
    "ilike": _ilike,
    "starts_with": _written("starts_with({}, {})"),
    "ends_with": _written("ends_with({}, {})"),
    "contains": _written("contains({}, {})"),
    "lower": _letters("lower"),
    "upper": _letters("upper"),
    "trim": _written("trim({}, ' ')"),
    "ltrim": _written("ltrim({}, ' ')"),
    "rtrim": _written("rtrim({}, ' ')"),
    "length": _written("CAST(length({}) AS BIGINT)"),
    "substring": _substring,
    "concat": _concat,
    "replace": _replace,
    "split_part": _split_part,
    "right": _right,
    "strpos": _written("CAST(strpos({}, {}) AS BIGINT)"),
    "regexp_matches": _regexp_matches,
    "regexp_extract": _regexp_extract,
}
