"""Which ledger a path on the command line means: a ledger itself, or that of a policy or of data."""

from __future__ import annotations

from pathlib import Path

import click

from tacit.errors import LedgerError
from tacit.ledger import beside
from tacit.tables.policy.file import address, read

__all__ = ["LEDGER", "ledger_of"]

LEDGER = click.argument(
    "file", metavar="LEDGER|POLICY|DATA", type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
_SQLITE = b"SQLite format 3\x00"


def ledger_of(where: Path) -> Path:
    """The ledger; where there is none yet, the error says what makes one."""
    if where.suffix == ".ledger" or _is_database(where):
        return where
    found = beside(address(read(where), where) if where.suffix == ".toml" else where)
    if not found.exists():
        raise LedgerError(
            f"Nothing has been paid for yet: there is no ledger {found.name} beside the data. "
            f'The first answer makes it: tacit ask {where} "SELECT …" --epsilon 0.5'
        )
    return found


def _is_database(where: Path) -> bool:
    """Whether it is a ledger by another name; read before anything has opened it."""
    try:
        with where.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False
