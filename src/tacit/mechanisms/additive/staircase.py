"""Staircase noise: the least expected error any ε-DP noise on one number can have."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from tacit.errors import NotPrivate
from tacit.mechanisms.shared.base import ScaledMechanism, bits_from
from tacit.mechanisms.shared.inputs import real_numbers
from tacit.mechanisms.shared.promise import PriceLike, read_promise, within_floats
from tacit.mechanisms.shared.quantised import lattice_for, multiples, steps
from tacit.mechanisms.shared.tails import each_level, least_step
from tacit.noise.coins import uniform_below
from tacit.noise.entropy import BitSource
from tacit.noise.exact import LazyUniform, decide_sign, flint, rational
from tacit.noise.laplace import GeometricSampler
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.prices import Price, positive, round_up
from tacit.privacy.rounding import DOWN, ONE, UP, decimal_down, decimal_up, exp_down, exp_up
from tacit.privacy.sensitivity import L1, Norm, Sensitivity

__all__ = ["Staircase"]


class Staircase(ScaledMechanism):
    """ε-DP for one real whose sensitivity is stated: noise whose density falls in steps of a factor e^(-ε), one per Δ.

    On the lattice, with D granules to the sensitivity and r of them on the upper part of a step (Geng & Viswanath 2014;
    r/D ≈ 1/(1+e^(ε/2)) minimises the expected error). One number at a time: any shift, however small, can cross a step
    and cost ε, so coordinates cannot share an L1 sensitivity. Proof: docs/proofs/staircase.md.

    >>> m = Staircase(epsilon=4, sensitivity=1)
    >>> m.guarantee, isinstance(m.release(2.5), float)
    (PureDP(4), True)
    """

    __slots__ = ("_lattice", "_period", "_upper")

    norm: ClassVar[Norm] = L1
    proof: ClassVar[str] = "proofs/staircase.md"

    def __init__(
        self,
        *,
        sensitivity: object,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
    ) -> None:
        stated = Sensitivity.of(sensitivity, norm=L1)
        asked = read_promise("Staircase", (PureDP,), stated.neighbours, epsilon, delta, rho, mu, promise)
        within_floats(stated.value / asked.eps)
        self._guarantee: PureDP = asked
        self._sensitivity = stated
        share = 1 / (1 + math.exp(min(float(asked.eps), 80.0) / 2))
        # The upper part of a step shrinks like e^(-ε/2): the lattice must resolve it.
        self._lattice = lattice_for(stated.value * Fraction(share), stated, 1, None)
        self._period = steps(stated, self._lattice, 1)
        self._upper = max(1, min(self._period, round(share * self._period)))

    @classmethod
    def of_scale(cls, scale: Price, *, sensitivity: object) -> Self:
        """The mechanism whose density falls by e over the length ``scale``; it is Δ/scale-DP."""
        stated = Sensitivity.of(sensitivity, norm=L1)
        epsilon = stated.value / positive(scale, "scale")
        return cls(sensitivity=stated, promise=PureDP(epsilon, neighbours=stated.neighbours))

    @property
    def scale(self) -> float:
        return float(self._sensitivity.value / self._guarantee.eps)

    @property
    def loss(self) -> LossDistribution:
        """That of any ε-DP mechanism."""
        return LossDistribution.pure(self._guarantee.eps, self._guarantee.neighbours)

    def release(self, value: Any, *, entropy: BitSource | None = None) -> Any:
        """A float for a number."""
        exact = real_numbers(value)
        if isinstance(exact, np.ndarray):
            if exact.size != 1:
                raise NotPrivate(
                    "Staircase releases one number at a time: in each coordinate even a tiny change can cross a step"
                    " and cost ε, so an L1 sensitivity cannot be shared among them. Use Laplace for arrays."
                )
            return np.full(exact.shape, self.release(exact.item(), entropy=entropy))
        centre = multiples(exact, self._lattice)
        assert isinstance(centre, int)
        return self._lattice.value(centre + self._draw(bits_from(entropy)))

    def _draw(self, entropy: BitSource) -> int:
        """P[k] ∝ e^(-εj) on the upper part of step j, |k| in [jD, jD+r), and e^(-ε(j+1)) on its lower part."""
        steps_down = GeometricSampler(1 / self._guarantee.eps)
        while True:
            negative = entropy.word() & 1
            size = steps_down.one(entropy) * self._period + self._place(entropy)
            if size or not negative:  # zero would be counted twice
                return -size if negative else size

    def _place(self, entropy: BitSource) -> int:
        """A place on a step: each of the r upper ones has weight 1, each of the D - r lower ones e^(-ε)."""
        upper, lower = self._upper, self._period - self._upper
        if decide_sign(self._is_upper, [LazyUniform(entropy.word(), 64, entropy)]):
            return int(uniform_below(upper, 1, entropy)[0])
        return upper + int(uniform_below(lower, 1, entropy)[0])

    def _is_upper(self, u: Any) -> Any:
        """Above 0 where the uniform number chooses the upper part."""
        lower = (self._period - self._upper) * (-flint().arb(rational(self._guarantee.eps))).exp()
        return self._upper - u * (self._upper + lower)

    def accuracy(self, beta: Price, *, size: int = 1) -> float:
        """The error that is exceeded with probability at most β, half a granule of rounding included."""
        level = each_level(beta, size)
        guess = float(self._period / self._guarantee.eps) * -math.log(max(float(level), 1e-300))
        return round_up((least_step(self._tail, level, guess) + Fraction(1, 2)) * self._lattice.granule)

    def _tail(self, above: int) -> Decimal:
        """An upper bound on P[|noise| > above], from the sums over whole and broken steps."""
        epsilon, period, upper = self._guarantee.eps, self._period, self._upper
        drop_down, drop_up = exp_down(decimal_down(-epsilon)), exp_up(decimal_up(-epsilon))
        step_up = UP.add(Decimal(upper), UP.multiply(Decimal(period - upper), drop_up))
        step_down = DOWN.add(Decimal(upper), DOWN.multiply(Decimal(period - upper), drop_down))
        # All of the law, times (1 - e^(-ε)): twice the steps, less the zero that both sides share.
        total = DOWN.subtract(DOWN.multiply(Decimal(2), step_down), UP.subtract(ONE, drop_down))
        whole, broken = divmod(above + 1, period)
        high = max(0, upper - broken)
        low = period - max(upper, broken)
        rest = UP.add(Decimal(high), UP.multiply(Decimal(low), drop_up))  # of the step that above+1 falls into
        beyond = UP.add(UP.multiply(rest, UP.subtract(ONE, drop_down)), UP.multiply(drop_up, step_up))
        fallen = exp_up(decimal_up(-whole * epsilon)) if whole else ONE
        return min(ONE, UP.divide(UP.multiply(Decimal(2), UP.multiply(fallen, beyond)), total))
