"""De-identification: drop the columns that name people, or replace them by pseudonyms. The attacks show the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.anonymity.findings import NO_GUARANTEE
from tacit.anonymity.pseudonyms import PseudonymKey
from tacit.anonymity.release import pseudonymised, sorted_columns, texts_of, write_csv
from tacit.anonymity.rows import opened
from tacit.errors import InvalidParameter

__all__ = ["Deidentified", "deidentify"]


@dataclass(frozen=True, slots=True)
class Deidentified:
    """A table without direct identifiers: its columns as texts, rows sorted."""

    columns: dict[str, list[Any]]
    dropped: tuple[str, ...]
    pseudonymised: tuple[str, ...]

    def write(self, path: str | Path) -> None:
        """Write a new CSV file."""
        write_csv(path, self.columns)

    @property
    def note(self) -> str:
        """What such a table cannot promise."""
        return NO_GUARANTEE


def deidentify(source: object, *, identifiers: Sequence[str], key: PseudonymKey | None = None) -> Deidentified:
    """Drop the columns that name people, or, with a key, replace them by pseudonyms.

    >>> people = {"name": ["Ada", "Bo"], "age": [36, 41]}
    >>> deidentify(people, identifiers=["name"]).columns
    {'age': ['36', '41']}
    """
    rows = opened(source)
    try:
        named = rows.known(identifiers, "identifiers")
        if not named:
            raise InvalidParameter("identifiers", given="no column", allowed="the columns that name people")
        kept = [name for name in rows.names if name not in named or key is not None]
        if not kept:
            raise InvalidParameter("identifiers", given="every column", allowed="some of the columns")
        columns = texts_of(rows, kept)
    finally:
        if rows is not source:
            rows.close()
    if key is not None:
        columns |= {name: pseudonymised(name, columns[name], key) for name in named}
    return Deidentified(sorted_columns(columns), () if key else named, named if key else ())
