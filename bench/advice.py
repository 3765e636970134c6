"""`tacit.advise`: CPU of one ranking, for every kind of release, at a price and for an error, small and very large."""

import argparse
import time
from typing import Any

from tables import Column, Table, publish, seconds, verdict
from tacit.advice import advise
from tacit.advice.situations.choices import Choice, TopChoices
from tacit.advice.situations.devices import DeviceSum
from tacit.advice.situations.means import MeanSurvey
from tacit.advice.situations.numbers import Histogram, Numbers
from tacit.advice.situations.ranks import Ranks
from tacit.advice.situations.surveys import Survey
from tacit.advice.situations.thresholds import Thresholds
from tacit.advice.situations.totals import RunningTotals
from tacit.errors import InvalidParameter

LIMIT = 0.5
SITUATIONS: dict[str, tuple[Any, Any]] = {
    "numbers": (Numbers(20, 1), Numbers(10**9, 1, together=True)),
    "histogram": (Histogram(50), Histogram(10**9, groups=1000, rows=10)),
    "choice": (Choice(50, 1), Choice(10**6, 1)),
    "top": (TopChoices(3, 50, 1), TopChoices(100, 10**4, 1)),
    "quantiles": (Ranks(["0.5"], (0, 1000)), Ranks([f"0.{i:02}" for i in range(5, 100, 5)], (0, 10**6))),
    "thresholds": (Thresholds(1000, 1), Thresholds(10**6, 1, hits=100)),
    "totals": (RunningTotals(100), RunningTotals(10**6)),
    "survey": (Survey(12, 1000), Survey(10**4, 10**7)),
    "survey, shuffled": (Survey(5, 1000, "shuffler"), Survey(100, 10**9, "shuffler")),
    "mean": (MeanSurvey(1000, (0, 1)), MeanSurvey(10**7, (0, 1))),
    "sum": (DeviceSum(1000, bits=True), DeviceSum(10**9, bits=True)),
}
COLUMNS = (
    Column("what", ""),
    Column("size", "size"),
    Column("asked", "asked for"),
    Column("cpu", "CPU", seconds),
    Column("target", "target"),
    Column("met", "met", verdict),
    Column("note", "note"),
)


def measured(what: str, size: str, situation: Any, rounds: int) -> list[dict[str, Any]]:
    """Prices differ a little from round to round, so that nothing kept from the one before helps."""
    rows = []
    error = 1.0
    for asked in ("a price", "an error"):
        best, note = float("inf"), None
        for lap in range(rounds):
            price: dict[str, Any] = {"epsilon": f"1.{lap + 1:06}"}
            if asked == "an error":
                price = {"error": repr(2 * error * (1 + lap * 1e-6))}
            start = time.process_time()
            try:
                made = advise(situation, delta="1e-6", **price)
            except InvalidParameter as refused:
                note = f"refused: {refused}"[:100]
            else:
                error = made.best.error or 1.0 if asked == "a price" else error
            best = min(best, time.process_time() - start)
        met = {"target": f"≤ {LIMIT} s", "met": best <= LIMIT}
        rows.append({"what": what, "size": size, "asked": asked, "cpu": best, **met, "note": note})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one round; results are not kept")
    arguments = parser.parse_args()
    rows = []
    advise(Numbers(1, 1), epsilon=1)  # what is imported on first use
    for what, pair in SITUATIONS.items():
        for size, situation in zip(("usual", "very large"), pair, strict=True):
            rows += measured(what, size, situation, 1 if arguments.quick else 3)
    publish("advice", [Table("one ranking", COLUMNS, rows)], quick=arguments.quick)


if __name__ == "__main__":
    main()
