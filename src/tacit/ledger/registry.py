"""Every kind of ledger, and how to make one in a folder: joining this mapping runs the contract suite on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from tacit.ledger.memory import InMemory
from tacit.ledger.protocol import Ledger
from tacit.ledger.sqlite import SqliteLedger

__all__ = ["LEDGERS"]

LEDGERS: Mapping[str, Callable[[Path], Ledger]] = {
    "in memory": lambda folder: InMemory(patience=30),
    "sqlite": lambda folder: SqliteLedger(folder / "people.ledger", patience=30),
}
