"""A connection to PostgreSQL that runs one statement a transaction, and says nothing of what went wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tacit.tables.engines.failure import EngineFailed, Running
from tacit.tables.engines.postgres.driver import psycopg_module, transaction
from tacit.tables.engines.postgres.profile import PROFILED, work_of
from tacit.tables.engines.work import Work

if TYPE_CHECKING:
    import psycopg

__all__ = ["QuietPostgres"]

_AT_ONCE = 50_000


class QuietPostgres:
    """Statements with the secret as their parameter. A failure of any kind is `EngineFailed`."""

    def __init__(self, connection: psycopg.Connection[Any], secret: str, seconds: float | None = None) -> None:
        self._connection = connection
        self._secret = secret
        self._seconds = seconds
        self._running = Running(lambda: connection.cancel_safe(timeout=2))

    def columns(self, sql: str) -> dict[str, list[Any]]:
        """Run one SELECT; a list per column."""
        try:
            with self._running.statement(), self._transaction() as cursor:
                cursor.execute(sql, self._parameters(sql), binary=True)
                names = [one.name for one in cursor.description or ()]
                rows = cursor.fetchall()
                return {name: [row[at] for row in rows] for at, name in enumerate(names)}
        except Exception:
            pass  # what it says might quote a row, and must not become the context of another error
        raise EngineFailed

    def batches(self, sql: str, kinds: Sequence[np.dtype[Any]]) -> Iterator[list[npt.NDArray[Any]]]:
        """Run one SELECT whose columns are integers of these types, never null; some rows at a time."""
        failed = False
        try:
            with self._running.statement(), self._transaction(), self._streamed() as cursor:
                cursor.itersize = _AT_ONCE
                cursor.execute(sql, self._parameters(sql), binary=True)
                while rows := cursor.fetchmany(_AT_ONCE):
                    columns = zip(*rows, strict=True)
                    yield [np.array(one, dtype=kind) for one, kind in zip(columns, kinds, strict=True)]
        except Exception:
            failed = True  # as above
        if failed:
            raise EngineFailed

    def _transaction(self) -> AbstractContextManager[psycopg.Cursor[Any]]:
        return transaction(self._connection, self._seconds)

    def _streamed(self) -> Any:
        return psycopg_module().RawServerCursor(self._connection, "tacit")

    def _parameters(self, sql: str) -> tuple[str, ...]:
        return (self._secret,) if "$1" in sql else ()

    def work(self, sql: str) -> Work:
        """Run one SELECT for the counts of its operators alone."""
        return work_of(self.columns(PROFILED + sql))

    def interrupt(self) -> None:
        """Stop what runs on the server, from another thread; it fails as any other failure does."""
        self._running.stop()

    def progress(self) -> None:
        """PostgreSQL does not say how far a SELECT is."""

    def close(self) -> None:
        """Let go of the server."""
        self._connection.close()

    def __repr__(self) -> str:
        return "QuietPostgres()"
