"""Who is protected, and which pairs of data sets a promise compares."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tacit.errors import InvalidParameter


class Neighbours(Enum):
    """The relation between the two data sets that must look alike.

    ``ADD_REMOVE``: one unit more or less. ``REPLACE``: one unit changed, the number of units public and the same.
    Neither implies the other for free: add-remove gives replace at the price of a group of two.

    >>> Neighbours("replace")
    Neighbours.REPLACE
    """

    ADD_REMOVE = "add-remove"
    REPLACE = "replace"

    def __repr__(self) -> str:
        return f"Neighbours.{self.name}"


ADD_REMOVE = Neighbours.ADD_REMOVE
REPLACE = Neighbours.REPLACE


def relation(value: object) -> Neighbours:
    """``value`` if it is a neighbour relation, otherwise an error that lists them."""
    if isinstance(value, Neighbours):
        return value
    allowed = "Neighbours.ADD_REMOVE or Neighbours.REPLACE"
    raise InvalidParameter("neighbours", given=value, allowed=allowed)


@dataclass(frozen=True, slots=True)
class Unit:
    """What one step between neighbours adds, removes or replaces.

    `ROW` protects single rows; ``Unit("user_id")`` protects everything that shares a value of that column, which is
    what people mean by "my data". A promise about rows says nothing about a person who owns several.

    >>> Unit("user_id"), ROW
    (Unit('user_id'), ROW)
    >>> Unit("user_id").is_row
    False
    """

    column: str | None

    def __post_init__(self) -> None:
        if self.column is not None and (not isinstance(self.column, str) or not self.column):
            allowed = "the name of the column that identifies a person, or None for single rows"
            raise InvalidParameter("unit", given=self.column, allowed=allowed)

    @property
    def is_row(self) -> bool:
        """Whether every row is a unit of its own."""
        return self.column is None

    def __repr__(self) -> str:
        return "ROW" if self.column is None else f"Unit({self.column!r})"


ROW = Unit(None)
