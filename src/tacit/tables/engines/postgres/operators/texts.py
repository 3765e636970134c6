"""Functions of texts. Capitals and small letters come from one table of ours, whatever the database's locale."""

from __future__ import annotations

from collections.abc import Callable

from tacit.tables.engines.chain.form import Form, Given
from tacit.tables.engines.chain.operators.texts import ALIKE, changed_letters, refused, replace, split_part, written
from tacit.tables.engines.postgres.operators.patterns import contains, like, place_in_bytes
from tacit.tables.engines.postgres.terms import once, short, text_literal
from tacit.tables.expressions.kinds import Kind, is_text, is_whole
from tacit.tables.expressions.regular import posix, problem
from tacit.tables.expressions.texts import fits, lower, upper

__all__ = ["ON_TEXTS", "REFUSED"]


def _looked_for(form: Callable[[str, str], str], nowhere: str) -> Form:
    """What is looked for in a text; a constant with NUL is nowhere."""

    def rendered(given: Given) -> str:
        wanted = given.constants[1]
        if is_text(wanted) and "\0" in wanted:
            return f"CASE WHEN {given.sql(0, Kind.TEXT)} IS NOT NULL THEN {nowhere} END"
        return once(form, *given.each(Kind.TEXT))

    return rendered


def _codes(signs: str) -> str:
    return f"'{{{','.join(str(ord(sign)) for sign in signs)}}}'::int[]"


def _in_letters(function: str, letters: Callable[[str], str], text: str) -> str:
    """ASCII by the engine, which under the collation "C" knows nothing else; what else there is by the table.

    It is looked up by halves. TRANSLATE would compare each character with all of the table, from its beginning: 25 ms
    for one text of 4 096 bytes.
    """
    here, there = map(_codes, changed_letters(letters, 128))
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


def _replace(given: Given) -> str:
    """No text has NUL: one that would get it is null, and there is none to replace."""
    old, new = given.constants[1:]
    if is_text(old) and is_text(new) and fits(old) and fits(new):
        if "\0" in old:
            return given.sql()
        if "\0" in new and old:
            was = text_literal(old)
            return once(lambda x: f"CASE WHEN strpos({x}, {was}) = 0 THEN {x} END", given.sql())
    return replace(given)


def _split_part(given: Given) -> str:
    """Between NULs there is the whole text, or nothing."""
    between, place = given.constants[1:]
    if is_text(between) and "\0" in between and is_whole(place, -(10**6), 10**6) and place != 0:
        return given.sql() if place in (1, -1) else f"substr({given.sql()}, 1, 0)"
    return split_part(given)


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


REFUSED = {"regexp_extract": "REGEXP_MATCHES, SPLIT_PART or SUBSTRING: PostgreSQL extracts other parts, by trying"}
"""Its match is the longest, not the first, and what groups hold is found by trying: what to write instead."""

ON_TEXTS: dict[str, Form] = {
    **ALIKE,
    "like": _like,
    "ilike": _ilike,
    "starts_with": _looked_for(lambda x, y: f"starts_with({x}, {y})", "FALSE"),
    "ends_with": _looked_for(lambda x, y: f"(right({x}, length({y})) = {y})", "FALSE"),
    "contains": _looked_for(contains, "FALSE"),
    "lower": _letters("lower", lower),
    "upper": _letters("upper", upper),
    "trim": written("btrim({}, ' ')"),
    "ltrim": written("ltrim({}, ' ')"),
    "rtrim": written("rtrim({}, ' ')"),
    "replace": _replace,
    "split_part": _split_part,
    "strpos": _looked_for(_place, "0::bigint"),
    "regexp_matches": _regexp_matches,
    **{name: refused(name, instead) for name, instead in REFUSED.items()},
    "length": written("length({})::bigint"),
}
