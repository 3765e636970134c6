"""Laplace noise that never exceeds a public limit: (ε, δ) only, because some answers become impossible."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.mechanisms.shared.base import AdditiveMechanism, bits_from, most_private
from tacit.mechanisms.shared.inputs import Kind, real_numbers
from tacit.mechanisms.shared.promise import PriceLike, read_promise, within_floats
from tacit.mechanisms.shared.quantised import dimension_of, lattice_for, multiples, steps, to_floats
from tacit.mechanisms.shared.tails import each_level, least_step
from tacit.noise.coins import bernoulli_exp, uniform_below
from tacit.noise.entropy import BitSource
from tacit.noise.laplace import DiscreteLaplaceSampler
from tacit.noise.lattice import Lattice
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.prices import Price, failure_probability, positive, price, round_up
from tacit.privacy.rounding import DOWN, ONE, UP, decimal_down, decimal_up, exp_down, exp_up
from tacit.privacy.sensitivity import L1, Norm, Sensitivity

__all__ = ["TruncatedLaplace"]


class TruncatedLaplace(AdditiveMechanism):
    """(ε, δ)-DP for reals whose L1 sensitivity is stated: P[k] ∝ e^(-ε|k|/D) on the multiples |k| ≤ A of a granule.

    D is the sensitivity in granules after rounding, and A the smallest limit whose outermost D multiples carry at most
    δ (Geng et al. 2020, on the lattice). ``granule=1`` gives whole numbers; with a stated granule arrays have to be of
    whole numbers, because rounding each of many coordinates would cost too much. Proof: docs/proofs/bounded_noise.md.

    >>> m = TruncatedLaplace(epsilon=1, delta=1e-6, sensitivity=1, granule=1)
    >>> m.limit, abs(m.release(40) - 40) <= m.limit
    (14.0, True)
    """

    __slots__ = ("_granule", "_scale", "_single")

    norm: ClassVar[Norm] = L1
    proof: ClassVar[str] = "proofs/bounded_noise.md"

    def __init__(
        self,
        *,
        sensitivity: object,
        granule: Price | None = None,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
    ) -> None:
        stated = Sensitivity.of(sensitivity, norm=L1)
        asked = read_promise("TruncatedLaplace", (ApproxDP,), stated.neighbours, epsilon, delta, rho, mu, promise)
        if not asked.dlt or not asked.eps:
            raise InvalidParameter("promise", given=asked, allowed="epsilon above 0 and delta above 0")
        self._guarantee = asked
        self._sensitivity = stated
        self._granule = granule
        self._scale = within_floats(stated.value / asked.eps)
        self._single = self._law_of(1)

    @classmethod
    def of_scale(
        cls, scale: Price, *, sensitivity: object, delta: Price, granule: Price | None = None
    ) -> TruncatedLaplace:
        """The mechanism with noise Lap(scale), cut off where δ allows; it is (Δ/scale, δ)-DP.

        Where a granule is stated, Δ counts as the next multiple of it.
        """
        stated = Sensitivity.of(sensitivity, norm=L1)
        exact = positive(scale, "scale")
        lattice = lattice_for(exact, stated, 1, granule)
        moved = stated.value if granule is None else steps(stated, lattice, 1) * lattice.granule
        epsilon = moved / exact
        promise = ApproxDP(epsilon, failure_probability(delta), neighbours=stated.neighbours)
        return cls(sensitivity=stated, promise=promise, granule=granule)

    @classmethod
    def for_accuracy(
        cls,
        error: Price,
        beta: Price,
        *,
        sensitivity: object,
        delta: Price,
        granule: Price | None = None,
        size: int = 1,
    ) -> TruncatedLaplace:
        """The most private mechanism at this δ whose error exceeds ``error`` with probability at most β."""
        return most_private(
            lambda scale: cls.of_scale(scale, sensitivity=sensitivity, delta=delta, granule=granule),
            lambda promise: cls(promise=promise, sensitivity=sensitivity, granule=granule),
            error,
            beta,
            size,
        )

    @property
    def scale(self) -> float:
        """That of the noise on a single number, the charge for rounding included."""
        return float(self._single.scale * self._single.lattice.granule)

    @property
    def loss(self) -> LossDistribution:
        """That of any (ε, δ)-DP mechanism."""
        epsilon, delta = self._guarantee.amounts()
        return LossDistribution.approximate(epsilon, delta, self._guarantee.neighbours)

    @property
    def limit(self) -> float:
        """The largest noise on a single number: beyond it lies nothing."""
        return self._single.lattice.value(self._single.limit)

    def release(self, value: Any, *, entropy: BitSource | None = None) -> Any:
        """A float for a number, an array of float64 for an array."""
        exact = real_numbers(value)
        law = self._law(self._rounded_coordinates(exact, value))
        rounded = multiples(exact, law.lattice)
        bits = bits_from(entropy)
        if not isinstance(rounded, np.ndarray):
            return to_floats(rounded + law.one(bits), law.lattice)
        flat, noise = rounded.reshape(-1), law.draw(rounded.size, bits)
        if flat.dtype == object or law.limit >= 1 << 61 or bool((np.abs(flat) >= 1 << 61).any()):
            flat, noise = flat.astype(object), noise.astype(object)
        released = to_floats(flat + noise, law.lattice)
        assert isinstance(released, np.ndarray)
        return released.reshape(rounded.shape)

    def accuracy(self, beta: Price, *, size: int = 1) -> float:
        """The error that is exceeded with probability at most β, jointly over ``size`` values.

        Half a granule of rounding is included, unless the granule was stated: then values are taken as multiples of it.
        """
        level = each_level(beta, size)
        law = self._law(size if self._granule is None else 1)
        guess = law.roughly(-math.log(max(float(level), 1e-300)))
        granules = least_step(law.tail, level, min(guess, law.limit))
        rounding = Fraction(1, 2) if self._granule is None else 0
        return round_up((granules + rounding) * law.lattice.granule)

    def _rounded_coordinates(self, exact: float | Fraction | npt.NDArray[Any], given: object) -> int:
        """How many coordinates rounding may move: whole numbers lie on a lattice of at most 1 already."""
        if self._granule is None or dimension_of(exact) == 1:
            return dimension_of(exact)
        assert isinstance(exact, np.ndarray)
        whole = exact.dtype.kind in "iub" or all(type(x) is int for x in exact.reshape(-1))
        if not whole or price(self._granule, "granule") > 1:
            allowed = "an array of whole numbers, which are multiples of the stated granule"
            raise InvalidParameter("value", given=Kind(given), allowed=allowed, hint="For reals leave granule= out.")
        return 1

    def _law(self, dimension: int) -> _TruncatedLaw:
        return self._single if dimension == 1 else self._law_of(dimension)

    def _law_of(self, dimension: int) -> _TruncatedLaw:
        lattice = lattice_for(self._scale, self._sensitivity, dimension, self._granule)
        return _truncated_law(lattice, steps(self._sensitivity, lattice, dimension), *self._guarantee.amounts())

    def _extras(self) -> str:
        return "" if self._granule is None else f", granule={self._granule!r}"


class _TruncatedLaw:
    """P[k] ∝ q^|k| for |k| ≤ limit, q = e^(-ε/D)."""

    def __init__(self, lattice: Lattice, distance: int, epsilon: Fraction, delta: Fraction) -> None:
        self.lattice = lattice
        self.distance = distance
        self.scale = distance / epsilon
        target = decimal_down(delta)
        guess = self.roughly(_continuous_limit(float(epsilon), float(delta)))
        self.limit = distance + least_step(lambda m: self._leak(distance + m), target, guess - distance)
        self._sampler = DiscreteLaplaceSampler(self.scale)

    def roughly(self, scales: float) -> float:
        """A number of scales in granules, as a float however large: where a search may begin."""
        return float(min(self.scale * Fraction(scales), _FAR))

    def _power(self, exponent: int) -> tuple[Decimal, Decimal]:
        """Lower and upper bounds on q^exponent."""
        x = Fraction(exponent) / self.scale
        return exp_down(decimal_down(-x)), exp_up(decimal_up(-x))

    def _leak(self, limit: int) -> Decimal:
        """An upper bound on the mass of the outermost D multiples on one side: q^(A-D+1)(1-q^D)/(1+q-2q^(A+1))."""
        edge = UP.multiply(self._power(limit - self.distance + 1)[1], UP.subtract(ONE, self._power(self.distance)[0]))
        total = self._total(limit)
        return UP.divide(edge, total) if total > 0 else ONE

    def _total(self, limit: int) -> Decimal:
        """A lower bound on (1-q)·Σ q^|k| = 1 + q - 2q^(A+1); not above 0 where forty digits do not tell q from 1."""
        return DOWN.subtract(DOWN.add(ONE, self._power(1)[0]), UP.multiply(Decimal(2), self._power(limit + 1)[1]))

    def tail(self, above: int) -> Decimal:
        """An upper bound on P[|noise| > above] = 2(q^(m+1) - q^(A+1))/(1+q-2q^(A+1))."""
        if above >= self.limit:
            return Decimal(0)
        mass = UP.subtract(self._power(above + 1)[1], self._power(self.limit + 1)[0])
        total = self._total(self.limit)
        return min(ONE, UP.divide(UP.multiply(Decimal(2), mass), total)) if total > 0 else ONE

    def draw(self, count: int, entropy: BitSource) -> npt.NDArray[Any]:
        """By rejection: from the whole line, or from the uniform law where the limit lies within the scale."""
        if self.limit < self.scale:
            return np.array([self._draw_flat(entropy) for _ in range(count)], dtype=object)
        samples = self._sampler.array(count, entropy)
        while True:
            beyond = np.flatnonzero(np.abs(samples) > self.limit)
            if not beyond.size:
                return samples
            again = self._sampler.array(beyond.size, entropy)
            if again.dtype != samples.dtype:
                samples, again = samples.astype(object), again.astype(object)
            samples[beyond] = again

    def one(self, entropy: BitSource) -> int:
        """The same, once."""
        if self.limit < self.scale:
            return self._draw_flat(entropy)
        while True:
            sample = self._sampler.one(entropy)
            if abs(sample) <= self.limit:
                return sample

    def _draw_flat(self, entropy: BitSource) -> int:
        while True:
            point = int(uniform_below(2 * self.limit + 1, 1, entropy)[0]) - self.limit
            if bernoulli_exp(abs(point) / self.scale, 1, entropy)[0]:
                return point


_FAR = Fraction(10) ** 300


def _continuous_limit(epsilon: float, delta: float) -> float:
    """ln(1 + (e^ε-1)/2δ), Geng et al.'s limit of the continuous law in scales, without overflow."""
    grown = epsilon if epsilon > 30 else math.log(max(math.expm1(epsilon), 1e-300))
    rise = grown - math.log(2 * max(delta, 1e-300))
    return max(rise, 0.0) + math.log1p(math.exp(-abs(rise)))


@lru_cache(maxsize=256)
def _truncated_law(lattice: Lattice, distance: int, epsilon: Fraction, delta: Fraction) -> _TruncatedLaw:
    """The law, kept: finding its limit takes a thousand times as long as drawing from it."""
    return _TruncatedLaw(lattice, distance, epsilon, delta)
