"""Truncated Laplace noise: the exact δ of every shift, in one dimension and in several, on coarse lattices."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import flint
import numpy as np
import pytest

from tacit.errors import InvalidParameter, NotPrivate
from tacit.mechanisms.additive.truncated_laplace import TruncatedLaplace, _truncated_law, _TruncatedLaw
from tacit.mechanisms.shared import quantised
from tacit.noise.lattice import Lattice
from tacit.testing import seeded
from tests.mechanisms.laws import hockey_stick, law_of, masses
from tests.statistical.fit import fits
from tests.statistical.laws import PRECISION, ball

CASES = [
    (distance, Fraction(epsilon), Fraction(delta))
    for distance in (1, 2, 5)
    for epsilon in ("0.1", "1", "4")
    for delta in ("0.3", "0.01", "1e-6")
]


def law(distance: int, epsilon: Fraction, delta: Fraction) -> _TruncatedLaw:
    return _truncated_law(Lattice(0), distance, epsilon, delta)


def weights(found: _TruncatedLaw, limit: int | None = None) -> np.ndarray:
    """The masses of -limit … limit as floats."""
    limit = found.limit if limit is None else limit
    raw = np.exp(-np.abs(np.arange(-limit, limit + 1)) / float(found.scale))
    return raw / raw.sum()


def leak(weights: np.ndarray, epsilon: Fraction, shift: int) -> float:
    """Σ (p - e^ε·q)₊ when q is p moved by ``shift``."""
    first = np.concatenate([weights, np.zeros(shift)])
    second = np.concatenate([np.zeros(shift), weights])
    factor = np.exp(float(epsilon)) * (1 - 1e-12)  # what rounding leaves of an exact e^ε is no leak
    return float(np.maximum(first * (1 - 2e-12) - factor * second, 0).sum())


@pytest.mark.parametrize(("distance", "epsilon", "delta"), CASES)
def test_every_shift_stays_within_the_promise_and_the_limit_is_the_smallest(
    distance: int, epsilon: Fraction, delta: Fraction
) -> None:
    found = law(distance, epsilon, delta)
    for shift in range(1, distance + 1):
        assert leak(weights(found), epsilon, shift) <= float(delta)
    if found.limit > distance:
        assert leak(weights(found, found.limit - 1), epsilon, distance) > float(delta)
    assert leak(weights(found), epsilon, 2 * distance) > float(delta) or epsilon < 1  # planted: twice the distance


@pytest.mark.parametrize(("distance", "epsilon", "delta"), CASES[::4])
def test_the_delta_is_exact(distance: int, epsilon: Fraction, delta: Fraction) -> None:
    m = TruncatedLaplace(epsilon=epsilon, delta=delta, sensitivity=distance, granule=1)
    limit = int(m.limit)
    first = masses(law_of(m, 0), -limit - distance, limit + distance)
    second = masses(law_of(m, distance), -limit - distance, limit + distance)
    with flint.ctx.workprec(PRECISION):
        for one, other in ((first, second), (second, first)):
            # Inside both supports the ratio is e^ε at most, so that balls of width 2⁻²⁰⁰ are all that is added.
            assert hockey_stick(one, other, epsilon) <= ball(delta) + ball(Fraction(1, 2**150))


@pytest.mark.parametrize(("distance", "epsilon", "delta"), CASES)
@pytest.mark.parametrize("dimension", [2, 3])
def test_a_shift_shared_by_coordinates_costs_no_more(
    distance: int, epsilon: Fraction, delta: Fraction, dimension: int
) -> None:
    """All ways to split the distance: outcomes possible on one side only have at most δ, exactly 1 - Π(1 - t(dᵢ))."""
    found = law(distance, epsilon, delta)
    mass = weights(found)
    outer = np.concatenate([[0.0], np.cumsum(mass[::-1])])  # t(d): the outermost d multiples of one side
    for split in product(range(distance + 1), repeat=dimension):
        if sum(split) <= distance:
            assert 1 - np.prod(1 - outer[list(split)]) <= float(delta)


def test_two_coordinates_by_brute_force() -> None:
    """The same from the definition: the divergence of the product law, summed over all pairs of outcomes."""
    distance, epsilon, delta = 4, Fraction(1), Fraction(1, 20)
    found = law(distance, epsilon, delta)
    mass = weights(found)
    for first_shift in range(distance + 1):
        shifts = (first_shift, distance - first_shift)
        ones, others = [], []
        for shift in shifts:
            ones.append(np.concatenate([mass, np.zeros(shift)]))
            others.append(np.concatenate([np.zeros(shift), mass]))
        p, q = np.outer(*ones), np.outer(*others)
        total = np.maximum(p - np.exp(1.0) * q, 0).sum()
        assert total <= float(delta) + 1e-12
        if first_shift in (0, distance):
            assert total >= 0.6 * float(delta)


@pytest.mark.parametrize("dimension", [1, 2, 4])
def test_rounded_arrays_are_charged_per_coordinate(dimension: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a coarse lattice: the steps charged cover what rounding does to any two neighbours."""
    monkeypatch.setattr(quantised, "_FINENESS", 2)
    m = TruncatedLaplace(epsilon=1, delta="0.01", sensitivity=1)
    found = m._law(dimension)
    rng = np.random.default_rng(1)
    worst = 0
    for _ in range(2000):
        start = rng.uniform(-3, 3, dimension)
        share = rng.dirichlet(np.full(dimension, 0.3)) * rng.choice([-1, 1], dimension)
        rounded = [found.lattice.nearest(Fraction(x)) for x in start]
        moved = [found.lattice.nearest(Fraction(x) + Fraction(s)) for x, s in zip(start, share, strict=True)]
        worst = max(worst, sum(abs(a - b) for a, b in zip(rounded, moved, strict=True)))
    assert worst <= found.distance
    assert found.scale == found.distance  # ε = 1 per charged distance


def test_noise_never_exceeds_the_limit() -> None:
    m = TruncatedLaplace(epsilon=1, delta="0.05", sensitivity=1, granule=1)
    noise = m.release(np.zeros(50_000, dtype=np.int64), entropy=seeded(2))
    assert np.abs(noise).max() == m.limit
    assert m.accuracy("1e-9") == m.limit


@pytest.mark.parametrize(("epsilon", "delta"), [("0.001", "0.2"), ("1e-12", "0.4"), ("2", "0.9")])
def test_flat_laws_are_drawn_too(epsilon: str, delta: str) -> None:
    """Where the limit lies within the scale nearly every draw from the line would be rejected."""
    m = TruncatedLaplace(epsilon=epsilon, delta=delta, sensitivity=3, granule=1)
    bits = seeded(4)
    one_by_one = np.array([int(m.release(10, entropy=bits)) for _ in range(2000)])
    at_once = m.release(np.full(2000, 10), entropy=bits).astype(np.int64)
    for samples in (one_by_one, at_once):
        assert fits(samples, law_of(m, 10), cells=6)
        assert not fits(samples + 1, law_of(m, 10), cells=6)


def test_a_law_that_forty_digits_cannot_tell_from_uniform_is_not_cut_short() -> None:
    """The limit must hold δ of a law that is uniform to forty digits: at least D/2δ, never D."""
    for epsilon in ("1e-20", "1e-45", "1e-60", "1e-100"):
        m = TruncatedLaplace(epsilon=epsilon, delta="0.01", sensitivity=1, granule=1)
        assert m.limit >= 50
        assert m.accuracy("0.01") >= 49


def test_a_stated_granule_takes_arrays_of_whole_numbers_only() -> None:
    m = TruncatedLaplace(epsilon=1, delta="0.01", sensitivity=2, granule="0.5")
    assert m.release([1, 2, 10**30]).shape == (3,)
    assert m.release(0.3) % 0.5 == 0
    for value in (np.array([1.0, 2.0]), [1, 2.5], [Fraction(1, 2), 1]):
        with pytest.raises(InvalidParameter, match="leave granule= out"):
            m.release(value)
    with pytest.raises(InvalidParameter, match="whole numbers"):
        TruncatedLaplace(epsilon=1, delta="0.01", sensitivity=2, granule=4).release(np.array([1, 2]))


def test_scale_is_that_of_the_noise_drawn() -> None:
    m = TruncatedLaplace(epsilon="0.5", delta="0.01", sensitivity="0.1", granule=1)
    assert m.scale == 2.0  # a tenth counts as one granule
    again = TruncatedLaplace.of_scale(2, sensitivity="0.1", delta="0.01", granule=1)
    assert again.guarantee == m.guarantee


def test_there_must_be_a_delta() -> None:
    with pytest.raises(NotPrivate, match="there must be a δ"):
        TruncatedLaplace(epsilon=1, sensitivity=1)
    with pytest.raises(InvalidParameter, match="delta"):
        TruncatedLaplace(epsilon=1, delta=0, sensitivity=1)


def test_an_error_that_any_scale_meets_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="however large its scale"):
        TruncatedLaplace.for_accuracy(1000, 0.05, sensitivity=1, delta=1e-3)


@pytest.mark.parametrize(
    ("epsilon", "delta", "size"),
    [(700, "1e-6", 1), ("1e10", "0.001", 1), (50, "1e-300", 1), ("1e-290", "1e-6", 10**18)],
)
def test_large_and_small_prices_do_not_overflow(epsilon: object, delta: str, size: int) -> None:
    m = TruncatedLaplace(epsilon=epsilon, delta=delta, sensitivity=1)  # type: ignore[arg-type]
    assert 0 < m.accuracy("0.05", size=size) <= 1e305
    assert abs(m.release(3) - 3) <= m.limit * (1 + 1e-9) + 1
