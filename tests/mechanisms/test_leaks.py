"""No bit, residue or pattern of an answer separates neighbours by more than was promised; a float sampler's do."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tacit.mechanisms.additive.bounded_laplace import BoundedLaplace
from tacit.mechanisms.additive.clamped_laplace import ClampedLaplace
from tacit.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace
from tacit.mechanisms.additive.gaussian import Gaussian
from tacit.mechanisms.additive.laplace import Laplace
from tacit.mechanisms.additive.staircase import Staircase
from tacit.mechanisms.additive.truncated_laplace import TruncatedLaplace
from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.testing import seeded
from tests.mechanisms.laws import granule_of
from tests.mechanisms.leaks import Leak, leaks, lower_limit, upper_limit

DRAWS = 200_000
MANY = 1_000_000

REALS: dict[str, tuple[Callable[[], AdditiveMechanism], float, float]] = {
    "laplace at 0": (lambda: Laplace(epsilon=1, sensitivity=1), 0.0, 1.0),
    "laplace at 0.1": (lambda: Laplace(epsilon=1, sensitivity=1), 0.1, 1.1),
    "laplace at -1": (lambda: Laplace(epsilon="0.5", sensitivity=2), -1.0, 1.0),
    "laplace at 2**53": (lambda: Laplace(epsilon=1, sensitivity=100), 2.0**53, 2.0**53 + 100),
    "laplace of a tiny sensitivity": (lambda: Laplace(epsilon=1, sensitivity=1e-9), 0.5, 0.5 + 1e-9),
    "gaussian at 0": (lambda: Gaussian(epsilon=1, delta=1e-4, sensitivity=1), 0.0, 1.0),
    "gaussian at 0.1": (lambda: Gaussian(epsilon=1, delta=1e-4, sensitivity=1), 0.1, 1.1),
    "clamped": (lambda: ClampedLaplace(epsilon=1, sensitivity=1, bounds=(-1, 3)), 0.0, 1.0),
    "truncated": (lambda: TruncatedLaplace(epsilon=1, delta="0.001", sensitivity=1), 0.0, 1.0),
}
WHOLE: dict[str, tuple[Callable[[], AdditiveMechanism], int, int]] = {
    "discrete laplace at 0": (lambda: DiscreteLaplace(epsilon=1, sensitivity=1), 0, 1),
    "discrete laplace at 2**60": (lambda: DiscreteLaplace(epsilon=1, sensitivity=1), 2**60 + 128, 2**60 + 129),
    "discrete laplace of scale 300": (lambda: DiscreteLaplace(epsilon="0.1", sensitivity=30), 2**53, 2**53 + 30),
    "discrete gaussian": (lambda: DiscreteGaussian(rho="0.5", sensitivity=1), 2**60 + 128, 2**60 + 129),
    "rounded gaussian": (lambda: DiscreteGaussian(epsilon=1, delta="1e-4", sensitivity=3), -1, 2),
    "at the end of int64": (lambda: DiscreteLaplace(epsilon=1, sensitivity=1), 2**63 - 2, 2**63 - 1),
}
SINGLE: dict[str, tuple[Callable[[], AdditiveMechanism], float, float]] = {
    "bounded": (lambda: BoundedLaplace(epsilon=1, sensitivity=1, bounds=(0, 4)), 0.0, 1.0),
    "bounded in the middle": (lambda: BoundedLaplace(epsilon=1, sensitivity=1, bounds=(0, 4)), 1.6, 2.6),
    "staircase": (lambda: Staircase(epsilon=1, sensitivity=1), 0.1, 1.1),
}


def level(m: AdditiveMechanism) -> tuple[float, float]:
    """An (ε, δ) of the promise."""
    stated = m.guarantee.as_approx()
    if stated is not None:
        return float(stated[0]), float(stated[1])
    return 1.0, m.guarantee.delta(1)


def found(m: AdditiveMechanism, one: Any, other: Any, first: Any, second: Any) -> list[Leak]:
    epsilon, delta = level(m)
    granule = float(granule_of(m, len(first))) if m.__class__ is TruncatedLaplace else float(granule_of(m))
    return leaks(first, second, epsilon=epsilon, delta=delta, origin=one, granule=granule, scale=m.scale)


def in_arrays(m: AdditiveMechanism, one: Any, other: Any, count: int, seed: int) -> list[Leak]:
    bits = seeded(seed)
    first, second = (m.release(np.full(count, value), entropy=bits) for value in (one, other))
    return found(m, one, other, first, second)


@pytest.mark.parametrize("name", [*REALS, *WHOLE])
@pytest.mark.thorough
def test_no_event_separates_neighbours(name: str) -> None:
    make, one, other = {**REALS, **WHOLE}[name]
    count = DRAWS if abs(one) < 2**53 or name in WHOLE else DRAWS // 10  # large reals are settled one by one
    assert in_arrays(make(), one, other, count, seed=7) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [*REALS, *WHOLE])
def test_no_event_separates_neighbours_at_a_million_draws(name: str) -> None:
    make, one, other = {**REALS, **WHOLE}[name]
    assert in_arrays(make(), one, other, MANY, seed=8) == []


@pytest.mark.parametrize("name", SINGLE)
@pytest.mark.thorough
def test_no_event_separates_neighbours_one_by_one(name: str) -> None:
    make, one, other = SINGLE[name]
    m, bits = make(), seeded(9)
    first, second = (np.array([m.release(v, entropy=bits) for _ in range(10_000)]) for v in (one, other))
    assert found(m, one, other, first, second) == []


# --- planted faults: the same test catches each ---------------------------------------------------------------------


def numpy_laplace(value: float, scale: float, rng: np.random.Generator) -> np.ndarray:
    return value + rng.laplace(0, scale, DRAWS)


def textbook_laplace(value: float, scale: float, rng: np.random.Generator) -> np.ndarray:
    """x + sign·scale·ln U in floats: Mironov 2012 reads the value off the low bits."""
    return value + rng.choice([-1.0, 1.0], DRAWS) * scale * np.log(rng.random(DRAWS))


def numpy_gaussian(value: float, scale: float, rng: np.random.Generator) -> np.ndarray:
    return value + rng.normal(0, scale, DRAWS)


def own_grid(value: float, scale: float, rng: np.random.Generator) -> np.ndarray:
    """Rounded to a lattice, but to one that depends on the value."""
    step = 2.0 ** (np.ceil(np.log2(abs(value) + 0.5)) - 20)
    return np.round((value + rng.laplace(0, scale, DRAWS)) / step) * step


FAULTS = [numpy_laplace, textbook_laplace, own_grid]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
@pytest.mark.parametrize(("one", "other"), [(0.0, 1.0), (0.1, 1.1)])
@pytest.mark.thorough
def test_a_float_sampler_is_caught(fault: Callable[..., np.ndarray], one: float, other: float) -> None:
    rng = np.random.default_rng(1)
    first, second = fault(one, 1.0, rng), fault(other, 1.0, rng)
    caught = {leak.family for leak in leaks(first, second, epsilon=1, origin=one, granule=2.0**-20)}
    assert caught
    assert "cell" not in caught  # it leaks by its bits alone: the sizes of the answers are as promised


def test_a_float_gaussian_is_caught() -> None:
    rng = np.random.default_rng(2)
    m = Gaussian(epsilon=1, delta=1e-4, sensitivity=1)
    first, second = numpy_gaussian(0.0, m.scale, rng), numpy_gaussian(1.0, m.scale, rng)
    assert found(m, 0.0, 1.0, first, second)


def test_whole_numbers_computed_in_floats_are_caught() -> None:
    """At 2**60 floats are 256 apart: the noise vanishes and two neighbours round apart."""
    rng = np.random.default_rng(3)
    one, other = 2**60 + 128, 2**60 + 129
    first, second = ((float(x) + rng.laplace(0, 1, DRAWS)).astype(np.int64) for x in (one, other))
    caught = leaks(first, second, epsilon=1, origin=2**60)
    assert max(leak.at_least for leak in caught) > 0.99
    assert min(leak.at_most for leak in caught) < 0.001


def test_integers_rounded_to_floats_on_the_way_in_are_caught() -> None:
    """2**53 + 1 becomes 2**53: the distance to 2**53 + 2 doubles, and with it the loss."""
    m = Laplace(epsilon=1, sensitivity=1)
    bits = seeded(4)
    first, second = (m.release(np.full(20_000, float(x)), entropy=bits) for x in (2**53 + 1, 2**53 + 2))
    assert leaks(first, second, epsilon=1, origin=2.0**53)
    first, second = (m.release(np.full(20_000, x), entropy=bits) for x in (2**53 + 1, 2**53 + 2))
    assert not leaks(first, second, epsilon=1, origin=2.0**53)


def test_too_little_noise_is_caught() -> None:
    bits = seeded(5)
    weak = DiscreteLaplace(epsilon="1.2", sensitivity=1)
    first, second = (weak.release(np.full(DRAWS, x), entropy=bits) for x in (0, 1))
    assert leaks(first, second, epsilon=1)
    assert not leaks(first, second, epsilon=1.2)


def test_a_repeated_answer_is_caught() -> None:
    """A pool of noise drawn beforehand and used for one neighbour only: no bit is odd, but answers come again."""
    rng = np.random.default_rng(6)
    pool = np.round(rng.laplace(0, 1, 10_000) * 2**20) / 2**20
    first = rng.choice(pool, DRAWS)
    second = 1.0 + np.round(rng.laplace(0, 1, DRAWS) * 2**20) / 2**20
    caught = leaks(first, second, epsilon=1, granule=2.0**-20)
    assert {leak.family for leak in caught} >= {"seen before under first only"}


@pytest.mark.parametrize(("chance", "trials"), [(0.001, 1000), (0.3, 50), (0.9, 200)])
def test_the_limits_hold_by_enumeration(chance: float, trials: int) -> None:
    """The chance that a limit lies on the wrong side of the truth is at most e^(-L), summed over all counts."""
    counts = np.arange(trials + 1)
    masses = np.array([math.comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(trials + 1)])
    for exponent in (1.0, 3.0, 10.0):
        low, high = lower_limit(counts, trials, exponent), upper_limit(counts, trials, exponent)
        assert masses[low > chance].sum() <= math.exp(-exponent)
        assert masses[high < chance].sum() <= math.exp(-exponent)
        assert (low <= counts / trials).all()
        assert (high >= counts / trials).all()
