"""Where rows are, as far as anything outside of an engine may know: a name, a schema, and nothing of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tacit.tables.policy.policy import ColumnPolicy

__all__ = ["FRAME", "Source", "is_frame"]

FRAME = "frame:"
"""What the identity of rows in memory begins with."""


class Source(Protocol):
    """A table to ask about, wherever its rows are."""

    @property
    def identity(self) -> str:
        """What the ledger is opened with: the real path of a file with every link followed, or ``frame:NAME``."""

    def column_names(self) -> tuple[str, ...]:
        """The names in the source: its schema, and nothing computed from rows; none if there is no schema."""

    def check(self, columns: Sequence[ColumnPolicy]) -> None:
        """Raise `PolicyError` if a column that may be asked about is not in the schema; free, and blind to rows."""

    def close(self) -> None:
        """Remove whatever was written to read the source."""


def is_frame(source: Source) -> bool:
    """Whether the rows are in memory, not in a file."""
    return source.identity.startswith(FRAME)
