"""A release is a rounding of value + ideal noise: for fixed bits, one real number explains every answer."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from tacit.mechanisms.additive.clamped_laplace import ClampedLaplace
from tacit.mechanisms.additive.gaussian import Gaussian
from tacit.mechanisms.additive.laplace import Laplace
from tacit.mechanisms.shared.adding import add_to_integers
from tacit.mechanisms.shared.base import AdditiveMechanism
from tests.mechanisms.laws import granule_of
from tests.mechanisms.sources import Constant

MECHANISMS: dict[str, Callable[[], AdditiveMechanism]] = {
    "laplace": lambda: Laplace(epsilon=1, sensitivity=1),
    "laplace 0.1": lambda: Laplace(epsilon=3, sensitivity=0.1),
    "laplace huge": lambda: Laplace(epsilon=1, sensitivity=10**30),
    "gaussian": lambda: Gaussian(rho=0.5, sensitivity=1),
    "gaussian tiny": lambda: Gaussian(mu=3, sensitivity=1e-30),
    "clamped": lambda: ClampedLaplace(epsilon=1, sensitivity=1, bounds=(-(10**290), 10**290)),
}
WORDS = [0x9E3779B97F4A7C15, 0x123456789ABCDEF1, 0xFEDCBA9876543210, 0x0F0F0F0F0F0F0F0F, 2**63 + 5, 0xC3C3C3C3C3C3C3C2]


def multiple(m: AdditiveMechanism, value: object, bits: Constant) -> int:
    released = Fraction(m.release(value, entropy=bits)) / granule_of(m)
    assert released.denominator == 1
    return int(released)


def threshold(m: AdditiveMechanism, bits: Constant) -> tuple[int, Fraction, Fraction]:
    """The answer at 0, and an interval of length 2⁻⁹⁰ granules in (0, 1] in which it rises by one."""
    granule = granule_of(m)
    first = multiple(m, 0, bits)
    low, high = Fraction(0), Fraction(1)
    assert multiple(m, high * granule, bits) == first + 1
    while high - low > Fraction(1, 2**90):
        middle = (low + high) / 2
        low, high = (low, middle) if multiple(m, middle * granule, bits) > first else (middle, high)
    return first, low, high


def near(place: Fraction) -> list[float]:
    """The floats around a place."""
    centre = float(place)
    below, above = math.nextafter(centre, -math.inf), math.nextafter(centre, math.inf)
    return [math.nextafter(below, -math.inf), below, centre, above, math.nextafter(above, math.inf)]


@pytest.mark.parametrize("word", WORDS, ids=hex)
@pytest.mark.parametrize("name", MECHANISMS)
def test_one_real_number_explains_every_answer(name: str, word: int) -> None:
    m, bits = MECHANISMS[name](), Constant(word)
    granule = granule_of(m)
    first, low, high = threshold(m, bits)
    steps = [-(2**40), -1000, -2, -1, 0, 1, 2, 7, 10**6, 2**50]
    values: list[float | Fraction | int] = [x for step in steps for x in near((step + high) * granule)]
    values += [x for step in steps for x in near(step * granule)]
    values += [0.0, -0.0, 5e-324, -5e-324, 1e-310, -1e-200, 0.1, -0.1, 1 / 3, -2 / 3]
    values += [Fraction(1, 3), Fraction(-10, 7), (3 + low) * granule, (3 + high) * granule, 2**53 + 1, -(10**25)]
    decided = 0
    for value in values:
        exact = Fraction(value) / granule
        expected = first + 1 + math.floor(exact - high)
        if expected != first + 1 + math.floor(exact - low):
            continue  # nearer to the threshold than the bisection went
        decided += 1
        if abs(expected) < 2**53:
            assert multiple(m, value, bits) == expected, value
        else:
            assert m.release(value, entropy=bits) == float(expected * granule)
    assert decided > len(values) - 15


@pytest.mark.parametrize("word", WORDS, ids=hex)
@pytest.mark.parametrize("name", ["laplace", "laplace 0.1", "gaussian"])
def test_arrays_are_explained_by_the_same_number(name: str, word: int) -> None:
    m, bits = MECHANISMS[name](), Constant(word)
    granule = granule_of(m)
    scalar_first, _, high = threshold(m, bits)
    values = [x for step in (-1000, -2, -1, 0, 1, 2, 10**6, 2**50) for x in near((step + high) * granule)]
    values += [0.0, -0.0, 5e-324, -5e-324, -1e-200, 0.1, -0.1, -2 / 3]
    # Gaussian noise comes in pairs, of which the second has another sign or size: look at the first of each.
    released = m.release(np.array(values + [0.0] * len(values)), entropy=bits)[: len(values)]
    offset = int(Fraction(released[values.index(0.0)]) / granule) - scalar_first
    for value, answer in zip(values, released.tolist(), strict=True):
        assert Fraction(answer) / granule == multiple(m, value, bits) + offset
    assert offset == 0


def test_a_rounded_value_would_be_seen() -> None:
    """Planted: a value is rounded by half a unit in the last place of 1 before noise is added."""
    m = Laplace(epsilon=1, sensitivity=1)

    class Careless(Laplace):
        def release(self, value: object, *, entropy: object = None) -> object:
            return super().release(float(value) + 1.0 - 1.0, entropy=entropy)  # type: ignore[arg-type]

    careless = Careless(epsilon=1, sensitivity=1)
    differ = 0
    for word in WORDS:
        bits = Constant(word)
        _, _, high = threshold(m, bits)
        for value in near((high - 1) * granule_of(m)):
            differ += multiple(careless, value, bits) != multiple(m, value, bits)
    assert differ


class Fixed:
    """Noise that was drawn beforehand."""

    def __init__(self, noise: list[int]) -> None:
        self._noise = noise

    def array(self, count: int, entropy: object) -> np.ndarray:
        fits = all(abs(n) < 2**62 for n in self._noise)
        return np.array(self._noise, dtype=np.int64 if fits else object)

    def one(self, entropy: object) -> int:
        return self._noise[0]


@pytest.mark.parametrize(
    "noise", [[1, -1, 5, -5, 2**61, -(2**61)], [2**62, -(2**62), 2**63, -(2**63), 2**80, -(2**80)]]
)
def test_sums_are_wide_and_clamped_last(noise: list[int]) -> None:
    ends = [2**63 - 1, -(2**63), 2**63 - 2, 0, -(2**62), 2**62]
    for shift in range(6):
        values = np.array(ends[shift:] + ends[:shift], dtype=np.int64)
        sums = add_to_integers(values, Fixed(noise), Constant(0))  # type: ignore[arg-type]
        assert isinstance(sums, np.ndarray)
        expected = [min(max(int(v) + n, -(2**63)), 2**63 - 1) for v, n in zip(values, noise, strict=True)]
        assert sums.tolist() == expected
        assert sums.dtype == np.int64


def test_python_integers_have_no_end() -> None:
    assert add_to_integers(2**80, Fixed([-(2**90)]), Constant(0)) == 2**80 - 2**90  # type: ignore[arg-type]
