"""Relations against the policy: what passes has rows that are each of one unit. Nothing here sees data.

The rules, and why they suffice, are docs/proofs/joins.md: a join with a public table adds nothing that is anybody's; a
join of private tables must say that both units are equal; a union is of private tables alone. Every checked relation
carries its unit, whether the statement names it or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tacit.errors import InvalidParameter, NotPrivate
from tacit.tables.check.fan_out import Side, joined_size, rows_of_one, rows_per_unit
from tacit.tables.check.listed import listed_table, matches_once
from tacit.tables.check.per_unit import per_unit_view
from tacit.tables.check.public_values import merged
from tacit.tables.check.row_work import admit_row_work
from tacit.tables.check.rows import View, ViewRows, open_columns
from tacit.tables.check.types import Words
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.operators import common_kind
from tacit.tables.expressions.tree import Call, Column, Expression
from tacit.tables.policy.policy import ColumnPolicy, Policy, Role
from tacit.tables.query.per_unit import PerUnit
from tacit.tables.query.relations import (
    Base,
    Few,
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
    taken_name,
)

__all__ = ["view_of"]

_ROWS = (
    "each row is protected by itself here, and a join or a union can make several rows of one: one person would count "
    "several times. Name a column as the unit in the policy; or join a list in the statement in which every key stands "
    "once: JOIN (VALUES ('Lund', 'Sweden'), …) AS c(city, country) ON visits.city = c.city"
)


def view_of(relation: Relation, policy: Policy) -> View:
    """The relation, checked; refuses one whose rows are not each of one unit."""
    if policy.unit.column is None and isinstance(relation, Joined):
        return _rows_view(relation, policy)
    found = _view(relation, policy)
    if found.unit is None or found.relation is None:
        raise NotPrivate(
            "FROM: nothing here is private, so there is nobody to protect and no budget to spend. Read the public "
            f"table itself, or join {policy.table} to it."
        )
    return found


def _view(relation: Relation | None, policy: Policy) -> View:
    if relation is None:
        return View(None, open_columns(policy.columns.values(), policy.unit.column), policy.unit.column)
    if isinstance(relation, PerUnit):
        return _grouped(relation, policy)
    if isinstance(relation, Listed):
        return listed_table(relation)
    if policy.unit.column is None:
        raise NotPrivate(f"{_word(relation)}: {_ROWS}.")
    match relation:
        case Base(table):
            return _base(table, policy)
        case Selected():
            return _selected(relation, policy)
        case Stacked():
            return _stacked(relation, policy)
        case Joined():
            return _joined(relation, policy)
    raise InvalidParameter("FROM", given=type(relation).__name__, allowed="a relation")


def _rows_view(relation: Joined, policy: Policy) -> View:
    """Where each row is a unit: lists in which a row finds at most one match, so that it stays one row."""
    if relation.members[0].relation is not None:
        raise NotPrivate(f"JOIN: {_ROWS}.")
    for place, member in enumerate(relation.members[1:], start=1):
        columns = relation.columns
        if not isinstance(member.relation, Listed) or not any(
            matches_once(one, place, member.relation, columns, policy) for one in _parts(member.on)
        ):
            raise NotPrivate(f"JOIN: {_ROWS}.")
    return _joined(relation, policy)


def _word(relation: Relation) -> str:
    return "UNION ALL" if isinstance(relation, Stacked) else "JOIN"


def _grouped(relation: PerUnit, policy: Policy) -> View:
    below = None if relation.source is None else view_of(relation.source, policy)
    return per_unit_view(relation, below, policy)


def _base(table: str, policy: Policy) -> View:
    found = {name.lower(): one for name, one in policy.others.items()}.get(table.lower())
    if found is None:
        raise NotPrivate(f"{table} is no table that may be asked about.")
    return View(Base(found.name), open_columns(found.columns.values(), found.unit), found.unit, found.size)


def _selected(relation: Selected, policy: Policy) -> View:
    """Row by row: the unit of a row is that of the row below."""
    part = _part(relation, policy)
    for name, one in zip(part.relation.names(), part.columns, strict=True):
        if one is None:
            raise InvalidParameter("a subquery", given=Words(f"{name}, which is NULL"), allowed="columns of values")
    columns = {one.name: one for one in part.columns if one is not None}
    if part.unit is None:
        return View(part.relation, columns, None, part.size)
    held = [one for one in part.relation.columns if one.expression == Column(part.unit)]
    if held:
        return View(part.relation, columns, held[0].name, rows=part.made, once=part.once)
    name = taken_name(0, "", part.unit, columns)
    carried = replace(part.relation, columns=(*part.relation.columns, Shown(name, Column(part.unit))))
    columns[name] = ColumnPolicy(name, part.kind_of_unit, Role.IDENTIFIER)
    return View(carried, columns, name, rows=part.made, once=part.once)


@dataclass(frozen=True, slots=True)
class _Part:
    """A checked `Selected`, its columns described, and the unit of what it reads."""

    relation: Selected
    columns: list[ColumnPolicy | None]
    unit: str | None
    rows: ViewRows
    size: int
    made: int
    """How many rows one of the table became."""
    once: bool
    """Whether no unit has more than one row: of one that has, conditions leave it or take it away."""

    @property
    def kind_of_unit(self) -> Kind:
        assert self.unit is not None
        return self.rows.policy.columns[self.unit].kind


def _part(relation: Selected, policy: Policy) -> _Part:
    below = _view(relation.source, policy)
    rows = ViewRows(below, policy)
    found = [rows.column(one) for one in relation.columns]
    where = None if relation.where is None else rows.condition(relation.where, "WHERE")
    checked = Selected(tuple(shown for shown, _ in found), where, below.relation)
    admit_row_work(below.rows, (where, *(shown.expression for shown in checked.columns)))
    return _Part(checked, [column for _, column in found], below.unit, rows, below.size, below.rows, below.once)


def _stacked(relation: Stacked, policy: Policy) -> View:
    """Rows of private tables of one unit, one table after the other."""
    parts = [_part(one, policy) for one in relation.parts]
    names = relation.names()
    if any(len(one.columns) != len(names) for one in parts):
        raise InvalidParameter("UNION ALL", given=Words("different numbers of columns"), allowed="equally many in each")
    if any(one.unit is None for one in parts):
        raise NotPrivate(
            "UNION ALL: a part is of public rows, which belong to nobody; they could not be told from people. Join the "
            "public table instead, or leave that part out."
        )
    _of_one_kind([one.rows.policy.columns[str(one.unit)] for one in parts])
    columns = [_united(name, place, parts) for place, name in enumerate(names)]
    held = [
        place
        for place in range(len(names))
        if all(one.relation.columns[place].expression == Column(str(one.unit)) for one in parts)
    ]
    made = sum(one.made for one in parts)
    if held:
        unit = names[held[0]]
        return View(Stacked(tuple(one.relation for one in parts)), {one.name: one for one in columns}, unit, rows=made)
    unit = taken_name(0, "", str(parts[0].unit), names)
    carried = tuple(
        replace(one.relation, columns=(*one.relation.columns, Shown(unit, Column(str(one.unit))))) for one in parts
    )
    columns.append(ColumnPolicy(unit, parts[0].kind_of_unit, Role.IDENTIFIER))
    return View(Stacked(carried), {one.name: one for one in columns}, unit, rows=made)


def _of_one_kind(units: Sequence[ColumnPolicy]) -> None:
    """Refuse units that would be equal only after a cast, which can make two of one."""
    if len({one.kind for one in units}) > 1:
        named = " and ".join(f"{one.name} is {one.kind}" for one in units)
        raise NotPrivate(f"The columns that name the unit must be of one type: {named}. Change the policy.")


def _united(name: str, place: int, parts: Sequence[_Part]) -> ColumnPolicy:
    """A column of all parts: of the kind they have together, public only where it is so in each."""
    own = [one.columns[place] for one in parts]
    known = [one for one in own if one is not None]
    kind = common_kind(tuple(None if one is None else one.kind for one in own))
    if kind is None or not known:
        given = Words(f"{name}: {' and '.join('NULL' if one is None else str(one.kind) for one in own)}")
        raise InvalidParameter("UNION ALL", given=given, allowed="columns of one kind in each part", hint="Cast them.")
    if any(one.role is Role.IDENTIFIER for one in known):
        return ColumnPolicy(name, kind, Role.IDENTIFIER)
    lists = [one.rows.domain(one.relation.columns[place].expression) for one in parts]
    keys = merged([one for one in lists if one is not None]) if all(one is not None for one in lists) else None
    ends = [one.bounds for one in known if one.bounds is not None]
    bounds = (min(low for low, _ in ends), max(high for _, high in ends)) if len(ends) == len(known) else None
    return ColumnPolicy(
        name,
        kind,
        Role.PRIVATE if keys is None else Role.PUBLIC,
        bounds,
        known[0].group_bounds if len({one.group_bounds for one in known}) == 1 else None,
        known[0].granule if len({one.granule for one in known}) == 1 else None,
        keys,
    )


def _joined(relation: Joined, policy: Policy) -> View:
    """Each row is of the unit of its first private member; every other private member says that it is the same."""
    return _Joining(relation, policy).view()


class _Joining:
    """One join being checked, member by member."""

    def __init__(self, relation: Joined, policy: Policy) -> None:
        self._policy = policy
        self._sides = [_view(one.relation, policy) for one in relation.members]
        self._called = called([one.relation for one in relation.members], policy.table)
        self._hidden = [
            isinstance(one.relation, Selected) and side.unit not in one.relation.names()
            for one, side in zip(relation.members, self._sides, strict=True)
        ]
        self._relation = _with_units(relation, self._sides, self._called)
        taken = self._relation.columns
        self._columns = {one.name: _taken(one, relation.members[one.member], self._sides[one.member]) for one in taken}
        self._places = {one.name: one.member for one in taken}
        self._units = {
            place: next(one.name for one in taken if one.member == place and one.column == side.unit)
            for place, side in enumerate(self._sides)
            if side.unit is not None
        }
        rows_are_units = policy.unit.column is None
        self._first = min(self._units, default=0 if rows_are_units else None)

    def view(self) -> View:
        members = tuple(self._member(place, one) for place, one in enumerate(self._relation.members))
        unit = None if self._first is None else self._units.get(self._first)
        members, size, rows = self._bounded(members)
        admit_row_work(rows, (one.on for one in members))
        columns = {name: replace(one, repeats=None) for name, one in self._columns.items()}
        return View(Joined(members, self._relation.columns), columns, unit, size, rows)

    def _bounded(self, members: tuple[Member, ...]) -> tuple[tuple[Member, ...], int, int]:
        """With the limits that keep a unit's rows from being multiplied without end; the size, if all is public; and
        how many rows become of one, if not."""
        rows_are_units = self._policy.unit.column is None
        sides = [
            Side(
                place in self._units or (rows_are_units and place == 0),
                one.join,
                _parts(one.on),
                view.size,
                self._repeats(place),
                view.once,
            )
            for place, (one, view) in enumerate(zip(members, self._sides, strict=True))
        ]
        if not any(one.private for one in sides):
            return members, joined_size(sides, self._places), 1
        most = rows_per_unit(sides, self._places)
        below = max(1, sum(self._sides[place].rows for place in self._units))
        if most is None or rows_are_units:
            return members, 1, below
        limited = tuple(
            replace(one, few=Few(str(self._sides[place].unit), most)) if place in self._units else one
            for place, one in enumerate(members)
        )
        return limited, 1, rows_of_one(sides, self._places, most, below)

    def _repeats(self, place: int) -> dict[str, int]:
        return {
            name: one.repeats
            for name, one in self._columns.items()
            if self._places[name] == place and one.repeats is not None
        }

    def _member(self, place: int, member: Member) -> Member:
        relation = self._sides[place].relation
        if place == 0:
            return Member(relation)
        if member.on is None:
            raise InvalidParameter("JOIN", given=Words(self._called[place]), allowed="a condition: ON …")
        if member.join is Join.LEFT and (self._first is None or place <= self._first):
            raise NotPrivate(
                f"LEFT JOIN {self._called[place]}: what stands left of it is public, so there would be rows that "
                f"belong to nobody. Write FROM {self._policy.table} LEFT JOIN …, or JOIN."
            )
        before = [self._units[other] for other in self._units if other < place]
        unit = self._units.get(place)
        if unit is not None and before and not any(_equates(one, unit, before) for one in _parts(member.on)):
            raise self._not_on_the_unit(place)
        if unit is not None:
            _of_one_kind([self._columns[name] for name in (unit, *before)])
        known = {name: one for name, one in self._columns.items() if self._places[name] <= place}
        rows = ViewRows(View(None, known, None), self._policy)
        parts = tuple(
            rows.equal(one) if unit is not None and _equates(one, unit, before) else rows.condition(one, "ON")
            for one in _parts(member.on)
        )
        return Member(relation, member.join, parts[0] if len(parts) == 1 else Call("and", parts))

    def _not_on_the_unit(self, place: int) -> NotPrivate:
        pair = (place, min(self._units))
        own, other = (f"{self._called[i]}.{self._sides[i].unit}" for i in pair)
        instead = f"Write ON {other} = {own} AND …"
        if any(self._hidden[i] for i in pair):
            instead = "Let each subquery show the column that names the unit, as it is, and join on that."
        return NotPrivate(
            f"JOIN {self._called[place]}: two private tables are joined on the unit, or a row would be of two people "
            f"at once, and removing one of them would change what the other counts for. {instead}"
        )


def _with_units(relation: Joined, sides: Sequence[View], names: Sequence[str]) -> Joined:
    """By the policy's names, with the unit of every private member among the columns."""
    spelled = [{name.lower(): name for name in side.columns} for side in sides]
    columns = [
        replace(one, column=spelled[one.member][one.column.lower()])
        for one in relation.columns
        if one.column.lower() in spelled[one.member]
    ]
    for place, side in enumerate(sides):
        if side.unit is not None and not any(one.member == place and one.column == side.unit for one in columns):
            name = taken_name(place, names[place], side.unit, [one.name for one in columns])
            columns.append(Taken(name, place, side.unit))
    return Joined(relation.members, tuple(columns))


def _taken(column: Taken, member: Member, side: View) -> ColumnPolicy:
    """A column of a member in the join; right of LEFT JOIN it can be null."""
    own = replace(side.columns[column.column], name=column.name)
    if member.join is Join.LEFT and own.keys is not None and None not in own.keys:
        return replace(own, keys=(*own.keys, None))
    return own


def _parts(on: Expression | None) -> tuple[Expression, ...]:
    """The conditions that must all be true."""
    return () if on is None else on.operands("and")


def _equates(one: Expression, unit: str, others: Sequence[str]) -> bool:
    """Whether the condition says that the unit is that of a member before, and nothing else."""
    if one.called != "=" or len(one.parts()) != 2:
        return False
    left, right = one.parts()
    return any((_is(left, unit) and _is(right, it)) or (_is(right, unit) and _is(left, it)) for it in others)


def _is(expression: Expression, name: str) -> bool:
    return (expression.column_name or "").lower() == name.lower()
