"""The ledger: durable spends next to SQLite itself, growth with its length, verification.

A durable transaction waits for the disk, so these are seconds on the wall, not CPU; the contestants take turns in short
laps, and medians are compared within the run. SQLite's side is one insert of a row of the same size per transaction,
with the same journal and the same syncing: the least that a durable payment can cost.
"""

import argparse
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tables import Column, Table, publish, seconds, verdict
from tacit.ledger import Request, SqliteLedger, Terms
from tacit.privacy import PureDP

ROOT = Path(__file__).resolve().parent.parent
MEMORY = Path("/dev/shm")
LEAST_SPENDS = 1000
LEAST_RATIO = 0.5
MOST_GROWTH = 2.0
LEAST_VERIFIED = 100_000
QUESTION = "SELECT city, COUNT(*) AS visits FROM visits WHERE age > {} GROUP BY city"
PRICE = PureDP("0.001")
TERMS = Terms(PureDP(10**6))

VERDICT = (Column("target", "target"), Column("met", "met", verdict), Column("note", "note"))
RATES = (
    Column("who", ""),
    Column("rate", "per second", "{:,.0f}".format),
    Column("each", "each", seconds),
    Column("tacit", "tacit's rate over it", "{:.2f}".format),
    *VERDICT,
)


class Spender:
    """Spends on a ledger, one new question after the other; with or without storing an answer."""

    def __init__(self, path: Path, release: bool = False) -> None:
        self.ledger = SqliteLedger(path, patience=60).open("visits", TERMS)
        self.turn = self.ledger.budget().head.number
        self.release = release

    def lap(self, times: int) -> None:
        for _ in range(times):
            self.turn += 1
            claim = self.ledger.spend(Request("ada", QUESTION.format(self.turn), "1"), PRICE)
            if self.release:
                claim.release(b"x" * 500)


class Plain:
    """SQLite alone: one row per durable transaction."""

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA synchronous = FULL")
        self.connection.execute("CREATE TABLE spends (number INTEGER PRIMARY KEY, body BLOB)")
        self.body = b"x" * 420  # the size of an entry

    def lap(self, times: int) -> None:
        execute = self.connection.execute
        for _ in range(times):
            execute("BEGIN IMMEDIATE")
            execute("INSERT INTO spends (body) VALUES (?)", (self.body,))
            execute("COMMIT")


def in_turns(laps: int, times: int, contestants: Sequence[Callable[[int], None]]) -> list[float]:
    """The median seconds of one act, for each contestant."""
    found: list[list[float]] = [[] for _ in contestants]
    for contestant in contestants:
        contestant(times)
    for _ in range(laps):
        for kept, contestant in zip(found, contestants, strict=True):
            start = time.perf_counter()
            contestant(times)
            kept.append((time.perf_counter() - start) / times)
    return [statistics.median(kept) for kept in found]


def durable(folder: Path, laps: int) -> Table:
    """Payments on this machine's disk, next to SQLite's transactions."""
    spender, storing = Spender(folder / "spends.ledger"), Spender(folder / "stored.ledger", release=True)
    plain = Plain(folder / "plain.db")
    ours, both, theirs = in_turns(laps, 40, (spender.lap, storing.lap, plain.lap))
    target = f"≥ {LEAST_SPENDS}/s or ratio ≥ {LEAST_RATIO}"
    met = 1 / ours >= LEAST_SPENDS or theirs / ours >= LEAST_RATIO
    rows = [
        {"who": "tacit, a payment", "rate": 1 / ours, "each": ours},
        {"who": "tacit, a payment and its answer", "rate": 1 / both, "each": both, "note": "two durable transactions"},
        {
            "who": "SQLite, one row",
            "rate": 1 / theirs,
            "each": theirs,
            "tacit": theirs / ours,
            "target": target,
            "met": met,
        },
    ]
    return Table("durable payments on this disk, write-ahead log, synchronous=FULL", RATES, rows)


def in_memory(folder: Path, laps: int) -> Table:
    """The same where syncing costs nothing: what the bookkeeping itself takes."""
    ours, theirs = in_turns(laps, 100, (Spender(folder / "spends.ledger").lap, Plain(folder / "plain.db").lap))
    rows = [
        {"who": "tacit, a payment", "rate": 1 / ours, "each": ours},
        {"who": "SQLite, one row", "rate": 1 / theirs, "each": theirs, "tacit": theirs / ours},
    ]
    return Table("payments in a file system in memory", RATES, rows)


def filled(path: Path, entries: int) -> Path:
    """A ledger with this many entries, half of them answers."""
    spender = Spender(path, release=True)
    spender.lap(entries // 2)
    spender.ledger.close()
    return path


def growth(long: Path, short: Path, laps: int) -> Table:
    """A payment in a long ledger next to one in a short one."""
    lengths = [Spender(path).ledger.budget().head.number + 1 for path in (short, long)]
    small, large = in_turns(laps, 40, (Spender(short).lap, Spender(long).lap))
    target, met = f"≤ {MOST_GROWTH:g}×", large <= MOST_GROWTH * small
    rows = [
        {"who": f"after {lengths[0]:,} entries", "rate": 1 / small, "each": small},
        {
            "who": f"after {lengths[1]:,} entries",
            "rate": 1 / large,
            "each": large,
            "target": target,
            "met": met,
            "note": f"takes {large / small:.2f}×",
        },
    ]
    return Table(f"a payment as the ledger grows ({long.parent})", RATES, rows)


def verification(path: Path, rounds: int) -> Table:
    """Entries verified per second of CPU."""
    best = float("inf")
    with SqliteLedger(path, patience=60).open() as ledger:
        for _ in range(rounds):
            start = time.process_time()
            found = ledger.verify()
            best = min(best, (time.process_time() - start) / found.entries)
            assert found.sound
    row: dict[str, Any] = {"who": f"{found.entries:,} entries", "rate": 1 / best, "each": best}
    row |= {"target": f"≥ {LEAST_VERIFIED:,}/s", "met": 1 / best >= LEAST_VERIFIED, "note": "CPU, best of several"}
    return Table("verification: chain, totals, requests, answers, and SQLite's own check of the file", RATES, [row])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a shorter ledger, fewer laps")
    quick = parser.parse_args().quick
    laps, entries = (8, 10_000) if quick else (25, 100_000)
    disk = Path(tempfile.mkdtemp(prefix=".bench-ledger-", dir=ROOT))
    memory = Path(tempfile.mkdtemp(dir=MEMORY if MEMORY.is_dir() else None))
    try:
        long, short = filled(memory / "long.ledger", entries), filled(memory / "short.ledger", 10)
        tables = [durable(disk, laps), in_memory(memory, laps), verification(long, 15)]
        for name in ("long.ledger", "short.ledger"):
            shutil.copy(memory / name, disk / name)
        tables += [growth(long, short, laps), growth(disk / "long.ledger", disk / "short.ledger", laps)]
        publish("ledger", tables, quick=quick)
    finally:
        shutil.rmtree(disk)
        shutil.rmtree(memory)


if __name__ == "__main__":
    main()
