"""The kinds of value a column can hold. Fixed by the policy, never sniffed from the data."""

from __future__ import annotations

from enum import Enum

__all__ = ["Kind"]


class Kind(Enum):
    """What a value is; the names are those of the policy file."""

    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"

    @property
    def is_number(self) -> bool:
        """Whether it can be added."""
        return self in (Kind.INTEGER, Kind.REAL)

    @property
    def is_time(self) -> bool:
        """Whether it is a day or a moment."""
        return self in (Kind.DATE, Kind.TIMESTAMP)

    def __str__(self) -> str:
        return self.value
