"""Estimators: from noisy integers to numbers whose intervals cover the bounded statistic as often as they say."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from tacit.mechanisms.base import AdditiveMechanism
from tacit.privacy import ZCDP, ApproxDP, PureDP
from tacit.tables.bounded import Measure, One, Present, Quantised, Square
from tacit.tables.estimators.base import Noisy, Setting
from tacit.tables.estimators.quantising import centred, granule_for
from tacit.tables.estimators.registry import ESTIMATORS
from tacit.tables.expressions import Case, Column, Expression
from tacit.tables.kinds import Kind
from tacit.tables.noises import GaussianNoise, LaplaceNoise, Noise
from tacit.tables.query import Aggregate
from tacit.tables.released import Estimate
from tacit.testing import seeded

BETA = Fraction(1, 20)
DRAWS = 20_000
NOISES: dict[str, Noise] = {
    "laplace": LaplaceNoise(PureDP(1)),
    "rounded gaussian": GaussianNoise(ApproxDP(1, "1e-6")),
    "discrete gaussian": GaussianNoise(ZCDP("0.1")),
}


@dataclass(frozen=True)
class Group:
    """One unit per row, values given: what an engine would return, computed by hand."""

    values: tuple[float, ...]

    def integer(self, measure: Measure) -> int:
        value = measure.value
        if isinstance(value, One | Present):
            return len(self.values)
        row = value.value if isinstance(value, Square) else value
        assert isinstance(row, Quantised)
        steps = [round((x - float(row.centre)) / float(row.granule)) for x in self.values]
        return sum(step**2 for step in steps) if isinstance(value, Square) else sum(steps)


def estimated(aggregate: Aggregate, setting: Setting, noise: Noise, group: Group, seed: int, lie: int = 1) -> Estimate:
    """DRAWS answers about the same group; ``lie`` divides the scale that the interval believes in."""
    estimator, bits = ESTIMATORS[aggregate.estimator], seeded(seed)
    parts = estimator.parts(aggregate, setting)
    noisy = []
    for part in parts:
        mechanism = noise.mechanism(part.weight, part.measure, 1)
        drawn = mechanism.release(np.full(DRAWS, group.integer(part.measure)), entropy=bits)
        believed: AdditiveMechanism = noise.mechanism(part.weight * lie, part.measure, 1)
        noisy.append(Noisy(np.asarray(drawn, dtype=np.float64), believed, noise))
    return estimator.finish(aggregate, setting, tuple(noisy), BETA)


def covered(estimate: Estimate, truth: float) -> float:
    slack = 1e-9 * max(1.0, abs(truth))
    return float(((estimate.low <= truth + slack) & (estimate.high >= truth - slack)).mean())


SPREAD = 5.5 * (0.05 * 0.95 / DRAWS) ** 0.5
AGE = Aggregate("mean", Column("age"), bounds=(Fraction(0), Fraction(100)))
SETTING = Setting(1, False, Kind.INTEGER)
GROUPS = {
    "large": Group(tuple([30.0, 41.0, 80.0, 99.0] * 300)),
    "middling": Group(tuple([20.0, 25.0, 30.0] * 15)),
    "small": Group((99.0, 97.0, 100.0)),
    "two at the ends": Group((0.0, 100.0)),
}
TRUTHS = {
    "count_rows": len,
    "count_units": len,
    "sum": sum,
    "mean": np.mean,
    "variance": lambda v: np.var(v, ddof=1),
    "variance_pop": np.var,
    "stddev": lambda v: np.std(v, ddof=1),
    "stddev_pop": np.std,
}


@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize("group", GROUPS, ids=str)
@pytest.mark.parametrize("estimator", TRUTHS, ids=str)
def test_intervals_cover_the_bounded_statistic(estimator: str, group: str, noise: str) -> None:
    argument: Expression | None = None if estimator == "count_rows" else Column("age")
    argument = Case(((Column("x"), Column("who")),)) if estimator == "count_units" else argument
    aggregate = Aggregate(estimator, argument, bounds=(Fraction(0), Fraction(100)))
    estimate = estimated(aggregate, SETTING, NOISES[noise], GROUPS[group], seed=len(estimator) + len(group))
    truth = float(TRUTHS[estimator](GROUPS[group].values))
    assert covered(estimate, truth) >= 0.95 - SPREAD
    assert bool((estimate.low <= estimate.value).all())
    assert bool((estimate.value <= estimate.high).all())


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_intervals_of_means_are_not_too_wide(noise: str) -> None:
    """Fieller's interval is exact: 95% of the time, not 99%."""
    estimate = estimated(AGE, SETTING, NOISES[noise], GROUPS["large"], seed=11)
    truth = float(np.mean(GROUPS["large"].values))
    assert 0.95 - SPREAD <= covered(estimate, truth) <= 0.96 + SPREAD


@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize("estimator", ["count_rows", "sum", "mean"])
def test_intervals_of_halved_noise_do_not_cover(estimator: str, noise: str) -> None:
    """The planted fault: an interval that believes in more budget than was spent is found out."""
    argument = None if estimator == "count_rows" else Column("age")
    aggregate = Aggregate(estimator, argument, bounds=(Fraction(0), Fraction(100)))
    estimate = estimated(aggregate, SETTING, NOISES[noise], GROUPS["large"], seed=5, lie=4)
    truth = float(TRUTHS[estimator](GROUPS["large"].values))
    assert covered(estimate, truth) < 0.95 - SPREAD


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_means_stay_within_their_bounds(noise: str) -> None:
    estimate = estimated(AGE, SETTING, NOISES[noise], Group((100.0,)), seed=2)
    for numbers in (estimate.value, estimate.low, estimate.high):
        assert float(numbers.min()) >= 0
        assert float(numbers.max()) <= 100
    assert covered(estimate, 100.0) >= 0.95 - SPREAD


def test_an_empty_group_has_an_estimate_all_the_same() -> None:
    for name in TRUTHS:
        argument = None if name == "count_rows" else Column("age")
        aggregate = Aggregate(name, argument, bounds=(Fraction(0), Fraction(100)))
        estimate = estimated(aggregate, SETTING, NOISES["laplace"], Group(()), seed=3)
        assert bool(np.isfinite([estimate.value, estimate.low, estimate.high]).all()), name


@pytest.mark.parametrize(
    ("low", "high", "kind"),
    [
        (0, 100, Kind.INTEGER),
        (0, 101, Kind.INTEGER),
        (-3, 7, Kind.REAL),
        (18, 90, Kind.REAL),
        (-5, -2, Kind.INTEGER),
        (10**6, 10**6 + 1, Kind.REAL),
    ],
)
def test_rows_stay_within_the_reach_of_their_measure(low: int, high: int, kind: Kind) -> None:
    for name in ("sum", "mean", "variance"):
        aggregate = Aggregate(name, Column("x"), bounds=(Fraction(low), Fraction(high)))
        for part in ESTIMATORS[name].parts(aggregate, Setting(3, True, kind)):
            value = part.measure.value
            row = value.value if isinstance(value, Square) else value
            if not isinstance(row, Quantised):
                continue
            ends = [abs(row.lowest), abs(row.highest)]
            assert row.lowest <= row.highest
            most = 3 * max(ends) ** (2 if isinstance(value, Square) else 1)
            assert part.measure.reach == most


def test_centring_halves_the_reach() -> None:
    plain = ESTIMATORS["sum"].parts(Aggregate("sum", Column("x"), bounds=(Fraction(0), Fraction(100))), SETTING)
    middle = ESTIMATORS["mean"].parts(AGE, SETTING)
    assert plain[0].measure.reach == 100
    assert middle[0].measure.reach == 50


def test_a_granule_is_public_and_fine_enough() -> None:
    for low, high in ((0, 1), (0, 1000), (-7, 7), (5, 6)):
        setting = Setting(1, False, Kind.REAL)
        step = granule_for(Fraction(low), Fraction(high), setting)
        assert (step.numerator & (step.numerator - 1)) == 0
        assert (step.denominator & (step.denominator - 1)) == 0
        assert step * 2**18 <= high - low or step <= Fraction(max(abs(low), abs(high)), 2**19)
    row = centred(Aggregate("mean", Column("x"), bounds=(Fraction(0), Fraction(101))), Setting(1, False, Kind.INTEGER))
    assert (row.centre, row.lowest, row.highest) == (51, -51, 50)


def test_a_group_bound_clamps_the_unit_and_not_the_row() -> None:
    aggregate = Aggregate(
        "sum", Column("x"), bounds=(Fraction(0), Fraction(10)), group_bounds=(Fraction(0), Fraction(25))
    )
    (part,) = ESTIMATORS["sum"].parts(aggregate, Setting(3, True, Kind.INTEGER))
    assert (part.measure.low, part.measure.high, part.measure.chosen) == (0, 25, False)
    assert isinstance(part.measure.value, Quantised)
    assert part.measure.value.highest > 10**9
