"""Functions of texts. Capitals and small letters come from one table of ours, whatever the database's locale."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable

from tacit.errors import InvalidParameter
from tacit.tables.engines.chain.form import Form, Given
from tacit.tables.engines.postgres.operators.patterns import contains, like, place_in_bytes
from tacit.tables.engines.postgres.terms import once, short, text_literal
from tacit.tables.expressions.kinds import Kind, is_text, is_whole
from tacit.tables.expressions.regular import posix, problem
from tacit.tables.expressions.texts import LONGEST_TEXT, fits, lower, upper

__all__ = ["ON_TEXTS", "REFUSED"]

_LONGEST = 1_000_000_000
_SURROGATES = range(0xD800, 0xE000)


def _written(form: str) -> Form:
    """A form with a place for each argument."""
    return lambda given: form.format(*given.each(Kind.TEXT))


def _looked_for(form: Callable[[str, str], str], nowhere: str) -> Form:
    """What is looked for in a text; a constant with NUL is nowhere."""

    def rendered(given: Given) -> str:
        wanted = given.constants[1]
        if is_text(wanted) and "\0" in wanted:
            return f"CASE WHEN {given.sql(0, Kind.TEXT)} IS NOT NULL THEN {nowhere} END"
        return once(form, *given.each(Kind.TEXT))

    return rendered


@functools.cache
def _table(letters: Callable[[str], str]) -> tuple[str, str]:
    """The codes of the characters beyond ASCII that a function changes, in order, and what it makes of them."""
    signs = [chr(code) for code in range(128, sys.maxunicode + 1) if code not in _SURROGATES]
    changed = [sign for sign in signs if letters(sign) != sign]
    return _codes(changed), _codes(map(letters, changed))


def _codes(signs: Iterable[str]) -> str:
    return f"'{{{','.join(str(ord(sign)) for sign in signs)}}}'::int[]"


def _in_letters(function: str, letters: Callable[[str], str], text: str) -> str:
    """ASCII by the engine, which under the collation "C" knows nothing else; what else there is by the table.

    It is looked up by halves. TRANSLATE would compare each character with all of the table, from its beginning: 25 ms
    for one text of 4 096 bytes.
    """
    here, there = _table(letters)
    sign = "CASE WHEN here[at] = code THEN chr(there[at]) ELSE sign END"
    placed = "SELECT sign, ascii(sign) AS code, width_bucket(ascii(sign), here) AS at, here, there"

    def form(x: str) -> str:
        table = f"(SELECT {here} AS here, {there} AS there OFFSET 0) AS letters"
        signs = f"{table}, unnest(string_to_array({function}({x}), NULL)) AS split(sign)"
        made = f"array_to_string(ARRAY(SELECT {sign} FROM ({placed} FROM {signs} OFFSET 0) AS placed), '')"
        return (
            f"CASE WHEN octet_length({x}) = length({x}) THEN {function}({x}) "
            f'WHEN {x} IS NOT NULL THEN ({made} COLLATE "C") END'
        )

    return once(form, text)


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
    if "\0" in old:
        return given.sql()  # no text has it
    grows = len(new.encode()) - len(old.encode())
    was, instead = text_literal(old), text_literal(new)

    def replaced(text: str) -> str:
        made = f"replace({text}, {was}, {instead})"
        left = f"octet_length(replace({text}, {was}, ''))"
        length = f"octet_length({text}) + (octet_length({text}) - {left}) / {len(old.encode())} * {grows}"
        if "\0" in new:
            return f"CASE WHEN strpos({text}, {was}) = 0 THEN {text} END"
        return made if grows <= 0 else f"CASE WHEN {length} <= {LONGEST_TEXT} THEN {made} END"

    return once(replaced, given.sql())


def _split_part(given: Given) -> str:
    """'' if there is no such part; null if the constants are other than they may be."""
    between, place = given.constants[1:]
    if not is_text(between) or not between or not is_whole(place, -(10**6), 10**6) or place == 0:
        return given.nothing
    if "\0" in between:
        return given.sql() if place in (1, -1) else f"substr({given.sql()}, 1, 0)"
    return f"split_part({given.sql()}, {text_literal(between)}, {place})"


def _right(given: Given) -> str:
    """The last characters; null if it is not said how many."""
    count = given.constants[1]
    return f"right({given.sql()}, {count})" if is_whole(count, 0, _LONGEST) else given.nothing


def _place(text: str, wanted: str) -> str:
    """The character at which it begins, the first is 1; 0 if it does not occur."""

    def character(x: str, at: str) -> str:
        before = f"length(substr(convert_to({x}, 'UTF8'), 1, {at} - 1), 'UTF8')"
        return f"(CASE WHEN {at} > 0 THEN {before} + 1 ELSE {at} END)::bigint"

    return once(character, text, place_in_bytes(text, wanted))


def _regexp_matches(given: Given) -> str:
    """Whether there is a match: the server reads the text once, by an automaton, where nothing is to be extracted."""
    expression = given.constants[1]
    if not is_text(expression) or problem(expression):
        return given.nothing
    return f"({given.sql(0, Kind.TEXT)} ~ {text_literal(posix(expression))})"


def _regexp_extract(given: Given) -> str:
    """The server's match is the longest, not the first, and what groups hold is found by trying: refused beforehand."""
    raise InvalidParameter("expression", given="REGEXP_EXTRACT", allowed=REFUSED["regexp_extract"])


REFUSED = {"regexp_extract": "REGEXP_MATCHES, SPLIT_PART or SUBSTRING: PostgreSQL extracts other parts, by trying"}
"""Operators that have no form of the same meaning in linear time, and what to write instead."""

ON_TEXTS: dict[str, Form] = {
    "like": _like,
    "ilike": _ilike,
    "starts_with": _looked_for(lambda x, y: f"starts_with({x}, {y})", "FALSE"),
    "ends_with": _looked_for(lambda x, y: f"(right({x}, length({y})) = {y})", "FALSE"),
    "contains": _looked_for(contains, "FALSE"),
    "lower": _letters("lower", lower),
    "upper": _letters("upper", upper),
    "trim": _written("btrim({}, ' ')"),
    "ltrim": _written("ltrim({}, ' ')"),
    "rtrim": _written("rtrim({}, ' ')"),
    "replace": _replace,
    "split_part": _split_part,
    "right": _right,
    "strpos": _looked_for(_place, "0::bigint"),
    "regexp_matches": _regexp_matches,
    "regexp_extract": _regexp_extract,
    "length": _written("length({})::bigint"),
    "substring": _substring,
    "concat": _concat,
}
