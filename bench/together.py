"""Several statistics of one statement: their errors and intervals, read from one release and measured one by one.

Beside `accuracy.py`, with its table of visits. The same rows, limits, bounds and price; "one by one" is what Tacit did
before: each aggregate at its own share of the price, shares added up. The integers are read once and answers drawn many
times from them. The truth is the same statement at a price at which noise is next to nothing.
"""

import argparse
from fractions import Fraction
from typing import Any

import numpy as np

import accuracy
from accuracy_worker import Task
from bounding import FOLDER
from tables import Column, Table, digits, publish

REPETITIONS, QUICK = 50, 20
STATEMENTS = {
    "count and mean by city": "SELECT city, COUNT(*) AS n, AVG(spend) AS mean FROM rows GROUP BY city",
    "count, sum, mean and variance by city": "SELECT city, COUNT(spend) AS n, SUM(spend) AS sum, AVG(spend) AS mean, "
    "VAR_POP(spend) AS variance FROM rows GROUP BY city",
    "three quartiles": "SELECT PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY spend) AS q1, MEDIAN(spend) AS q2, "
    "PERCENTILE_CONT(0.75) WITHIN GROUP (ORDER BY spend) AS q3 FROM rows",
    "cube of city and dear": "SELECT city, spend > 30 AS dear, COUNT(*) AS n FROM rows GROUP BY CUBE (city, dear)",
    "cube of city and two kinds": "SELECT city, CASE WHEN spend > 30 THEN 'dear' ELSE 'cheap' END AS kind, "
    "COUNT(*) AS n FROM rows GROUP BY CUBE (city, kind)",
    "people by tens of spend, keys private": "SELECT spend // 10 AS tens, COUNT(DISTINCT user_id) AS n FROM rows "
    "GROUP BY tens",
    "count and mean by tens of spend, keys private": "SELECT spend // 10 AS tens, COUNT(*) AS n, AVG(spend) AS mean "
    "FROM rows GROUP BY tens",
}
COLUMNS = (
    Column("output", ""),
    Column("before", "error, one by one", digits),
    Column("after", "error, together", digits),
    Column("gain", "gain", lambda one: f"{digits(one)}×"),
    Column("wide_before", "interval, one by one", digits),
    Column("wide_after", "interval, together", digits),
    Column("note", "note"),
)


def opened() -> Any:
    import tacit

    tasks: list[Task] = accuracy.visited(FOLDER)
    task = next(one for one in tasks if one.by)
    path = FOLDER / "few_visits_together.toml"
    path.write_text(accuracy.policy(task), encoding="utf-8")
    return tacit.open(path, ledger=tacit.InMemory())


def drawn(table: Any, plan: Any, times: int) -> dict[str, Any]:
    """Values, lows and highs by output: one row per repetition, one column per group."""
    from tacit.tables.release.draw import draw

    engine = table._engine_now()
    integers = plan.integers([engine.run(one) for one in plan.passes.bounded])
    names = [one.name for one in plan.checked.query.outputs]
    found: dict[str, list[Any]] = {name: [] for name in names}
    for _ in range(times):
        for one in draw(plan, integers):
            if one.low is not None and one.name in found:
                found[one.name].append((np.array(one.values, dtype=float), one.low, one.high))
    return {name: [np.array(side) for side in zip(*made, strict=True)] for name, made in found.items() if made}


def compared(table: Any, name: str, price: Any, times: int) -> Table:
    from tacit.mechanisms.selection.key_votes import VotedKeySelection
    from tacit.privacy import ApproxDP
    from tacit.tables.plan.plan import planned, planned_before

    checked = table.query(STATEMENTS[name])._checked
    public = "private" not in name
    exact = drawn(table, planned(checked, table.policy, ApproxDP(10**7, 0 if public else price.dlt)), 1)
    plans = [make(checked, table.policy, price) for make in (planned_before, planned)]
    before, after = (drawn(table, plan, times) for plan in plans) if public else ({}, {})
    rows = [row(output, before[output], after[output], exact[output][0][0]) for output in after]
    thresholds = [plan.keys.threshold for plan in plans if plan.keys is not None]
    if thresholds:
        errors = [(line.name, line.error) for line in plans[1].lines]
        old = {line.name: line.error for line in plans[0].lines}
        rows += [
            {"output": f"{output[:12]}, ± said", "before": old[output], "after": error, "gain": old[output] / error}
            for output, error in errors
            if error is not None
        ]
        kept = dict(zip(("before", "after"), map(float, thresholds), strict=True))
        rows.append({"output": "people from which a key shows", **kept, "gain": kept["before"] / kept["after"]})
        if isinstance(plans[1].keys, VotedKeySelection):
            few = plans[1].keys.least_votes / plans[1].keys.weights[0][1]
            alone = {"output": "people in no other group", "before": kept["before"], "after": few}
            rows.append(alone | {"gain": kept["before"] / few, "note": "votes"})
    return Table(f"{name}, {price!r}, {plans[1].how}", COLUMNS, rows)


def row(output: str, before: Any, after: Any, exact: Any) -> dict[str, Any]:
    def error(found: Any) -> float:
        return float(np.abs(found[0] - exact).mean())

    def wide(found: Any) -> float:
        return float(np.median(found[2] - found[1]))

    covered = float(((after[1] <= exact + 1e-6) & (after[2] >= exact - 1e-6)).mean())
    made = {"output": output, "before": error(before), "after": error(after), "gain": error(before) / error(after)}
    return made | {"wide_before": wide(before), "wide_after": wide(after), "note": f"covered {covered:.1%}"}


def main() -> None:
    from tacit.privacy import ZCDP, ApproxDP

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    table = opened()
    delta = Fraction(1, 10**6)
    prices = [ApproxDP(1, delta), ApproxDP(Fraction(1, 10), delta), ZCDP(Fraction(1, 10), delta)]
    times = QUICK if arguments.quick else REPETITIONS
    publish(
        "together",
        [compared(table, name, price, times) for price in prices for name in STATEMENTS],
        quick=arguments.quick,
    )


if __name__ == "__main__":
    main()
