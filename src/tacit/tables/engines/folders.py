"""Parquet files that are one table, whichever engine reads them: a folder, a pattern, folders named ``key=value``.

The budget is that of the folder in which the pattern begins, whichever of its files a pattern fits.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tacit.errors import InvalidParameter
from tacit.tables.engines.source import above_keys, parted

__all__ = ["ParquetFiles"]

_ENDINGS = (".parquet", ".pq")
_MOST = 100_000
_KNOWN_BY = 16


@dataclass(frozen=True, slots=True)
class ParquetFiles:
    """The files, every link followed, and the folder that they are the table of."""

    folder: Path
    paths: tuple[Path, ...]
    selection: str
    """Which files of the folder these are: others are other rows, and other answers."""

    @classmethod
    def of(cls, where: Path) -> ParquetFiles:
        """Those that a path names as a folder or by a pattern."""
        begin, pattern = parted(where)
        folder = above_keys(begin)
        found = (_itself(path, folder, str(where)) for path in begin.glob(pattern) if _is_read(path, folder))
        paths = tuple(sorted(dict.fromkeys(islice(found, _MOST + 1))))
        if not paths or len(paths) > _MOST:
            hint = f"Their names end in {' or '.join(_ENDINGS)} and do not begin with . or _. "
            hint += "A CSV is a table by itself: name one, or put them into one."
            allowed = f"a folder with 1 to {_MOST:,} Parquet files"
            raise InvalidParameter("source", given=str(where), allowed=allowed, hint=hint)
        return cls(folder, paths, f"{begin}/{pattern}")

    @property
    def known_by(self) -> tuple[Path, ...]:
        """Some of the files, by which the ledger knows the data."""
        return self.paths[:_KNOWN_BY]


def _itself(path: Path, folder: Path, given: str) -> Path:
    """A file, every link followed: it is read once, and its budget is that of the folder in which it lies."""
    real = path.resolve()
    if not real.is_relative_to(folder):
        hint = "It has a budget of its own where it lies: ask about it there, or put a copy in its place."
        allowed = f"files in {folder.name}, and {path.name} is a link to elsewhere"
        raise InvalidParameter("source", given=given, allowed=allowed, hint=hint)
    return real


def _is_read(path: Path, folder: Path) -> bool:
    hidden = any(part[0] in "._" for part in path.relative_to(folder).parts)
    return path.suffix.lower() in _ENDINGS and not hidden and path.is_file()
