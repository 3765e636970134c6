"""Several tables after FROM: joins, UNION ALL, and tables that a statement writes itself.

A side that is no plain table becomes a subquery of its own, so that what is right of LEFT JOIN is computed before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tacit.errors import InvalidParameter
from tacit.tables.expressions import Call, Column, Expression, Literal
from tacit.tables.relations import (
    MOST_TABLES,
    Base,
    Join,
    Joined,
    Listed,
    Member,
    Relation,
    Selected,
    Shown,
    Stacked,
    Taken,
    called,
    tables_in,
    taken_name,
)
from tacit.tables.size import Sizes
from tacit.tables.sql.grammar import exp
from tacit.tables.sql.refusals import NotUnderstood, not_yet, shortened, void
from tacit.tables.sql.rows import JoinedNames, Rows, Side
from tacit.tables.sql.scope import only
from tacit.tables.sql.translate import scope

__all__ = ["Found", "joined", "joined_to", "listed", "stacked", "unbracketed"]

_ON = "Write JOIN regions ON visits.city = regions.city, or USING (city)."
_MOST_ROWS = 10_000


class Reading(Protocol):
    """The statement that is being read."""

    @property
    def table(self) -> str:
        """What the policy calls its table."""

    @property
    def sizes(self) -> Sizes:
        """How large the statement is by now."""

    def columns_of(self, rows: Rows) -> list[tuple[str, Expression]]:
        """The columns that rows show, in order, and what each means."""

    def read(self, node: exp.Select) -> Rows:
        """A SELECT that stays row-wise, or groups."""


@dataclass(frozen=True, slots=True)
class Found:
    """A join, and what its columns may be called."""

    relation: Joined
    naming: JoinedNames


def joined_to(node: exp.Join) -> exp.Expression:
    """What is joined; refuses joins that make rows of nobody, or that hide what they match."""
    side, kind, method = (str(node.args.get(name) or "").upper() for name in ("side", "kind", "method"))
    if method or kind in ("SEMI", "ANTI", "CROSS", "STRAIGHT"):
        raise not_yet(f"{method or kind} JOIN", f"Joins are JOIN and LEFT JOIN, with a condition. {_ON}")
    if side in ("RIGHT", "FULL"):
        reason = "it keeps rows of the right side that match nothing, which belong to nobody"
        raise void(f"{side} JOIN", reason, "Write the private table first, and LEFT JOIN.")
    if not node.args.get("on") and not node.args.get("using"):
        raise not_yet("a second table without ON", _ON)
    only(node, "this", "side", "kind", "on", "using")
    found: exp.Expression = node.this
    return found


def joined(first: Rows, joins: Sequence[tuple[exp.Join, Rows]], reading: Reading) -> Found:
    """The first side joined to each of the others."""
    rows = [first, *(one for _, one in joins)]
    relations = [_relation(one, reading) for one in rows]
    _few(relations)
    columns, sides = _columns(rows, relations, reading)
    members = [Member(relations[0])]
    for place, (node, _) in enumerate(joins, start=1):
        join = Join.LEFT if node.args.get("side") else Join.INNER
        sides[place], on = _condition(node, sides[: place + 1], reading)
        members.append(Member(relations[place], join, on))
    return Found(Joined(tuple(members), tuple(columns)), JoinedNames(tuple(sides)))


def _columns(
    rows: Sequence[Rows], relations: Sequence[Relation | None], reading: Reading
) -> tuple[list[Taken], list[Side]]:
    """Every column of every side, by the name that the join gives it."""
    columns, sides, names = list[Taken](), list[Side](), called(relations, reading.table)
    for place, one in enumerate(rows):
        own = dict[str, str]()
        for column, _ in reading.columns_of(one):
            spelled = column if _is_leaf(relations[place]) else column.lower()
            name = taken_name(place, names[place], spelled, [taken.name for taken in columns])
            columns.append(Taken(name, place, spelled))
            own[column.lower()] = name
        taken_before = frozenset().union(*(side.aliases for side in sides)) & one.names
        if taken_before:
            again = shortened(min(taken_before))
            raise NotUnderstood(again, "is the name of two tables of a join", f"Write {again} AS other.")
        sides.append(Side(one.names, own))
    return columns, sides


def _condition(node: exp.Join, sides: Sequence[Side], reading: Reading) -> tuple[Side, Expression]:
    """The last side, and on what it is joined."""
    using = node.args.get("using")
    if using:
        return _using([str(one.this) for one in using], sides)
    naming = JoinedNames(tuple(sides))
    places = scope(naming.aliases, "ON", aggregates=False, sizes=reading.sizes, naming=naming)
    return sides[-1], _plain(places.expression(node.args["on"]))


def _using(names: Sequence[str], sides: Sequence[Side]) -> tuple[Side, Expression]:
    """Columns of one name on both sides, equal; from here on that name means the left one."""
    left, right = JoinedNames(tuple(sides[:-1])), sides[-1]
    equal = []
    for name in names:
        known = {one for side in sides[:-1] for one in side.columns}
        if name.lower() not in known or name.lower() not in right.columns:
            raise NotUnderstood(f"USING ({shortened(name)})", "names a column of both sides", _ON)
        equal.append(Call("=", (Column(left.column(None, name)), Column(right.columns[name.lower()]))))
    side = Side(right.aliases, right.columns, frozenset(name.lower() for name in names))
    return side, equal[0] if len(equal) == 1 else Call("and", tuple(equal))


def _plain(expression: Expression) -> Expression:
    """Columns by their names in the join, however they were written."""
    if isinstance(expression, Column):
        return Column(expression.name)
    return expression.with_parts(tuple(_plain(part) for part in expression.parts()))


def _is_leaf(relation: Relation | None) -> bool:
    return relation is None or isinstance(relation, Base | Listed)


def _relation(rows: Rows, reading: Reading) -> Relation | None:
    """A side as it is joined: a table, or a subquery."""
    return rows.relation if rows.is_plain and _is_leaf(rows.relation) else _selected(rows, reading)


def _selected(rows: Rows, reading: Reading) -> Selected:
    shown = tuple(Shown(name.lower(), meaning) for name, meaning in reading.columns_of(rows))
    return Selected(shown, rows.where, rows.relation)


def stacked(node: exp.Union, reading: Reading) -> Stacked:
    """UNION ALL of SELECTs that are each row-wise, or group by the unit."""
    parts: list[Selected] = []
    for one in _united(node):
        if not isinstance(one, exp.Select):
            raise not_yet(f"{type(one).__name__.upper()} in UNION ALL", "Each part is one SELECT … FROM a table.")
        parts.append(_selected(reading.read(_all_named(one) if parts else one), reading))
    if len({len(one.columns) for one in parts}) > 1:
        counts = " and ".join(str(len(one.columns)) for one in parts)
        raise NotUnderstood("UNION ALL", "takes equally many columns in each part", f"Here there are {counts}.")
    _few(parts)
    return Stacked(tuple(parts))


def _all_named(node: exp.Select) -> exp.Select:
    """A part after the first, whose columns go by their place: those that are computed get a name."""
    node = node.copy()
    named = []
    for place, one in enumerate(node.expressions, start=1):
        is_named = isinstance(one, exp.Alias | exp.Column | exp.Star)
        named.append(one if is_named else exp.Alias(this=one, alias=exp.to_identifier(f"column {place}")))
    node.set("expressions", named)
    return node


def _united(node: exp.Expression) -> list[exp.Expression]:
    """The SELECTs of a union, in order."""
    node = unbracketed(node)
    if not isinstance(node, exp.Union):
        return [node]
    if type(node) is not exp.Union or node.args.get("distinct"):
        reason = "it looks at all rows to find equal ones, so that a row can depend on other people's"
        raise void("UNION", reason, "Write UNION ALL, which keeps them all, and GROUP BY or COUNT(DISTINCT …) outside.")
    only(node, "this", "expression", "distinct")
    return [*_united(node.this), *_united(node.expression)]


def unbracketed(node: exp.Expression) -> exp.Expression:
    """What stands in brackets that have no name."""
    while isinstance(node, exp.Subquery) and node.args.get("alias") is None:
        only(node, "this")
        node = node.this
    return node


def listed(node: exp.Values, names: Sequence[str], sizes: Sizes) -> Listed:
    """VALUES (…), (…) AS t(a, b): a table of constants."""
    places = scope(frozenset(), "VALUES", aggregates=False, sizes=sizes)
    rows = []
    for line in node.expressions:
        cells = places.each(line.expressions if isinstance(line, exp.Tuple) else [line])
        if not all(isinstance(one, Literal) for one in cells):
            raise NotUnderstood(
                "VALUES", "lists constants", "Write (VALUES ('Lund', 'Sweden'), …) AS c(city, country)."
            )
        rows.append(tuple(one for one in cells if isinstance(one, Literal)))
    width = len(rows[0]) if rows else 0
    columns = tuple(names) if names else tuple(f"col{i}" for i in range(width))
    if not width or any(len(row) != width for row in rows) or len(columns) != width:
        raise NotUnderstood(
            "VALUES", "takes rows of one length, and a name for each column", "Write AS c(city, country)."
        )
    if len({one.lower() for one in columns}) != width:
        raise NotUnderstood("VALUES", "takes each name of a column once")
    if len(rows) > _MOST_ROWS:
        raise InvalidParameter("VALUES", given=f"{len(rows)} rows", allowed=f"at most {_MOST_ROWS}")
    return Listed(columns, tuple(rows))


def _few(relations: Sequence[Relation | None]) -> None:
    if sum(tables_in(one) for one in relations) > MOST_TABLES:
        raise NotUnderstood("the statement", f"reads more than {MOST_TABLES} tables", "Ask several smaller questions.")
