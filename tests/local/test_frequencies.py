"""Estimates of shares: bias, squared error, coverage, projection, advice."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tacit.errors import InvalidParameter
from tacit.local import (
    CountMeanSketch,
    HadamardResponse,
    KaryResponse,
    LocalHashing,
    Rappor,
    SubsetSelection,
    UnaryEncoding,
    best_frequencies,
)
from tacit.local.categories.estimates import FrequencyEstimate, Support
from tacit.local.categories.hashing import best_bits
from tacit.testing import seeded

K, N, RUNS = 48, 3000, 200
SHARES = np.array([0.3, 0.2, 0.1] + [0.4 / (K // 2 - 3)] * (K // 2 - 3) + [0.0] * (K // 2))

MAKERS = {
    "kary": lambda run: KaryResponse(epsilon=3, categories=range(K)),
    "optimised unary": lambda run: UnaryEncoding(epsilon=1, categories=range(K)),
    "symmetric unary": lambda run: UnaryEncoding(epsilon=1, categories=range(K), kind="symmetric"),
    "hashing": lambda run: LocalHashing(epsilon=1, categories=range(K)),
    "hashing, many buckets": lambda run: LocalHashing(epsilon=4, categories=range(K)),
    "hadamard": lambda run: HadamardResponse(epsilon=1, categories=range(K)),
    "subset": lambda run: SubsetSelection(epsilon=1, categories=range(K)),
    "rappor": lambda run: Rappor(epsilon=4, categories=range(K)),
    "sketch": lambda run: CountMeanSketch(epsilon=2, categories=range(K), hashes=64, buckets=64, seed=run),
}


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.thorough
def test_estimates_are_unbiased_with_the_stated_error_and_coverage(name: str) -> None:
    """Over 200 runs: bias within five standard errors of its own, squared error within 5%, 95% within chance."""
    values = np.repeat(np.arange(K), np.round(SHARES * N).astype(int))
    truth = np.bincount(values, minlength=K) / values.size
    source = seeded(77)
    found: list[FrequencyEstimate] = []
    for run in range(RUNS):
        r: Any = MAKERS[name](run)
        found.append(r.estimate(r.randomize(values, entropy=source)))
    errors = np.array([e.values - truth for e in found])
    extra = (truth**2).sum() / (64 * 63) if name == "sketch" else 0.0
    theory = r.support.variance(truth, values.size) + extra
    assert np.abs(errors.mean(axis=0) / np.sqrt(theory / RUNS)).max() < 5
    assert abs((errors**2).mean() / theory.mean() - 1) < 0.05
    stated = np.array([e.standard_errors for e in found])
    assert abs((stated**2).mean() / theory.mean() - 1) < 0.05
    for intervals, level in ((lambda e: e.intervals(), 0.95), (lambda e: e.intervals("0.2"), 0.8)):
        covered = np.array([(i.low <= truth) & (truth <= i.high) for i in map(intervals, found)])
        assert abs(covered[:, truth > 0].mean() - level) < 0.02
        at_zero = (1 + level) / 2  # an interval that lies below 0 is cut to 0, which is the truth there
        assert abs(covered[:, truth == 0].mean() - at_zero) < 0.02
    every = np.array(
        [((i.low <= truth) & (truth <= i.high)).all() for i in (e.simultaneous_intervals() for e in found)]
    )
    assert every.mean() > 0.95 - 5 * math.sqrt(0.05 / RUNS)


def test_a_biased_estimator_is_noticed() -> None:
    """Planted: a lie of 1/k instead of 1/(k-1), as one library has it."""
    values = np.zeros(20_000, dtype=np.int64)
    r = KaryResponse(epsilon=1, categories=range(3))
    reports = r.randomize(values, entropy=seeded(1))
    wrong = Support(r.support.own, (1 - r.support.own) / 3)
    share = ((reports == 1).mean() - wrong.other) / wrong.gain
    assert abs(r.estimate(reports).values[1]) < 5 * r.standard_error(values.size)
    assert abs(share) > 5 * r.standard_error(values.size)


def test_a_power_of_two_costs_at_most_seven_percent() -> None:
    worst = 0.0
    for tenths in range(1, 80):
        epsilon = tenths / 10
        best = 4 * math.exp(epsilon) / math.expm1(epsilon) ** 2
        r = LocalHashing(epsilon=str(epsilon), categories=range(1000))
        worst = max(worst, float(r.support.variance(0.0, 1)) / best)
        assert r.buckets == 1 << best_bits(epsilon)
    assert 1.05 < worst <= 1.07


def test_counts_and_projection() -> None:
    r = HadamardResponse(epsilon=1, categories=["a", "b", "c", "d"])
    e = r.estimate(r.randomize(["a"] * 3000 + ["b"] * 1000, entropy=seeded(2)))
    assert np.allclose(e.counts, 4000 * e.values)
    proper = e.projected()
    assert proper.values.min() >= 0
    assert proper.values.sum() == pytest.approx(1)
    truth = np.array([0.75, 0.25, 0, 0])
    assert ((proper.values - truth) ** 2).sum() <= ((e.values - truth) ** 2).sum()
    rng = np.random.default_rng(1)
    for _ in range(200):  # no distribution is nearer
        other = rng.dirichlet([0.3] * 4)
        assert ((proper.values - e.values) ** 2).sum() <= ((other - e.values) ** 2).sum() + 1e-12


def test_projecting_lifts_what_nobody_has() -> None:
    r = UnaryEncoding(epsilon=0.5, categories=range(10))
    source = seeded(3)
    raw, proper = [], []
    for _ in range(100):
        e = r.estimate(r.randomize(np.zeros(500, dtype=np.int64), entropy=source))
        raw.append(e.values[1:].mean())
        proper.append(e.projected().values[1:].mean())
    assert abs(np.mean(raw)) < 5 * np.std(raw) / 10
    assert np.mean(proper) > 5 * np.std(proper) / 10


def test_advice_names_the_least_error_and_says_why() -> None:
    free = best_frequencies(categories=range(1000), n=10**6, epsilon=1)
    least = min(one.error for one in free.candidates)
    assert free.randomizer.standard_error(10**6) <= 1.02 * least
    tight = best_frequencies(categories=range(1000), n=10**6, epsilon=1, most_bytes=6)
    assert tight.randomizer.report_bytes <= 6
    assert "SubsetSelection" in tight.reason
    assert "bytes" in tight.reason
    assert isinstance(best_frequencies(categories=range(3), n=10, epsilon=3).randomizer, KaryResponse)
    with pytest.raises(InvalidParameter, match="at least 6"):
        best_frequencies(categories=range(1000), n=10, epsilon=1, most_bytes=2)
    with pytest.raises(InvalidParameter, match="n:"):
        best_frequencies(categories=range(1000), n=0, epsilon=1)


def test_reports_of_one_device_come_from_its_permanent_bits() -> None:
    r = Rappor(epsilon=2, categories=range(8))
    device = r.device(3, entropy=seeded(4))
    source = seeded(5)
    shown = np.mean([np.unpackbits(device.report(entropy=source)) for _ in range(2000)], axis=0)
    assert set(np.round(shown * 2).astype(int)) <= {0, 1, 2}
    assert all(abs(s - 0.75) < 0.06 or abs(s - 0.25) < 0.06 for s in shown)
    assert device.guarantee == r.guarantee
    assert r.one_report.epsilon() < r.guarantee.epsilon()
    assert r.device(object()).report().shape == (1,)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: KaryResponse(epsilon=1, categories=["a"]), "categories"),
        (lambda: KaryResponse(epsilon=1, categories=["a", "a"]), "categories"),
        (lambda: KaryResponse(epsilon=1, categories="ab"), "categories"),
        (lambda: KaryResponse(epsilon=1, categories=range(3), unknown=7), "unknown"),
        (lambda: UnaryEncoding(epsilon=1, categories=range(3), kind="other"), "kind"),
        (lambda: LocalHashing(epsilon=1, categories=range(3), buckets=3), "buckets"),
        (lambda: LocalHashing(epsilon=1, categories=range(3), buckets=True), "buckets"),
        (lambda: SubsetSelection(epsilon=1, categories=range(3), size=3), "size"),
        (lambda: Rappor(epsilon=1, categories=range(3), shown=0.2, made_up=0.5), "shown"),
        (lambda: CountMeanSketch(epsilon=1, categories=range(3), hashes=3), "hashes"),
        (lambda: CountMeanSketch(epsilon=1, categories=range(3), seed="x"), "seed"),
    ],
)
def test_bad_parameters_are_named(make: Any, name: str) -> None:
    with pytest.raises(InvalidParameter) as refused:
        make()
    assert refused.value.name == name


def test_tuples_are_values_where_a_category_is_one() -> None:
    r = KaryResponse(epsilon=1, categories=[(0, 0), (0, 1), (1, 1)])
    assert r.randomize((0, 1)).shape == r.randomize((9, 9)).shape == ()
    assert r.randomize([(0, 1), (9, 9), (1, 1)]).shape == (3,)


def test_made_up_reports_move_a_share_within_the_stated_bias() -> None:
    r = KaryResponse(epsilon=1, categories=range(4))
    low, high = r.bias("0.1")
    honest = r.randomize(np.zeros(90_000, dtype=np.int64), entropy=seeded(6))
    for lie, expected in ((1, high), (2, low)):
        e = r.estimate(np.concatenate([honest, np.full(10_000, lie, dtype=np.uint8)]))
        assert low - 0.02 < e.values[0] - 1 < 0
        assert e.values[1] < high + 0.02
        assert expected == (high if lie == 1 else low)
    assert r.estimate(np.concatenate([honest, np.full(10_000, 1, dtype=np.uint8)])).values[1] > 0.9 * high - 0.02


@pytest.mark.parametrize("epsilon", ["1e-9", "1e-6", "1e-3", "1", "20", "50"])
def test_one_report_of_rappor_is_not_below_the_truth(epsilon: str) -> None:
    """Against logarithms of 60 digits: differences of floats lose them for a small ε."""
    with localcontext() as context:
        context.prec = 60
        root, high, low = (Decimal(epsilon) / 2).exp(), Decimal("0.75"), Decimal("0.25")
        p, q = (root * high + low) / (root + 1), (high + root * low) / (root + 1)
        exact = Fraction((p * (1 - q) / ((1 - p) * q)).ln())
    claimed = Rappor(epsilon=epsilon, categories=range(3)).one_report.eps
    assert exact <= claimed <= exact * (1 + Fraction(1, 10**9)) + Fraction(1, 10**13)


def test_missing_texts_are_reported_on() -> None:
    kind = np.dtypes.StringDType(na_object=None)
    r = KaryResponse(epsilon=50, categories=["a", "b"], unknown="b")
    assert r.randomize(np.array(["a", None, "zz"], dtype=kind)).tolist() == [0, 1, 1]
    mixed = KaryResponse(epsilon=50, categories=["a", np.str_("b"), 0, np.True_], unknown="a")
    assert mixed.randomize(np.array(["b", "a"])).tolist() == [1, 0]
    assert mixed.randomize(np.array([1, 0])).tolist() == [3, 2]
