"""What a question in Python says beyond what it asks: what OPTIONS(…) and lists of public groups say in SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tacit.errors import InvalidParameter
from tacit.privacy.prices import price
from tacit.tables.expressions.kinds import literal
from tacit.tables.query.options import ListedGroups, Options, Selecting
from tacit.tables.query.refusals import NotUnderstood

__all__ = ["listed_groups", "stated"]


def stated(
    before: Options,
    *,
    epsilon: object,
    delta: object,
    groups: int | None,
    rows: int | None,
    least_units: int | None,
    selecting: str | None,
    unit: str | None,
) -> Options:
    """The options with those that are given."""
    known = {one.value: one for one in Selecting}
    if selecting is not None and str(selecting).upper() not in known:
        allowed = " or ".join(known)
        raise InvalidParameter("group_selection_strategy", given=selecting, allowed=allowed)
    if unit is not None and not isinstance(unit, str):
        raise InvalidParameter("privacy_unit_column", given=unit, allowed="the name of a column")
    given = {
        "epsilon": None if epsilon is None else price(epsilon, "epsilon"),
        "delta": None if delta is None else price(delta, "delta"),
        "groups": groups,
        "rows": rows,
        "least_units": least_units,
        "selecting": None if selecting is None else known[str(selecting).upper()],
        "unit": unit,
    }
    return replace(before, **{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]


def listed_groups(before: Options, values: Mapping[str, Sequence[object]]) -> Options:
    """The options with the public groups of further columns."""
    found = list(before.listed)
    for column, listed in values.items():
        if isinstance(listed, str) or not isinstance(listed, Sequence) or not listed:
            allowed = 'a list of values: public_groups(city=["Lund", "Gent"])'
            raise InvalidParameter(column, given=listed, allowed=allowed)
        if column.lower() in (one.column.lower() for one in found):
            raise NotUnderstood("RIGHT JOIN UNNEST(…)", "takes one list for each column", "Leave one list out.")
        found.append(ListedGroups(column, tuple(dict.fromkeys(literal(one) for one in listed))))
    return replace(before, listed=tuple(found))
