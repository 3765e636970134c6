"""The kinds of value a column can hold. Fixed by the policy, never sniffed from the data."""

from __future__ import annotations

from enum import Enum

__all__ = ["Kind", "Kinds", "common_kind"]


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


Kinds = tuple["Kind | None", ...]
"""Of several values; None stands for an untyped NULL."""


def common_kind(kinds: Kinds) -> Kind | None:
    """The one kind that values of these kinds have together: numbers and times widen; None if there is none."""
    known = {kind for kind in kinds if kind is not None}
    if not known:
        return Kind.TEXT
    if len(known) == 1:
        return next(iter(known))
    if all(kind.is_number for kind in known):
        return Kind.REAL
    return Kind.TIMESTAMP if all(kind.is_time for kind in known) else None
