"""ROLLUP, CUBE and GROUPING SETS in a batch: every level of every statement is part of the one price.

The oracle runs the engine on two tables, one person apart, sees by how much every number moves, reads each noise off
its mechanism, and composes the laws by sums of its own. It knows neither shares nor claimed sensitivities.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.errors import BudgetExceeded, InvalidParameter
from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace
from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.privacy import ApproxDP
from tacit.tables.engines.contract import Integers
from tacit.tables.plan.joint import Joint, share, shares_of
from tacit.tables.plan.joint_mixed import GAUSSIAN, LAPLACE, Mixture
from tacit.tables.plan.plan import Plan, planned
from tacit.tables.plan.price import Need, Price
from tacit.tables.session import batch as batches
from tacit.tables.session.batch import Batch
from tacit.tables.session.table import Table
from tests.tables.plan.test_sets import BOTH, POLICY, Row, _exact, opened, people

ALL = "SELECT COUNT(*) AS n FROM shop"
BY_TOWN = "SELECT town, COUNT(*) AS n FROM shop GROUP BY ROLLUP (town)"
CUBE = "SELECT town, plan, COUNT(*) AS n FROM shop GROUP BY CUBE (town, plan)"
STREETS = "SELECT street, plan, COUNT(*) AS n FROM shop GROUP BY ROLLUP (street, plan)"
AVERAGES = "SELECT town, AVG(pay) AS m, COUNT(*) AS n FROM shop GROUP BY ROLLUP (town)"


@pytest.fixture
def shop(tmp_path: Path) -> Table:
    return opened(tmp_path, people())


def counts(many: int) -> list[str]:
    return [f"SELECT COUNT(*) AS n FROM shop WHERE pay >= -{at}" for at in range(many)]


# what comes out


def test_totals_add_up_under_one_debit(shop: Table) -> None:
    answers = shop.batch([ALL, BOTH, CUBE]).ask(epsilon=1)
    assert [len(one.rows()) for one in answers] == [1, 6 + 3 + 1, 12]
    for one, names in ((answers[1], ("n", "s")), (answers[2], ("n",))):
        for name in names:
            whole = [row[name] for row in one.rows() if row["town"] is None and row["plan"] is None]
            towns = [row[name] for row in one.rows() if row["town"] is not None and row["plan"] is None]
            finest = [row[name] for row in one.rows() if row["town"] is not None and row["plan"] is not None]
            assert sum(towns) == pytest.approx(whole[0])  # type: ignore[arg-type]
            assert sum(finest) == pytest.approx(whole[0])  # type: ignore[arg-type]
    assert answers.spent == ApproxDP(1, 0) == shop.ledger.budget().charged
    assert [entry.kind for entry in shop.ledger.history()].count("reserved") == 1
    told = answers[1].disclosure()
    assert "Statement 2 of 3 that were asked together" in told.remarks[-1]
    assert sum(Fraction(one.share) for one in told.noise) == 1
    again = shop.batch([ALL, BOTH.lower(), CUBE]).ask(epsilon=1)
    assert [one.to_dict() for one in again] == [one.to_dict() for one in answers]
    assert shop.ledger.budget().charged == ApproxDP(1, 0)


def test_every_statement_gets_its_own_integers(shop: Table) -> None:
    """At a price at which noise is nothing the answers are the exact ones, whatever passes were shared."""
    statements = [BY_TOWN, *counts(2), AVERAGES, BOTH, ALL, CUBE]
    answers = shop.batch(statements).ask(epsilon=90_000)
    for one in (answers[4], answers[6]):
        for row in one.rows():
            held = [x for x in people() if row["town"] in (x[1], None) and row["plan"] in (x[2], None)]
            assert row["n"] == pytest.approx(len(held), abs=0.1)
    in_town = {town: limited([x[0] for x in people() if x[1] == town]) for town in ("Lund", "Bergen", "Porto")}
    for one in (answers[0], answers[3]):
        assert {row["town"]: row["n"] for row in one.rows()} == pytest.approx(
            {**in_town, None: sum(in_town.values())}, abs=0.1
        )
    average = {row["town"]: row["m"] for row in answers[3].rows()}
    for town in in_town:
        pays = [float(x[4]) for x in people() if x[1] == town]
        assert average[town] == pytest.approx(sum(pays) / len(pays), rel=0.05)  # some have more rows than the limit
    exact = limited([x[0] for x in people()])
    assert [answers[at]["n"].value for at in (1, 2, 5)] == pytest.approx([exact] * 3, abs=0.1)


def limited(units: list[str]) -> int:
    """How many rows count where a unit has one group, with at most three rows."""
    return sum(min(3, units.count(one)) for one in set(units))


def test_private_keys_of_sets_share_the_price_with_the_rest(tmp_path: Path) -> None:
    table = opened(tmp_path, [*people(600), ("alone", "Lund", "pro", "Secret Lane", "1")])
    plan = table.batch([STREETS, ALL, BY_TOWN]).plan(epsilon=3)
    assert plan.cost == ApproxDP(3, "1e-8")
    answers = table.batch([STREETS, ALL, BY_TOWN]).ask(epsilon=3)
    assert {row["street"] for row in answers[0].rows()} <= {"High", "Low", None}
    assert answers.spent == plan.cost == table.ledger.budget().charged
    with pytest.raises(tacit.errors.NotPrivate, match="takes a δ"):
        table.batch([STREETS, ALL]).plan(epsilon=2, delta=0)


def test_what_does_not_fit_costs_nothing(shop: Table) -> None:
    with pytest.raises(BudgetExceeded, match="nothing was spent"):
        shop.batch([BOTH, ALL]).ask(epsilon=200_000)
    with pytest.raises(InvalidParameter, match="each set of GROUPING SETS"):
        shop.batch([CUBE] * 251)
    with pytest.raises(InvalidParameter, match="a price of its own"):
        shop.batch([BY_TOWN.replace("SELECT", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1)"), ALL])
    assert shop.ledger.budget().charged == ApproxDP(0, 0)


def test_a_ledger_of_rho_charges_the_sum(tmp_path: Path) -> None:
    table = opened(
        tmp_path, people(), POLICY.replace("epsilon = 100000", "rho = 10").replace("epsilon = 1e-300", "rho = 1e-300")
    )
    plan = table.batch([BOTH, ALL]).plan(rho="0.1")
    spent = [one.guarantee.rho for one in mechanisms(plan.plans)]  # type: ignore[attr-defined]
    assert sum(spent) == Fraction("0.1")
    assert table.batch([BOTH, ALL]).ask(rho="0.1").spent == tacit.ZCDP("0.1")


def test_shares_are_those_of_all_levels(shop: Table) -> None:
    """By default noise is as large in a level as in a plain question by its keys; weights are those of statements."""
    plain = "SELECT town, COUNT(*) AS n FROM shop GROUP BY town"
    plan = shop.batch([BY_TOWN, plain, ALL]).plan(epsilon=1)
    assert plan.shares == (Fraction(4, 7), Fraction(2, 7), Fraction(1, 7))
    assert len({one.scale for one in mechanisms(plan.plans)}) == 1
    assert shop.batch([BY_TOWN, ALL], weights=[3, 1]).plan(epsilon=1).shares == (Fraction(3, 4), Fraction(1, 4))
    text = str(plan)
    assert "[0] 57.1% of the price" in text
    assert "by town: 50% of the price" in text


def mechanisms(plans: Sequence[Any]) -> list[AdditiveMechanism]:
    flat = [part for one in plans for part in one.parts]
    return [mechanism for one in flat for line in one.lines for mechanism in line.mechanisms]


# the price


Moved = list[tuple[AdditiveMechanism, int]]
"""Of every released number that moves: its noise, and by how much."""


def numbers(plan: Plan, table: Table) -> Moved:
    """Every number that is released, before its noise, with the noise it gets."""
    found: list[Integers] = [table._engine_now().run(one) for one in plan.passes.bounded]
    made = []
    for own, levels in zip(plan.parts, _exact(plan, found), strict=True):
        for measure, values in zip(own.bounded.measures, levels, strict=True):
            made += [(own.mechanism_of(measure), int(value)) for value in values]
    return made


def lives() -> list[list[Row]]:
    """People who could be there or not: of one group and of many, within the limits and far over them."""
    places = [
        [("Lund", "free")],
        [("Lund", "free"), ("Lund", "pro")],
        [("Lund", "free"), ("Porto", "free")],
        [("Lund", "free"), ("Porto", "pro")],
        [(town, plan) for town in ("Lund", "Bergen", "Porto") for plan in ("free", "pro")],
    ]
    return [[("z", town, plan, "Low", "100") for town, plan in one for _ in range(5)] for one in places]


def worst(folder: Path, statements: list[str], price: dict[str, Any], judge: Callable[[Moved], float]) -> float:
    """The largest of what the judge finds, over all neighbours."""
    folder.mkdir(exist_ok=True)
    tables = [opened(folder / str(at), [*people(9), *more]) for at, more in enumerate([[], *lives()])]
    batch = tables[0].batch(statements)
    plan, found = batch.plan(**price), []
    for table in tables:
        table._engine_now()._key = "one key"  # type: ignore[attr-defined]  # the same rows are chosen everywhere
        found.append(numbers(plan, table))
    made = []
    for other in found[1:]:
        pairs = zip(found[0], other, strict=True)
        made.append(judge([(mechanism, abs(one - two)) for (mechanism, one), (_, two) in pairs if one != two]))
    return max(made)


def whole_loss(moved: Moved) -> float:
    """Laplace noise: the largest loss there is, exactly."""
    total = Fraction(0)
    for mechanism, distance in moved:
        assert isinstance(mechanism, DiscreteLaplace)
        total += mechanism.guarantee.eps * distance / mechanism.sensitivity.value
    return float(total)


def laplace_delta(epsilon: float) -> Callable[[Moved], float]:
    """δ at ε by enumeration: where all noise has one scale b, losses are whole multiples of 1/b."""

    def judge(moved: Moved) -> float:
        (scale,) = {mechanism.scale for mechanism, _ in moved}
        law = np.ones(1)
        for mechanism, distance in moved:
            assert isinstance(mechanism, DiscreteLaplace)
            law = np.convolve(law, losses(scale, distance))
        most = sum(distance for _, distance in moved)
        loss = np.arange(-most, most + 1) / scale
        return float(np.sum(law * np.maximum(1 - np.exp(epsilon - loss), 0)))

    return judge


def losses(scale: float, distance: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The law of (|y| - |y - distance|), from -distance on, if y is discrete Laplace noise around the distance."""
    made = np.zeros(2 * distance + 1)
    q = math.exp(-1 / scale)
    for y in range(1, distance):
        made[abs(y) - abs(y - distance) + distance] += (1 - q) / (1 + q) * q ** abs(y - distance)
    made[-1], made[0] = 1 / (1 + q), q**distance / (1 + q)  # all y from the distance on, all up to 0
    assert made.sum() == pytest.approx(1)
    return made


def gaussian_delta(epsilon: float) -> Callable[[Moved], float]:
    """δ at ε of Gaussian noise at the distance in standard deviations (Balle & Wang 2018)."""

    def judge(moved: Moved) -> float:
        assert not any(isinstance(mechanism, DiscreteLaplace) for mechanism, _ in moved)
        mu = math.sqrt(sum((distance / mechanism.scale) ** 2 for mechanism, distance in moved))
        normal = NormalDist()
        return normal.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * normal.cdf(-mu / 2 - epsilon / mu)

    return judge


REGIMES: dict[str, tuple[list[str], dict[str, Any], Callable[[Moved], float], float, float]] = {
    "sums of ε and δ": ([BOTH, ALL, CUBE], {"epsilon": 1, "delta": 0}, whole_loss, 1.0, 1 - 1e-12),
    "composing loss distributions": (
        [*counts(12), BY_TOWN],
        {"epsilon": 1, "delta": "1e-6"},
        laplace_delta(1),
        1e-6,
        0.9,
    ),
    "Gaussian noise, whose squares add up": (
        [*counts(30), BOTH],
        {"epsilon": 1, "delta": "1e-6"},
        gaussian_delta(1),
        1e-6,
        0.999,
    ),
}
"""Statements, a price, its judge, the most it may find, and how much of that somebody at least reaches."""


@pytest.mark.parametrize("how", REGIMES)
def test_all_levels_together_keep_the_price(how: str, tmp_path: Path) -> None:
    statements, price, judge, most, used = REGIMES[how]
    assert opened(tmp_path, people()).batch(statements).plan(**price).how == how
    found = worst(tmp_path, statements, price, judge)
    assert used * most <= found <= most * (1 + 1e-9)


@pytest.mark.parametrize("how", REGIMES)
def test_planted_fault_a_level_that_is_not_priced_is_seen(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last level, of all rows, gets noise as ever, and the others share the price as if it were not there."""
    statements, price, judge, most, _ = REGIMES[how]

    def careless(price: Price, needs: Sequence[Need], weights: Sequence[Fraction]) -> Joint:
        right, rest = share(price, needs, weights), shares_of(weights[:-1])
        if not how.startswith("composing"):
            return replace(right, splits=(*share(price, needs[:-1], rest).splits, right.splits[-1]))
        assert isinstance(price, ApproxDP)
        made = Mixture(price, tuple(needs[:-1]), rest, (LAPLACE,) * len(rest), (GAUSSIAN,) * len(rest)).priced()
        assert made is not None
        (scale,) = {one.scale for split in made.splits for one in split.mechanisms.values()}
        named = {
            one: DiscreteLaplace.of_scale(scale, sensitivity=old.sensitivity)  # that which the others have
            for one, old in right.splits[-1].mechanisms.items()
        }
        return replace(right, splits=(*made.splits, replace(right.splits[-1], mechanisms=named)))

    monkeypatch.setattr(batches, "share", careless)
    assert worst(tmp_path, statements, price, judge) > most * 1.001


def spread_of_totals(batch: Batch) -> float:
    """Of the total by ROLLUP (town), the first statement, as it is told."""
    drawn = [batch.ask(epsilon=1, delta=0, fresh=True)[0].rows()[-1]["n"] for _ in range(30)]
    return float(np.std(np.array(drawn, dtype=np.float64)))


def test_what_is_drawn_has_the_noise_of_the_plan(shop: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the planted fault is seen: a statement that is drawn as if the whole price were its own."""
    batch = shop.batch([BY_TOWN, ALL], weights=[1, 9])
    finest, total = (one.scale * 2**0.5 for one in mechanisms(batch.plan(epsilon=1, delta=0).plans)[:2])
    expected = (1 / (1 / (3 * finest**2) + 1 / total**2)) ** 0.5
    assert 0.35 < spread_of_totals(batch) / expected < 3

    right = batches.make_plan

    def greedy(statements: Any, policy: Any, price: Any, *given: Any) -> Any:
        made = right(statements, policy, price, *given)
        alone = [planned(one.checked, policy, price).parts for one in statements]
        parts = [replace(part, statement=at) for at, own in enumerate(alone) for part in own]
        return replace(made, parts=tuple(parts))

    monkeypatch.setattr(batches, "make_plan", greedy)
    assert spread_of_totals(shop.batch([BY_TOWN, ALL], weights=[1, 9])) / expected < 0.35


def test_planted_fault_a_total_priced_like_one_group_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one unit moves in a total, claimed as if it were in one finest group only."""
    from tacit.tables.plan import demands

    monkeypatch.setattr(demands, "lumped", lambda measure, groups: measure)
    for how in ("sums of ε and δ", "Gaussian noise, whose squares add up"):
        statements, price, judge, most, _ = REGIMES[how]
        assert worst(tmp_path / how[:4], statements, price, judge) > most * 1.01


def test_many_together_are_never_told_worse_than_one_by_one(shop: Table) -> None:
    """Every statement at its share of the price, by itself: no number of the batch has a wider interval."""
    statements = [*counts(30), CUBE, BOTH]
    plan = shop.batch(statements).plan(epsilon=1, delta="1e-6")
    ratios = []
    for sql, part, made in zip(statements, plan.shares, plan.plans, strict=True):
        alone = shop.query(sql).plan(epsilon=part, delta=Fraction("1e-6") * part)
        ratios += [one / other for one, other in zip(errors(made), errors(alone), strict=True)]
    assert max(ratios) < 0.96


def errors(plan: Plan) -> list[float]:
    return [line.error for part in plan.parts for line in part.lines if line.error is not None]
