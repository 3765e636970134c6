"""A budget that lasts: how many questions a ledger grants under (ε 3, δ 1e-8), by the sum and with a δ′ set aside.

Payments are made in the ledger itself until it refuses. Prices are plain numbers, and those that a count on the demo's
table takes to be right within 50 (95%), as planned: in rows of which three of each person count, and in persons.
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from peers import load
from tables import Column, Table, publish

COLUMNS = (
    Column("what", "price of each question"),
    Column("price", "ε", lambda value: f"{value:.6g}"),
    Column("sum", "by the sum"),
    Column("half", "half of δ set aside"),
    Column("whole", "all of δ set aside"),
)
PRICES = ("1", "0.3", "0.1", "0.05", "0.03", "0.01")
COUNTS = {
    "rows, ± 50": "SELECT COUNT(*) AS n FROM visits",
    "persons, ± 50": "SELECT COUNT(DISTINCT user_id) AS n FROM visits",
}


def granted(price: Any, set_aside: str | None) -> int:
    """How often a ledger takes this price."""
    ledger, privacy, errors = load("tacit.ledger"), load("tacit.privacy"), load("tacit.errors")
    terms = ledger.Terms(privacy.ApproxDP(3, "1e-8"), set_aside=set_aside)
    count = 0
    with ledger.InMemory().open("visits", terms) as book:
        while True:
            try:
                claim = book.spend(ledger.Request("ada", f"question {count}"), price)
            except errors.BudgetExceeded:
                return count
            claim.release(b"an answer")
            count += 1


def counts() -> Iterator[tuple[str, Any]]:
    """What the counts cost on the demo's table: a plan, which reads no row."""
    demo, tacit = load("tacit.cli.story.demo_table"), load("tacit")
    with tempfile.TemporaryDirectory() as folder:
        demo.write_visits(Path(folder) / "visits.csv", 2000)
        (Path(folder) / "visits.toml").write_text(demo.POLICY, encoding="utf-8")
        with tacit.open(Path(folder) / "visits.toml") as visits:
            for what, sql in COUNTS.items():
                yield what, visits.query(sql).plan(within={"n": 50}).cost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="results are not kept")
    quick = parser.parse_args().quick
    pure = load("tacit.privacy").PureDP
    rows = []
    for what, price in [*(("as typed", pure(one)) for one in PRICES), *counts()]:
        sums = {key: granted(price, aside) for key, aside in (("sum", None), ("half", "5e-9"), ("whole", "1e-8"))}
        rows.append({"what": what, "price": float(price.as_approx()[0]), **sums})
    publish("lasting", [Table("questions that fit into ε 3, δ 1e-8", COLUMNS, rows)], quick=quick)


if __name__ == "__main__":
    main()
