"""Games, lists and noise that follows: CPU seconds and quality as players, places and lengths grow.

No peer implements any of this, so the targets are absolute: the quality that the theory promises and the step that the
cost may grow by. CPU seconds of one run after a warm one, all threads.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tables import Column, Table, publish, seconds, verdict

COLUMNS = (
    Column("what", "what"),
    Column("size", "size", "{:,}".format),
    Column("cpu", "CPU", seconds),
    Column("measure", "measured"),
    Column("value", "value", "{:.4g}".format),
    Column("target", "target"),
    Column("met", "met", verdict),
)


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    run()
    start = time.process_time()
    found = run()
    return time.process_time() - start, found


def row(what: str, size: int, run: Callable[[], float], measure: str, most: float | None) -> dict[str, Any]:
    cpu, value = timed(run)
    limit = {} if most is None else {"target": f"at most {most:g}", "met": value <= most}
    return {"what": what, "size": size, "cpu": cpu, "measure": measure, "value": value, **limit}


def large_games(sizes: Sequence[int]) -> list[dict[str, Any]]:
    from tacit import games

    rows = []
    for players in sizes:
        tastes = np.random.default_rng(1).random((players, 4))
        m = games.Mediator(players=players, actions=4, rounds=100, epsilon=1, delta="1e-6")

        def gain(m: Any = m, tastes: Any = tastes) -> float:
            return float(m.play(tastes).gains(tastes).max())

        rows.append(row("mediator, 4 routes, 100 rounds", players, gain, "largest gain from disobeying", 0.015))
    return rows


def facilities(sizes: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
    from fractions import Fraction

    from tacit.games.facilities import gains

    rows = []
    for places, people in sizes:
        at = tuple(Fraction(i, places - 1) for i in range(places))

        def most(at: Any = at, people: int = people) -> float:
            return float(gains(at, people, Fraction(1, 2)).max())

        rows.append(row(f"all lies, {places} places, people:", people, most, "largest gain before punishment", None))
    return rows


def lists(lengths: Sequence[int], people: Sequence[int]) -> list[dict[str, Any]]:
    from tacit import games

    rows = []
    for length in lengths:
        shares = 1 / np.arange(1, length + 1)
        true = np.sort(np.random.default_rng(0).multinomial(length, shares / shares.sum()))[::-1]
        m = games.FrequencyList(length=length, epsilon=1)

        def error(m: Any = m, true: Any = true) -> float:
            return float(np.abs(m.release(true) - true).sum() / true.sum())

        rows.append(row("FrequencyList, ε = 1, Zipf", length, error, "L1 error per person", 0.006))
    for count in people:
        shares = 1 / np.arange(1, count + 1)
        true = np.sort(np.random.default_rng(0).multinomial(count, shares / shares.sum()))[::-1]
        exact = games.PartitionList(people=count, epsilon=1)

        def off(m: Any = exact, true: Any = true) -> float:
            return float(np.abs(m.release(true) - true).sum() / true.sum())

        rows.append(row("PartitionList, ε = 1, Zipf", count, off, "L1 error per person", None))
    return rows


def medians(sizes: Sequence[int]) -> list[dict[str, Any]]:
    from tacit import REPLACE, Quantile, SmoothMedian

    rows = []
    for n in sizes:
        values = np.random.default_rng(2).lognormal(10.5, 0.6, n)
        true = float(np.sort(values)[(n - 1) // 2])
        for name, m in (
            ("SmoothMedian, ε = 1", SmoothMedian(n=n, bounds=(0, 500_000), epsilon=1)),
            ("Quantile, ε = 1", Quantile(0.5, bounds=(0, 500_000), epsilon=1, neighbours=REPLACE)),
        ):

            def error(m: Any = m, values: Any = values, true: float = true) -> float:
                return abs(float(m.release(values)) - true)

            median = float(np.median([error() for _ in range(51)]))
            cpu, _ = timed(error)
            rows.append({"what": name, "size": n, "cpu": cpu, "measure": "median error of an income", "value": median})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    tables = [
        Table("a large game", COLUMNS, large_games((1_000, 10_000) if quick else (1_000, 10_000, 100_000))),
        Table(
            "two facilities", COLUMNS, facilities(((5, 10), (5, 20)) if quick else ((5, 10), (5, 20), (5, 40), (7, 12)))
        ),
        Table(
            "frequency lists",
            COLUMNS,
            lists((10**5,), (100, 300)) if quick else lists((10**5, 10**6, 10**7), (100, 300, 1000)),
        ),
        Table(
            "medians of incomes", COLUMNS, medians((1_000, 10_000) if quick else (1_000, 10_000, 100_000, 1_000_000))
        ),
    ]
    publish("games", tables, quick=quick)


if __name__ == "__main__":
    main()
