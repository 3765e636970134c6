"""The Laplace mechanism for reals: the ideal noise, rounded to a public lattice."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar, Self

from tacit.mechanisms.shared.adding import round_onto_lattice
from tacit.mechanisms.shared.base import ScaledMechanism, bits_from
from tacit.mechanisms.shared.inputs import real_numbers
from tacit.mechanisms.shared.promise import PriceLike, read_promise, within_floats
from tacit.mechanisms.shared.tails import each_level, laplace_quantile
from tacit.noise.entropy import BitSource
from tacit.noise.laplace import RoundedLaplaceSampler
from tacit.noise.lattice import Lattice
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.prices import Price, positive, round_up
from tacit.privacy.rounding import UP, decimal_up
from tacit.privacy.sensitivity import L1, Norm, Sensitivity

__all__ = ["Laplace"]

_FINENESS = 20
"""At least 2**20 granules to the scale: the lattice adds a millionth of the noise to the error."""


class Laplace(ScaledMechanism):
    """ε-DP for reals whose L1 sensitivity is stated: x + Lap(Δ/ε), rounded to a lattice that depends on Δ/ε alone.

    Proof: docs/proofs/laplace.md.

    >>> m = Laplace(epsilon=0.5, sensitivity=1)
    >>> m.scale, m.guarantee
    (2.0, PureDP(0.5))
    >>> isinstance(m.release(3.7), float)
    True
    >>> print(m.explain().split(". ")[0])
    Adding or removing one unit changes the chance of any outcome by a factor of at most 1.65
    """

    __slots__ = ("_lattice", "_noise", "_scale")

    norm: ClassVar[Norm] = L1
    proof: ClassVar[str] = "proofs/laplace.md"

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
        asked = read_promise("Laplace", (PureDP,), stated.neighbours, epsilon, delta, rho, mu, promise)
        self._set(asked, stated, stated.value / asked.eps)

    def _set(self, guarantee: PureDP, sensitivity: Sensitivity, scale: Fraction) -> None:
        self._guarantee = guarantee
        self._sensitivity = sensitivity
        self._scale = within_floats(scale)
        self._lattice = Lattice.finer_than(scale, by=_FINENESS)
        self._noise = RoundedLaplaceSampler(scale / self._lattice.granule)

    @classmethod
    def of_scale(cls, scale: Price, *, sensitivity: object) -> Self:
        """The mechanism with noise Lap(scale); it is Δ/scale-DP.

        >>> Laplace.of_scale(100, sensitivity=1).guarantee
        PureDP(0.01)
        """
        stated = Sensitivity.of(sensitivity, norm=L1)
        exact = positive(scale, "scale")
        made = cls.__new__(cls)
        made._set(PureDP(stated.value / exact, neighbours=stated.neighbours), stated, exact)
        return made

    @property
    def scale(self) -> float:
        return float(self._scale)

    @property
    def loss(self) -> LossDistribution:
        """That of the continuous Laplace law, in any dimension (docs/proofs/laplace.md)."""
        return LossDistribution.laplace(self._scale, self._sensitivity.value, self._sensitivity.neighbours)

    @property
    def granule(self) -> float:
        """The step of the lattice: every release is a multiple of it."""
        return float(self._lattice.granule)

    def release(self, value: Any, *, entropy: BitSource | None = None) -> Any:
        """A float for a number, an array of float64 for an array; beyond the floats, the largest of them."""
        return round_onto_lattice(real_numbers(value), self._lattice, self._noise, bits_from(entropy))

    def accuracy(self, beta: Price, *, size: int = 1) -> float:
        """The error that is exceeded with probability at most β, jointly over ``size`` values.

        >>> Laplace(epsilon=1, sensitivity=1).accuracy(0.05)
        2.9957...
        """
        quantile = UP.multiply(laplace_quantile(each_level(beta, size)), decimal_up(self._scale))
        return round_up(Fraction(UP.add(quantile, decimal_up(self._lattice.granule / 2))))
