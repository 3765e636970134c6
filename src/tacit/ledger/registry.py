"""Every kind of ledger, and how to make one at a place: joining this mapping runs the contract suite on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from tacit.ledger.memory import InMemory
from tacit.ledger.postgres.ledger import PostgresLedger
from tacit.ledger.protocol import Ledger
from tacit.ledger.sqlite.ledger import SqliteLedger

__all__ = ["LEDGERS"]

LEDGERS: Mapping[str, Callable[[str], Ledger]] = {
    "in memory": lambda place: InMemory(patience=30),
    "sqlite": lambda place: SqliteLedger(Path(place) / "people.ledger", patience=30),
    "postgresql": lambda place: PostgresLedger(place, patience=30),
}
"""By name; a place is a folder, or the address of a database."""
