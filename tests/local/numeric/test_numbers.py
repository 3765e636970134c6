"""Means, distributions and ranges: laws enumerated, estimates checked, what is no number."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tacit.errors import InvalidParameter
from tacit.local import Duchi, Hybrid, Piecewise, RangeTree, SquareWave
from tacit.local.numeric.numbers import MeanRandomizer
from tacit.local.numeric.window import Window
from tacit.testing import seeded
from tests.local.laws import exp
from tests.statistical.fit import fits_cells


def window_law(cells: int, width: int, start: int, ratio: Fraction) -> list[Fraction]:
    total = width * ratio + cells - width
    return [(ratio if start <= j < start + width else Fraction(1)) / total for j in range(cells)]


@pytest.mark.parametrize(("cells", "width"), [(4, 1), (8, 3), (9, 5), (9, 8)])
def test_window_laws_are_tight_and_unbiased_by_enumeration(cells: int, width: int) -> None:
    window = Window(Fraction(1), cells, width)
    ratio = exp(Fraction(1))
    laws = [window_law(cells, width, start, ratio) for start in range(window.starts)]
    worst = max(a / b for one in laws for other in laws for a, b in zip(one, other, strict=True))
    assert worst == ratio
    assert window.loss.epsilon(0) == pytest.approx(1, rel=1e-9)
    for start, law in enumerate(laws):
        mean = sum(j * p for j, p in enumerate(law))
        assert window.mean + window.slope * start == pytest.approx(float(mean), rel=1e-12)
        variance = sum(j * j * p for j, p in enumerate(law)) - mean**2
        assert window.variance(start) == pytest.approx(float(variance), rel=1e-9)


@pytest.mark.parametrize("unit", [Fraction(0), Fraction(1), Fraction(2, 5), Fraction(5, 7)])
def test_draws_follow_the_enumerated_law(unit: Fraction) -> None:
    """Between two places of the grid the law is a mixture; at ten percent off it is not."""
    r = Piecewise(epsilon=2, bounds=(0, 1), cells=8)
    window, draws = r._window, 200_000
    reports = r.randomize(np.full(draws, float(unit)), entropy=seeded(1))
    seen = np.bincount(reports, minlength=8)
    for epsilon, right in ((Fraction(2), True), (Fraction(9, 5), False), (Fraction(11, 5), False)):
        place = unit * (window.starts - 1)
        below = min(int(place), window.starts - 2)
        laws = [window_law(8, window.width, below + step, exp(epsilon)) for step in (0, 1)]
        part = place - below
        mixed = [float((1 - part) * a + part * b) for a, b in zip(*laws, strict=True)]
        assert fits_cells(seen, mixed) is right


def test_duchis_bit_has_his_law() -> None:
    r = Duchi(epsilon=1, bounds=(-1, 1))
    for x in (-1.0, -0.3, 0.5, 1.0):
        p = 0.5 + x * math.tanh(0.5) / 2
        ones = int(r.randomize(np.full(200_000, x), entropy=seeded(2)).sum())
        assert fits_cells([200_000 - ones, ones], [1 - p, p])
        assert not fits_cells([200_000 - ones, ones], [1 - p - 0.02, p + 0.02])


def test_variances_are_those_of_the_papers() -> None:
    """On [-1, 1]: Duchi's c² - x², Wang's x²/(e^(ε/2)-1) + (e^(ε/2)+3)/(3(e^(ε/2)-1)²)."""
    for epsilon in (0.5, 1.0, 2.0, 4.0):
        for x in (-1.0, 0.0, 0.4, 1.0):
            unit, root = (x + 1) / 2, math.exp(epsilon / 2)
            duchi = 1 / math.tanh(epsilon / 2) ** 2 - x * x
            wang = x * x / (root - 1) + (root + 3) / (3 * (root - 1) ** 2)
            assert 4 * Duchi(epsilon=epsilon, bounds=(-1, 1)).variance(unit) == pytest.approx(duchi, rel=1e-9)
            assert 4 * Piecewise(epsilon=epsilon, bounds=(-1, 1)).variance(unit) == pytest.approx(wang, rel=2e-3)
    hybrid, duchi, piecewise = (kind(epsilon=2, bounds=(-1, 1)) for kind in (Hybrid, Duchi, Piecewise))
    assert hybrid.scale < min(duchi.scale, piecewise.scale)
    assert Hybrid(epsilon=0.6, bounds=(0, 1)).scale == Duchi(epsilon=0.6, bounds=(0, 1)).scale


@pytest.mark.parametrize("kind", [Duchi, Piecewise, Hybrid])
@pytest.mark.parametrize("epsilon", [0.5, 3])
@pytest.mark.thorough
def test_means_are_unbiased_with_the_stated_error_and_coverage(kind: type[MeanRandomizer], epsilon: float) -> None:
    """A fresh sample of people each time: bias, squared error within 5%, stated error, coverage of the mean."""
    r = kind(epsilon=epsilon, bounds=(0, 50))
    rng, source = np.random.default_rng(1), seeded(3)
    runs, n = 6000, 150
    values = 50 * rng.beta(2, 5, (runs, n))
    truth = 50 * 2 / 7
    found = [r.estimate(row) for row in r.randomize(values, entropy=source)]
    errors = np.array([e.value for e in found]) - truth
    units = np.linspace(0, 1, 2001)
    weights = units * (1 - units) ** 4
    inner = sum(w * r.variance(u) for w, u in zip(weights, units, strict=True)) / weights.sum()
    theory = 2500 * (inner + 2 * 5 / (49 * 8)) / n
    assert abs(errors.mean()) < 5 * math.sqrt(theory / runs)
    assert abs((errors**2).mean() / theory - 1) < 0.05
    assert abs(np.mean([e.standard_error**2 for e in found]) / theory - 1) < 0.03
    covered = np.mean([e.interval()[0] <= truth <= e.interval()[1] for e in found])
    assert abs(covered - 0.95) < 0.015
    assert math.sqrt(2500 * inner / n) < r.standard_error(n)


@pytest.mark.parametrize("kind", [Duchi, Piecewise, Hybrid, SquareWave, RangeTree])
def test_what_is_no_number_is_the_stated_point(kind: Any) -> None:
    """The same bits, so the same report, as of the point itself; beyond the range as of the bound."""
    r = kind(epsilon=1, bounds=(0, 10), unknown=2)
    for bad in (math.nan, None, "7", b"7", 1j, object(), {"a": 1}, Decimal("NaN")):
        assert r.randomize(bad, entropy=seeded(4)) == r.randomize(2.0, entropy=seeded(4))
    for given, point in ((math.inf, 10.0), (-math.inf, 0.0), (10**400, 10.0), (-(10**400), 0.0), (99, 10.0)):
        assert r.randomize(given, entropy=seeded(4)) == r.randomize(point, entropy=seeded(4))
    assert r.randomize(Fraction(5, 2), entropy=seeded(4)) == r.randomize(2.5, entropy=seeded(4))
    middle = kind(epsilon=1, bounds=(0, 10))
    assert middle.randomize(math.nan, entropy=seeded(4)) == middle.randomize(5.0, entropy=seeded(4))


def test_square_waves_find_the_shape() -> None:
    values = 100 * np.random.default_rng(5).beta(2, 5, 50_000)
    r = SquareWave(epsilon=2, bounds=(0, 100), buckets=32)
    e = r.estimate(r.randomize(values, entropy=seeded(5)))
    truth = np.histogram(values, e.edges)[0] / values.size
    assert e.values.sum() == pytest.approx(1)
    assert np.abs(np.cumsum(e.values) - np.cumsum(truth)).max() < 0.04
    assert abs(e.mean - values.mean()) < 2
    assert abs(e.quantile(0.5) - np.median(values)) < 3
    with pytest.raises(InvalidParameter, match="q:"):
        e.quantile(2)


def test_ranges_are_unbiased_and_cover() -> None:
    values = 64 * np.random.default_rng(6).beta(2, 3, 3000)
    r = RangeTree(epsilon=2, bounds=(0, 64), leaves=64)
    source = seeded(6)
    found = [r.estimate(r.randomize(values, entropy=source)) for _ in range(300)]
    for low, high in ((0, 32), (5, 37), (63, 64), (1, 63), (0, 64)):
        truth = ((values >= low) & (values < high)).mean()
        shares = [e.between(low, high) for e in found]
        errors = np.array([s.value for s in shares]) - truth
        stated = np.mean([s.standard_error for s in shares])
        assert abs(errors.mean()) < 5 * max(errors.std(), 1e-9) / math.sqrt(300)
        assert errors.std() <= 1.25 * stated + 1e-12
        covered = np.mean([s.interval()[0] <= truth <= s.interval()[1] for s in shares])
        assert covered > 0.9


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Duchi(epsilon=1, bounds=(1, 1)), "bounds"),
        (lambda: Duchi(epsilon=1, bounds=(0, math.inf)), "bounds"),
        (lambda: Duchi(epsilon=1, bounds=None), "bounds"),
        (lambda: Duchi(epsilon=1, bounds=(0, 1), unknown=2), "unknown"),
        (lambda: Piecewise(epsilon=1, bounds=(0, 1), cells=3), "cells"),
        (lambda: SquareWave(epsilon=1, bounds=(0, 1), buckets=1), "buckets"),
        (lambda: RangeTree(epsilon=1, bounds=(0, 1), leaves=3), "leaves"),
    ],
)
def test_bad_parameters_are_named(make: Any, name: str) -> None:
    with pytest.raises(InvalidParameter) as refused:
        make()
    assert refused.value.name == name


@pytest.mark.parametrize("epsilon", ["1e-6", "1e-2", "20", "100"])
def test_extreme_prices_work(epsilon: str) -> None:
    for kind in (Duchi, Piecewise, Hybrid, SquareWave, RangeTree):
        r = kind(epsilon=epsilon, bounds=(0, 1))
        assert r.analyser().update(r.randomize([0.2, 0.7])).count == 2


@pytest.mark.parametrize("kind", [Duchi, Piecewise, Hybrid])
def test_few_reports_claim_no_less_error_than_their_coins(kind: type[MeanRandomizer]) -> None:
    """One report has no spread, and two may agree: the standard error is still not below that of the coins."""
    r = kind(epsilon=1, bounds=(0, 1))  # type: ignore[call-arg]
    least = min(r.variance(i / 64) for i in range(65))
    for count in (1, 2, 3):
        found = r.estimate(np.full(count, r.randomize(0.3, entropy=seeded(1))))
        assert found.standard_error >= math.sqrt(least / count) * (1 - 1e-12)


def test_whatever_a_number_raises_it_is_reported_on() -> None:
    class Strange:
        def __float__(self) -> float:
            raise OverflowError

    r = Duchi(epsilon=50, bounds=(0, 1), unknown=1)
    for bad in (Strange(), np.complex64(0), np.zeros(1), Decimal("sNaN"), 1j):
        assert r.report(bad) == r.report(1.0)
    assert r.report(10**400) == r.report(Fraction(10**400)) == r.report(1)
    assert r.report(-(10**400)) == r.report(-Fraction(10**400, 3)) == r.report(0)


@pytest.mark.parametrize("epsilon", [50, 400])
def test_square_waves_at_a_large_price(epsilon: int) -> None:
    r = SquareWave(epsilon=epsilon, bounds=(0, 1), buckets=8)
    found = r.estimate(r.randomize(np.array([0.0, 0.0, 1.0])))
    assert np.isfinite(found.values).all()
    assert found.values[0] > found.values[-1] > 0.1
