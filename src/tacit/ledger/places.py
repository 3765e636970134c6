"""A ledger by its address: a file, or a database."""

from __future__ import annotations

from pathlib import Path

from tacit.ledger.postgres.address import is_postgres
from tacit.ledger.protocol import Ledger
from tacit.ledger.sqlite.ledger import SqliteLedger

__all__ = ["ledger_at"]


def ledger_at(where: str | Path) -> Ledger:
    """The ledger there; nothing is made or looked at.

    >>> ledger_at("visits.ledger")
    SqliteLedger('...visits.ledger')
    """
    if isinstance(where, str) and is_postgres(where):
        from tacit.ledger.postgres.ledger import PostgresLedger  # its driver is an extra

        return PostgresLedger(where)
    return SqliteLedger(where)
