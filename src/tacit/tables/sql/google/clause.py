"""Google's clause, read from the words of a statement: SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(…).

It stands right behind the outermost SELECT, once. It is cut out before the parser sees the statement; words inside of
texts, quoted names and comments are none, because the tokenizer has told them apart before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from tacit.errors import InvalidParameter
from tacit.privacy.prices import price
from tacit.tables.query.options import NO_OPTIONS, Options, Selecting
from tacit.tables.query.refusals import NotUnderstood, not_yet, shortened, void

if TYPE_CHECKING:
    from sqlglot.tokenizer_core import Token as Word

__all__ = ["CLAUSES", "Clause", "cut_clause", "has_clause", "is_word"]

CLAUSES = ("DIFFERENTIAL_PRIVACY", "ANONYMIZATION")
"""What a clause is called; a statement without these words has none."""

_NUMBER = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]{1,4})?\Z", re.IGNORECASE)
_WHOLE = re.compile(r"[0-9]{1,18}\Z")
_EXAMPLE = "Write SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.5) city, COUNT(*) FROM …."


@dataclass(frozen=True, slots=True)
class Clause:
    """What the clause says; ``tables`` are the tables that the unit was written with."""

    options: Options = field(default=NO_OPTIONS)
    tables: tuple[str, ...] = ()


def is_word(word: Word, *names: str) -> bool:
    """Whether it is one of the names, written bare: neither a text nor a quoted name."""
    return word.text.upper() in names and word.token_type.name not in ("STRING", "IDENTIFIER")


def has_clause(words: Sequence[Word], place: int) -> bool:
    """Whether the clause starts right behind this SELECT."""
    start = words[place + 1 : place + 3]
    return len(start) == 2 and is_word(start[0], "WITH") and is_word(start[1], *CLAUSES)


def cut_clause(text: str, words: list[Word]) -> tuple[list[Word], Clause]:
    """The statement without the clause, and the clause."""
    places = [
        place for place, word in enumerate(words) if word.token_type.name == "SELECT" and has_clause(words, place)
    ]
    if not places:
        return words, Clause()
    place, outermost = places[0], _outermost(words)
    if len(places) > 1 or place != outermost:
        reason = "the clause stands behind the outermost SELECT, once: it prices the whole statement"
        raise void("SELECT WITH DIFFERENTIAL_PRIVACY in a part of the statement", reason, _EXAMPLE)
    if is_word(words[place + 2], "ANONYMIZATION"):
        raise not_yet(
            "WITH ANONYMIZATION", "It is the older name: write WITH DIFFERENTIAL_PRIVACY, and COUNT for ANON_COUNT."
        )
    if not (words[place + 3 :] and is_word(words[place + 3], "OPTIONS")):
        return [*words[: place + 1], *words[place + 3 :]], Clause()
    end = _end(words, place + 4)
    clause = _Reading(text).clause(words[place + 5 : end])
    return [*words[: place + 1], *words[end + 1 :]], clause


def _outermost(words: Sequence[Word]) -> int:
    depth = 0
    for place, word in enumerate(words):
        if word.token_type.name == "SELECT" and depth == 0:
            return place
        depth += (word.token_type.name == "L_PAREN") - (word.token_type.name == "R_PAREN")
    return -1


def _end(words: Sequence[Word], opening: int) -> int:
    """The bracket that closes the options: none opens inside."""
    if len(words) <= opening or words[opening].token_type.name != "L_PAREN":
        raise NotUnderstood("OPTIONS", "is followed by a list in brackets", _EXAMPLE)
    for place in range(opening + 1, len(words)):
        kind = words[place].token_type.name
        if kind == "L_PAREN":
            raise NotUnderstood("OPTIONS(…(", "takes names and constants", _EXAMPLE)
        if kind == "R_PAREN":
            return place
    raise NotUnderstood("OPTIONS(…", "has no end", "Close the bracket.")


class _Reading:
    """The options of one statement being read."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tables: tuple[str, ...] = ()

    def clause(self, words: Sequence[Word]) -> Clause:
        """name = value, name = value …"""
        found: dict[str, object] = {}
        for part in _parts(words):
            if len(part) < 3 or part[0].token_type.name in ("STRING", "IDENTIFIER") or part[1].token_type.name != "EQ":
                shown = self._written(part) if part else "an empty place"
                raise NotUnderstood(f"OPTIONS(… {shown} …)", "is not name = value", _EXAMPLE)
            name = part[0].text.lower()
            if name not in _OPTIONS:
                raise _unknown(name)
            field_name, read = _OPTIONS[name]
            if field_name in found:
                raise NotUnderstood(f"{name} = …", "stands in OPTIONS twice", "Leave one out.")
            found[field_name] = read(self, name, part[2:])
        try:
            return Clause(Options(**found), self._tables)  # type: ignore[arg-type]
        except InvalidParameter as error:
            raise NotUnderstood(f"{error.name} in OPTIONS", f"must be {error.allowed}", "Nothing was spent.") from None

    def number(self, name: str, words: Sequence[Word]) -> Fraction:
        written = self._constant(name, words)
        if not _NUMBER.match(written) or len(written) > 40:
            raise self._wrong(name, words, "takes a number above 0, written out", f"{name} = 0.5")
        return price(written.removesuffix("."), name)

    def count(self, name: str, words: Sequence[Word]) -> int:
        written = self._constant(name, words)
        if not _WHOLE.match(written) or not int(written):
            raise self._wrong(name, words, "takes a whole number from 1 on", f"{name} = 1")
        return int(written)

    def unit(self, name: str, words: Sequence[Word]) -> str:
        names, dots = words[::2], words[1::2]
        plain = all(_is_name(word) for word in names)
        if not plain or len(names) != len(dots) + 1 or any(word.token_type.name != "DOT" for word in dots):
            raise self._wrong(name, words, "takes the name of a column", f"{name} = user_id")
        if len(names) > 2:
            raise self._wrong(name, words, "takes a column, or a table and a column", f"{name} = user_id")
        self._tables = tuple(word.text for word in names[:-1])
        return names[-1].text

    def selecting(self, name: str, words: Sequence[Word]) -> Selecting:
        known = {one.value: one for one in Selecting}
        if len(words) != 1 or not is_word(words[0], *known):
            raise self._wrong(name, words, f"takes {' or '.join(known)}", f"{name} = PUBLIC_GROUPS")
        return known[words[0].text.upper()]

    def _constant(self, name: str, words: Sequence[Word]) -> str:
        """One number, as it is written; .5 arrives as two words that touch."""
        if len(words) == 1 and is_word(words[0], "NULL"):
            reason = "without that limit or price nothing is promised"
            raise void(f"{name} = NULL", reason, f"Leave {name} out to use the policy's.")
        kinds = [word.token_type.name for word in words]
        touching = len(words) == 1 or (len(words) == 2 and words[0].end + 1 == words[1].start)
        if kinds not in (["NUMBER"], ["DOT", "NUMBER"]) or not touching:
            return ""
        return self._written(words)

    def _wrong(self, name: str, words: Sequence[Word], takes: str, example: str) -> NotUnderstood:
        return NotUnderstood(shortened(f"{name} = {self._written(words)}"), takes, f"Write {example}.")

    def _written(self, words: Sequence[Word]) -> str:
        return self._text[words[0].start : words[-1].end + 1] if words else ""


def _is_name(word: Word) -> bool:
    if word.token_type.name in ("STRING", "NUMBER"):
        return False
    return word.token_type.name == "IDENTIFIER" or word.text.replace("_", "a").isalnum()


def _parts(words: Sequence[Word]) -> list[list[Word]]:
    """The words between commas; none at all for OPTIONS()."""
    parts: list[list[Word]] = [[]]
    for word in words:
        if word.token_type.name == "COMMA":
            parts.append([])
        else:
            parts[-1].append(word)
    return [] if parts == [[]] else parts


def _unknown(name: str) -> NotUnderstood:
    if name == "kappa":
        return not_yet("kappa", "It is the older name: write max_groups_contributed.")
    if name in ("k_threshold", "group_selection_epsilon"):
        return not_yet(name, "The threshold follows from epsilon and delta: leave it out.")
    return not_yet(f"the option {name[:40]}", f"The options are: {', '.join(_OPTIONS)}.")


_OPTIONS: dict[str, tuple[str, Callable[[_Reading, str, Sequence[Word]], object]]] = {
    "epsilon": ("epsilon", _Reading.number),
    "delta": ("delta", _Reading.number),
    "privacy_unit_column": ("unit", _Reading.unit),
    "max_groups_contributed": ("groups", _Reading.count),
    "max_rows_contributed": ("rows", _Reading.count),
    "group_selection_strategy": ("selecting", _Reading.selecting),
    "min_privacy_units_per_group": ("least_units", _Reading.count),
}
