"""Who is protected: one row, or all rows of one person."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.errors import InvalidParameter


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
