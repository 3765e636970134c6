"""What PostgreSQL's failures mean to someone who keeps a ledger there; its own messages are not passed on."""

from __future__ import annotations

from typing import Any

from tacit.errors import LedgerError
from tacit.ledger.postgres.driver import driver

__all__ = ["Unreachable", "failures", "translated"]

_KEPT = "Nothing was given out, and what was recorded before stays recorded."
_MEANINGS = {
    "08": "the connection to PostgreSQL was lost. Check the server and ask again.",
    "28": "PostgreSQL does not let this user in. Check the user and the password.",
    "3D": "there is no such database. Make it (createdb) and try again.",
    "40": "others kept it busy. Ask again.",
    "42501": "this user may not use the tables. Grant it the schema and its tables.",
    "53100": "the server's disk is full. Make room and ask again.",
    "53": "the server is out of resources. Ask again later.",
    "55P03": "others kept it busy for too long. Ask again.",
    "57": "the server is being shut down or started. Ask again in a moment.",
    "25006": "it is read-only: a standby, perhaps. Use the primary server.",
}
_LOST = "08"


class Unreachable(LedgerError):
    """The server was lost, perhaps after it did what it was asked."""


def failures() -> tuple[type[BaseException], ...]:
    """What the driver raises."""
    found: type[BaseException] = driver().Error
    return (found,)


def translated(error: BaseException, where: str, *, lost: bool = False) -> LedgerError:
    """The error as people can act on it."""
    state = getattr(error, "sqlstate", None)
    code: Any = _LOST if state is None or lost else state
    meaning = next((text for begins, text in _MEANINGS.items() if code.startswith(begins)), None)
    told = meaning or "its tables refused the statement. Run `tacit verify` on it."
    kind = Unreachable if code[:2] in ("08", "57") else LedgerError
    return kind(f"{where}: {told} {_KEPT}" + (f" ({state})" if state else ""))
