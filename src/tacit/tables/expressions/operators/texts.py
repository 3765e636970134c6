"""Functions of texts."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from tacit.tables.expressions.intervals import Range
from tacit.tables.expressions.kinds import Kind, Kinds, is_text, is_whole
from tacit.tables.expressions.operator import (
    REST,
    Arguments,
    Constants,
    Find,
    Method,
    Operator,
    always,
    constants_of,
    only,
)
from tacit.tables.expressions.texts import LONGEST_PATTERN, LONGEST_TEXT, fits, like, lower, upper
from tacit.tables.expressions.values import each

__all__ = ["ON_TEXTS"]


def _short(text: str) -> str | None:
    return text if fits(text) else None


def _concat(*texts: str) -> str | None:
    """Null where it would be too long: characters are no more than bytes."""
    return _short("".join(texts)) if sum(map(len, texts)) <= LONGEST_TEXT else None


def _substring(text: str, start: int, length: int | None = None) -> str:
    return text[start - 1 :] if length is None else text[start - 1 : start - 1 + length]


def _substring_gives(kinds: Kinds) -> Kind | None:
    fits = 2 <= len(kinds) <= 3 and kinds[0] in (None, Kind.TEXT)
    return Kind.TEXT if fits and all(kind in (None, Kind.INTEGER) for kind in kinds[1:]) else None


def _substring_problem(constants: Constants) -> str:
    fits = all(is_whole(value, least, 10**6) for value, least in zip(constants[1:], (1, 0), strict=False))
    return "" if fits else "a start from 1 and a length from 0"


def _length_range(arguments: Arguments, find: Find) -> Range:
    """Of a part of a text, at most its length."""
    most = constants_of(arguments[0].operands("substring"))[2:]
    return Range(Fraction(0), Fraction(str(most[0])) if most and is_whole(most[0], 0, 10**6) else None)


def _pattern_problem(constants: Constants) -> str:
    pattern = constants[1] if len(constants) == 2 else None
    fits = is_text(pattern) and len(str(pattern)) <= LONGEST_PATTERN
    return "" if fits else f"a text of at most {LONGEST_PATTERN} characters as the pattern"


def _pattern_steps(constants: Constants) -> int:
    pattern = constants[-1]
    return 1 + len("" if pattern is None else str(pattern)) // 20


_SEARCHED, _LETTERS, _MATCHED, _PER_CHARACTER, _FEW = 250, 700, 1_000, 4_000, 8
_TEXT = only(Kind.TEXT, gives=Kind.TEXT, least=1)
_PAIR = only(Kind.TEXT, gives=Kind.BOOLEAN, least=2)


def _pattern_weight(constants: Constants) -> int:
    """A pattern without wildcards inside is looked for as it is; one with a few _ between two % is an automaton of few
    states; with more of them, all places where it may begin have to be carried along for every character."""
    pattern = "_" if constants[-1] is None else str(constants[-1])
    inside = pattern.strip("%")
    if any(piece.count("_") > _FEW for piece in inside.split("%")):
        return _PER_CHARACTER * len(pattern)
    if "_" in inside or "%" in inside:
        return _MATCHED * (3 if "_" in inside else 1)
    return _SEARCHED if pattern[:1] == pattern[-1:] == "%" else 1


def _pattern(name: str, compute: Callable[[str, str], bool], says: str, besides: int = 0) -> Operator:
    """A test against a pattern that is a constant; ``besides`` is the weight of what is done to the text first."""
    return Operator(
        name,
        "a text and a literal pattern",
        _PAIR,
        each(compute),
        is_condition=True,
        python=Method(name, says, ("pattern",)),
        literals=REST,
        problem=_pattern_problem,
        steps=_pattern_steps,
        weight=lambda constants: _pattern_weight(constants) + besides,
    )


def _test(name: str, compute: Callable[[str, str], bool], says: str, *others: str, weight: int = 1) -> Operator:
    """A test of a text by another; ``others`` are its further names in SQL."""
    return Operator(
        name,
        "two texts",
        _PAIR,
        each(compute),
        is_condition=True,
        sql=(name, *others),
        python=Method(name, says, ("text",)),
        steps=always(1),
        weight=always(weight),
    )


def _made(name: str, compute: Callable[[str], str | None], says: str, weight: int, *others: str) -> Operator:
    """A text made of another; ``others`` are its further names in SQL."""
    return Operator(
        name,
        "a text",
        _TEXT,
        each(compute),
        sql=(name, *others),
        python=Method(name, says),
        steps=always(1),
        weight=always(weight),
    )


ON_TEXTS = (
    _pattern(
        "like",
        lambda text, pattern: like(pattern)(text),
        "Whether the text is like the pattern: % is any text, _ any character.",
    ),
    _pattern("ilike", lambda text, pattern: like(lower(pattern))(lower(text)), "As `like`, capitals or not.", _LETTERS),
    _test("starts_with", str.startswith, "Whether the text begins with another.", "startswith"),
    _test("contains", str.__contains__, "Whether that text occurs in it.", weight=_SEARCHED),
    _made("lower", lambda text: _short(lower(text)), "In small letters.", _LETTERS, "lcase"),
    _made("upper", lambda text: _short(upper(text)), "In capitals.", _LETTERS, "ucase"),
    _made("trim", lambda text: text.strip(" "), "Without the spaces at both ends.", 200),
    Operator(
        "length",
        "a text",
        only(Kind.TEXT, gives=Kind.INTEGER, least=1),
        each(len),
        range=_length_range,
        sql=("length", "len", "strlen"),
        google=("char_length", "character_length"),
        python=Method("length", "How many characters."),
        steps=always(1),
        weight=always(30),
    ),
    Operator(
        "substring",
        "a text, a literal start from 1, optionally a literal length",
        _substring_gives,
        each(_substring),
        sql=("substring",),
        google=("substr",),
        python=Method("substring", "Characters from a place on, the first is 1.", ("start",), ("length",)),
        literals=REST,
        problem=_substring_problem,
        steps=always(1),
        weight=always(100),
    ),
    Operator(
        "concat",
        "two or more texts; null if one is",
        only(Kind.TEXT, gives=Kind.TEXT, least=2, most=100),
        each(_concat),
        sql=("concat",),
        sign="||",
        python=Method("concat", "This text and the others behind it.", rest="others"),
        steps=always(10),
        weight=always(30),
    ),
)
