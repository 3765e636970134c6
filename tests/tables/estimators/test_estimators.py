"""Estimators: from noisy integers to numbers whose intervals cover the bounded statistic as often as they say."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from tacit.errors import InvalidParameter
from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.mechanisms.shared.estimate import Estimate
from tacit.privacy import ZCDP, ApproxDP, PureDP
from tacit.tables.engines.contract import Blend, Counted, Measure, One, Present, Product, Quantised, Square
from tacit.tables.estimators.base import Noisy, Setting
from tacit.tables.estimators.noise import GaussianNoise, LaplaceNoise, Noise
from tacit.tables.estimators.quantising import centred, granule_for
from tacit.tables.estimators.registry import ESTIMATORS
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Case, Column, Expression
from tacit.tables.query.tree import Aggregate
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

    def integers(self, measure: Counted) -> list[int]:
        """What gets noise: one integer, or the combinations of a blend."""
        if isinstance(measure, Blend):
            return [line[0] for line in measure.of([[self.integer(one)] for one in measure.measures])]
        assert isinstance(measure, Measure)
        return [self.integer(measure)]


def estimated(aggregate: Aggregate, setting: Setting, noise: Noise, group: Group, seed: int, lie: int = 1) -> Estimate:
    """DRAWS answers about the same group; ``lie`` divides the scale that the interval believes in."""
    estimator, bits = ESTIMATORS[aggregate.estimator], seeded(seed)
    parts = estimator.parts(aggregate, setting)
    noisy = []
    for part in parts:
        mechanism = noise.mechanism(part.weight, part.measure, 1)
        drawn = np.squeeze(
            [mechanism.release(np.full(DRAWS, one), entropy=bits) for one in group.integers(part.measure)]
        )
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
@pytest.mark.thorough
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
            for measure in part.measure.measures if isinstance(part.measure, Blend) else [part.measure]:
                value = measure.value
                row = value.value if isinstance(value, Square) else value
                if not isinstance(row, Quantised):
                    continue
                ends = [abs(row.lowest), abs(row.highest)]
                assert row.lowest <= row.highest
                most = 3 * max(ends) ** (2 if isinstance(value, Square) else 1)
                assert measure.reach == most


BLENDED = [
    (0, 100, Kind.INTEGER),
    (0, 7, Kind.INTEGER),
    (-3, 7, Kind.INTEGER),
    (-5, -2, Kind.INTEGER),
    (2, 9, Kind.INTEGER),
]


def moved(blend: Blend, row: Quantised, steps: list[int]) -> list[int]:
    """By what one unit with these rows moves the combinations."""
    totals = {Quantised: sum(steps), Square: sum(step**2 for step in steps), Present: len(steps)}
    return [line[0] for line in blend.of([[totals[type(one.value)]] for one in blend.measures])]


@pytest.mark.parametrize(("low", "high", "kind"), BLENDED)
@pytest.mark.parametrize("estimator", ["mean", "variance"])
def test_one_unit_moves_a_blend_by_its_reach(estimator: str, low: int, high: int, kind: Kind) -> None:
    """Every unit of up to two rows, each row any step of the range: the L1 norm is at most the reach, and is so."""
    aggregate = Aggregate(estimator, Column("x"), bounds=(Fraction(low), Fraction(high)))
    setting = Setting(2, True, kind)
    row = centred(aggregate, setting)
    ((blend),) = (part.measure for part in ESTIMATORS[estimator].parts(aggregate, setting))
    assert isinstance(blend, Blend)
    reached = range(row.lowest, row.highest + 1)
    units = [[], *([q] for q in reached), *([q, r] for q in reached for r in reached if q <= r)]
    moves = [moved(blend, row, steps) for steps in units]
    assert min(min(move) for move in moves) >= 0
    assert max(sum(move) for move in moves) == blend.reach
    too_far = [*([row.lowest - 1] * 2,), *([row.highest + 1] * 2,), [row.highest] * 3]
    for steps in too_far:  # the check can fail: rows beyond the range, or one row too many
        assert sum(map(abs, moved(blend, row, steps))) > blend.reach


@pytest.mark.parametrize("estimator", ["mean", "variance"])
def test_a_range_without_a_step_in_it_is_refused(estimator: str) -> None:
    """The ends would stand the wrong way round, and the sums move by more than a reach that is below 0."""
    for low, high in (("20.4", "20.6"), ("-0.9", "-0.1"), ("0.5", "0.75")):
        aggregate = Aggregate(estimator, Column("x"), bounds=(Fraction(low), Fraction(high)))
        with pytest.raises(InvalidParameter, match="multiple of the granule"):
            ESTIMATORS[estimator].parts(aggregate, Setting(5, True, Kind.INTEGER))
    for low, high in (("20.6", "21.4"), ("20", "20.4"), ("0", "0")):  # one step: nothing is left to move
        aggregate = Aggregate(estimator, Column("x"), bounds=(Fraction(low), Fraction(high)))
        (part,) = ESTIMATORS[estimator].parts(aggregate, Setting(5, True, Kind.INTEGER))
        assert part.measure.reach == 0
    for low, high in (("0.1", "0.1"), ("-0.1", "-0.1"), ("1000000000", "1000000001"), ("0.1", "0.3")):
        aggregate = Aggregate(estimator, Column("x"), bounds=(Fraction(low), Fraction(high)))
        row = centred(aggregate, Setting(5, True, Kind.REAL))  # reals always have steps in their range
        assert (row.highest - row.lowest > 10**5) == (low != high)
        assert row.lowest <= 0 <= row.highest
    with pytest.raises(InvalidParameter, match="reach"):
        Blend((Measure(One(), 0, 1, chosen=True),), ((1,),), -1)


def test_a_blend_is_as_large_as_its_rows() -> None:
    """Rows and their sums come back from the combinations."""
    plain = ESTIMATORS["sum"].parts(Aggregate("sum", Column("x"), bounds=(Fraction(0), Fraction(100))), SETTING)
    (together,) = ESTIMATORS["mean"].parts(AGE, SETTING)
    assert isinstance(together.measure, Blend)
    fine = together.measure.fine  # steps of a combination in one of a sum
    assert plain[0].measure.reach * fine == together.measure.reach == 100 * fine
    above, below = Group((30.0, 41.0, 99.0)).integers(together.measure)
    assert (above, below) == ((30 + 41 + 99) * fine, (70 + 59 + 1) * fine)


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


PAIRS = {
    "large": [(x, (x * 7) % 50) for x in range(101)] * 12,
    "related": [(x, x // 2) for x in range(20, 80)] * 5,
    "opposed": [(x, 50 - x // 2) for x in range(0, 100, 3)] * 9,
    "small": [(99, 1), (97, 2), (3, 49)],
    "two": [(0, 50), (100, 0)],
    "constant": [(40, 10)] * 200,
}


MANY = [(x * 37 % 101, (x * 37 % 101) // 4 + x * 7 % 25) for x in range(3000)]


def pair_truth(estimator: str, pairs: list[tuple[int, int]]) -> float:
    x, y = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    if estimator == "correlation":
        return float(np.corrcoef(x, y)[0, 1]) if x.std() * y.std() else 0.0
    return float(np.cov(x, y, ddof=1 if estimator == "covariance" else 0)[0, 1])


def pair_integer(measure: Measure, pairs: list[tuple[int, int]]) -> int:
    def row(one: Quantised, pair: tuple[int, int]) -> int:
        x = pair[0] if one.high == 100 else pair[1]
        return round((x - float(one.centre)) / float(one.granule))

    value = measure.value
    if isinstance(value, Present):
        return len(pairs)
    if isinstance(value, Product):
        return sum(row(value.left, pair) * row(value.right, pair) for pair in pairs)
    if isinstance(value, Square):
        return sum(row(value.value, pair) ** 2 for pair in pairs)
    assert isinstance(value, Quantised)
    return sum(row(value, pair) for pair in pairs)


def estimated_pairs(estimator: str, noise: Noise, pairs: list[tuple[int, int]], lie: int = 1) -> Estimate:
    aggregate = Aggregate(
        estimator, Column("x"), (Fraction(0), Fraction(100)), None, Column("y"), (Fraction(0), Fraction(50))
    )
    setting = Setting(1, False, Kind.INTEGER, second_kind=Kind.INTEGER)
    one, bits, noisy = ESTIMATORS[estimator], seeded(len(pairs)), []
    for part in one.parts(aggregate, setting):
        mechanism = noise.mechanism(part.weight, part.measure, 1)
        drawn = mechanism.release(np.full(DRAWS // 8, pair_integer(part.measure, pairs)), entropy=bits)
        believed = noise.mechanism(part.weight * lie, part.measure, 1)
        noisy.append(Noisy(np.asarray(drawn, dtype=np.float64), believed, noise))
    return one.finish(aggregate, setting, tuple(noisy), BETA)


@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize("pairs", PAIRS, ids=str)
@pytest.mark.parametrize("estimator", ["covariance", "covariance_pop", "correlation"])
@pytest.mark.thorough
def test_intervals_of_pairs_cover_the_bounded_statistic(estimator: str, pairs: str, noise: str) -> None:
    estimate = estimated_pairs(estimator, NOISES[noise], PAIRS[pairs])
    assert covered(estimate, pair_truth(estimator, PAIRS[pairs])) >= 0.95 - 3 * SPREAD
    assert bool(((estimate.low <= estimate.value) & (estimate.value <= estimate.high)).all())
    assert bool(np.isfinite([estimate.value, estimate.low, estimate.high]).all())


def test_an_interval_of_a_covariance_that_believes_in_too_little_noise_does_not_cover() -> None:
    """The planted fault."""
    for name in ("covariance_pop", "correlation"):
        estimate = estimated_pairs(name, NOISES["laplace"], MANY, lie=2)
        assert covered(estimate, pair_truth(name, MANY)) < 0.95 - 3 * SPREAD


@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize("estimator", ["covariance", "covariance_pop", "correlation"])
def test_intervals_of_pairs_are_as_short_as_noise_allows(estimator: str, noise: str) -> None:
    """Next to 3.92 standard deviations: a covariance had 4.1, a correlation nothing but [-1, 1]."""
    estimate = estimated_pairs(estimator, NOISES[noise], MANY)
    assert np.median(estimate.high - estimate.low) / (3.92 * np.std(estimate.value)) <= 1.25
    assert covered(estimate, pair_truth(estimator, MANY)) >= 0.95 - 3 * SPREAD


def test_the_variance_moves_by_at_most_the_largest_noise() -> None:
    """The derivatives of the variance of (A, B, C), per row: their absolute values add up to at most 1."""
    for i in range(41):
        for j in range(41 - i):
            a, b, c = i / 40, j / 40, (40 - i - j) / 40
            f = a * c - b**2 / 4
            assert abs(c - 2 * f) + abs(b / 2 + 2 * f) + abs(a - 2 * f) <= 1 + 1e-12


@pytest.mark.parametrize("sums", [(0.0, 0.0, 0.0), (1e18, 1e18, -1e18), (1e30, -1e30, 0.0), (-1e18, 1e18, 1e18)])
def test_variances_of_noise_alone_stay_finite(sums: tuple[float, float, float]) -> None:
    """Whatever the noise is, there is an answer, without so much as a warning."""
    for name in ("variance", "variance_pop", "stddev", "stddev_pop"):
        aggregate = Aggregate(name, Column("x"), bounds=(Fraction(0), Fraction(4)))
        setting = Setting(2, True, Kind.REAL)
        (part,) = ESTIMATORS[name].parts(aggregate, setting)
        for epsilon in ("1e-9", "1e-3", "1"):
            noise = LaplaceNoise(PureDP(epsilon))
            released = Noisy(np.array(sums)[:, None], noise.mechanism(Fraction(1), part.measure, 1), noise)
            made = ESTIMATORS[name].finish(aggregate, setting, (released,), BETA)
            assert bool(np.isfinite([made.value, made.low, made.high]).all())
            assert bool((made.low <= made.value).all() and (made.value <= made.high).all())
