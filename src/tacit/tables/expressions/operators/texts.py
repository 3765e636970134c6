"""Functions of texts."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from tacit.tables.expressions.regular import Regular

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


def _replace(text: str, old: str, new: str) -> str | None:
    """Null where it would be too long."""
    return _short(text.replace(old, new))


def _split_part(text: str, between: str, place: int) -> str:
    parts = text.split(between)
    found = parts[place - 1 if place > 0 else place :][:1] if -len(parts) <= place <= len(parts) else []
    return found[0] if found else ""


def _right(text: str, count: int) -> str:
    return text[-count:] if count else ""


def _regular(expression: str) -> Regular:
    """The expression as it is run: its reader is loaded where one is written."""
    from tacit.tables.expressions.regular import regular

    return regular(expression)


def _wrong(expression: str) -> str:
    """What is wrong with an expression; nothing if it can be run."""
    from tacit.tables.expressions.regular import problem

    return problem(expression)


def _extract(text: str, expression: str, group: int = 0) -> str:
    found = _regular(expression).groups(text)
    return "" if found is None else found[group]


def _replace_problem(constants: Constants) -> str:
    fits = len(constants) == 3 and all(map(is_text, constants[1:])) and constants[1] != ""
    return "" if fits else "two literal texts: what is replaced, which is not empty, and by what"


def _split_problem(constants: Constants) -> str:
    fits = len(constants) == 3 and is_text(constants[1]) and constants[1] != ""
    fits = fits and is_whole(constants[2], -_MOST_PARTS, _MOST_PARTS) and constants[2] != 0
    return "" if fits else "what stands between the parts, and which of them: 1 is the first, -1 the last"


def _right_problem(constants: Constants) -> str:
    return "" if len(constants) == 2 and is_whole(constants[1], 0, 10**6) else "how many characters, from 0"


def _regular_problem(constants: Constants) -> str:
    expression = constants[1] if len(constants) > 1 else None
    if not is_text(expression):
        return "a literal regular expression"
    says = _wrong(expression)
    if says:
        return f"a regular expression that can be read: {says}"
    if len(constants) < 3:
        return ""
    most = min(_regular(expression).captured, _MOST_GROUPS)
    return "" if is_whole(constants[2], 0, most) else f"a group of the expression, 0 (all of it) to {most}"


def _places(constants: Constants) -> int:
    """How many signs the expression has; as many as there may be if it is none."""
    expression = constants[1] if len(constants) > 1 else None
    if not is_text(expression) or _wrong(expression):
        from tacit.tables.expressions.regular import MOST_PLACES

        return MOST_PLACES
    return _regular(expression).places


_MOST_PARTS, _MOST_GROUPS, _PER_PLACE = 1_000, 9, 5_000
_SEARCHED, _LETTERS, _MATCHED, _PER_CHARACTER, _FEW = 3_000, 12_000, 1_000, 4_000, 8
_TRIED, _PER_SIGN = 100, 25
_TEXT = only(Kind.TEXT, gives=Kind.TEXT, least=1)
_PAIR = only(Kind.TEXT, gives=Kind.BOOLEAN, least=2)


def _is_split(kinds: Kinds) -> bool:
    return len(kinds) == 3 and kinds[:2] in _TWO_TEXTS and kinds[2] in (None, Kind.INTEGER)


def _extract_gives(kinds: Kinds) -> Kind | None:
    fits = 2 <= len(kinds) <= 3 and kinds[:2] in _TWO_TEXTS
    return Kind.TEXT if fits and all(kind in (None, Kind.INTEGER) for kind in kinds[2:]) else None


_TWO_TEXTS = [(one, two) for one in (None, Kind.TEXT) for two in (None, Kind.TEXT)]


def _pattern_weight(constants: Constants) -> int:
    """A pattern without wildcards inside is looked for as it is; one with a few _ between two % is an automaton of few
    states, or is tried from each character on; with more of them, all places where it may begin have to be carried
    along for every character."""
    pattern = "_" if constants[-1] is None else str(constants[-1])
    inside = pattern.strip("%")
    if any(piece.count("_") > _FEW for piece in inside.split("%")):
        return _PER_CHARACTER * len(pattern)
    if "_" in inside or "%" in inside:
        return _MATCHED * (3 if "_" in inside else 1) + _TRIED * len(pattern)
    return 400 if pattern[:1] == pattern[-1:] == "%" else 1


def _looking_for(least: int) -> Callable[[Constants], int]:
    """To look through a text for a constant: some engines try it from each character on."""
    return lambda constants: least + _PER_SIGN * len(str(constants[1]))


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
    _test("ends_with", str.endswith, "Whether the text ends with another.", "suffix"),
    _test("contains", str.__contains__, "Whether that text occurs in it.", weight=_SEARCHED),
    _made("lower", lambda text: _short(lower(text)), "In small letters.", _LETTERS, "lcase"),
    _made("upper", lambda text: _short(upper(text)), "In capitals.", _LETTERS, "ucase"),
    _made("trim", lambda text: text.strip(" "), "Without the spaces at both ends.", 200),
    _made("ltrim", lambda text: text.lstrip(" "), "Without the spaces at its beginning.", 200),
    _made("rtrim", lambda text: text.rstrip(" "), "Without the spaces at its end.", 200),
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
    Operator(
        "replace",
        "a text, and two literal texts: what is replaced, and by what",
        only(Kind.TEXT, gives=Kind.TEXT, least=3),
        each(_replace),
        sql=("replace",),
        python=Method("replace", "With every occurrence of one text replaced by another.", ("old", "new")),
        literals=REST,
        problem=_replace_problem,
        steps=always(10),
        weight=_looking_for(800),
    ),
    Operator(
        "split_part",
        "a text, a literal that stands between its parts, and a literal place from 1 (-1 is the last)",
        lambda kinds: Kind.TEXT if _is_split(kinds) else None,
        each(_split_part),
        sql=("split_part",),
        python=Method("split_part", "The part at a place, from 1; '' if there is none.", ("between", "place")),
        literals=REST,
        problem=_split_problem,
        steps=always(1),
        weight=_looking_for(1_000),
    ),
    Operator(
        "right",
        "a text and a literal number of characters",
        _substring_gives,
        each(_right),
        sql=("right",),
        python=Method("right", "The last characters, so many.", ("count",)),
        literals=REST,
        problem=_right_problem,
        steps=always(1),
        weight=always(100),
    ),
    Operator(
        "strpos",
        "two texts; where the second begins in the first, from 1, or 0",
        only(Kind.TEXT, gives=Kind.INTEGER, least=2),
        each(lambda text, part: text.find(part) + 1),
        range=lambda arguments, find: Range(Fraction(0), Fraction(LONGEST_TEXT)),
        sql=("strpos", "instr"),
        python=Method("strpos", "Where that text begins in it, from 1; 0 if it is not there.", ("text",)),
        steps=always(1),
        weight=always(_SEARCHED),
    ),
    Operator(
        "regexp_matches",
        "a text and a literal regular expression; whether it matches a part of the text",
        _PAIR,
        each(lambda text, expression: _regular(expression).finds(text)),
        is_condition=True,
        sql=("regexp_matches", "regexp_like"),
        google=("regexp_contains",),
        python=Method("regexp_matches", "Whether a regular expression matches a part of it.", ("expression",)),
        literals=REST,
        problem=_regular_problem,
        steps=lambda constants: 1 + _places(constants) // 20,
        weight=lambda constants: _PER_PLACE * _places(constants),
    ),
    Operator(
        "regexp_extract",
        "a text, a literal regular expression, and perhaps the literal number of a group; '' if it matches nothing",
        _extract_gives,
        each(_extract),
        sql=("regexp_extract",),
        google=("regexp_substr",),
        python=Method(
            "regexp_extract",
            "What the expression, or a group of it, matches; '' if nothing.",
            ("expression",),
            ("group",),
        ),
        literals=REST,
        problem=_regular_problem,
        steps=lambda constants: 1 + _places(constants) // 20,
        weight=lambda constants: _PER_PLACE * _places(constants),
    ),
)
