"""Lists that a statement writes itself: public tables of which everything is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from tacit.errors import InvalidParameter
from tacit.tables.check.public_values import merged
from tacit.tables.check.rows import View
from tacit.tables.check.types import Words
from tacit.tables.expressions.kinds import Kind, is_number, is_whole, kind_of_value
from tacit.tables.expressions.operators import common_kind
from tacit.tables.expressions.tree import Expression, Value
from tacit.tables.policy.policy import ColumnPolicy, Policy, Role
from tacit.tables.query.relations import Listed, Taken

__all__ = ["listed_table", "matches_once"]


def listed_table(relation: Listed) -> View:
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
    return View(relation, columns, None, len(relation.rows))


def _alike(cells: Sequence[Value]) -> int:
    """How often the most frequent value stands there; null equals nothing, numbers are compared as doubles."""
    known = [float(cell) if type(cell) is int else cell for cell in cells if cell is not None]
    return max(Counter(known).values(), default=1)


def _ends(cells: Sequence[Value]) -> tuple[Fraction, Fraction]:
    numbers = [Fraction(cell) for cell in cells if is_number(cell)]
    return min(numbers), max(numbers)


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
