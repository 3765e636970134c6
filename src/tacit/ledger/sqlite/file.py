"""A ledger file: one connection, one thread at a time, durable transactions, nothing carried across a fork.

Write-ahead log with synchronous=FULL: a commit is one append and one fsync, readers never block writers. Checkpoints
run only while this process holds the write lock, because SQLite before 3.51.3 can lose pages when a checkpoint and a
write meet (docs/decisions/ledger.md). The file is never opened except through SQLite: closing any other descriptor of
it would drop the process's locks.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from tacit.errors import LedgerError
from tacit.ledger import schema
from tacit.ledger.book import append
from tacit.ledger.chain import now, stamp
from tacit.ledger.filesystems import refuse_network, system_mounts
from tacit.ledger.sqlite.errors import FAILURES, is_busy, translated
from tacit.ledger.sqlite.log import WatchedLog, never_close
from tacit.ledger.sqlite.store import SqliteStore

__all__ = ["SqliteFile", "address", "sync_folder"]

_COMMITS_PER_CHECKPOINT = 200
_LARGEST_LOG = 32 << 20
_KEPT_LOG = 4 << 20
_LONGEST_WAIT_TO_FORK = 60.0
_SETTINGS = (
    "PRAGMA synchronous = FULL",
    "PRAGMA fullfsync = ON",  # macOS: fsync alone does not reach the disk there
    "PRAGMA checkpoint_fullfsync = ON",
    "PRAGMA wal_autocheckpoint = 0",
    f"PRAGMA journal_size_limit = {_KEPT_LOG}",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
)


class SqliteFile:
    """The file and its transactions; errors are `LedgerError`s that say what to do."""

    def __init__(self, path: Path, patience: float, mounts: Callable[[], str] = system_mounts) -> None:
        self.path = Path(os.path.realpath(path))
        self._name = str(self.path)
        self._log = WatchedLog(self._name)
        self._patience = patience
        self.mounts = mounts
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._checkpointer: sqlite3.Connection | None = None
        self._pid = os.getpid()
        self._inode = (0, 0)
        self._commits = 0
        self._trusted = False
        self._forking = False
        _files.add(self)

    @property
    def where(self) -> str:
        """The file, for messages."""
        return f"The ledger {self._name}"

    def is_ready(self) -> bool:
        """Whether there is a file with the tables of a ledger."""
        try:
            os.stat(self._name)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise LedgerError(f"{self.where} cannot be reached: {error.strerror}. Nothing was spent.") from error
        with self.reading() as connection:
            return schema.version_of(connection, self.where) > 0

    # Transactions.

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A consistent view that blocks nobody."""
        with self.glancing() as connection:
            try:
                self._begin(connection, "BEGIN")
                yield connection
            finally:
                _roll_back(connection)

    @contextmanager
    def glancing(self) -> Iterator[sqlite3.Connection]:
        """For a single statement, which needs no transaction of its own to be consistent."""
        try:
            self._hold()
            yield self._connected()
        except FAILURES as error:
            raise translated(error, self.where) from error
        finally:
            self._let_go()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One atomic step, on disk when the block has been left."""
        with self.glancing() as connection:
            try:  # an interrupt may come at any point
                self._begin(connection, "BEGIN IMMEDIATE")
                self._refuse_moved()
                self._trust(connection)
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                _roll_back(connection)
                raise
            if self._log.is_lost():  # a payment into a log without a name is no payment
                self._disconnect()
                self._log.refuse_lost(self.where, self._inode)
            self._commits += 1
            self._checkpoint_if_due(connection)

    def _refuse_moved(self) -> None:
        """Whoever waited for the turn may hold a file that has another name by now."""
        try:
            found = os.stat(self._name)
        except OSError:
            found = None
        if found is None or (found.st_dev, found.st_ino) != self._inode:
            raise LedgerError(f"{self.where} was moved or replaced in the meantime. Nothing was spent.")

    def move(self, place: Path) -> None:
        """Give file and log another name, inside of `writing`: who waits for their turn writes nothing."""
        for end in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                os.replace(f"{self._name}{end}", f"{place}{end}")

    def _trust(self, connection: sqlite3.Connection) -> None:
        """Refuse to write through tables that somebody altered: a trigger could take a debit back."""
        if not self._trusted:
            altered = schema.differences(connection)
            if altered:
                raise LedgerError(f"{self.where}: {altered[0]}. Nothing was spent. Restore the newest backup.")
            self._trusted = True

    def create(self) -> None:
        """Make the file and its tables, unless somebody else has; the folder is synced, so that the name is durable."""
        try:
            self._hold()
            self._make()
        except FAILURES as error:
            raise translated(error, self.where) from error
        finally:
            self._let_go()

    def _make(self) -> None:
        refuse_network(self.path.parent, self.mounts)
        self._disconnect()
        connection = self._connect("rwc")
        try:
            os.chmod(self.path, 0o600)
            self._log_ahead(connection)
            self._begin(connection, "BEGIN IMMEDIATE")
            if schema.version_of(connection, self.where) == 0:
                schema.create(connection)
            connection.execute("COMMIT")
        except OSError as error:
            raise LedgerError(f"{self.where} cannot be made: {error.strerror}. Nothing was spent.") from error
        finally:
            _roll_back(connection)
            connection.close()
        sync_folder(self.path.parent)

    def close(self) -> None:
        """Let go of the file; the last to do so folds the log into it."""
        try:
            self._hold()
            self._disconnect()
        finally:
            self._let_go()

    # The connection.

    def _hold(self) -> None:
        """Keep the other threads out until the lock is released."""
        if not self._lock.acquire(timeout=self._patience):
            raise LedgerError(
                f"{self.where} was busy in this process for {self._patience:g} s. Nothing was spent; ask again."
            )

    def _let_go(self) -> None:
        """Release, as often as it takes: an interrupt right after an acquisition leaves one behind."""
        with suppress(RuntimeError):  # raised once it is not ours any more
            while True:
                self._lock.release()

    def _connected(self) -> sqlite3.Connection:
        """The connection of this process to the file that has the name now."""
        if self._pid != os.getpid():
            raise LedgerError(
                f"{self.where} was carried across a fork that Python did not see. Open it anew in the child."
            )
        try:
            found = os.stat(self._name)
        except OSError as error:
            self._disconnect()
            raise LedgerError(f"{self.where} cannot be found: {error.strerror}. Nothing was spent.") from error
        inode = (found.st_dev, found.st_ino)
        if self._connection is not None and (inode != self._inode or self._log.is_lost()):
            self._disconnect()  # moved away or replaced: the name decides, not the old file
        self._log.refuse_lost(self.where, inode)
        if self._connection is None:
            if found.st_nlink > 1:
                raise LedgerError(
                    f"{self.where} has several hard links, and each would get a log of its own. Keep one."
                )
            refuse_network(self.path.parent, self.mounts)
            self._inode = inode
            writable = os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)
            self._connection = self._checked(self._opened() if not writable else self._connect("rw"), writable)
            if writable:
                self._log.watch(inode)
        _roll_back(self._connection)  # an interrupt may have come between a failure and its end
        return self._connection

    def _opened(self) -> sqlite3.Connection:
        """For reading only."""
        try:
            return self._tried(self._connect("ro"))
        except sqlite3.OperationalError:
            if os.path.exists(self._log.name) and os.stat(self._log.name).st_size:
                raise
            return self._connect("ro&immutable=1")  # nobody can be writing where the log cannot be made

    def _connect(self, mode: str) -> sqlite3.Connection:
        where = address(self.path, mode)
        connection = sqlite3.connect(
            where, uri=True, timeout=self._patience, isolation_level=None, check_same_thread=False
        )
        try:
            for setting in _SETTINGS:
                connection.execute(setting)
        except BaseException:
            connection.close()
            raise
        return connection

    def _tried(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        try:
            connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchall()
        except BaseException:
            connection.close()
            raise
        return connection

    def _checked(self, connection: sqlite3.Connection, writable: bool) -> sqlite3.Connection:
        """Refuse strangers' files and newer ledgers; bring older ones up to date."""
        try:
            version = schema.version_of(connection, self.where)
            if version and writable:
                self._log_ahead(connection)
            if 0 < version < schema.VERSION and writable:
                self._migrate(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _log_ahead(self, connection: sqlite3.Connection) -> None:
        """Use a write-ahead log, whatever journal somebody's tool has left the file with."""
        if connection.execute("PRAGMA journal_mode").fetchall() != [("wal",)]:
            self._begin(connection, "PRAGMA journal_mode = WAL")
            connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchall()  # makes the log
            if connection.execute("PRAGMA journal_mode").fetchall() != [("wal",)]:
                raise LedgerError(
                    f"{self.where}: this file system has no shared memory between processes. Use a local disk."
                )

    def _migrate(self, connection: sqlite3.Connection) -> None:
        self._begin(connection, "BEGIN IMMEDIATE")
        try:
            before = schema.version_of(connection, self.where)
            schema.migrate(connection, self.where)
            store = SqliteStore(connection, self.where)
            head = store.head()
            if head is not None:
                append(store, head, stamp(now()), "migrated", head.charged, before=before, after=schema.VERSION)
            connection.execute("COMMIT")
        except BaseException:
            _roll_back(connection)
            raise

    def _begin(self, connection: sqlite3.Connection, how: str) -> None:
        """Execute; SQLite waits by itself in most cases, in some (recovery, change of journal) it says busy at once."""
        deadline = time.monotonic() + self._patience
        while True:
            try:
                connection.execute(how)
                return
            except sqlite3.OperationalError as error:
                if not is_busy(error) or time.monotonic() > deadline:
                    raise
            time.sleep(0.005)

    def _disconnect(self) -> None:
        folds = self._log.may_be_folded()
        for connection in (self._checkpointer, self._connection):
            if connection is not None and self._pid == os.getpid():
                if folds:
                    connection.close()
                else:
                    never_close(connection)
        self._connection = self._checkpointer = None
        self._log.forget()
        self._trusted = False

    # The log.

    def _checkpoint_if_due(self, connection: sqlite3.Connection) -> None:
        try:
            if self._commits < _COMMITS_PER_CHECKPOINT and os.stat(self._log.name).st_size < _LARGEST_LOG:
                return
            self._checkpoint(connection)
        except (OSError, sqlite3.Error):
            pass  # what was committed is in the log; the next commit tries again
        self._commits = 0

    def _checkpoint(self, connection: sqlite3.Connection) -> None:
        """Copy the log into the file while nobody can write."""
        try:
            connection.execute("BEGIN IMMEDIATE")
            if self._checkpointer is None:
                self._checkpointer = self._connect("rw")
            self._checkpointer.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            self._log.was_folded()
        finally:
            _roll_back(connection)

    # Forks: a connection must not exist while the process is doubled.

    def before_fork(self) -> None:
        self._forking = self._lock.acquire(timeout=max(self._patience, _LONGEST_WAIT_TO_FORK))
        if self._forking:
            self._disconnect()

    def after_fork_in_parent(self) -> None:
        if self._forking:
            self._forking = False
            self._let_go()

    def after_fork_in_child(self) -> None:
        self._lock = threading.RLock()
        self._forking = False
        if self._connection is None:
            self._pid = os.getpid()

    def __del__(self) -> None:
        if getattr(self, "_connection", None) is not None:
            self._disconnect()


_files: weakref.WeakSet[SqliteFile] = weakref.WeakSet()


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def address(path: Path, mode: str) -> str:
    """A path as SQLite takes it, any bytes in it."""
    return f"file:{quote(os.fsencode(path))}?mode={mode}"


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _each(act: Callable[[SqliteFile], None]) -> Callable[[], None]:
    def run() -> None:
        for file in list(_files):
            act(file)

    return run


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_each(SqliteFile.before_fork),
        after_in_parent=_each(SqliteFile.after_fork_in_parent),
        after_in_child=_each(SqliteFile.after_fork_in_child),
    )
