"""Counts that add up: the best linear fit, intervals that cover, and a price that fits what one unit moves."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import tacit
from tacit.errors import InvalidParameter, NotPrivate
from tacit.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace
from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.privacy import L1, ZCDP, ApproxDP
from tacit.tables.engines.contract import Cells, Integers
from tacit.tables.estimators.noise import spread
from tacit.tables.fitting.least_squares import _by_moments, combination_errors, reconciliation
from tacit.tables.fitting.levels import Level, by_keys, in_runs
from tacit.tables.plan.parts import Part
from tacit.tables.plan.plan import Plan
from tacit.tables.release.draw import finest
from tacit.tables.session.table import Table
from tacit.tables.workloads.workload import Workload
from tacit.testing import seeded
from tests.tables.visits import POLICY, write_visits

Floats = npt.NDArray[np.float64]
BETA = Fraction(1, 20)
PUBLIC = POLICY.replace(
    'city = { type = "text", role = "private" }',
    'city = { type = "text", role = "public", keys = ["Aarhus", "Bergen", "Łódź", "Porto", "São Paulo"] }',
)
LAWS = {
    "discrete Laplace": DiscreteLaplace(epsilon="0.3", sensitivity=1),
    "narrow Laplace": DiscreteLaplace(epsilon=3, sensitivity=1),
    "rounded Gaussian": DiscreteGaussian(epsilon=1, delta="1e-6", sensitivity=1),
    "discrete Gaussian": DiscreteGaussian(rho="0.01", sensitivity=1),
    "narrow Gaussian": DiscreteGaussian(rho="0.7", sensitivity=1),
}
DRAWS = 20_000
SLACK = 5.5 * (0.05 * 0.95 / DRAWS) ** 0.5  # 5.5 standard errors: below 1e-7


def levels_of(name: str) -> tuple[Level, ...]:
    if name == "tree":
        return in_runs(13, 3)
    return by_keys((3, 2, 2), [(), (0,), (1,), (0, 2), (0, 1, 2)] if name == "margins" else [(0, 1), (2,), (1, 2)])


def stacked(levels: tuple[Level, ...]) -> Floats:
    return np.vstack([level.sums() for level in levels])


def released(truth: Floats, noise: tuple[AdditiveMechanism, ...], draws: int, seed: int = 7) -> Floats:
    bits = seeded(seed)
    drawn = [
        np.asarray(one.release(np.full(draws, int(value)), entropy=bits))
        for one, value in zip(noise, truth, strict=True)
    ]
    return np.array(drawn, dtype=np.float64)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", ["tree", "margins", "open margins"])
def test_intervals_of_consistent_counts_cover(law: str, name: str) -> None:
    sums = stacked(levels_of(name))
    truth = sums @ np.arange(sums.shape[1]).astype(float)
    noise = (LAWS[law],) * len(truth)
    fit = reconciliation(sums, noise)
    estimates = sums @ fit.estimates(released(truth, noise, DRAWS))
    off = fit.errors(sums, BETA)
    missed = (np.abs(estimates - truth[:, None]) > off[:, None]).mean(axis=1)
    assert missed.max() <= 0.05 + SLACK
    assert np.allclose(estimates.mean(axis=1), truth, atol=6 * estimates.std(axis=1).max() / DRAWS**0.5)  # unbiased


WIDE = {
    "rounded Gaussian": DiscreteGaussian(epsilon="0.02", delta="1e-6", sensitivity=1),
    "discrete Gaussian": DiscreteGaussian(rho="0.00001", sensitivity=1),
    "discrete Laplace": DiscreteLaplace(epsilon="0.005", sensitivity=1),
}


@pytest.mark.parametrize("law", WIDE)
def test_planted_fault_intervals_shorter_do_not_cover(law: str) -> None:
    """And they are not much too long: a tenth off is seen."""
    sums = stacked(levels_of("margins"))
    truth = np.zeros(len(sums))
    noise = (WIDE[law],) * len(truth)
    fit = reconciliation(sums, noise)
    estimates = sums @ fit.estimates(released(truth, noise, DRAWS))
    shorter = fit.errors(sums, BETA) * 0.9
    missed = (np.abs(estimates) > shorter[:, None]).mean(axis=1)
    assert missed.min() > 0.05 + SLACK


@pytest.mark.parametrize("law", LAWS)
def test_errors_of_any_combination_cover(law: str) -> None:
    chance = np.random.default_rng(5)
    weights = np.vstack([np.eye(6)[0], chance.normal(size=(8, 6)), chance.uniform(0, 1, size=(4, 6)) ** 8])
    noise = (LAWS[law],) * 6
    drawn = released(np.zeros(6), noise, DRAWS)
    missed = (np.abs(weights @ drawn) > combination_errors(weights, noise, BETA)[:, None]).mean(axis=1)
    assert missed.max() <= 0.05 + SLACK


@pytest.mark.parametrize("name", ["tree", "margins", "open margins"])
def test_laplace_intervals_are_those_of_the_tail_and_no_longer_than_before(name: str) -> None:
    """Of every sum that is told: nearer than by moments and by Chernoff's bound, but never below the law's own tail."""
    sums, noise = stacked(levels_of(name)), DiscreteLaplace(epsilon="0.05", sensitivity=1)
    fit = reconciliation(sums, (noise,) * len(sums))
    weights = sums @ fit.cells
    found = fit.errors(sums, BETA)
    before = _by_moments(weights, np.full(len(sums), noise.scale), 0.05) + np.abs(weights).sum(axis=1) / 2
    assert np.all(found < 0.95 * before)
    drawn = weights @ released(np.zeros(len(sums)), (noise,) * len(sums), DRAWS, seed=9)
    missed = (np.abs(drawn) > found[:, None]).mean(axis=1)
    assert missed.min() > 0.04 - SLACK
    assert missed.max() <= 0.05 + SLACK


def test_the_moments_behind_laplace_intervals_are_those_of_the_law() -> None:
    """By summing the law itself: E[(X+U)^k] of one variable, for scales from narrow to wide."""
    for scale in (0.2, 1.0, 7.0):
        at = np.arange(-400, 401)
        chance = np.exp(-np.abs(at) / scale)
        chance /= chance.sum()
        for beta in (0.05, 1e-6):
            exact = {
                k: float((chance * ((at + 0.5) ** (k + 1) - (at - 0.5) ** (k + 1)) / (k + 1)).sum())
                for k in (2, 4, 6, 8)
            }
            expected = min(k / (k + 1) * (moment / beta) ** (1 / k) for k, moment in exact.items())
            assert _by_moments(np.ones((1, 1)), np.array([scale]), beta)[0] == pytest.approx(expected)


def test_the_fit_is_that_of_hay_and_others_on_a_tree() -> None:
    """An oracle: their closed form in two passes, for a complete binary tree of equal noise."""
    height = 4
    levels = in_runs(2 ** (height - 1), 2)
    sums = stacked(levels)
    noise = (LAWS["rounded Gaussian"],) * len(sums)
    noisy = np.random.default_rng(3).normal(size=len(sums)) * 10
    fit = reconciliation(sums, noise)
    rows = np.split(noisy, np.cumsum([level.size for level in levels])[:-1])  # leaves first
    up = [rows[0]]
    for at in range(1, height):
        below = up[-1].reshape(-1, 2).sum(axis=1)
        k = 2
        one, two = k ** (at + 1) - k**at, k**at - 1
        up.append((one * rows[at] + two * below) / (k ** (at + 1) - 1))
    down = up[-1]
    for at in range(height - 2, -1, -1):
        missing = down - up[at].reshape(-1, 2).sum(axis=1)
        down = up[at] + np.repeat(missing / 2, 2)
    assert np.allclose(fit.estimates(noisy), down)


def test_the_fit_is_the_best_linear_unbiased_one() -> None:
    """Of unequal noise: no unbiased change of the weights lowers the variance of any cell."""
    sums = stacked(levels_of("margins"))
    noise = tuple(DiscreteGaussian.of_scale(1 + at % 4, sensitivity=1) for at in range(len(sums)))
    fit = reconciliation(sums, noise)
    assert np.allclose(fit.cells @ sums, np.eye(sums.shape[1]))
    variances = np.array([spread(one) ** 2 for one in noise])
    best = (fit.cells**2) @ variances
    _, _, basis = np.linalg.svd(sums.T)
    null = basis[np.linalg.matrix_rank(sums) :]
    chance = np.random.default_rng(1)
    for _ in range(50):
        other = fit.cells + chance.normal(size=(len(fit.cells), len(null))) @ null * 0.1
        assert np.allclose(other @ sums, np.eye(sums.shape[1]))
        assert ((other**2) @ variances >= best - 1e-9).all()


# whole workloads


@pytest.fixture
def table(tmp_path: Path) -> Table:
    path = write_visits(tmp_path, users=300)
    path.write_text(PUBLIC, encoding="utf-8")
    return tacit.open(path, analyst="ada")


def exact_of(part: Part, integers: Integers) -> Floats:
    """The numbers of a level, before their noise."""
    ((cells,), level) = finest(part, integers), part.demand.level
    assert level is not None
    return np.array(cells.summed(level.added).tolist(), dtype=np.float64)


def mechanisms(plan: Plan) -> list[AdditiveMechanism]:
    return [one for part in plan.parts for line in part.lines for one in line.mechanisms]


def levels(table: Table) -> Workload:
    return table.margins([], ["city"], ["plan"], ["city", "plan"])


def test_counts_add_up_under_one_debit(table: Table) -> None:
    answers = levels(table).ask(epsilon=1)
    total, by_city, by_plan, finest = answers
    assert answers.spent == ApproxDP(1, 0) == table.ledger.budget().charged
    whole = total["n"].value
    assert sum(by_city["n"].values) == pytest.approx(whole)
    assert sum(by_plan["n"].values) == pytest.approx(whole)
    for city, count in zip(by_city["city"].values, by_city["n"].values, strict=True):
        parts = [row["n"] for row in finest.rows() if row["city"] == city]
        assert sum(parts) == pytest.approx(count)
    again = levels(table).ask(epsilon=1)
    assert [one.to_dict() for one in again] == [one.to_dict() for one in answers]
    assert table.ledger.budget().charged == ApproxDP(1, 0)


def test_each_level_is_priced_for_what_one_unit_moves(tmp_path: Path) -> None:
    """Neighbouring tables: no level moves further than its mechanism's sensitivity, and some just so far."""
    header = "user_id,city,plan,spend,age,day,notes"
    others = [f"u{i},Aarhus,free,1,30,2026-01-01,x" for i in range(5)]
    worst = [f"z,{city},free,1,30,2026-01-01,x" for city in ("Aarhus", "Bergen", "Łódź", "Porto", "São Paulo")] * 4
    found = []
    for number, rows in enumerate([others, others + worst]):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "visits.csv").write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
        (folder / "visits.toml").write_text(PUBLIC, encoding="utf-8")
        one = tacit.open(folder / "visits.toml", analyst="ada", ledger=tacit.InMemory())
        workload = levels(one)
        plan = workload.plan(epsilon=1)
        integers = plan.integers([one._engine_now().run(query) for query in plan.passes.bounded])
        found.append([exact_of(part, own) for part, own in zip(plan.parts, integers, strict=True)])
    for price in (ApproxDP(1, 0), ApproxDP(1, "1e-6"), ZCDP("0.1")):
        plan = workload._plan(price)
        moved = [np.abs(one - two) for one, two in zip(*found, strict=True)]
        for distance, mechanism in zip(moved, mechanisms(plan), strict=True):
            norm = distance.sum() if mechanism.norm is L1 else np.sqrt((distance**2).sum())
            assert norm**2 <= float(mechanism.sensitivity.square) * (1 + 1e-12)
        assert moved[0].sum() == 15  # one block: as far as is possible, in either norm
        assert float(mechanisms(plan)[0].sensitivity.square) == 15**2


def test_planted_fault_the_sensitivity_of_single_cells_is_too_small_for_coarse_levels(table: Table) -> None:
    workload = levels(table)
    plan = workload._plan(ZCDP("0.1"))
    (measure,) = plan.bounded.measures
    assert plan.noise is not None
    assert not isinstance(measure, Cells)
    careless = plan.noise.mechanism(Fraction(1, 4), measure, plan.bounded.groups)
    assert float(careless.sensitivity.square) == 5 * 3**2 < 15**2


def test_the_levels_together_cost_the_price(table: Table) -> None:
    plan = levels(table).plan(epsilon=1, delta=0)
    assert sum(one.guarantee.eps for one in mechanisms(plan)) == 1  # type: ignore[attr-defined]
    weighted = table.margins([], ["city"], weights=[1, 3]).plan(epsilon=1, delta=0)
    assert [part.demand.weight for part in weighted.parts] == [Fraction(1, 4), Fraction(3, 4)]
    assert [line.share for part in weighted.parts for line in part.lines] == [Fraction(1, 4), Fraction(3, 4)]
    many = table.ranges("bucket", bucket=tacit.col("age").width_bucket(0, 128, 64)).plan(epsilon="0.1", delta="1e-3")
    squares = sum(Fraction(one.sensitivity.square) / Fraction(one.scale) ** 2 for one in mechanisms(many))
    assert many.noise is not None
    assert many.noise.name == "rounded Gaussian"
    assert many.cost == ApproxDP("0.1", "1e-3")
    assert tacit.GaussianDP.of_square(squares).delta("0.1") <= 1e-3
    assert tacit.GaussianDP.of_square(squares * Fraction(102, 100)).delta("0.1") > 1e-3


def test_ranges_are_sums_with_their_own_intervals(table: Table) -> None:
    workload = table.ranges("bucket", bucket=tacit.col("age").width_bucket(0, 128, 64))
    plan = workload.plan(epsilon=1)
    assert [len(part.bounded.public_keys or ()) for part in plan.parts] == [
        67,
        17,
        5,
        2,
        1,
    ]  # 64 buckets, one on each side, and null
    answers = workload.ask(epsilon=1)
    keys = answers.finest["bucket_from"].values
    whole = answers.between(keys[0], keys[-1])
    assert whole.value == pytest.approx(answers[4]["n"].value)
    half = answers.between(10, 40)
    counts = dict(zip(keys, answers.finest["n"].values, strict=True))
    assert half.value == pytest.approx(sum(counts[key] for key in range(10, 41)))
    assert half.low < half.value < half.high
    flat = 31**0.5 * spread(mechanisms(plan)[0])
    assert (half.high - half.low) / 2 < 2 * flat  # the tree pays: a flat sum of 31 counts has that standard deviation
    for wrong in ((40, 10), (-1, 3), ("a", "b")):
        with pytest.raises(InvalidParameter, match="two values"):
            answers.between(*wrong)


def test_what_cannot_add_up_is_refused(table: Table, tmp_path: Path) -> None:
    with pytest.raises(NotPrivate, match="public"):
        table.margins([], ["age"])
    with pytest.raises(InvalidParameter, match="lists of keys"):
        table.margins("city")
    with pytest.raises(InvalidParameter, match="one per level"):
        table.margins([], ["city"], weights=[1])
    with pytest.raises(InvalidParameter, match="that a level names"):
        table.margins([], old=tacit.col("age") > 40)
    with pytest.raises(InvalidParameter, match="from 2 on"):
        table.ranges("plan", branching=1)
    with pytest.raises(InvalidParameter, match="counts in all"):
        table.ranges("bucket", bucket=tacit.col("age").width_bucket(0, 128, 4000))
    assert table.ledger.budget().charged == ApproxDP(0, 0)


def test_one_key_under_two_names_is_refused(table: Table) -> None:
    with pytest.raises(InvalidParameter, match="under one name"):
        table.margins(["plan"], ["again"], again=tacit.col("plan"))


def test_a_condition_and_a_named_key(table: Table) -> None:
    workload = table.margins([], ["old"], ["old", "plan"], where="spend > 10", old=tacit.col("age") > 40)
    answers = workload.ask(epsilon=1)
    assert answers[1].columns == ("old", "n", "measured")
    assert len(answers.finest) == 2 * 3 or len(answers.finest) == 2 * 2
    assert "WHERE spend > 10" in answers[0].disclosure().question
    assert sum(answers[1]["n"].values) == pytest.approx(answers[0]["n"].value)
