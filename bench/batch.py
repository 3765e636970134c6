"""Fifty counts of one table: asked as a batch and one by one. Passes over the rows, and noise at the same price."""

import argparse
import csv
import random
import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import tacit
from measure import AtMost, Contestant, race
from tables import Column, Table, comparison, digits, publish, seconds, verdict

COUNTS = 50
STATEMENTS = [f"SELECT COUNT(*) AS n FROM people WHERE age > {age}" for age in range(20, 20 + COUNTS)]
TIMES = (
    Column("who", ""),
    Column("best", "CPU", seconds),
    Column("tacit", "batch"),
    Column("target", "target"),
    Column("met", "met", verdict),
    Column("note", "note"),
)
NOISE = (
    Column("statements", "counts"),
    Column("apart", "± one by one", digits),
    Column("together", "± batch", digits),
    Column("factor", "ratio", digits),
    Column("how", "priced by"),
)


def people(folder: Path, rows: int) -> Any:
    chance = random.Random(1)
    path = folder / "people.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["user_id", "age"])
        writer.writerows((chance.randrange(rows // 4), chance.randrange(100)) for _ in range(rows))
    return tacit.open(
        path,
        unit="user_id",
        budget=tacit.ApproxDP(10**9, "1e-2"),
        least=tacit.PureDP(0),
        bounds={"age": (0, 120)},
        types={"age": "integer", "user_id": "integer"},
        rows=4,
        delta="1e-9",
        ledger=tacit.InMemory(),
    )


def passes(table: Any, rows: int, rounds: int) -> Table:
    """CPU of all threads, the engine's included; the table is loaded before."""

    def one_by_one() -> Callable[[], Any]:
        return lambda: [table.sql(one, epsilon=1, fresh=True) for one in STATEMENTS]

    def batch() -> Callable[[], Any]:
        return lambda: table.batch(STATEMENTS).ask(epsilon=50, fresh=True)

    def single() -> Callable[[], Any]:
        return lambda: table.sql(STATEMENTS[0], epsilon=1, fresh=True)

    table.sql(STATEMENTS[0], epsilon=1)
    subjects = {
        "50 counts as a batch": (batch, None),
        "50 counts one by one": (one_by_one, AtMost(0.2)),
        "1 count": (single, None),
    }
    timed = race([Contestant(name, prepare, rounds=rounds) for name, (prepare, _) in subjects.items()])
    targets = [target for _, target in subjects.values()]
    found = [comparison(timed[0], one, target) for one, target in zip(timed, targets, strict=True)]
    return Table(f"{COUNTS} counts with a condition each, {rows:,} rows", TIMES, found)


def noise(table: Any) -> Table:
    """95% errors of counts of one row per unit at (1, 1e-9) for all of them."""
    rows = []
    for size in (2, 10, 20, 50, 200, 1000):
        listed = [f"SELECT COUNT(*) AS n FROM people WHERE age > {at}" for at in range(size)]
        plan = table.batch(listed).plan(epsilon=1, delta="1e-9")
        apart = table.query(listed[0]).plan(epsilon=Fraction(1, size), delta=0).error("n")
        together = plan.plans[0].error("n")
        rows.append({"statements": size, "apart": apart, "together": together, "how": plan.how})
        rows[-1]["factor"] = together / apart
    return Table("error of each count, all of them at ε 1, δ 1e-9", NOISE, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    rows, rounds = (100_000, 2) if quick else (1_000_000, 3)
    with tempfile.TemporaryDirectory() as folder:
        table = people(Path(folder), rows)
        publish("batch", [passes(table, rows, rounds), noise(table)], quick=quick)


if __name__ == "__main__":
    main()
