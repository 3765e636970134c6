"""Functions of texts. Capitals and small letters come from one table of ours: Java's change how many letters there are.

Regular expressions are refused: Java's try all ways, in time that can grow exponentially with the text.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable

from tacit.errors import InvalidParameter
from tacit.tables.engines.chain.form import Form, Given
from tacit.tables.engines.spark.operators.patterns import like
from tacit.tables.engines.spark.terms import once, short, text_literal
from tacit.tables.expressions.kinds import Kind, is_text, is_whole
from tacit.tables.expressions.texts import LONGEST_TEXT, fits, lower, upper

__all__ = ["ON_TEXTS", "REFUSED"]

_LONGEST = 1_000_000_000
_SURROGATES = range(0xD800, 0xE000)


def _written(form: str) -> Form:
    """A form with a place for each argument."""
    return lambda given: form.format(*given.each(Kind.TEXT))


@functools.cache
def _table(letters: Callable[[str], str]) -> tuple[str, str]:
    """The characters that a function changes, and what it makes of them."""
    signs = [chr(code) for code in range(65, sys.maxunicode + 1) if code not in _SURROGATES]
    changed = [sign for sign in signs if letters(sign) != sign]
    return "".join(changed), "".join(map(letters, changed))


def _in_letters(function: str, letters: Callable[[str], str], text: str) -> str:
    """ASCII by the engine, what else there is by the table."""
    here, there = map(text_literal, _table(letters))
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


def _concat(given: Given) -> str:
    """Lengths are added up first: what would be too long is never made."""

    def joined(*texts: str) -> str:
        length = " + ".join(f"octet_length({text})" for text in texts)
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
    return f"substr({given.sql()}, {first}, {min(max(end - first, 0), _LONGEST)})"


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
        left = f"octet_length(replace({text}, {was}, ''))"
        length = f"octet_length({text}) + (octet_length({text}) - {left}) div {len(old.encode())} * {grows}"
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


def _refuse(name: str) -> Form:
    def form(given: Given) -> str:
        raise InvalidParameter("expression", given=name.upper(), allowed=REFUSED[name], hint="Nothing was spent.")

    return form


REFUSED = {
    "regexp_matches": "LIKE, CONTAINS, STARTS_WITH or SPLIT_PART: Spark looks for regular expressions by trying",
    "regexp_extract": "SPLIT_PART or SUBSTRING: Spark looks for regular expressions by trying",
}
"""Operators that have no form of the same meaning in linear time, and what to write instead."""

ON_TEXTS: dict[str, Form] = {
    "like": _like,
    "ilike": _ilike,
    "starts_with": _written("startswith({}, {})"),
    "ends_with": _written("endswith({}, {})"),
    "contains": _written("contains({}, {})"),
    "lower": _letters("lower", lower),
    "upper": _letters("upper", upper),
    "trim": _written("trim(BOTH ' ' FROM {})"),
    "ltrim": _written("trim(LEADING ' ' FROM {})"),
    "rtrim": _written("trim(TRAILING ' ' FROM {})"),
    "replace": _replace,
    "split_part": _split_part,
    "right": _right,
    "strpos": _written("CAST(instr({}, {}) AS BIGINT)"),
    **{name: _refuse(name) for name in REFUSED},
    "length": _written("CAST(length({}) AS BIGINT)"),
    "substring": _substring,
    "concat": _concat,
}
