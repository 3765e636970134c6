"""Forms of functions of texts that mean the same on every engine, and are written alike but for the engine's pieces."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable

from tacit.errors import InvalidParameter
from tacit.tables.engines.chain.form import Form, Given
from tacit.tables.expressions.kinds import Kind, is_text, is_whole
from tacit.tables.expressions.texts import LONGEST_TEXT, fits

__all__ = ["ALIKE", "changed_letters", "refused", "replace", "split_part", "written"]

_LONGEST = 1_000_000_000
_SURROGATES = range(0xD800, 0xE000)


def written(form: str) -> Form:
    """A form with a place for each argument."""
    return lambda given: form.format(*given.each(Kind.TEXT))


def refused(name: str, instead: str) -> Form:
    """Of an operator that the engine has in no form of the same meaning in linear time."""

    def form(given: Given) -> str:
        raise InvalidParameter("expression", given=name.upper(), allowed=instead, hint="Nothing was spent.")

    return form


@functools.cache
def changed_letters(letters: Callable[[str], str], first: int) -> tuple[str, str]:
    """The characters from some code on that a function changes, and what it makes of them."""
    signs = [chr(code) for code in range(first, sys.maxunicode + 1) if code not in _SURROGATES]
    changed = [sign for sign in signs if letters(sign) != sign]
    return "".join(changed), "".join(map(letters, changed))


def _concat(given: Given) -> str:
    """Lengths are added up first: what would be too long is never made."""

    def joined(*texts: str) -> str:
        length = " + ".join(map(given.dialect.bytes_of, texts))
        return f"CASE WHEN {length} <= {LONGEST_TEXT} THEN {' || '.join(texts)} END"

    return given.dialect.once(joined, *given.each())


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


def replace(given: Given) -> str:
    """Every occurrence; how long it would be is found first, from what would be left out: what is too long is never
    made. Null if the constants are other than they may be."""
    old, new = given.constants[1:]
    if not is_text(old) or not is_text(new) or not old or not (fits(old) and fits(new)):
        return given.nothing
    grows = len(new.encode()) - len(old.encode())
    was, instead = map(given.dialect.text, (old, new))
    bytes_of = given.dialect.bytes_of

    def replaced(text: str) -> str:
        made = f"replace({text}, {was}, {instead})"
        left = bytes_of(f"replace({text}, {was}, '')")
        times = given.dialect.quotient(f"({bytes_of(text)} - {left})", len(old.encode()))
        length = f"{bytes_of(text)} + {times} * {grows}"
        return made if grows <= 0 else f"CASE WHEN {length} <= {LONGEST_TEXT} THEN {made} END"

    return given.dialect.once(replaced, given.sql())


def split_part(given: Given) -> str:
    """'' if there is no such part; null if the constants are other than they may be."""
    between, place = given.constants[1:]
    if not is_text(between) or not between or not is_whole(place, -(10**6), 10**6) or place == 0:
        return given.nothing
    return f"split_part({given.sql()}, {given.dialect.text(between)}, {place})"


def _right(given: Given) -> str:
    """The last characters; null if it is not said how many."""
    count = given.constants[1]
    return f"right({given.sql()}, {count})" if is_whole(count, 0, _LONGEST) else given.nothing


ALIKE: dict[str, Form] = {
    "substring": _substring,
    "concat": _concat,
    "replace": replace,
    "split_part": split_part,
    "right": _right,
}
