"""The median by city of ten million rows: ours from rows to released numbers, next to DuckDB's exact quantile.

Both bound in the same way (a user in at most 5 cities of 200, with at most 3 rows in each): theirs is the exact
``quantile_cont`` per city of the very rows that our engine keeps. Ours returns rows per cell, and the draw of medians
and their intervals is in the time. CPU seconds, all threads.
"""

import argparse
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import visits
from bounding import CITIES, FOLDER, HIGH, LOW, QUICK_USERS, ROWS, SECRET, USERS, Held, contest
from measure import AtMost, Contestant, Target
from tables import publish


def asked() -> tuple[Any, Any]:
    """The bounded query, and the mechanism that chooses."""
    from tacit.privacy import PureDP
    from tacit.tables.engines.contract import BoundedQuery
    from tacit.tables.estimators.base import Setting
    from tacit.tables.estimators.quantiles import QUANTILE
    from tacit.tables.expressions.kinds import Kind
    from tacit.tables.expressions.tree import Column
    from tacit.tables.query.tree import Aggregate

    bounds = (Fraction(LOW), Fraction(HIGH))
    aggregate = Aggregate("quantile", Column("spend"), bounds, level=Fraction(1, 2))
    choice = QUANTILE.choice(aggregate, Setting(ROWS, True, Kind.REAL))
    listed = tuple((name,) for name in visits.names())
    query = BoundedQuery(None, (Column("city"),), listed, "user_id", CITIES, ROWS, (choice.cells,))
    return query, choice.mechanism(PureDP(1), CITIES)


def ours(path: Path) -> Callable[[], Any]:
    from tacit.tables.engines.duckdb.engine import DuckDBEngine

    query, mechanism = asked()
    engine = DuckDBEngine(Held(path), SECRET)

    def run() -> Any:
        return mechanism.release(engine.run(query).measures[0], Fraction(1, 20))

    return run


def theirs(path: Path) -> Callable[[], Any]:
    """The same steps up to the rows that count, then the exact quantile of each city."""
    from tacit.tables.engines.chain.bounding import statement
    from tacit.tables.engines.chain.relations import Schema
    from tacit.tables.engines.duckdb.dialect import DIALECT
    from tacit.tables.expressions.kinds import Kind

    query, _ = asked()
    kinds = {"user_id": Kind.INTEGER, "city": Kind.TEXT, "spend": Kind.REAL}
    sql = statement(query, Schema(kinds, {}, SECRET, DIALECT)).sql
    start = sql.index("SELECT g, cell, count(*) AS times FROM (")
    rows = sql[start + len("SELECT g, cell, count(*) AS times FROM (") : sql.index(") AS counted WHERE cell <> 0")]
    steps = sql[: sql.index("tally0 AS NOT MATERIALIZED")].rstrip().rstrip(",")
    whole = f"{steps}\nSELECT g, quantile_cont(cell, 0.5) AS q FROM (\n{rows}\n) AS counted WHERE cell <> 0 GROUP BY g"
    held = Held(path)
    return lambda: held.columns(whole)


def unbounded(path: Path) -> Callable[[], Any]:
    held = Held(path)
    return lambda: held.columns("SELECT city, quantile_cont(spend, 0.5) AS q FROM visits GROUP BY city")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    FOLDER.mkdir(exist_ok=True)
    path = visits.write(FOLDER, QUICK_USERS if quick else USERS)
    rounds = 2 if quick else 3
    others: list[tuple[Contestant, Target | None]] = [
        (Contestant("exact quantile, same bounding", lambda: theirs(path), rounds=rounds), AtMost(3)),
        (Contestant("exact quantile, nothing bounded", lambda: unbounded(path), rounds=rounds), None),
    ]
    tables = [contest("median by city, 200 cities", Contestant("tacit", lambda: ours(path), rounds=rounds), others)]
    publish("medians", tables, quick=quick)


if __name__ == "__main__":
    main()
