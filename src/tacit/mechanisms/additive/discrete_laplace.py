"""The discrete Laplace (two-sided geometric) mechanism for whole numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

from tacit.mechanisms.additive.integer_mechanism import IntegerMechanism
from tacit.mechanisms.shared.lazy_losses import loss_distribution
from tacit.mechanisms.shared.promise import PriceLike, read_promise, within_floats
from tacit.mechanisms.shared.tails import discrete_laplace_tail, each_level, least_step
from tacit.noise.laplace import DiscreteLaplaceSampler
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.prices import Price, positive
from tacit.privacy.sensitivity import L1, Norm, Sensitivity, whole_steps

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution

__all__ = ["DiscreteLaplace"]


class DiscreteLaplace(IntegerMechanism):
    """ε-DP for whole numbers whose L1 sensitivity is stated: P[noise = k] ∝ e^(-ε|k|/Δ), in unbounded integers.

    Arrays are int64 and saturate at its ends, silently. Proof: docs/proofs/discrete_laplace.md.

    >>> m = DiscreteLaplace(epsilon=0.5, sensitivity=1)
    >>> m.scale, m.guarantee, isinstance(m.release(42), int)
    (2.0, PureDP(0.5), True)
    """

    __slots__ = ("_scale",)

    norm: ClassVar[Norm] = L1
    proof: ClassVar[str] = "proofs/discrete_laplace.md"

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
        stated = whole_steps(Sensitivity.of(sensitivity, norm=L1))
        asked = read_promise("DiscreteLaplace", (PureDP,), stated.neighbours, epsilon, delta, rho, mu, promise)
        self._set(asked, stated, stated.value / asked.eps)

    def _set(self, guarantee: PureDP, sensitivity: Sensitivity, scale: Fraction) -> None:
        self._guarantee = guarantee
        self._sensitivity = sensitivity
        self._scale = within_floats(scale)
        self._sampler = None

    def _sampling(self) -> DiscreteLaplaceSampler:
        return DiscreteLaplaceSampler(self._scale)

    @classmethod
    def of_scale(cls, scale: Price, *, sensitivity: object) -> Self:
        """The mechanism with P[noise = k] ∝ e^(-|k|/scale); it is Δ/scale-DP."""
        stated = whole_steps(Sensitivity.of(sensitivity, norm=L1))
        exact = positive(scale, "scale")
        made = cls.__new__(cls)
        made._set(PureDP(stated.value / exact, neighbours=stated.neighbours), stated, exact)
        return made

    @property
    def scale(self) -> float:
        return float(self._scale)

    @property
    def loss(self) -> LossDistribution:
        """That of the discrete Laplace law, in any dimension (docs/proofs/discrete_laplace.md)."""
        steps = int(self._sensitivity.value)
        return loss_distribution().discrete_laplace(self._scale, steps, self._sensitivity.neighbours)

    def accuracy(self, beta: Price, *, size: int = 1) -> float:
        """The smallest whole m with P[|noise| > m] ≤ β, jointly over ``size`` values.

        The law on the integers has its own tail, P[|X| ≥ m] = 2e^(-m/s)/(1+e^(-1/s)).

        >>> DiscreteLaplace(epsilon=1, sensitivity=1).accuracy(0.05)
        3
        """
        level = each_level(beta, size)
        guess = float(self._scale) * -math.log(max(float(level), 1e-300))
        return least_step(lambda m: discrete_laplace_tail(self._scale, m), level, guess)
