"""The Gaussian mechanism for reals: the ideal noise, rounded to a public lattice."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar, Self

from tacit.mechanisms.additive.gaussian_noise import ACCEPTS, classic_variance, gaussian_loss, variance_for
from tacit.mechanisms.shared.adding import round_onto_lattice
from tacit.mechanisms.shared.base import ScaledMechanism, bits_from
from tacit.mechanisms.shared.inputs import real_numbers
from tacit.mechanisms.shared.promise import PriceLike, read_promise, within_floats
from tacit.mechanisms.shared.tails import each_level, gaussian_quantile
from tacit.noise.entropy import BitSource
from tacit.noise.gaussian import RoundedGaussianSampler
from tacit.noise.lattice import Lattice
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.gaussian import GaussianDP
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.prices import Price, positive, round_up, source
from tacit.privacy.rounding import UP, decimal_up, sqrt_up
from tacit.privacy.sensitivity import L2, Norm, Sensitivity, root_up

__all__ = ["Gaussian"]

_FINENESS = 19
"""At least 2**19 granules to σ: the lattice adds a millionth of the noise to the error."""


class Gaussian(ScaledMechanism):
    """N(0, σ²) on reals whose L2 sensitivity is stated, rounded to a lattice that depends on σ alone.

    A rounding of the continuous mechanism, so ρ = Δ²/2σ², μ = Δ/σ and the analytic (ε, δ) hold in every dimension.
    From ``epsilon`` with ``delta`` (analytic calibration, Balle & Wang 2018), ``rho``, ``mu`` or a promise.
    Proof: docs/proofs/gaussian.md.

    >>> Gaussian(rho=0.5, sensitivity=1).scale
    1.0
    >>> Gaussian(epsilon=1, delta=1e-6, sensitivity=1).scale
    4.2246...
    """

    __slots__ = ("_lattice", "_noise", "_variance")

    norm: ClassVar[Norm] = L2
    proof: ClassVar[str] = "proofs/gaussian.md"

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
        stated = Sensitivity.of(sensitivity, norm=L2)
        asked = read_promise("Gaussian", ACCEPTS, stated.neighbours, epsilon, delta, rho, mu, promise)
        self._set(asked, stated, variance_for(asked, stated))

    def _set(self, guarantee: Guarantee, sensitivity: Sensitivity, variance: Fraction) -> None:
        self._guarantee = guarantee
        self._sensitivity = sensitivity
        self._variance = variance
        self._lattice = Lattice.finer_than(within_floats(root_up(variance)), by=_FINENESS)
        self._noise = RoundedGaussianSampler(variance / self._lattice.granule**2)

    @classmethod
    def of_scale(cls, scale: Price, *, sensitivity: object) -> Self:
        """The mechanism with noise N(0, scale²); it is Δ/scale-GDP.

        >>> Gaussian.of_scale(2, sensitivity=1).guarantee
        GaussianDP(0.5)
        """
        stated = Sensitivity.of(sensitivity, norm=L2)
        variance = positive(scale, "scale") ** 2
        made = cls.__new__(cls)
        made._set(GaussianDP.of_square(stated.square / variance, neighbours=stated.neighbours), stated, variance)
        return made

    @classmethod
    def classic(cls, *, epsilon: Price, delta: Price, sensitivity: object) -> Gaussian:
        """The textbook calibration σ = Δ√(2 ln(1.25/δ))/ε, refused above ε = 1, where it is not proved.

        >>> Gaussian.classic(epsilon=1, delta=1e-6, sensitivity=1).scale
        5.2988...
        """
        stated = Sensitivity.of(sensitivity, norm=L2)
        variance = classic_variance(epsilon, delta, stated)
        made = cls.__new__(cls)
        made._set(ApproxDP(epsilon, delta, neighbours=stated.neighbours), stated, variance)
        return made

    @property
    def scale(self) -> float:
        return float(root_up(self._variance))

    @property
    def loss(self) -> LossDistribution:
        """That of the continuous Gaussian law, in any dimension; μ = Δ/σ rounded up."""
        return gaussian_loss(self._variance, self._sensitivity)

    def __repr__(self) -> str:
        promise = self._guarantee
        if not isinstance(promise, ApproxDP) or self._variance == variance_for(promise, self._sensitivity):
            return super().__repr__()
        price = f"epsilon={source(promise.eps)}, delta={source(promise.dlt)}"
        return f"{type(self).__name__}.classic({price}, sensitivity={self._sensitivity!r})"

    @property
    def granule(self) -> float:
        """The step of the lattice: every release is a multiple of it."""
        return float(self._lattice.granule)

    def release(self, value: Any, *, entropy: BitSource | None = None) -> Any:
        """A float for a number, an array of float64 for an array; beyond the floats, the largest of them."""
        return round_onto_lattice(real_numbers(value), self._lattice, self._noise, bits_from(entropy))

    def accuracy(self, beta: Price, *, size: int = 1) -> float:
        """The error that is exceeded with probability at most β, jointly over ``size`` values, half a granule included.

        >>> Gaussian(rho=0.5, sensitivity=1).accuracy(0.05)
        1.9599...
        """
        quantile = UP.multiply(gaussian_quantile(each_level(beta, size)), sqrt_up(decimal_up(self._variance)))
        return round_up(Fraction(UP.add(quantile, decimal_up(self._lattice.granule / 2))))
