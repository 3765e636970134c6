"""Which pairs of data sets a promise compares."""

from __future__ import annotations

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
