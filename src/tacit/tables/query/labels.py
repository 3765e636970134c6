"""The form of a tree, however it was made: names that every engine can write, each once, and places that there are.

Engines find columns by their names, so two columns of one name could be taken for each other: of a relation, one for
the column that names the unit. SQL and the Python API make no such tree; one that was built by hand is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tacit.errors import InvalidParameter
from tacit.tables.expressions.literals import literal
from tacit.tables.query.relations import Joined, Listed, Relation, Stacked

__all__ = ["check_labels", "check_relation", "check_sets"]

_UNWRITABLE = re.compile(r"[\0\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029\ud800-\udfff]")
"""NUL, whatever ends a line, and halves of characters: no text that is indented and encoded keeps them."""


def check_labels(names: Iterable[object]) -> None:
    """Refuse a name that is empty or blank, or that no engine can be asked for: free, before anything is paid."""
    for name in names:
        if not isinstance(name, str) or not name.strip() or _UNWRITABLE.search(name):
            raise InvalidParameter("name", given=name, allowed="visible text on one line")


def check_relation(relation: Relation | None) -> None:
    """Refuse a relation, or one that it is computed from, that names two columns alike or is no whole."""
    if relation is None:
        return
    below: Sequence[Relation | None] = relation.below()
    match relation:
        case Stacked(parts):
            if not parts:
                raise InvalidParameter("UNION ALL", given="no parts", allowed="at least one")
            below = [one.source for one in parts]
        case Joined():
            _check_members(relation)
        case Listed():
            _check_cells(relation)
    _check_names(relation.names())
    for one in below:
        check_relation(one)


def check_sets(sets: Sequence[Sequence[int]], keys: int) -> None:
    """Refuse sets of keys that name a place at which there is none."""
    if any(at not in range(keys) for one in sets for at in one):
        raise InvalidParameter("GROUP BY", given="a set of keys that are not there", allowed="places of its keys")


def _check_names(names: Sequence[str]) -> None:
    check_labels(names)
    known = set[str]()
    for name in names:
        if name.lower() in known:
            raise InvalidParameter("FROM", given=name, allowed="each name of a column once, whatever its capitals")
        known.add(name.lower())


def _check_members(relation: Joined) -> None:
    places = range(len(relation.members))
    if not relation.members or not relation.columns or any(one.member not in places for one in relation.columns):
        raise InvalidParameter("JOIN", given="columns of no member", allowed="members, and columns of them")
    if any(
        one.relation is not None and one.relation.is_subquery and not one.relation.names() for one in relation.members
    ):
        raise InvalidParameter("JOIN", given="a member without columns", allowed="members with columns")


def _check_cells(relation: Listed) -> None:
    """As many cells in each row as there are names; each a constant that is the same in every engine."""
    if not relation.rows or any(len(row) != len(relation.columns) for row in relation.rows):
        raise InvalidParameter("VALUES", given="rows of other lengths", allowed="a value for each name")
    for row in relation.rows:
        for cell in row:
            literal(cell.value)
