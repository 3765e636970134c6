"""The worst person's own key, where a released count decides: how often it appears, by the law of the noise drawn."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace
from tacit.mechanisms.selection.count_threshold import CountThreshold
from tacit.tables.plan import price as pricing
from tacit.tables.plan.plan import Plan
from tests.tables.attacks import faults
from tests.tables.attacks.nodes import NODES, WORST, open_worst

STATEMENTS = NODES["counts that decide on keys"]
Fault = Callable[[pytest.MonkeyPatch], None]


def slipping(folder: Path, budget: str) -> float:
    """The largest chance that any key which only the person has is shown, as a part of the δ that is charged."""
    folder.mkdir()
    without = open_worst(folder, None, budget)
    found = []
    for person in WORST:
        others = [
            f"z,{city},pro,1,1,2026-03-01 05:00:00" for city in ("Rome", "Bern", "Wien", "Riga") for _ in range(4)
        ]
        table = open_worst(folder, person, budget, rows=[*WORST[person], *others])
        for sql in STATEMENTS:
            plan = table.query(sql).plan(**{budget: 1, "delta": "1e-6"})
            assert isinstance(plan.keys, CountThreshold), sql
            known, own = (one._engine_now().run(plan.passes.bounded[0]) for one in (without, table))
            decider = plan.parts[0].bounded.measures.index(plan.parts[0].decides)  # type: ignore[arg-type]
            alone = [at for at, key in enumerate(own.keys[0]) if key not in known.keys[0]]
            counts = [int(own.measures[decider].tolist()[at]) for at in alone]  # type: ignore[union-attr]
            found.append(sum(_chance(plan, count) for count in counts) / float(plan.cost.leak))
    return max(found)


def _chance(plan: Plan, count: int) -> float:
    """P[count + noise ≥ T], by the law of the noise that the number gets."""
    (part,) = plan.parts
    assert part.decides is not None
    assert part.keys is not None
    noise, least = part.mechanism_of(part.decides), part.keys.threshold - count
    if isinstance(noise, DiscreteLaplace):
        q = math.exp(-1 / noise.scale)
        return q**least / (1 + q) if least > 0 else 1.0
    return math.erfc((least - 0.5) / noise.scale / math.sqrt(2)) / 2


@pytest.mark.parametrize("budget", ["epsilon", "rho"])
def test_the_worst_persons_own_keys_are_hidden_but_for_delta(budget: str, tmp_path: Path) -> None:
    found = slipping(tmp_path / "all", budget)
    assert found <= 1 + 1e-6
    assert found > 0.2  # so little room that a slip four times as large is seen


def one_row(patch: pytest.MonkeyPatch) -> None:
    """The threshold is that of people with nothing at all."""
    right = pricing.decided
    patch.setattr(pricing, "decided", lambda *given: replace(right(*given), most=-1))


def one_group(patch: pytest.MonkeyPatch) -> None:
    """Each of a person's keys may slip as often as all of them together, ten times over."""
    right = pricing.decided
    patch.setattr(pricing, "decided", lambda *given: replace(right(*given), groups=1, slip=10 * right(*given).slip))


def slip_of_more(patch: pytest.MonkeyPatch) -> None:
    """More may slip than is charged."""
    right = pricing.decided
    patch.setattr(pricing, "decided", lambda *given: replace(right(*given), slip=8 * right(*given).slip))


@pytest.mark.parametrize("fault", [one_row, one_group, slip_of_more, faults.every_group], ids=lambda one: one.__name__)
@pytest.mark.thorough
def test_a_planted_hole_is_seen(fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fault(monkeypatch)
    assert max(slipping(tmp_path / budget, budget) for budget in ("epsilon", "rho")) > 1 + 1e-6


def test_the_law_used_here_is_that_of_the_noise() -> None:
    q = math.exp(-1 / 3)
    terms = [(1 - q) / (1 + q) * q**z for z in range(5, 400)]
    assert math.isclose(sum(terms), q**5 / (1 + q))
