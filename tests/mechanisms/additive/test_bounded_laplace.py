"""Laplace noise on a bounded domain: every pair of values, every outcome, exactly, on coarse lattices."""

from __future__ import annotations

from fractions import Fraction

import flint
import numpy as np
import pytest

from tacit.errors import InvalidParameter, NotPrivate
from tacit.mechanisms.additive.bounded_laplace import BoundedLaplace
from tacit.mechanisms.shared import quantised
from tacit.privacy import PureDP
from tacit.testing import seeded
from tests.mechanisms.laws import ReleaseLaw, largest_ratio, law_of, masses
from tests.statistical.fit import fits
from tests.statistical.laws import PRECISION, ball

CASES = [
    (epsilon, sensitivity, bounds)
    for epsilon in ("0.05", "0.5", "1", "3", "8")
    for sensitivity, bounds in [("1", (0, 10)), ("0.3", (-1, 1)), ("2.5", (0, 7)), ("7", ("-1.3", 2)), ("1", (0, 1))]
]


@pytest.fixture
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two to four granules to the smaller of scale, sensitivity and width."""
    monkeypatch.setattr(quantised, "_FINENESS", 1)


def log_ratios(m: BoundedLaplace) -> np.ndarray:
    """ln(P[y|c]/P[y|c']) for all centres c, c' within reach of each other and all outcomes y."""
    size = m._domain[1] - m._domain[0] + 1
    place = np.arange(size)
    exponents = -np.abs(place[:, None] - place[None, :]) / float(m._units)
    logs = exponents - np.log(np.exp(exponents).sum(axis=1))[:, None]
    ratios = logs[:, None, :] - logs[None, :, :]
    near = np.abs(place[:, None] - place[None, :]) <= m._steps
    return np.where(near[:, :, None], ratios, -np.inf)


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize(("epsilon", "sensitivity", "bounds"), CASES)
def test_every_pair_and_every_outcome_stays_within_epsilon(
    epsilon: str, sensitivity: str, bounds: tuple[object, object]
) -> None:
    m = BoundedLaplace(epsilon=epsilon, sensitivity=sensitivity, bounds=bounds)  # type: ignore[arg-type]
    assert 2 <= m._domain[1] - m._domain[0] <= 400
    ratios = log_ratios(m)
    assert ratios.max() <= float(epsilon) * (1 + 1e-12) + 1e-12
    assert ratios.max() >= float(epsilon) * (1 - 1e-9)
    # The worst pair is an end of the domain and the value farthest from it.
    one, other, _ = np.unravel_index(int(ratios.argmax()), ratios.shape)
    size = m._domain[1] - m._domain[0]
    worst = {(0, m._steps), (size, size - m._steps)}
    assert (int(one), int(other)) in worst or ratios[0, m._steps].max() >= ratios.max() - 1e-12
    with flint.ctx.workprec(PRECISION):
        low, high = m._domain
        first = masses(law_of(m, low * m._lattice.granule), low, high)
        second = masses(law_of(m, (low + m._steps) * m._lattice.granule), low, high)
        for found in (first, second):
            assert found.pop(low - 1) == 0
            assert found.pop(high + 1) == 0
        assert largest_ratio(first, second) <= ball(Fraction(epsilon))


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize(("epsilon", "sensitivity", "bounds"), CASES[::3])
def test_values_at_the_stated_distance_are_within_reach(
    epsilon: str, sensitivity: str, bounds: tuple[object, object]
) -> None:
    """What `release` makes of two values: their centres lie in the domain, at most the charged steps apart."""
    m = BoundedLaplace(epsilon=epsilon, sensitivity=sensitivity, bounds=bounds)  # type: ignore[arg-type]
    low, high = m._range
    width, distance = high - low, Fraction(sensitivity)
    values = [low + width * Fraction(k, 97) for k in range(-30, 130)]
    apart = []
    for value in values:
        for shift in (distance, -distance, distance / 3):
            one, other = (law_of(m, min(max(x, low), high)).centre for x in (value, value + shift))
            apart.append(abs(one - other))
            assert m._domain[0] <= one <= m._domain[1]
    assert max(apart) == m._steps


def test_too_little_noise_would_be_seen() -> None:
    """Planted: the scale Δ/ε of the unbounded mechanism, which the normaliser makes too small."""
    m = BoundedLaplace(epsilon=1, sensitivity=1, bounds=(0, 10))
    naive = BoundedLaplace.of_scale(1, sensitivity=1, bounds=(0, 10))
    assert m.scale > 1.5 * naive.scale
    assert naive.guarantee.epsilon() > 1.4
    first, second = law_of(naive, 0), law_of(naive, 1)
    at = naive._domain[0] + 1
    with flint.ctx.workprec(PRECISION):
        assert (first.below(at) / second.below(at)).log() > 1.4


def test_the_price_of_a_scale_is_the_exact_one_rounded_up() -> None:
    for scale in ("0.1", "0.7", "3", "40", "1e4"):
        m = BoundedLaplace.of_scale(scale, sensitivity=1, bounds=(0, 10))
        low = m._domain[0]
        first, second = law_of(m, 0), law_of(m, 1)
        with flint.ctx.workprec(PRECISION):
            exact = (first.below(low + 1) / second.below(low + 1)).log()
            assert isinstance(m.guarantee, PureDP)
            assert exact <= ball(m.guarantee.eps)
            assert float(exact) >= float(m.guarantee.eps) * (1 - 1e-13)


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("epsilon", ["0.05", "1", "6"])
@pytest.mark.parametrize("value", [0, 2.4, 10, 300])
def test_coarse_draws_follow_the_law(epsilon: str, value: float) -> None:
    """Both ways of drawing: by rejection from the line, and from the uniform law on a narrow domain."""
    m = BoundedLaplace(epsilon=epsilon, sensitivity=1, bounds=(0, 10))
    bits = seeded(3)
    samples = np.array([int(Fraction(m.release(value, entropy=bits)) / m._lattice.granule) for _ in range(4000)])
    law = law_of(m, min(value, 10))
    assert fits(samples, law, cells=6)
    moved = ReleaseLaw(law.noise, law.centre + (1 if law.centre < m._domain[1] / 2 else -1))
    assert epsilon == "0.05" or not fits(samples, moved, cells=6)


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("scale", ["0.3", "1", "5", "100"])
@pytest.mark.parametrize("beta", ["0.9", "0.5", "0.05", "1e-4"])
def test_the_worst_place_for_the_error_is_an_end_or_the_middle(scale: str, beta: str) -> None:
    m = BoundedLaplace.of_scale(scale, sensitivity=1, bounds=(0, 10))
    granule = m._lattice.granule
    low, high = m._domain
    within = Fraction(m.accuracy(beta)) / granule - 1  # the granule of rounding is not part of the draw
    with flint.ctx.workprec(PRECISION):
        chances = [law_of(m, c * granule).beyond(Fraction(c), within) for c in range(low, high + 1)]
        assert all(chance <= ball(Fraction(beta)) for chance in chances)
        smaller = [law_of(m, c * granule).beyond(Fraction(c), within - 1) for c in range(low, high + 1)]
        assert within == 0 or any(chance > ball(Fraction(beta)) for chance in smaller)
        best = max(float(chance) for chance in smaller)
        assert max(float(smaller[0]), float(smaller[(high - low) // 2])) == pytest.approx(best)


def test_a_narrow_range_makes_a_large_sensitivity_small() -> None:
    wide = BoundedLaplace(epsilon=1, sensitivity=1000, bounds=(0, 1))
    exact = BoundedLaplace(epsilon=1, sensitivity=1, bounds=(0, 1))
    assert wide.scale == pytest.approx(exact.scale, rel=1e-5)


def test_answers_stay_inside_the_range() -> None:
    for bounds in ((-3, 4), (10**12, 10**12 + 1), ("1/3", "2/3"), (1e-9, 2e-9)):
        m = BoundedLaplace(epsilon=0.5, sensitivity=1e-9, bounds=bounds)  # type: ignore[arg-type]
        for value in (-1e300, 0, bounds[0], 1e300):
            answer = m.release(float(Fraction(value)), entropy=seeded(1))
            assert m.bounds[0] <= answer <= m.bounds[1]


def test_arrays_are_refused_because_normalisers_add_up() -> None:
    """Two coordinates that share the distance cost more than ε: why arrays are refused."""
    m = BoundedLaplace(epsilon=1, sensitivity=1, bounds=(0, 10))
    with pytest.raises(NotPrivate, match="ClampedLaplace"):
        m.release([1.0, 2.0])
    low = m._domain[0] + 1
    with flint.ctx.workprec(PRECISION):
        half = (law_of(m, 0).below(low) / law_of(m, Fraction(1, 2)).below(low)).log()
        assert 2 * half > ball(Fraction(1))


def test_an_error_that_any_scale_meets_is_refused() -> None:
    for error in (9.8, 10, 1e9):
        with pytest.raises(InvalidParameter, match="error"):
            BoundedLaplace.for_accuracy(error, 0.05, sensitivity=1, bounds=(0, 10))


def test_a_price_beyond_forty_digits_is_refused_and_not_guessed() -> None:
    with pytest.raises(InvalidParameter, match="epsilon"):
        BoundedLaplace(epsilon="1e-60", sensitivity=1, bounds=(0, 10))
    with pytest.raises(InvalidParameter, match="scale"):
        BoundedLaplace.of_scale("1e60", sensitivity=1, bounds=(0, 10))
