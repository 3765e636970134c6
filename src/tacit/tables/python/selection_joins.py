"""Joins in Python: what can be joined, and on what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace

from tacit.errors import InvalidParameter
from tacit.tables.expressions.kinds import literal
from tacit.tables.expressions.tree import Call, Column, Expression, Literal
from tacit.tables.python.columns import Term
from tacit.tables.python.selection_rows import column_as_called, refuse_aggregates, spelled
from tacit.tables.query.canonical import check_labels
from tacit.tables.query.joins import add_side, few, is_leaf, made_list, refuse_kind, relation_of, using
from tacit.tables.query.limits import Sizes
from tacit.tables.query.refusals import NotUnderstood, not_yet, shortened
from tacit.tables.query.relations import Join, Joined, Member, Taken
from tacit.tables.query.rows import Catalogue, JoinedNames, Rows, Side, conjoined

__all__ = ["Match", "join_of", "joined", "listed", "match_of"]

Match = Callable[[list[Side]], "tuple[Side, Expression]"]
"""How the last of these sides is joined to those before: the side, and the condition."""

_ON = 'Write on="city", or on=col("visits.city") == col("regions.city").'
_HOW = {"inner": Join.INNER, "left": Join.LEFT}


def join_of(how: str) -> Join:
    """What ``how=`` says; refuses joins as SQL does."""
    if not isinstance(how, str):
        raise InvalidParameter("how", given=how, allowed='"inner" or "left"')
    if how in _HOW:
        return _HOW[how]
    word = how.upper()
    refuse_kind({"OUTER": "FULL"}.get(word, word))
    raise InvalidParameter("how", given=how, allowed='"inner" or "left"')


def match_of(
    on: str | Term | Sequence[str | Term] | None,
    left_on: str | Sequence[str] | None,
    right_on: str | Sequence[str] | None,
    catalogue: Catalogue,
) -> Match:
    """What rows are joined on: names of columns, conditions, or names for each side."""
    if on is None and left_on is None and right_on is None:
        raise not_yet("a second table without ON", _ON)
    if on is not None and left_on is None and right_on is None:
        given = list(on) if isinstance(on, tuple | list) else [on]
        if not given or not all(isinstance(one, str | Term) for one in given):
            raise InvalidParameter("on", given=on, allowed='names of columns, or col("a.x") == col("b.y")')
        names = [one for one in given if isinstance(one, str)]
        return _matching(names, [one.expression for one in given if isinstance(one, Term)], catalogue)
    left, right = ([one] if isinstance(one, str) else list(one or ()) for one in (left_on, right_on))
    if on is not None or not left or len(left) != len(right) or not all(isinstance(one, str) for one in left + right):
        allowed = "on=, or as many names in left_on= as in right_on="
        raise InvalidParameter("join", given=f"on={on!r}, left_on={left_on!r}, right_on={right_on!r}", allowed=allowed)
    return _equal(left, right, catalogue)


def listed(columns: Mapping[str, Sequence[object]]) -> Rows:
    """A table of constants, by its columns."""
    check_labels(columns)
    for name, values in columns.items():
        if isinstance(values, str | bytes | Mapping | Set) or not isinstance(values, Iterable):
            raise InvalidParameter(name, given=type(values).__name__, allowed="a list of values, in order")
    cells = [[literal(value) for value in values] for values in columns.values()]
    if not cells or len({len(one) for one in cells}) != 1 or not cells[0]:
        raise InvalidParameter(
            "table",
            given=f"columns of {', '.join(str(len(one)) for one in cells) or 'no'} values",
            allowed="lists of one length, by the names of columns",
            hint='Write {"city": ["Lund", "Gent"], "country": ["Sweden", "Belgium"]}.',
        )
    lines: list[tuple[Literal, ...]] = list(zip(*cells, strict=True))
    return Rows(frozenset(), relation=made_list(tuple(columns), lines))


def joined(left: Rows, right: Rows, join: Join, match: Match, catalogue: Catalogue) -> Rows:
    """Each match a row. What the left side leaves out is left out of the join as well."""
    right = right.settled
    open_left = replace(left, where=None)
    if isinstance(left.relation, Joined) and left.naming is not None and open_left.is_plain:
        members, columns = list(left.relation.members), list(left.relation.columns)
        sides, where = list(left.naming.sides), left.where
    else:
        is_table = open_left.is_plain and is_leaf(left.relation)
        first = open_left if is_table else left.settled
        members, columns, sides = [Member(relation_of(first, catalogue))], list[Taken](), list[Side]()
        add_side(first, [members[0].relation], catalogue, columns, sides)
        own = sides[0].columns  # a condition on a table is one over the join's names of its columns
        where = left.where if is_table else None
        where = where and where.changed(Column, lambda column: Column(own.get(column.name.lower(), column.name)))
    again = right.names & frozenset().union(*(side.aliases for side in sides))
    if again and right.is_plain and is_leaf(right.relation):
        problem = "is the name of two tables of a join"
        raise NotUnderstood(shortened(min(again)), problem, 'Give it another: join(…, name="other").')
    right = replace(right, names=frozenset()) if again else right
    relations = [*(one.relation for one in members), relation_of(right, catalogue)]
    few(relations)
    add_side(right, relations, catalogue, columns, sides)
    sides[-1], on = match(sides)
    members.append(Member(relations[-1], join, on))
    naming = JoinedNames(tuple(sides))
    return Rows(naming.aliases, where=where, relation=Joined(tuple(members), tuple(columns)), naming=naming)


def _matching(names: Sequence[str], conditions: Sequence[Expression], catalogue: Catalogue) -> Match:
    """Equal in the columns of these names, and the conditions hold."""

    def match(sides: list[Side]) -> tuple[Side, Expression]:
        side, equal = using(names, sides, _ON) if names else (sides[-1], None)
        here = JoinedNames(tuple(sides))
        rows = Rows(here.aliases, naming=here)
        found = []
        for one in conditions:
            Sizes().of(one)
            refuse_aggregates(one, "ON")
            found.append(spelled(one, rows, catalogue))
        on = conjoined([equal, *found])
        assert on is not None
        return side, on

    return match


def _equal(left: Sequence[str], right: Sequence[str], catalogue: Catalogue) -> Match:
    """Equal in columns that the two sides name differently."""

    def match(sides: list[Side]) -> tuple[Side, Expression]:
        before, after = JoinedNames(tuple(sides[:-1])), JoinedNames((sides[-1],))
        here, there = Rows(before.aliases, naming=before), Rows(after.aliases, naming=after)
        pairs = [
            Call("=", (Column(_found(one, here, catalogue)), Column(_found(other, there, catalogue))))
            for one, other in zip(left, right, strict=True)
        ]
        on = conjoined(pairs)
        assert on is not None
        return sides[-1], on

    return match


def _found(name: str, rows: Rows, catalogue: Catalogue) -> str:
    assert rows.naming is not None
    given = column_as_called(name, rows, catalogue)
    known = [one for side in rows.naming.sides for one in side.columns.values()]
    if given in known:
        return given
    shown = ", ".join(shortened(one) for side in rows.naming.sides for one in list(side.columns)[:20])
    raise NotUnderstood(shortened(name), f"is no column of that side, which has {shown}")
