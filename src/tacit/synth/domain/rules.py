"""What every row keeps to, known without the data: combinations that cannot be, columns that others determine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.errors import InvalidParameter

__all__ = ["Determines", "Impossible", "Rule"]


@dataclass(frozen=True, slots=True)
class Impossible:
    """Combinations of values of some columns that no row has.

    >>> Impossible(("age", "married"), [(3, "yes")]).columns
    ('age', 'married')
    """

    columns: tuple[str, ...]
    combinations: tuple[tuple[Any, ...], ...]

    def __init__(self, columns: Sequence[str], combinations: Iterable[Sequence[Any]]) -> None:
        listed = tuple(tuple(one) for one in combinations)
        names = tuple(columns)
        if len(names) < 2 or len(set(names)) < len(names) or any(len(one) != len(names) for one in listed):
            allowed = "two or more different columns, and one value of each in every combination"
            raise InvalidParameter("impossible", given=(columns, combinations), allowed=allowed)
        object.__setattr__(self, "columns", names)
        object.__setattr__(self, "combinations", listed)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "kind": "impossible",
            "columns": list(self.columns),
            "combinations": [list(c) for c in self.combinations],
        }


@dataclass(frozen=True, slots=True)
class Determines:
    """A column whose value says that of another, by a public list: "city determines region".

    The other one is not measured, which leaves more of the price for the rest, and always agrees.

    >>> Determines("city", "region", {"Bonn": "west", "Jena": "east"}).then
    'region'
    """

    column: str
    then: str
    values: tuple[tuple[Any, Any], ...]

    def __init__(self, column: str, then: str, values: Mapping[Any, Any]) -> None:
        if not isinstance(values, Mapping) or column == then:
            allowed = "two different columns, and a mapping from the values of the first to those of the second"
            raise InvalidParameter("determines", given=(column, then), allowed=allowed)
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "then", then)
        object.__setattr__(self, "values", tuple(values.items()))

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        listed = [list(one) for one in self.values]
        return {"kind": "determines", "column": self.column, "then": self.then, "values": listed}


Rule = Impossible | Determines
