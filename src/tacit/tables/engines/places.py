"""Where the rows of a table lie, as a path names them: a file, a folder that is one table, a pattern of its files."""

from __future__ import annotations

import os
import re
from pathlib import Path

__all__ = ["above_keys", "parted", "table_folder"]

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
