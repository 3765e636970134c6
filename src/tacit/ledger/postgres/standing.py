"""What a process remembers of the ledger at one head, and payments that are checked against it: one way to the server.

Accounts, caps and missing answers change only with a new entry, and every entry gives the head another hash. So what
was read and written at a head is true for as long as the head has that hash. A payment that memory allows is sent as
one statement that locks the head's row, looks whether its hash is still that one, and writes everything or nothing; if
it is another, nothing was written, and the payment is checked anew, behind the lock, with what is there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tacit.ledger.amounts import SQUARES, Amount
from tacit.ledger.postgres.store import PostgresStore, Seen
from tacit.ledger.store import Head, Reservation, Unanswered

__all__ = ["Moved", "Remembered", "Standing"]

_MOST = 10_000
"""Analysts whose accounts are remembered."""
_KEYED = """
  AND NOT EXISTS (SELECT FROM requests WHERE analyst = %(analyst)s AND sha256(key) = sha256(%(key)s))"""
_SQUARES = ", (%(squares)s, %(square_main)s, %(square_delta)s)"
_PAID = """
WITH held AS MATERIALIZED (
  SELECT number + 1 AS number FROM head
  WHERE hash = %(before)s AND NOT EXISTS (SELECT FROM requests WHERE digest = %(digest)s){keyed}
  FOR UPDATE
), appended AS (
  INSERT INTO entries SELECT number, %(body)s, %(hash)s FROM held
), reserved AS (
  INSERT INTO requests SELECT number, %(digest)s, %(analyst)s, %(key)s::bytea, %(drawer)s FROM held
), missing AS (
  INSERT INTO unanswered SELECT number, %(analyst)s FROM held
), charged AS (
  INSERT INTO accounts SELECT one.* FROM held, (VALUES (%(analyst)s, %(own_main)s, %(own_delta)s){squares}) one
  ON CONFLICT (analyst) DO UPDATE SET main = excluded.main, delta = excluded.delta
)
UPDATE head SET number = held.number, hash = %(hash)s, time = %(time)s, main = %(main)s, delta = %(delta)s FROM held
RETURNING 1
"""
_STATEMENTS = {
    (keyed, squares): _PAID.format(keyed=_KEYED if keyed else "", squares=_SQUARES if squares else "")
    for keyed in (False, True)
    for squares in (False, True)
}


class Moved(Exception):
    """Memory does not tell, or the ledger has gone on since: nothing was written."""


class Standing:
    """The head as it was seen last, and what was seen of accounts and missing answers at it."""

    def __init__(self) -> None:
        self.head: Head | None = None
        self.accounts: dict[str, Amount] = {}
        self.missing: dict[str, tuple[Unanswered, ...]] = {}
        self._whose: dict[int, str] = {}

    def forget(self) -> None:
        """Know nothing."""
        self.__init__()  # type: ignore[misc]

    def keep(self, seen: Seen) -> None:
        """Know what a transaction has seen and written; to be called once it is on record."""
        if seen.after is None:
            return
        known = self.head is not None and seen.before is not None and seen.before.hash == self.head.hash
        if not known or len(self.accounts) > _MOST or len(self._whose) > _MOST:
            self.forget()
        self.head = seen.after
        self.accounts |= seen.accounts
        for analyst, rows in seen.missing.items():
            self.missing[analyst] = rows
            self._whose |= {one.number: analyst for one in rows}
        for number in seen.answered:
            analyst = self._whose.pop(number, "")
            if analyst in self.missing:
                self.missing[analyst] = tuple(one for one in self.missing[analyst] if one.number != number)


class Remembered(PostgresStore):
    """A store that reads from memory alone, and keeps what is written until it is sent. What it does not know is Moved.

    That there is no such request, and that nobody has used its key, is looked at with the lock: in the statement.
    """

    def __init__(self, standing: Standing, where: str) -> None:
        super().__init__(None, "", where, _cannot_tell)
        self._standing = standing
        self._values: dict[str, object] = {}

    def _rows(self, sql: str, *values: object) -> list[Any]:
        raise Moved

    def _do(self, sql: str, *values: object) -> None:
        raise Moved

    def head(self) -> Head | None:
        if self._standing.head is None:
            raise Moved
        self.seen.before = self._standing.head
        return self._standing.head

    def account(self, analyst: str) -> Amount:
        known = self._standing.accounts.get(analyst)
        if known is None:
            raise Moved
        return known

    def unanswered(self, analyst: str | None = None) -> list[Unanswered]:
        known = self._standing.missing.get(analyst or "")
        if known is None:
            raise Moved
        return list(known)

    def request(self, digest: str) -> Reservation | None:
        raise Moved

    def reserve(self, number: int, digest: str, analyst: str, key: str | None, drawer: str) -> bool:
        named = None if key is None else key.encode()
        self._values |= {"digest": digest, "analyst": analyst, "key": named, "drawer": drawer}
        known = self._standing.missing.get(analyst, ())
        self.seen.missing[analyst] = (*known, Unanswered(number, analyst, drawer))
        return True

    def set_account(self, analyst: str, charged: Amount) -> None:
        self.seen.accounts[analyst] = charged
        main, delta = charged.texts()
        if analyst == SQUARES:
            self._values |= {"squares": analyst, "square_main": main, "square_delta": delta}
        else:
            self._values |= {"own_main": main, "own_delta": delta}

    def append(self, number: int, body: bytes, link: str) -> None:
        self._values["body"] = body

    def set_head(self, head: Head) -> None:
        self.seen.after = head
        main, delta = head.charged.texts()
        self._values |= {"hash": head.hash, "time": head.time, "main": main, "delta": delta}

    def forgive(self, numbers: Iterable[int]) -> None:
        raise Moved

    def statement(self) -> tuple[str, dict[str, object]]:
        """All that was written, for a head that is as it was."""
        before, after = self.seen.before, self.seen.after
        if before is None or after is None or after.number != before.number + 1:
            raise Moved
        sql = _STATEMENTS[self._values["key"] is not None, "squares" in self._values]
        return sql, {**self._values, "before": before.hash}


def _cannot_tell(connection: Any, token: str) -> bool:
    raise Moved
