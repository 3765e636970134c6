"""The reads and writes of a ledger, in SQL."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from tacit.errors import LedgerError
from tacit.ledger import schema
from tacit.ledger.amounts import NOTHING, Amount
from tacit.ledger.chain import canonical
from tacit.ledger.drawers import is_drawing
from tacit.ledger.marks import INODE, Mark
from tacit.ledger.sqlite.errors import FAILURES, translated
from tacit.ledger.store import Head, Line, Reservation, Unanswered
from tacit.ledger.terms import Terms

__all__ = ["SqliteStore"]

_LINES = """
SELECT e.number, e.body, e.hash, r.digest, r.analyst, r.key, a.number, a.body
FROM entries e LEFT JOIN requests r ON r.number = e.number LEFT JOIN answers a ON a.released = e.number
ORDER BY e.number
"""
_RESERVATION = """
SELECT r.number, r.drawer, a.released FROM requests r LEFT JOIN answers a ON a.number = r.number WHERE
"""
_UNANSWERED = """
SELECT u.number, u.analyst, r.drawer FROM unanswered u JOIN requests r ON r.number = u.number {} ORDER BY u.number
"""


class SqliteStore:
    """One transaction on a connection; names and texts travel as parameters, never as SQL."""

    def __init__(self, connection: sqlite3.Connection, where: str) -> None:
        self._connection = connection
        self._where = where

    def _rows(self, sql: str, *values: object) -> list[Any]:
        try:
            return self._connection.execute(sql, values).fetchall()
        except FAILURES as error:
            raise translated(error, self._where) from error

    def _stream(self, sql: str) -> Iterator[Any]:
        try:
            yield from self._connection.execute(sql)
        except FAILURES as error:
            raise translated(error, self._where) from error

    def _one(self, sql: str, *values: object) -> Any:
        rows = self._rows(sql, *values)
        return rows[0] if rows else None

    def head(self) -> Head | None:
        row = self._one(
            "SELECT t.ledger, t.source, h.number, h.hash, h.time, h.main, h.delta, t.terms FROM head h, terms t"
        )
        if row is None:
            return None
        ledger, source, number, link, moment, main, delta, terms = row
        try:
            return Head(ledger, source, number, link, moment, Amount.read([main, delta]), _terms(terms))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise LedgerError(f"{self._where}: its head cannot be read. Run `tacit verify` on it.") from error

    def set_head(self, head: Head) -> None:
        self._rows(
            "INSERT OR REPLACE INTO head VALUES (1, ?, ?, ?, ?, ?)",
            head.number,
            head.hash,
            head.time,
            *head.charged.texts(),
        )

    def set_terms(self, head: Head) -> None:
        terms = canonical(head.terms.to_dict()).decode("ascii")
        self._rows("INSERT OR REPLACE INTO terms VALUES (1, ?, ?, ?)", head.ledger, head.source, terms)

    def append(self, number: int, body: bytes, link: str) -> None:
        self._rows("INSERT INTO entries VALUES (?, ?, ?)", number, body, link)

    def bodies(self, after: int, limit: int) -> list[tuple[int, bytes, str]]:
        return self._rows(
            "SELECT number, body, hash FROM entries WHERE number > ? ORDER BY number LIMIT ?", after, limit
        )

    def lines(self) -> Iterator[Line]:
        return self._stream(_LINES)

    def counts(self) -> tuple[int, int]:
        requests, answers = self._one("SELECT (SELECT COUNT(*) FROM requests), (SELECT COUNT(*) FROM answers)")
        return requests, answers

    def flaws(self) -> Iterator[str]:
        try:
            yield from schema.differences(self._connection)
        except FAILURES as error:
            raise translated(error, self._where) from error
        for (text,) in self._rows("PRAGMA integrity_check(5)"):
            if text != "ok":
                yield "SQLite finds the file damaged"
                return

    def account(self, analyst: str) -> Amount:
        row = self._one("SELECT main, delta FROM accounts WHERE analyst = ?", analyst)
        return NOTHING if row is None else self._amount(row)

    def accounts(self) -> Iterator[tuple[str, Amount]]:
        for analyst, main, delta in self._stream("SELECT analyst, main, delta FROM accounts ORDER BY analyst"):
            yield analyst, self._amount([main, delta])

    def _amount(self, texts: list[str]) -> Amount:
        try:
            return Amount.read(texts)
        except ValueError as error:
            raise LedgerError(f"{self._where}: an account cannot be read. Run `tacit verify` on it.") from error

    def set_account(self, analyst: str, charged: Amount) -> None:
        self._rows("INSERT OR REPLACE INTO accounts VALUES (?, ?, ?)", analyst, *charged.texts())

    def request(self, digest: str) -> Reservation | None:
        row = self._one(_RESERVATION + "r.digest = ?", digest)
        return None if row is None else Reservation(*row)

    def keyed(self, analyst: str, key: str) -> str | None:
        row = self._one("SELECT digest FROM requests WHERE analyst = ? AND key = ?", analyst, key)
        return None if row is None else str(row[0])

    def reserve(self, number: int, digest: str, analyst: str, key: str | None, drawer: str) -> bool:
        sql = "INSERT INTO requests VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
        try:
            if self._connection.execute(sql, (number, digest, analyst, key, drawer)).rowcount != 1:
                return False
        except FAILURES as error:
            raise translated(error, self._where) from error
        self._rows("INSERT INTO unanswered VALUES (?, ?)", number, analyst)
        return True

    def reservation(self, number: int) -> Reservation | None:
        row = self._one(_RESERVATION + "r.number = ?", number)
        return None if row is None else Reservation(*row)

    def payments(self, after: int, until: int) -> int:
        (count,) = self._one("SELECT COUNT(*) FROM requests WHERE number > ? AND number <= ?", after, until)
        return int(count)

    def payment(self, after: int, count: int) -> int | None:
        row = self._one(
            "SELECT number FROM requests WHERE number > ? ORDER BY number LIMIT 1 OFFSET ?", after, count - 1
        )
        return None if row is None else int(row[0])

    def forget_drawer(self, number: int) -> None:
        self._rows("UPDATE requests SET drawer = '' WHERE number = ?", number)

    def is_drawing(self, token: str) -> bool:
        return is_drawing(token)

    def unanswered(self, analyst: str | None = None) -> list[Unanswered]:
        if self._is_of_version(1):
            return []
        some, values = ("", ()) if analyst is None else ("WHERE u.analyst = ?", (analyst,))
        return [Unanswered(*row) for row in self._rows(_UNANSWERED.format(some), *values)]

    def forgive(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            self._rows("DELETE FROM unanswered WHERE number = ?", number)

    def secret(self) -> str:
        sql = "SELECT ledger FROM terms" if self._is_of_version(1) else "SELECT secret FROM secrets"
        row = self._one(sql)
        if row is None:
            raise LedgerError(f"{self._where}: its secret is missing. Nothing was spent. Restore the newest backup.")
        return str(row[0])

    def set_secret(self, secret: str) -> None:
        self._rows("INSERT INTO secrets VALUES (1, ?)", secret)

    def marks(self) -> frozenset[Mark]:
        if self._is_of_version(1):
            return frozenset()
        return frozenset(Mark(*row) for row in self._rows("SELECT kind, source, value FROM marks"))

    def set_marks(self, marks: Iterable[Mark]) -> None:
        for one in marks:
            if one.kind == INODE:
                self._rows("DELETE FROM marks WHERE kind = ? AND source = ?", INODE, one.source)
            self._rows("INSERT OR IGNORE INTO marks VALUES (?, ?, ?)", *one)

    def _is_of_version(self, version: int) -> bool:
        """Whether the tables are still of this version: a copy that cannot be written is not brought up to date."""
        return self._rows("PRAGMA user_version") == [(version,)]

    def answer(self, released: int) -> bytes:
        (body,) = self._one("SELECT CAST(body AS BLOB) FROM answers WHERE released = ?", released)
        assert isinstance(body, bytes)
        return body

    def store_answer(self, released: int, number: int, answer: bytes) -> None:
        self._rows("INSERT INTO answers VALUES (?, ?, ?)", released, number, answer)
        self.forgive([number])


@lru_cache(maxsize=16)
def _terms(written: str) -> Terms:
    return Terms.read(json.loads(written))
