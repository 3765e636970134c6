"""Joins and unions as relations, from the rows of each side: what SQL and the Python API both make them with.

A side that is no plain table becomes a subquery of its own, so that what is right of LEFT JOIN is computed before it.
"""

from __future__ import annotations

from collections.abc import Sequence

from tacit.errors import InvalidParameter
from tacit.tables.expressions.tree import Call, Column, Expression, Literal
from tacit.tables.query.refusals import NotUnderstood, not_yet, shortened, void
from tacit.tables.query.relations import (
    MOST_TABLES,
    Listed,
    Relation,
    Selected,
    Shown,
    Stacked,
    Taken,
    called,
    tables_in,
    taken_name,
)
from tacit.tables.query.rows import Catalogue, JoinedNames, Rows, Side

__all__ = [
    "ON",
    "add_side",
    "few",
    "is_leaf",
    "made_list",
    "made_stack",
    "of_all_sides",
    "refuse_kind",
    "relation_of",
    "selected",
    "using",
]

ON = "Write JOIN regions ON visits.city = regions.city, or USING (city)."
SELF = "With itself, a table joins by its unit: FROM visits a JOIN visits b USING (user_id)."
_MOST_ROWS = 10_000


def refuse_kind(kind: str) -> None:
    """Refuse a join that makes rows of nobody, or that hides what it matches; by the words before JOIN."""
    if kind in ("RIGHT", "FULL"):
        reason = "it keeps rows of the right side that match nothing, which belong to nobody"
        raise void(f"{kind} JOIN", reason, "Write the private table first, and LEFT JOIN.")
    if kind not in ("", "INNER", "OUTER", "LEFT"):
        raise not_yet(f"{kind} JOIN", f"Joins are JOIN and LEFT JOIN, with a condition. {ON} {SELF}")


def of_all_sides(
    rows: Sequence[Rows], relations: Sequence[Relation | None], catalogue: Catalogue
) -> tuple[list[Taken], list[Side]]:
    """Every column of every side, by the name that the join gives it; and the sides."""
    columns, sides = list[Taken](), list[Side]()
    for place, one in enumerate(rows):
        add_side(one, relations[: place + 1], catalogue, columns, sides)
    return columns, sides


def add_side(
    rows: Rows, relations: Sequence[Relation | None], catalogue: Catalogue, columns: list[Taken], sides: list[Side]
) -> None:
    """The last of these relations, which shows the rows, is one more side: its columns join those that there are."""
    place, own = len(relations) - 1, dict[str, str]()
    member = called(relations, catalogue.table)[place]
    for column, _ in catalogue.columns_of(rows):
        spelled = column if is_leaf(relations[place]) else column.lower()
        name = taken_name(place, member, spelled, [taken.name for taken in columns])
        columns.append(Taken(name, place, spelled))
        own[column.lower()] = name
    taken_before = frozenset().union(*(side.aliases for side in sides)) & rows.names
    if taken_before:
        again = shortened(min(taken_before))
        raise NotUnderstood(again, "is the name of two tables of a join", f"Write {again} AS other.")
    sides.append(Side(rows.names, own))


def using(names: Sequence[str], sides: Sequence[Side], hint: str = ON) -> tuple[Side, Expression]:
    """Columns of one name on both sides, equal; from here on that name means the left one. The last side, and that."""
    left, right = JoinedNames(tuple(sides[:-1])), sides[-1]
    equal = []
    for name in names:
        known = {one for side in sides[:-1] for one in side.columns}
        if name.lower() not in known or name.lower() not in right.columns:
            raise NotUnderstood(f"USING ({shortened(name)})", "names a column of both sides", hint)
        equal.append(Call("=", (Column(left.column(None, name)), Column(right.columns[name.lower()]))))
    side = Side(right.aliases, right.columns, frozenset(name.lower() for name in names))
    return side, equal[0] if len(equal) == 1 else Call("and", tuple(equal))


def is_leaf(relation: Relation | None) -> bool:
    """Whether it is a table, or a list."""
    return relation is None or not relation.is_subquery


def relation_of(rows: Rows, catalogue: Catalogue) -> Relation | None:
    """A side as it is joined: a table, or a subquery."""
    return rows.relation if rows.is_plain and is_leaf(rows.relation) else selected(rows, catalogue)


def selected(rows: Rows, catalogue: Catalogue) -> Selected:
    """The rows as a subquery."""
    shown = tuple(Shown(name.lower(), meaning) for name, meaning in catalogue.columns_of(rows))
    return Selected(shown, rows.where, rows.relation)


def made_stack(parts: Sequence[Selected]) -> Stacked:
    """UNION ALL of the parts."""
    if len({len(one.columns) for one in parts}) > 1:
        counts = " and ".join(str(len(one.columns)) for one in parts)
        raise NotUnderstood("UNION ALL", "takes equally many columns in each part", f"Here there are {counts}.")
    few(parts)
    return Stacked(tuple(parts))


def made_list(columns: Sequence[str], rows: Sequence[tuple[Literal, ...]]) -> Listed:
    """A table of constants."""
    width = len(rows[0]) if rows else 0
    if not width or any(len(row) != width for row in rows) or len(columns) != width:
        raise NotUnderstood(
            "VALUES", "takes rows of one length, and a name for each column", "Write AS c(city, country)."
        )
    if len({one.lower() for one in columns}) != width:
        raise NotUnderstood("VALUES", "takes each name of a column once")
    if len(rows) > _MOST_ROWS:
        raise InvalidParameter("VALUES", given=f"{len(rows)} rows", allowed=f"at most {_MOST_ROWS}")
    return Listed(tuple(columns), tuple(rows))


def few(relations: Sequence[Relation | None]) -> None:
    """Refuse what is made of too many tables."""
    if sum(tables_in(one) for one in relations) > MOST_TABLES:
        raise NotUnderstood("the statement", f"reads more than {MOST_TABLES} tables", "Ask several smaller questions.")
