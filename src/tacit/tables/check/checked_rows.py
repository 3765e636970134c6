"""What was seen of a relation while it is checked: its columns, its unit, and expressions over its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from tacit.errors import InvalidParameter
from tacit.privacy import ROW, Unit
from tacit.tables.check.names import Names
from tacit.tables.check.public_values import domain, merged
from tacit.tables.check.rows import column_kind, described
from tacit.tables.check.types import Typing, Words
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.literals import is_number, is_whole, kind_of_value
from tacit.tables.expressions.operators import common_kind
from tacit.tables.expressions.tree import Column, Expression, Value
from tacit.tables.policy.policy import ColumnPolicy, Policy, Role
from tacit.tables.query.relations import Listed, Relation, Shown, Taken

__all__ = ["Seen", "SeenRows", "listed_table", "matches_once", "open_columns"]


@dataclass(frozen=True, slots=True)
class Seen:
    """A checked relation, or the table: its columns, and which of them names the unit; None: it is public."""

    relation: Relation | None
    columns: Mapping[str, ColumnPolicy]
    unit: str | None
    size: int = 1
    """How many rows it has at most, if it is public."""
    rows: int = 1
    """How many rows of it one row of a private table can become, if it is private."""

    def over(self, policy: Policy) -> Policy:
        """The policy as expressions over it see it."""
        return replace(policy, columns=self.columns, unit=ROW if self.unit is None else Unit(self.unit))


def open_columns(columns: Iterable[ColumnPolicy], unit: str | None) -> dict[str, ColumnPolicy]:
    """The columns that may be asked about; the unit names people, whatever else is said of it."""
    return {
        one.name: replace(one, role=Role.IDENTIFIER, keys=None) if one.name == unit else one
        for one in columns
        if one.role is not Role.FORBIDDEN
    }


def listed_table(relation: Listed) -> Seen:
    """What a statement writes itself is public: groups by it are those that it lists."""
    columns = {}
    for place, name in enumerate(relation.columns):
        cells = [row[place].value for row in relation.rows]
        kinds = [kind_of_value(cell) for cell in cells]
        kind = common_kind(tuple(kinds))
        if kind is None or not any(kinds):
            raise InvalidParameter("VALUES", given=Words(name), allowed="columns of values of one kind")
        keys = merged([cells])
        role = Role.PRIVATE if keys is None else Role.PUBLIC
        bounds = _ends(cells) if kind.is_number else None
        columns[name] = ColumnPolicy(name, kind, role, bounds=bounds, keys=keys, repeats=_alike(cells))
    return Seen(relation, columns, None, len(relation.rows))


def _alike(cells: Sequence[Value]) -> int:
    """How often the most frequent value stands there; null equals nothing, numbers are compared as doubles."""
    known = [float(cell) if type(cell) is int else cell for cell in cells if cell is not None]
    return max(Counter(known).values(), default=1)


def _ends(cells: Sequence[Value]) -> tuple[Fraction, Fraction]:
    numbers = [Fraction(cell) for cell in cells if is_number(cell)]
    return min(numbers), max(numbers)


class SeenRows:
    """Expressions over the rows of what was seen."""

    def __init__(self, seen: Seen, policy: Policy) -> None:
        self.policy = seen.over(policy)
        self._names = Names(self.policy)
        self._typing = Typing(lambda leaf: column_kind(leaf, self.policy), {})

    def condition(self, expression: Expression, place: str) -> Expression:
        return self._typing.condition(self._names.in_rows(expression, place), place)

    def equal(self, condition: Expression) -> Expression:
        """Two units that are compared with each other, by their names."""
        named = (self.named(part) for part in condition.parts())
        return self._typing.typed(condition.with_parts(tuple(Column(one.name) for one in named if one is not None)))

    def column(self, one: Shown) -> tuple[Shown, ColumnPolicy | None]:
        """A column by the policy's names, and its description; None for NULL. A column may be passed on as it is."""
        plain = self.named(one.expression)
        if plain is not None:
            return Shown(one.name, Column(plain.name)), replace(plain, name=one.name)
        expression = self._typing.typed(self._names.in_rows(one.expression, "a subquery"))
        kind = self._typing.kind(expression)
        made = None if kind is None else described(one.name, expression, kind, self.policy)
        return Shown(one.name, expression), made

    def named(self, expression: Expression) -> ColumnPolicy | None:
        """The column that an expression is, if it is one."""
        name = expression.column_name
        known = {one.lower(): column for one, column in self.policy.columns.items()}
        return None if name is None else known.get(name.lower())

    def domain(self, expression: Expression) -> tuple[Value, ...] | None:
        return domain(expression, self.policy)


def matches_once(one: Expression, place: int, listed: Listed, columns: Sequence[Taken], policy: Policy) -> bool:
    """Whether the condition says that a column of the table equals one of the list, which repeats no value."""
    if one.called != "=":
        return False
    names = [side.column_name.lower() for side in one.parts() if side.column_name is not None]
    found = {taken.member: taken.column for taken in columns if taken.name.lower() in names}
    if len(names) != 2 or set(found) != {0, place} or found[place] not in listed.columns:
        return False
    kind = next((own.kind for own in policy.columns.values() if own.name.lower() == found[0].lower()), None)
    cells = [row[listed.columns.index(found[place])].value for row in listed.rows]
    known = [cell for cell in cells if cell is not None]  # null matches nothing
    kinds = {kind_of_value(cell) for cell in known}
    numbers = {Kind.INTEGER, Kind.REAL}
    if kind in numbers and kinds <= numbers and all(abs(cell) <= 2**53 for cell in known if is_whole(cell)):
        known, kinds = [float(cell) for cell in known if is_number(cell)], {kind}  # compared as doubles
    return kinds == {kind} and len(set(known)) == len(known)  # no cast that makes two of one, no repetition
