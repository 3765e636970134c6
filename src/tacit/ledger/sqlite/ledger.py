"""The ledger in a file: SQLite, from the standard library."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Self

from tacit.errors import LedgerError
from tacit.ledger.chain import now
from tacit.ledger.filesystems import system_mounts
from tacit.ledger.keeper import Keeper
from tacit.ledger.sqlite.backup import back_up
from tacit.ledger.sqlite.file import SqliteFile
from tacit.ledger.sqlite.store import SqliteStore
from tacit.ledger.terms import Terms
from tacit.ledger.verification import Verification
from tacit.noise.entropy import BitSource

__all__ = ["SqliteLedger"]


class SqliteLedger(Keeper):
    """A ledger in one file, shared by any number of processes and threads on one machine.

    >>> import tempfile
    >>> from tacit.ledger import Request, Terms
    >>> from tacit.privacy import PureDP
    >>> folder = tempfile.TemporaryDirectory()
    >>> with SqliteLedger(f"{folder.name}/people.ledger").open("people.csv", Terms(PureDP(1))) as ledger:
    ...     with ledger.spend(Request("ada", "how many?"), PureDP(0.1)) as claim:
    ...         print(claim.release(b"42").charged, ledger.verify().sound)
    ApproxDP(0.1, 0) True
    >>> folder.cleanup()

    ``patience`` bounds every wait, in seconds.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        patience: float = 10.0,
        entropy: BitSource | None = None,
        clock: Callable[[], datetime] = now,
        mounts: Callable[[], str] = system_mounts,
    ) -> None:
        super().__init__(patience=patience, entropy=entropy, clock=clock)
        self._file = SqliteFile(Path(path), patience, mounts)

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._file.path

    @property
    def file(self) -> Path:
        """The same, as it is asked of every ledger."""
        return self.path

    def exists(self) -> bool:
        """Whether there is such a file."""
        return self.path.exists()

    def open(self, source: str | None = None, terms: Terms | None = None, files: Sequence[Path] = ()) -> Self:
        """Begin the ledger of a data source, or continue it; another source, budget or flavour is `PolicyError`."""
        if not self._file.is_ready():
            if source is None or terms is None:
                raise self._missing()
            self._file.create()
            super().open(source, terms, files)
            self.close()  # folds the log into the file: a file moved without its log still knows what it is
        return super().open(source, terms, files)

    @contextmanager
    def _reading(self) -> Iterator[SqliteStore]:
        with self._file.reading() as connection:
            yield SqliteStore(connection, self._file.where)

    @contextmanager
    def _glancing(self) -> Iterator[SqliteStore]:
        with self._file.glancing() as connection:
            yield SqliteStore(connection, self._file.where)

    @contextmanager
    def _writing(self) -> Iterator[SqliteStore]:
        with self._file.writing() as connection:
            yield SqliteStore(connection, self._file.where)

    def verify(self, head: str | None = None) -> Verification:
        """Recompute the chain and every total; with a receipt's head, the tail as well."""
        if not self._file.is_ready():
            raise self._missing()
        return super().verify(head)

    def _missing(self) -> LedgerError:
        return LedgerError(f"There is no ledger at {self.path}. It is made when the first question is paid for.")

    def beside(self) -> SqliteLedger | None:
        """The file by a connection of its own: readers do not wait for who writes, and where they would, it raises."""
        return SqliteLedger(self.path, patience=0.0, mounts=self._file.mounts)

    def backup(self, path: str | os.PathLike[str]) -> str:
        """Copy the ledger, while it is in use, to a file that does not exist yet; returns the head of the copy."""
        with self._file.reading() as connection:
            head = self._head(SqliteStore(connection, self._file.where))
            back_up(connection, Path(path))
        return head.hash

    def close(self) -> None:
        """Let go of the file; the ledger can be used again, and connects anew."""
        self._file.close()

    def _called(self) -> str:
        return self.path.name

    def _where(self) -> str:
        return self._file.where

    def __repr__(self) -> str:
        return f"SqliteLedger({str(self.path)!r})"
