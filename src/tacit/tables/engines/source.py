"""Where rows are, as far as anything outside of an engine may know: a name, a schema, and nothing of the rows.

As a path names them they are a file, a folder that is one table, or a pattern of its files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from tacit.tables.policy.policy import ColumnPolicy, is_address

__all__ = ["FRAME", "Source", "above_keys", "has_files", "is_frame", "ledgers", "parted", "table_folder"]

FRAME = "frame:"
"""What the identity of rows in memory begins with."""


class Source(Protocol):
    """A table to ask about, wherever its rows are."""

    @property
    def identity(self) -> str:
        """What the ledger is opened with: the real path of a file with every link followed, ``frame:NAME``, or
        what a server says that its table is."""

    def column_names(self) -> tuple[str, ...]:
        """The names in the source: its schema, and nothing computed from rows; none if there is no schema."""

    def check(self, columns: Sequence[ColumnPolicy]) -> None:
        """Raise `PolicyError` if a column that may be asked about is not in the schema; free, and blind to rows."""

    def close(self) -> None:
        """Remove whatever was written to read the source."""


def is_frame(source: Source) -> bool:
    """Whether the rows are in memory, not in a file."""
    return source.identity.startswith(FRAME)


def has_files(source: Source) -> bool:
    """Whether the rows are in a file or a folder: neither in memory nor in a database."""
    return not is_frame(source) and not is_address(source.identity)


def ledgers() -> Path:
    """The folder of the ledgers of tables that have no folder: TACIT_LEDGERS, or the user's own for such things."""
    given = os.environ.get("TACIT_LEDGERS")
    if given:
        return Path(given)
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "tacit" / "ledgers"


_WILD = re.compile(r"[*?\[]")


def table_folder(where: Path) -> Path | None:
    """The folder of the table that a path names as a folder or by a pattern; None if it is neither."""
    is_pattern = _WILD.search(str(where)) is not None and not os.path.lexists(where)
    return above_keys(parted(where)[0]) if is_pattern or where.expanduser().is_dir() else None


def parted(where: Path) -> tuple[Path, str]:
    """The folder in which a pattern begins, every link followed, and the rest of the pattern.

    >>> parted(Path("/data/events/*/part-?.parquet"))[1]
    '*/part-?.parquet'
    """
    parts = where.expanduser().parts
    at = next((i for i, part in enumerate(parts) if _WILD.search(part)), None)
    if at is None:
        return where.expanduser().resolve(), "**/*"
    return Path(*parts[:at]).resolve(), "/".join(parts[at:])


def above_keys(folder: Path) -> Path:
    """The folder of the whole table: one that is named ``key=value`` is a part of it."""
    while "=" in folder.name:
        folder = folder.parent
    return folder
