"""Public groups that a statement lists itself: FROM t RIGHT OUTER JOIN UNNEST(['a', 'b']) AS city USING (city).

A list in the statement depends on no data, so its groups are public. The join is cut out before the parser sees the
statement: what is left is a question about the table, and the list says which groups are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.tables.query.refusals import NotUnderstood
from tacit.tables.sql.google.clause import is_word

if TYPE_CHECKING:
    from sqlglot.tokenizer_core import Token as Word

__all__ = ["JoinedList", "cut_lists"]

_EXAMPLE = "Write FROM t RIGHT OUTER JOIN UNNEST(['a', 'b']) AS city USING (city) … GROUP BY city."


@dataclass(frozen=True, slots=True)
class JoinedList:
    """A list that the table is joined to: ``name`` is what the statement calls its values, ``column`` the table's."""

    column: str
    name: str
    table: str | None
    """The table that the column was written with."""
    alias: str | None
    """What the list is called as a table."""
    values: tuple[Word, ...]
    """The words between [ and ]."""


def cut_lists(words: list[Word]) -> tuple[list[Word], tuple[JoinedList, ...]]:
    """The statement without the joins to lists, and the lists."""
    found = []
    place = _start(words, 0)
    while place is not None:
        reading = _Reading(words, place)
        found.append(reading.joined())
        words = [*words[:place], *words[reading.place :]]
        place = _start(words, place)
    return words, tuple(found)


def _start(words: Sequence[Word], first: int) -> int | None:
    """Where RIGHT JOIN UNNEST( or RIGHT JOIN (SELECT DISTINCT x FROM UNNEST( begins, outside of all brackets."""
    depth = 0
    for place, word in enumerate(words):
        depth += (word.token_type.name == "L_PAREN") - (word.token_type.name == "R_PAREN")
        if place < first or depth or not is_word(word, "RIGHT"):
            continue
        after = place + (2 if _is(words, place + 1, "OUTER") else 1)
        if not _is(words, after, "JOIN"):
            continue
        nested = [_is(words, after + 2, "SELECT"), _is(words, after + 3, "DISTINCT"), _is(words, after + 6, "UNNEST")]
        if _is(words, after + 1, "UNNEST") or all(nested):
            return place
    return None


def _is(words: Sequence[Word], place: int, name: str) -> bool:
    return place < len(words) and is_word(words[place], name)


class _Reading:
    """One join being read, word by word."""

    def __init__(self, words: Sequence[Word], place: int) -> None:
        self._words = words
        self.place = place

    def joined(self) -> JoinedList:
        self._take("RIGHT")
        self._may_take("OUTER")
        self._take("JOIN")
        name, alias, values = self._nested() if self._kind() == "L_PAREN" else self._plain()
        if self._may_take("USING"):
            self._sign("L_PAREN", "(")
            column = self._name()
            self._sign("R_PAREN", ")")
            if column.lower() != name.lower():
                raise _unread(f"USING ({column[:40]})", f"the list is called {name[:40]}")
            return JoinedList(column, name, None, alias, values)
        self._take("ON")
        sides = [self._path()]
        self._sign("EQ", "=")
        sides.append(self._path())
        return self._matched(sides, name, alias, values)

    def _matched(
        self, sides: list[tuple[str | None, str]], name: str, alias: str | None, values: tuple[Word, ...]
    ) -> JoinedList:
        """Which side of ON is the list: its own name, or the list's alias and that name."""
        known = (None, alias.lower()) if alias is not None else (None,)
        own = [
            place
            for place, (table, column) in enumerate(sides)
            if column.lower() == name.lower() and (None if table is None else table.lower()) in known
        ]
        if len(own) != 1:
            raise _unread("ON …", f"takes a column of the table = {name[:40]}")
        table, column = sides[1 - own[0]]
        return JoinedList(column, name, table, alias, values)

    def _plain(self) -> tuple[str, str | None, tuple[Word, ...]]:
        values = self._list()
        self._may_take("AS")
        name = self._name()
        return name, None, values

    def _nested(self) -> tuple[str, str | None, tuple[Word, ...]]:
        """(SELECT DISTINCT name FROM UNNEST([…]) AS name) AS alias"""
        self._sign("L_PAREN", "(")
        self._take("SELECT")
        self._take("DISTINCT")
        name = self._name()
        self._take("FROM")
        values = self._list()
        self._may_take("AS")
        if self._name().lower() != name.lower():
            raise _unread("SELECT DISTINCT …", "shows the values of the list under their name")
        self._sign("R_PAREN", ")")
        alias = self._name() if self._may_take("AS") or self._kind() in ("VAR", "IDENTIFIER") else None
        return name, alias, values

    def _list(self) -> tuple[Word, ...]:
        self._take("UNNEST")
        self._sign("L_PAREN", "(")
        self._sign("L_BRACKET", "[")
        start = self.place
        while self._kind() not in ("R_BRACKET", "L_BRACKET", "SELECT", ""):
            self.place += 1
        values = tuple(self._words[start : self.place])
        self._sign("R_BRACKET", "]")
        self._sign("R_PAREN", ")")
        if not values:
            raise _unread("UNNEST([])", "the list names at least one group")
        return values

    def _path(self) -> tuple[str | None, str]:
        first = self._name()
        if self._kind() != "DOT":
            return None, first
        self.place += 1
        return first, self._name()

    def _kind(self) -> str:
        return self._words[self.place].token_type.name if self.place < len(self._words) else ""

    def _take(self, name: str) -> None:
        if not self._may_take(name):
            raise _unread("RIGHT JOIN UNNEST(…)", f"{name} is missing")

    def _may_take(self, name: str) -> bool:
        found = _is(self._words, self.place, name)
        self.place += found
        return found

    def _sign(self, kind: str, sign: str) -> None:
        if self._kind() != kind:
            raise _unread("RIGHT JOIN UNNEST(…)", f"{sign} is missing")
        self.place += 1

    def _name(self) -> str:
        if self._kind() not in ("VAR", "IDENTIFIER"):
            raise _unread("RIGHT JOIN UNNEST(…)", "a name is missing, or is a word of SQL that needs double quotes")
        self.place += 1
        return self._words[self.place - 1].text


def _unread(written: str, problem: str) -> NotUnderstood:
    return NotUnderstood(written, problem, _EXAMPLE)
