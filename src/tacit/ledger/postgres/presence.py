"""Who is drawing, for everybody who shares a ledger in PostgreSQL: a lock that the server lets go of with its holder.

Each ledger object that draws holds one advisory lock on a connection of its own, under a random number that is in the
token of every answer it draws. A killed process, a lost machine, a cut cable: the connection ends, the lock is free.
"""

from __future__ import annotations

import os
import threading
from typing import Any

from tacit.ledger.drawers import Drawer, is_here
from tacit.ledger.postgres.address import PostgresAddress
from tacit.ledger.postgres.database import Link
from tacit.noise.entropy import system_entropy

__all__ = ["Presence"]

_KIND = "pg"
_HELD = """
SELECT EXISTS (SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database
WHERE l.locktype = 'advisory' AND d.datname = current_database() AND l.granted
AND l.objsubid = 1 AND l.classid::bigint = %s AND l.objid::bigint = %s)
"""


class Presence:
    """The lock of one ledger object, taken when it first draws."""

    def __init__(self, address: PostgresAddress, where: str, patience: float) -> None:
        self._link = Link(address, where, patience, self._lock_it)
        self._lock = threading.Lock()
        self._process = 0
        self._number = 0

    def drawer(self) -> Drawer:
        """The right to draw one answer, seen by everybody while the lock is held."""
        with self._lock:
            if self._process != os.getpid():
                self._process, self._number = os.getpid(), system_entropy().bits(63)
            self._link.connected()
            return Drawer(f"{_KIND} {self._number}")

    def _lock_it(self, connection: Any) -> None:
        connection.execute("SELECT pg_advisory_lock(%s)", (self._number,))

    def is_drawing(self, connection: Any, token: str) -> bool:
        """Whether the claim behind the token can still store its answer."""
        if is_here(token):
            return True
        kind, _, rest = token.partition(" ")
        number = rest.partition(" ")[0]
        if kind != _KIND or not number.isdecimal():
            return False
        value = int(number)
        if (self._process, self._number) == (os.getpid(), value):
            return False  # of this very object, and given up
        ((held,),) = connection.execute(_HELD, (value >> 32, value & 0xFFFFFFFF)).fetchall()
        return bool(held)

    def close(self) -> None:
        """Let go of the lock, if nobody draws any more under it."""
        with self._lock:
            self._link.close()
