"""Several tables after FROM, as they are written: joins, UNION ALL, and tables that a statement writes itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tacit.tables.expressions.tree import Column, Expression, Literal
from tacit.tables.query.joins import (
    ON,
    few,
    made_list,
    made_stack,
    of_all_sides,
    refuse_kind,
    relation_of,
    selected,
    using,
)
from tacit.tables.query.limits import Sizes
from tacit.tables.query.refusals import NotUnderstood, not_yet, void
from tacit.tables.query.relations import Join, Joined, Listed, Member, Selected, Stacked
from tacit.tables.query.rows import Catalogue, JoinedNames, Rows, Side
from tacit.tables.sql.grammar import exp
from tacit.tables.sql.scope import only
from tacit.tables.sql.translate import scope

__all__ = ["Found", "joined", "joined_to", "listed", "stacked", "unbracketed"]


class Reading(Protocol):
    """The statement that is being read."""

    @property
    def catalogue(self) -> Catalogue:
        """The tables that can be named."""

    @property
    def sizes(self) -> Sizes:
        """How large the statement is by now."""

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
    refuse_kind(method or (kind if kind in ("SEMI", "ANTI", "CROSS", "STRAIGHT") else ""))
    refuse_kind(side)
    if not node.args.get("on") and not node.args.get("using"):
        raise not_yet("a second table without ON", ON)
    only(node, "this", "side", "kind", "on", "using")
    found: exp.Expression = node.this
    return found


def joined(first: Rows, joins: Sequence[tuple[exp.Join, Rows]], reading: Reading) -> Found:
    """The first side joined to each of the others."""
    rows = [first, *(one for _, one in joins)]
    relations = [relation_of(one, reading.catalogue) for one in rows]
    few(relations)
    columns, sides = of_all_sides(rows, relations, reading.catalogue)
    members = [Member(relations[0])]
    for place, (node, _) in enumerate(joins, start=1):
        join = Join.LEFT if node.args.get("side") else Join.INNER
        sides[place], on = _condition(node, sides[: place + 1], reading)
        members.append(Member(relations[place], join, on))
    return Found(Joined(tuple(members), tuple(columns)), JoinedNames(tuple(sides)))


def _condition(node: exp.Join, sides: Sequence[Side], reading: Reading) -> tuple[Side, Expression]:
    """The last side, and on what it is joined."""
    names = node.args.get("using")
    if names:
        return using([str(one.this) for one in names], sides)
    naming = JoinedNames(tuple(sides))
    places = scope(naming.aliases, "ON", aggregates=False, sizes=reading.sizes, naming=naming)
    on = places.expression(node.args["on"])
    return sides[-1], on.changed(Column, lambda column: Column(column.name))  # however they were written


def stacked(node: exp.Union, reading: Reading) -> Stacked:
    """UNION ALL of SELECTs that are each row-wise, or group by the unit."""
    parts: list[Selected] = []
    for one in _united(node):
        if not isinstance(one, exp.Select):
            raise not_yet(f"{type(one).__name__.upper()} in UNION ALL", "Each part is one SELECT … FROM a table.")
        parts.append(selected(reading.read(_all_named(one) if parts else one), reading.catalogue))
    return made_stack(parts)


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
    """The SELECTs of a union, in order; read in a loop, since a long union is a deep tree."""
    found, waiting = list[exp.Expression](), [node]
    while waiting:
        one = unbracketed(waiting.pop())
        if not isinstance(one, exp.Union):
            found.append(one)
            continue
        if type(one) is not exp.Union or one.args.get("distinct"):
            reason = "it looks at all rows to find equal ones, so that a row can depend on other people's"
            instead = "Write UNION ALL, which keeps them all, and GROUP BY or COUNT(DISTINCT …) outside."
            raise void("UNION", reason, instead)
        only(one, "this", "expression", "distinct")
        waiting += [one.expression, one.this]
    return found


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
        if not all(one.is_literal for one in cells):
            raise NotUnderstood(
                "VALUES", "lists constants", "Write (VALUES ('Lund', 'Sweden'), …) AS c(city, country)."
            )
        rows.append(tuple(Literal(one.constant) for one in cells))
    width = len(rows[0]) if rows else 0
    return made_list(names or [f"col{i}" for i in range(width)], rows)
