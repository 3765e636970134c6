"""Which ledger a path on the command line means: a ledger itself, or that of a policy or of data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tacit.errors import LedgerError
from tacit.ledger import Ledger, beside, ledger_at
from tacit.ledger.postgres.address import is_postgres
from tacit.tables.engines.registry import backend_for
from tacit.tables.engines.source import table_folder
from tacit.tables.policy.file import address, read
from tacit.tables.session.open_others import book_of

__all__ = ["LEDGER", "LEDGER_OPTION", "LedgerPlace", "Place", "ledger_beside", "ledger_of"]


class Place(click.Path):
    """A file that is there, or a folder or a pattern of files that are one table."""

    def __init__(self) -> None:
        super().__init__(exists=True, dir_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """As click does, for files."""
        if is_postgres(value):
            return value
        return Path(value) if table_folder(Path(value)) is not None else super().convert(value, param, ctx)


class LedgerPlace(click.Path):
    """Where a ledger is or will be: a file, or postgresql://user@host/database#name."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """As click does, for files."""
        return value if is_postgres(value) else super().convert(value, param, ctx)


LEDGER = click.argument("file", metavar="LEDGER|POLICY|DATA", type=Place())
LEDGER_OPTION = click.option(
    "--ledger",
    type=LedgerPlace(),
    metavar="FILE|ADDRESS",
    help="The ledger: a file, or postgresql://….  [default: beside the data]",
)
_SQLITE = b"SQLite format 3\x00"


def _book(where: Path) -> Path:
    """Of a policy, the ledger of its source, wherever that is."""
    if where.suffix != ".toml":
        return ledger_beside(where)
    place = address(read(where), where)
    return ledger_beside(place) if isinstance(place, Path) else book_of(backend_for(place).source(place))


def ledger_of(where: Path | str) -> Ledger:
    """The ledger; where there is none yet, the error says what makes one."""
    if isinstance(where, str) or where.suffix == ".ledger" or _is_database(where):
        return ledger_at(where)
    found = _book(where)
    if not found.exists():
        raise LedgerError(
            f"Nothing has been paid for yet: there is no ledger {found.name} beside the data. "
            f'The first answer makes it: tacit ask {where} "SELECT …" --epsilon 0.5'
        )
    return ledger_at(found)


def ledger_beside(data: Path) -> Path:
    """Where the ledger of data lies: beside a file, or beside the folder that is one table."""
    return beside(table_folder(data) or data)


def _is_database(where: Path) -> bool:
    """Whether it is a ledger by another name; read before anything has opened it."""
    try:
        with where.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False
