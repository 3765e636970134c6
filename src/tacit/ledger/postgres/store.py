"""The reads and writes of a ledger in PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, TypeAlias

from tacit.errors import LedgerError
from tacit.ledger.amounts import NOTHING, Amount
from tacit.ledger.chain import canonical
from tacit.ledger.marks import INODE, Mark
from tacit.ledger.postgres import schema as schema
from tacit.ledger.store import Head, Line, Reservation, Unanswered
from tacit.ledger.terms import Terms

__all__ = ["Look", "PostgresStore", "Seen", "to_release", "to_reserve"]

_LINES = """
SELECT e.number, e.body, e.hash, r.digest, r.analyst, r.key, a.number, a.body
FROM entries e LEFT JOIN requests r ON r.number = e.number LEFT JOIN answers a ON a.released = e.number
ORDER BY e.number
"""
_HEAD = "SELECT t.ledger, t.source, h.number, h.hash, h.time, h.main, h.delta, t.terms FROM head h, terms t"
_ACCOUNT = "SELECT main, delta FROM accounts WHERE analyst = %s"
_BODIES = "SELECT number, body, hash FROM entries WHERE number > %s ORDER BY number LIMIT %s"
_ANY = "SELECT r.number, r.drawer, a.released FROM requests r LEFT JOIN answers a ON a.number = r.number WHERE r."
_REQUEST, _RESERVED = f"{_ANY}digest = %s", f"{_ANY}number = %s"
_KEYED = "SELECT digest FROM requests WHERE analyst = %s AND sha256(key) = sha256(%s)"
_MISSING = "SELECT u.number, u.analyst, r.drawer FROM unanswered u JOIN requests r ON r.number = u.number "
_UNANSWERED, _UNANSWERED_OF = (f"{_MISSING}{some} ORDER BY u.number" for some in ("", "WHERE u.analyst = %s"))
_LINES_AT_ONCE = 500

Look: TypeAlias = tuple[Any, ...]
"""A statement that reads, and its values."""


def to_reserve(digest: str, analyst: str, key: str | None) -> list[Look]:
    """What is looked at before a payment."""
    keyed = [] if key is None else [(_KEYED, analyst, key.encode())]
    return [(_HEAD,), (_ACCOUNT, analyst), (_UNANSWERED_OF, analyst), (_REQUEST, digest), *keyed]


def to_release(number: int) -> list[Look]:
    """What is looked at before an answer is stored."""
    return [(_HEAD,), (_RESERVED, number), (_BODIES, number - 1, 1)]


class Seen:
    """What a transaction has seen and written, for who remembers it once it is on record."""

    def __init__(self) -> None:
        self.before: Head | None = None
        self.after: Head | None = None
        self.accounts: dict[str, Amount] = {}
        self.missing: dict[str, tuple[Unanswered, ...]] = {}
        self.answered: set[int] = set()


class PostgresStore:
    """One transaction on a connection; names and texts travel as parameters, never as SQL."""

    def __init__(self, connection: Any, schema_name: str, where: str, is_drawing: Callable[[Any, str], bool]) -> None:
        self._connection = connection
        self._schema = schema_name
        self._where = where
        self._is_drawing = is_drawing
        self._asked: dict[tuple[object, ...], Any] = {}
        self.seen = Seen()

    def ahead(self, *looks: Look) -> None:
        """Send these looks now, to be waited for together; the first of each then costs no way to the server and back.

        What is written in between makes them old: they are forgotten.
        """
        for sql, *values in looks:
            self._asked[sql, *values] = self._connection.execute(sql, values)

    def _rows(self, sql: str, *values: object) -> list[Any]:
        asked = self._asked.pop((sql, *values), None)
        rows: list[Any] = (self._connection.execute(sql, values) if asked is None else asked).fetchall()
        return rows

    def _do(self, sql: str, *values: object) -> None:
        """Without looking at the reply: it is waited for with the next that is, or with the commit."""
        self._asked.clear()
        self._connection.execute(sql, values)

    def _one(self, sql: str, *values: object) -> Any:
        rows = self._rows(sql, *values)
        return rows[0] if rows else None

    def is_drawing(self, token: str) -> bool:
        return self._is_drawing(self._connection, token)

    def head(self) -> Head | None:
        row = self._one(_HEAD)
        if row is None:
            return None
        ledger, source, number, link, moment, main, delta, terms = row
        try:
            found = Head(ledger, source, number, link, moment, Amount.read([main, delta]), _terms(terms))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise LedgerError(f"{self._where}: its head cannot be read. Run `tacit verify` on it.") from error
        self.seen.before = self.seen.before or found
        return found

    def set_head(self, head: Head) -> None:
        self.seen.after = head
        self._do(
            "INSERT INTO head VALUES (1, %s, %s, %s, %s, %s) ON CONFLICT (one) DO UPDATE SET number = excluded.number, "
            "hash = excluded.hash, time = excluded.time, main = excluded.main, delta = excluded.delta",
            head.number,
            head.hash,
            head.time,
            *head.charged.texts(),
        )

    def set_terms(self, head: Head) -> None:
        terms = canonical(head.terms.to_dict()).decode("ascii")
        self._do(
            "INSERT INTO terms VALUES (1, %s, %s, %s) ON CONFLICT (one) DO UPDATE SET "
            "ledger = excluded.ledger, source = excluded.source, terms = excluded.terms",
            head.ledger,
            head.source,
            terms,
        )

    def append(self, number: int, body: bytes, link: str) -> None:
        self._do("INSERT INTO entries VALUES (%s, %s, %s)", number, body, link)

    def bodies(self, after: int, limit: int) -> list[tuple[int, bytes, str]]:
        return self._rows(_BODIES, after, limit)

    def lines(self) -> Iterator[Line]:
        with self._connection.cursor(name="tacit_lines") as cursor:
            cursor.itersize = _LINES_AT_ONCE
            cursor.execute(_LINES)
            for number, body, link, digest, analyst, key, reserved, answer in cursor:
                yield number, body, link, digest, analyst, _key(key), reserved, answer

    def counts(self) -> tuple[int, int]:
        requests, answers = self._one("SELECT (SELECT COUNT(*) FROM requests), (SELECT COUNT(*) FROM answers)")
        return requests, answers

    def flaws(self) -> Iterator[str]:
        yield from schema.differences(self._connection, self._schema)

    def account(self, analyst: str) -> Amount:
        row = self._one(_ACCOUNT, analyst)
        self.seen.accounts[analyst] = found = NOTHING if row is None else self._amount(list(row))
        return found

    def accounts(self) -> Iterator[tuple[str, Amount]]:
        for analyst, main, delta in self._rows("SELECT analyst, main, delta FROM accounts ORDER BY analyst"):
            yield analyst, self._amount([main, delta])

    def _amount(self, texts: list[str]) -> Amount:
        try:
            return Amount.read(texts)
        except ValueError as error:
            raise LedgerError(f"{self._where}: an account cannot be read. Run `tacit verify` on it.") from error

    def set_account(self, analyst: str, charged: Amount) -> None:
        self.seen.accounts[analyst] = charged
        self._do(
            "INSERT INTO accounts VALUES (%s, %s, %s) ON CONFLICT (analyst) DO UPDATE SET "
            "main = excluded.main, delta = excluded.delta",
            analyst,
            *charged.texts(),
        )

    def request(self, digest: str) -> Reservation | None:
        row = self._one(_REQUEST, digest)
        return None if row is None else Reservation(*row)

    def keyed(self, analyst: str, key: str) -> str | None:
        row = self._one(_KEYED, analyst, key.encode())
        return None if row is None else str(row[0])

    def reserve(self, number: int, digest: str, analyst: str, key: str | None, drawer: str) -> bool:
        """Who writes holds the head: what is not there now is not there when it is written."""
        if self.request(digest) is not None or (key is not None and self.keyed(analyst, key) is not None):
            return False
        named = None if key is None else key.encode()
        self._do("INSERT INTO requests VALUES (%s, %s, %s, %s, %s)", number, digest, analyst, named, drawer)
        self._do("INSERT INTO unanswered VALUES (%s, %s)", number, analyst)
        if analyst in self.seen.missing:
            self.seen.missing[analyst] += (Unanswered(number, analyst, drawer),)
        return True

    def reservation(self, number: int) -> Reservation | None:
        row = self._one(_RESERVED, number)
        return None if row is None else Reservation(*row)

    def payments(self, after: int, until: int) -> int:
        (count,) = self._one("SELECT COUNT(*) FROM requests WHERE number > %s AND number <= %s", after, until)
        return int(count)

    def payment(self, after: int, count: int) -> int | None:
        row = self._one(
            "SELECT number FROM requests WHERE number > %s ORDER BY number LIMIT 1 OFFSET %s", after, count - 1
        )
        return None if row is None else int(row[0])

    def forget_drawer(self, number: int) -> None:
        self._do("UPDATE requests SET drawer = '' WHERE number = %s", number)

    def unanswered(self, analyst: str | None = None) -> list[Unanswered]:
        rows = self._rows(_UNANSWERED) if analyst is None else self._rows(_UNANSWERED_OF, analyst)
        found = [Unanswered(*row) for row in rows]
        if analyst is not None:
            self.seen.missing[analyst] = tuple(found)
        return found

    def forgive(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            self._do("DELETE FROM unanswered WHERE number = %s", number)
            self.seen.answered.add(number)

    def secret(self) -> str:
        row = self._one("SELECT secret FROM secrets")
        if row is None:
            raise LedgerError(f"{self._where}: its secret is missing. Nothing was spent. Restore the newest backup.")
        return str(row[0])

    def set_secret(self, secret: str) -> None:
        self._do("INSERT INTO secrets VALUES (1, %s)", secret)

    def marks(self) -> frozenset[Mark]:
        return frozenset(Mark(*row) for row in self._rows("SELECT kind, source, value FROM marks"))

    def set_marks(self, marks: Iterable[Mark]) -> None:
        for one in marks:
            if one.kind == INODE:
                self._do("DELETE FROM marks WHERE kind = %s AND source = %s", INODE, one.source)
            self._do("INSERT INTO marks VALUES (%s, %s, %s) ON CONFLICT DO NOTHING", *one)

    def answer(self, released: int) -> bytes:
        (body,) = self._one("SELECT body FROM answers WHERE released = %s", released)
        return bytes(body)

    def store_answer(self, released: int, number: int, answer: bytes) -> None:
        self._do("INSERT INTO answers VALUES (%s, %s, %s)", released, number, answer)
        self.forgive([number])


def _key(stored: bytes | None) -> str | None:
    return None if stored is None else stored.decode(errors="replace")


@lru_cache(maxsize=16)
def _terms(written: str) -> Terms:
    return Terms.read(json.loads(written))
