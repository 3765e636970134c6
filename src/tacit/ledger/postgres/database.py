"""The tables of a ledger in PostgreSQL: one connection, one thread at a time, durable transactions.

A write holds the row of the head from its beginning (SELECT … FOR UPDATE), so that check and debit are one step among
any number of processes on any number of machines. A connection that broke is made anew; one that came over a fork is
left to the parent.
"""

from __future__ import annotations

import math
import os
import select
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from tacit.errors import LedgerError
from tacit.ledger.book import append
from tacit.ledger.chain import now, stamp
from tacit.ledger.postgres import schema as schema
from tacit.ledger.postgres.address import PostgresAddress
from tacit.ledger.postgres.driver import driver
from tacit.ledger.postgres.errors import Unreachable, failures, translated
from tacit.ledger.postgres.store import Look, PostgresStore
from tacit.ledger.sqlite.log import never_close

__all__ = ["Link", "PostgresDatabase"]

_BETWEEN_TRIES = 0.1
_AFTER_WORDS = 100
"""Milliseconds: a server that ends an idle connection says why, and its end comes a moment after that."""
_LONGEST_IDLE = 60
"""Seconds that a transaction may wait for its own process: who hangs in one lets go of the head."""


class Link:
    """A connection that is made when it is needed, and made anew when it broke."""

    def __init__(self, address: PostgresAddress, where: str, patience: float, begun: Callable[[Any], None]) -> None:
        self._address = address
        self._where = where
        self._patience = patience
        self._begun = begun
        self._connection: Any = None
        self._was_there = False
        _links.add(self)

    def connected(self) -> Any:
        """The connection. Who was connected before waits, with a bound, for a server that is being started again."""
        if self._connection is not None and _is_broken(self._connection):
            self.close()
        deadline = time.monotonic() + (self._patience if self._was_there else 0.0)
        while self._connection is None:
            try:
                self._connection = self._made()
            except Unreachable:
                if time.monotonic() >= deadline:
                    raise
                time.sleep(_BETWEEN_TRIES)
        self._was_there = True
        return self._connection

    def _made(self) -> Any:
        made = problem = None
        seconds = max(1, math.ceil(self._patience))
        try:
            made = driver().connect(
                self._address.conninfo,
                autocommit=True,
                client_encoding="utf8",
                connect_timeout=max(2, seconds),
                keepalives_idle=15,
                keepalives_interval=5,
                keepalives_count=3,
                tcp_user_timeout=1000 * max(15, seconds),
                application_name="tacit",
            )
            path = f'"{self._address.schema}", pg_temp'
            made.execute(
                f"SET search_path = {path}; SET synchronous_commit = on; SET client_min_messages = warning; "
                "SET default_transaction_isolation = 'read committed'; "
                f"SET lock_timeout = {1000 * seconds}; SET idle_in_transaction_session_timeout = "
                f"{1000 * max(_LONGEST_IDLE, seconds)}"
            )
            self._begun(made)
        except BaseException as error:
            if made is not None:
                made.close()
            if not isinstance(error, failures()):
                raise
            problem = translated(error, self._where)
        if problem is not None:  # raised here, so that it does not carry the driver's words: they may have the password
            raise problem
        return made

    def close(self) -> None:
        """Let go of it."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):
                connection.close()

    def forget(self) -> None:
        """In the child of a fork: the connection is the parent's, and nothing of here reaches the server any more."""
        connection, self._connection = self._connection, None
        if connection is not None:
            never_close(connection)
            with suppress(Exception):
                nowhere = os.open(os.devnull, os.O_RDWR)
                os.dup2(nowhere, connection.fileno())
                os.close(nowhere)


class PostgresDatabase:
    """The schema and its transactions; errors are `LedgerError`s that say what to do."""

    def __init__(self, address: PostgresAddress, patience: float, is_drawing: Callable[[Any, str], bool]) -> None:
        self.address = address
        self.where = f"The ledger {address}"
        self._patience = patience
        self._is_drawing = is_drawing
        self._lock = threading.RLock()
        self._trusted = False
        self._link = Link(address, self.where, patience, self._checked)
        _databases.add(self)

    def is_ready(self) -> bool:
        """Whether there is a schema with the tables of a ledger."""
        with self._held() as connection:
            return schema.version_of(connection, self.address.schema, self.where) > 0

    @contextmanager
    def reading(self) -> Iterator[PostgresStore]:
        """A consistent view that blocks nobody."""
        with self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") as connection:
            yield self._store(connection)

    @contextmanager
    def glancing(self) -> Iterator[PostgresStore]:
        """For a single statement, which needs no transaction of its own to be consistent."""
        with self._held() as connection:
            yield self._store(connection)

    @contextmanager
    def writing(self, looks: Iterable[Look] = ()) -> Iterator[PostgresStore]:
        """One atomic step behind the lock of the head, on disk when the block has been left.

        ``looks`` are sent with the lock, and see what is there once it is held: each has a snapshot of its own.
        """
        with self._held() as connection:
            try:
                with connection.pipeline():  # what needs no reply is sent together, with the commit
                    connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
                    locked = connection.execute("SELECT number FROM head FOR UPDATE")
                    store = self._store(connection)
                    store.ahead(*looks)
                    if not locked.fetchall():
                        connection.execute("LOCK TABLE terms IN EXCLUSIVE MODE")  # nothing to lock yet: one opens it
                    self._trust(connection)
                    yield store
                    connection.execute("COMMIT")
            except BaseException:
                _roll_back(connection)
                raise

    @contextmanager
    def turn(self) -> Iterator[None]:
        """This thread's turn, for steps that belong together; others of this process wait, with a bound."""
        if not self._lock.acquire(timeout=self._patience):
            raise LedgerError(
                f"{self.where} was busy in this process for {self._patience:g} s. Nothing was spent; ask again."
            )
        try:
            yield
        finally:
            self._lock.release()

    def at_once(self, sql: str, values: dict[str, object]) -> bool:
        """One statement that writes all or nothing, on disk when this returns; whether it found what it looked for."""
        with self._held() as connection:
            return self._trusted and bool(connection.execute(sql, values).fetchall())

    def create(self) -> None:
        """Make the schema and its tables, unless somebody else has."""
        with self._transaction("BEGIN ISOLATION LEVEL READ COMMITTED") as connection:
            name = self.address.schema
            connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (name,))
            if schema.version_of(connection, name, self.where) == 0:
                connection.execute(f'CREATE SCHEMA "{name}"')
                schema.create(connection)

    def close(self) -> None:
        """Let go of the connection; the next use makes another."""
        with self._lock:
            self._link.close()

    def _store(self, connection: Any) -> PostgresStore:
        return PostgresStore(connection, self.address.schema, self.where, self._is_drawing)

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Any]:
        with self._held() as connection:
            connection.execute(begin)
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                _roll_back(connection)
                raise

    @contextmanager
    def _held(self) -> Iterator[Any]:
        """The connection, for one thread."""
        with self.turn():
            try:
                connection = self._link.connected()
                if connection.info.transaction_status != driver().pq.TransactionStatus.IDLE:
                    connection.execute("ROLLBACK")  # an interrupt may have come between a failure and its end
                yield connection
            except failures() as error:
                lost = self._link._connection is None or _is_broken(self._link._connection)
                if lost:
                    self._link.close()
                raise translated(error, self.where, lost=lost) from None

    def _trust(self, connection: Any) -> None:
        """Refuse to write through tables that somebody altered: a trigger could take a debit back."""
        if not self._trusted:
            altered = schema.differences(connection, self.address.schema)
            if altered:
                raise LedgerError(f"{self.where}: {altered[0]}. Nothing was spent. Restore the newest backup.")
            self._trusted = True

    def _checked(self, connection: Any) -> None:
        """Of a new connection: refuse strangers' tables and newer ledgers; bring older ones up to date."""
        self._trusted = False
        version = schema.version_of(connection, self.address.schema, self.where)
        if 0 < version < schema.VERSION:
            connection.execute("BEGIN")
            connection.execute("SELECT number FROM head FOR UPDATE")
            before = schema.version_of(connection, self.address.schema, self.where)
            schema.migrate(connection, before)
            store = self._store(connection)
            head = store.head()
            if head is not None and before < schema.VERSION:
                append(store, head, stamp(now()), "migrated", head.charged, before=before, after=schema.VERSION)
            connection.execute("COMMIT")

    def after_fork_in_child(self) -> None:
        self._lock = threading.RLock()


_links: weakref.WeakSet[Link] = weakref.WeakSet()
_databases: weakref.WeakSet[PostgresDatabase] = weakref.WeakSet()


def _roll_back(connection: Any) -> None:
    with suppress(*failures()):
        connection.execute("ROLLBACK")


def _is_broken(connection: Any) -> bool:
    """Whether the server has gone; what a closed connection sends is its end, and costs no question to see."""
    if connection.closed or connection.broken:
        return True
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN | select.POLLHUP)
    for wait in (0, *[_AFTER_WORDS] * 4):
        if not poll.poll(wait):
            return False
        try:
            connection.pgconn.consume_input()
        except failures():
            return True
        if connection.pgconn.status != driver().pq.ConnStatus.OK:
            return True
    return True  # it says more and more, though nobody asked


def _forked() -> None:
    for link in list(_links):
        link.forget()
    for database in list(_databases):
        database.after_fork_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
