"""Intervals of counts and of reports hold the truth at least as often as they say, for every method and price."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from tacit.privacy import ZCDP, ApproxDP, PureDP
from tacit.synth import AIM, MST, Independent, Pairs, Workload
from tacit.synth.counts import smoothing
from tacit.synth.counts.purse import Measured
from tacit.synth.counts.stage import joined
from tacit.synth.made.queries import Reach
from tacit.synth.methods import aim, mst, pairs, synthesizer, workload
from tacit.synth.methods.synthesizer import Synthesizer
from tacit.synth.models.graph import fit_graph
from tacit.synth.models.model import independent
from tacit.testing import seeded
from tests.synth.made.test_queries import QUERIES, true_count
from tests.synth.tables import DOMAIN, people

TABLES = [("plan", "paid"), ("city", "age"), ("plan", "paid", "city")]
METHODS: dict[str, Callable[[Any], Synthesizer]] = {
    "independent": lambda price: Independent(promise=price),
    "pairs": lambda price: Pairs(promise=price),
    "mst": lambda price: MST(promise=price),
    "aim": lambda price: AIM(promise=price),
    "workload": lambda price: Workload(TABLES, promise=price),
}
PRICES = [PureDP(2), ApproxDP(1, "1e-6"), ZCDP("0.05")]
BETA, RUNS = 0.2, 12
BETA_OF_ONE = Fraction(1, 20)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Intervals rest on noisy tables alone, so models need not be good; tables of pairs are bought at every price."""
    monkeypatch.setattr(synthesizer, "WORTH", 0.0)
    for module in (pairs, aim):
        monkeypatch.setattr(module, "fit_stacked", alone)
    monkeypatch.setattr(aim, "_quick", lambda ones, *rest: alone(ones))
    monkeypatch.setattr(aim, "_DRAWN", 100)
    monkeypatch.setattr(aim, "_MOST_TRIPLES", 2)
    monkeypatch.setattr(smoothing, "_smoothers", lambda size, longest, *, ordered: [lambda counts, scale: counts])
    for one in (mst, workload):
        monkeypatch.setattr(one, "fit_graph", partial(fit_graph, steps=0))


def alone(ones: Any, *tables: Any, **how: Any) -> Any:
    """A model that ignores tables of several columns."""
    return independent([law for law, _, _ in ones])


def missed(make: Callable[[], Synthesizer], rows: dict[str, list[Any]], seeds: Sequence[int]) -> dict[str, float]:
    """How often intervals do not hold the truth: of counts, worst query first, of columns, of the number of rows."""
    size, true = len(rows["plan"]), [true_count(rows, where) for where in QUERIES]
    counts, columns, total = np.zeros(len(QUERIES)), list[bool](), 0
    for seed in seeds:
        made = make().fit(rows, domain=DOMAIN, entropy=seeded(seed))
        for at, where in enumerate(QUERIES):
            found = made.count(where, beta=BETA)
            counts[at] += not found.low <= true[at] <= found.high
        said = made.report().values
        total += not said["rows"]["low"] <= size <= said["rows"]["high"]
        for one in said["columns"]:
            if one["name"] in ("plan", "city"):
                listed = [("missing" if value is None else str(value)) for value in rows[one["name"]]]
                columns += [not bar["low"] <= listed.count(bar["value"]) <= bar["high"] for bar in one["counts"]]
    return {"counts": float(counts.max() / len(seeds)), "columns": float(np.mean(columns)), "rows": total / len(seeds)}


@pytest.mark.parametrize("name", METHODS)
def test_intervals_cover(name: str) -> None:
    price = PRICES[list(METHODS).index(name) % len(PRICES)]
    found = missed(lambda: METHODS[name](price), people(300), range(RUNS))
    assert found["counts"] <= BETA + 3 * np.sqrt(BETA * (1 - BETA) / RUNS)
    assert found["columns"] <= 0.05 + 4 * np.sqrt(0.05 / (8 * RUNS))
    assert found["rows"] <= 0.05 + 4 * np.sqrt(0.05 / RUNS)


@pytest.mark.parametrize("name", ["independent", "pairs"])
def test_planted_fault_intervals_of_a_third_of_the_width_are_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Reach.of
    monkeypatch.setattr(Reach, "of", lambda self, *given, **more: whole(self, *given, **more) / 3)
    found = missed(lambda: METHODS[name](PRICES[1]), people(300), range(RUNS))
    assert found["columns"] > 0.05 + 4 * np.sqrt(0.05 / (8 * RUNS))


def test_joined_measurements_are_not_rounded() -> None:
    """Half a row in each cell would not be in the spread that intervals rest on."""
    first = Measured((0,), np.array([10, 21]), 3.0)
    both = joined(first, Measured((0,), np.array([11, 20]), 3.0))
    assert both.counts.tolist() == [10.5, 20.5]
    assert both.is_joined
    assert both.scale == pytest.approx(3 / np.sqrt(2))
    made = Independent(promise=PureDP(2)).fit(people(50), domain=DOMAIN, entropy=seeded(1))
    assert all(one.is_joined for one in made.ones)
    assert Reach(ZCDP(1), BETA_OF_ONE).of(5, 10.0, is_joined=True) >= Reach(ZCDP(1), BETA_OF_ONE).of(5, 10.0)


@pytest.mark.slow
@pytest.mark.parametrize("price", PRICES, ids=repr)
@pytest.mark.parametrize("name", METHODS)
def test_intervals_cover_in_many_runs(name: str, price: Any) -> None:
    runs = 400
    found = missed(lambda: METHODS[name](price), people(300), range(1000, 1000 + runs))
    print(name, price, found)
    assert found["counts"] <= BETA + 4 * np.sqrt(BETA / runs)
    assert found["columns"] <= 0.05 + 4 * np.sqrt(0.05 / (8 * runs))
    assert found["rows"] <= 0.05 + 4 * np.sqrt(0.05 / runs)
