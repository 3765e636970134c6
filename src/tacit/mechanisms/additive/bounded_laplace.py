"""Laplace noise on a bounded domain: the density is cut to the domain and rescaled, and the promise stays pure."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from tacit.errors import InvalidParameter, NotPrivate
from tacit.mechanisms.shared.base import AdditiveMechanism, bits_from, most_private
from tacit.mechanisms.shared.inputs import real_numbers
from tacit.mechanisms.shared.promise import PriceLike, read_promise, within_floats
from tacit.mechanisms.shared.quantised import Range, lattice_for, multiples, range_text, read_range, steps
from tacit.mechanisms.shared.tails import each_level, least_step, read_error
from tacit.noise.coins import bernoulli_exp, uniform_below
from tacit.noise.entropy import BitSource
from tacit.noise.laplace import DiscreteLaplaceSampler
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.prices import Price, positive, round_up
from tacit.privacy.rounding import DOWN, ONE, UP, decimal_down, decimal_up, exp_down, exp_up, least, ln_up
from tacit.privacy.sensitivity import L1, Norm, Sensitivity

__all__ = ["BoundedLaplace"]


class BoundedLaplace(AdditiveMechanism):
    """ε-DP for one real in a public range: P[y] ∝ e^(-|y-x|/b) over the multiples y of a granule inside the range.

    The normaliser depends on x, so Δ/ε is too little noise: b solves Δ/b + ln(C(l+Δ)/C(l)) = ε (Holohan et al. 2018),
    here with the sums C over the lattice. One number at a time: over several coordinates the normalisers' share adds
    up to more than the L1 sensitivity pays for. Proof: docs/proofs/bounded_noise.md.

    >>> m = BoundedLaplace(epsilon=1, sensitivity=1, bounds=(0, 10))
    >>> round(m.scale, 2), 0 <= m.release(0.5) <= 10
    (1.61, True)
    """

    __slots__ = ("_domain", "_lattice", "_range", "_steps", "_units")

    norm: ClassVar[Norm] = L1
    proof: ClassVar[str] = "proofs/bounded_noise.md"

    def __init__(
        self,
        *,
        sensitivity: object,
        bounds: Range,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
    ) -> None:
        stated = Sensitivity.of(sensitivity, norm=L1)
        asked = read_promise("BoundedLaplace", (PureDP,), stated.neighbours, epsilon, delta, rho, mu, promise)
        self._place(stated, read_range(bounds), stated.value / asked.eps)
        # At twice Δ/ε the exponential mechanism's argument suffices, so the least scale lies between the two.
        guess = float(self._steps / asked.eps)
        units = least(self._cost, decimal_down(asked.eps), guess=guess)
        if not math.isfinite(units):
            raise InvalidParameter("epsilon", given=asked, allowed="a price for which the noise can still be computed")
        self._guarantee = asked
        self._units = max(Fraction(units), Fraction(repr(units)))

    def _place(self, sensitivity: Sensitivity, bounds: tuple[Fraction, Fraction], scale: Fraction) -> None:
        self._sensitivity = sensitivity
        self._range = bounds
        width = bounds[1] - bounds[0]
        self._lattice = lattice_for(min(within_floats(scale), width), sensitivity, 1, None)
        granule = self._lattice.granule
        self._domain = math.ceil(bounds[0] / granule), math.floor(bounds[1] / granule)
        self._steps = min(steps(sensitivity, self._lattice, 1), self._domain[1] - self._domain[0])

    @classmethod
    def of_scale(cls, scale: Price, *, sensitivity: object, bounds: Range) -> BoundedLaplace:
        """The mechanism with density e^(-|y-x|/scale) on the range; its ε is computed, rounded up."""
        exact = positive(scale, "scale")
        made = cls.__new__(cls)
        stated = Sensitivity.of(sensitivity, norm=L1)
        made._place(stated, read_range(bounds), exact)
        made._units = exact / made._lattice.granule
        cost = made._cost(made._units)
        if not cost.is_finite():
            raise InvalidParameter("scale", given=scale, allowed="a scale at which the price can still be computed")
        made._guarantee = PureDP(round_up(Fraction(cost)), neighbours=stated.neighbours)
        return made

    @classmethod
    def for_accuracy(
        cls, error: Price, beta: Price, *, sensitivity: object, bounds: Range, size: int = 1
    ) -> BoundedLaplace:
        """The most private mechanism whose error exceeds ``error`` with probability at most β."""
        low, high = read_range(bounds)
        if low + read_error(error) >= high:
            raise InvalidParameter("error", given=error, allowed="less than the width of the range")
        return most_private(
            lambda scale: cls.of_scale(scale, sensitivity=sensitivity, bounds=bounds),
            lambda promise: cls(promise=promise, sensitivity=sensitivity, bounds=bounds),
            error,
            beta,
            size,
        )

    @property
    def scale(self) -> float:
        return float(self._units * self._lattice.granule)

    @property
    def loss(self) -> LossDistribution:
        """That of any ε-DP mechanism."""
        return LossDistribution.pure(self._guarantee.main, self._guarantee.neighbours)

    @property
    def bounds(self) -> tuple[float, float]:
        """The public range of the answers."""
        return float(self._range[0]), float(self._range[1])

    def release(self, value: Any, *, entropy: BitSource | None = None) -> Any:
        """A float inside the range; a value outside counts as the nearer end."""
        exact = real_numbers(value)
        if isinstance(exact, np.ndarray):
            if exact.size != 1:
                raise NotPrivate(
                    "BoundedLaplace releases one number at a time: its normaliser depends on the value, and over"
                    " several coordinates that costs more than the L1 sensitivity pays for."
                    " Use ClampedLaplace for arrays."
                )
            return np.full(exact.shape, self.release(exact.item(), entropy=entropy))
        return self._lattice.value(self._draw(self._centre(exact), bits_from(entropy)))

    def _centre(self, exact: float | Fraction) -> int:
        """The point of the domain that the value counts as."""
        low, high = self._domain
        inside = min(max(Fraction(exact), self._range[0]), self._range[1])
        centre = multiples(inside, self._lattice)
        assert isinstance(centre, int)
        return min(max(centre, low), high)

    def _draw(self, centre: int, entropy: BitSource) -> int:
        """By rejection: from the whole line if the domain is wide, from the uniform law if it is narrow."""
        low, high = self._domain
        if high - low < self._units:
            while True:
                point = low + int(uniform_below(high - low + 1, 1, entropy)[0])
                if bernoulli_exp(abs(point - centre) / self._units, 1, entropy)[0]:
                    return point
        sampler = DiscreteLaplaceSampler(self._units)
        while True:
            point = centre + sampler.one(entropy)
            if low <= point <= high:
                return point

    def _power(self, exponent: int, units: Fraction) -> tuple[Decimal, Decimal]:
        x = exponent / units
        return exp_down(decimal_down(-x)), exp_up(decimal_up(-x))

    def _cost(self, units: Fraction) -> Decimal:
        """An upper bound on D/s + ln(C(D)/C(0)): C(d) ∝ 1 + q - q^(d+1) - q^(W-d+1), with W the width of the domain."""
        width = self._domain[1] - self._domain[0]
        if units <= 0:
            return Decimal("Infinity")
        top = UP.subtract(UP.add(ONE, self._power(1, units)[1]), self._power(self._steps + 1, units)[0])
        top = UP.subtract(top, self._power(width - self._steps + 1, units)[0])
        bottom = DOWN.subtract(ONE, self._power(width + 1, units)[1])
        if bottom <= 0:  # forty digits do not tell the law from the uniform one
            return Decimal("Infinity")
        return UP.add(decimal_up(self._steps / units), ln_up(UP.divide(top, bottom)))

    def accuracy(self, beta: Price, *, size: int = 1) -> float:
        """The error that is exceeded with probability at most β wherever in the range the value lies.

        The worst place is an end of the range or its middle; a granule of rounding is included.
        """
        level = each_level(beta, size)
        width = self._domain[1] - self._domain[0]
        guess = float(self._units) * -math.log(max(float(level), 1e-300))
        return round_up((least_step(self._tail, level, min(guess, width)) + 1) * self._lattice.granule)

    def _tail(self, above: int) -> Decimal:
        """The larger of the tails at an end and in the middle: (C - mass within ``above``)/C."""
        width = self._domain[1] - self._domain[0]
        return max(self._tail_at(0, above, width), self._tail_at(width // 2, above, width))

    def _tail_at(self, left: int, above: int, width: int) -> Decimal:
        units = self._units
        right = width - left
        beyond = Decimal(0)  # times (1-q)
        for side in (left, right):
            if side > above:
                gone = UP.subtract(self._power(above + 1, units)[1], self._power(side + 1, units)[0])
                beyond = UP.add(beyond, gone)
        total = DOWN.add(ONE, self._power(1, units)[0])
        for side in (left, right):
            total = DOWN.subtract(total, self._power(side + 1, units)[1])
        return min(ONE, UP.divide(beyond, total)) if total > 0 else ONE

    def _extras(self) -> str:
        return f", bounds={range_text(self._range)}"
