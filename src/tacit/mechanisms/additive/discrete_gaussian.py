"""Gaussian noise on whole numbers: the discrete law, or the continuous one rounded, as the promise needs."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

from tacit.errors import NotPrivate
from tacit.mechanisms.additive.gaussian_noise import ACCEPTS, gaussian_loss, variance_for
from tacit.mechanisms.additive.integer_mechanism import IntegerMechanism
from tacit.mechanisms.shared.adding import IntegerNoise
from tacit.mechanisms.shared.lazy_losses import loss_distribution
from tacit.mechanisms.shared.promise import PriceLike, read_promise, within_floats
from tacit.mechanisms.shared.tails import (
    discrete_gaussian_tail,
    each_level,
    gaussian_quantile,
    least_step,
    rounded_gaussian_tail,
)
from tacit.noise.entropy import BitSource
from tacit.noise.floors import CHUNK
from tacit.noise.gaussian import DiscreteGaussianSampler, RoundedGaussianSampler
from tacit.noise.tabulated import LARGEST_VARIANCE, TabulatedGaussianSampler
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.renyi import RenyiDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.privacy.prices import Price, positive
from tacit.privacy.sensitivity import L2, Norm, Sensitivity, root_up, whole_steps

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution

__all__ = ["DiscreteGaussian"]


class DiscreteGaussian(IntegerMechanism):
    """Gaussian noise on whole numbers whose L2 sensitivity is stated; arrays are int64 and saturate at its ends.

    For ``rho`` (and Rényi promises) the discrete Gaussian, P[noise = k] ∝ e^(-k²/2σ²), which is Δ²/2σ²-zCDP in every
    dimension (Canonne, Kamath & Steinke 2020). For ``mu`` and for ``epsilon`` with ``delta`` the discrete law is *not*
    proved by the continuous formulas, so there the noise is floor(σZ + ½), a rounding of the continuous one.
    Proof: docs/proofs/discrete_gaussian.md.

    >>> m = DiscreteGaussian(rho=0.5, sensitivity=3)
    >>> m.scale, m.guarantee, isinstance(m.release(42), int)
    (3.0, ZCDP(0.5), True)
    """

    __slots__ = ("_rounded", "_variance")

    norm: ClassVar[Norm] = L2
    proof: ClassVar[str] = "proofs/discrete_gaussian.md"

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
        stated = whole_steps(Sensitivity.of(sensitivity, norm=L2))
        asked = read_promise("DiscreteGaussian", ACCEPTS, stated.neighbours, epsilon, delta, rho, mu, promise)
        rounded = type(asked) not in (ZCDP, RenyiDP)
        self._set(asked, stated, variance_for(asked, stated), rounded=rounded)

    def _set(self, guarantee: Guarantee, sensitivity: Sensitivity, variance: Fraction, *, rounded: bool) -> None:
        self._guarantee = guarantee
        self._sensitivity = sensitivity
        within_floats(root_up(variance), bits=495)  # the variance itself has to be a float for the sampler
        self._variance = variance
        self._rounded = rounded
        self._sampler = None

    def _sampling(self) -> IntegerNoise:
        return _Rounded(self._variance) if self._rounded else _Discrete(self._variance)

    @classmethod
    def of_scale(cls, scale: Price, *, sensitivity: object) -> Self:
        """The mechanism with P[noise = k] ∝ e^(-k²/2·scale²); it is Δ²/2·scale²-zCDP.

        >>> DiscreteGaussian.of_scale(5, sensitivity=1).guarantee
        ZCDP(0.02)
        """
        stated = whole_steps(Sensitivity.of(sensitivity, norm=L2))
        variance = positive(scale, "scale") ** 2
        made = cls.__new__(cls)
        rho = stated.square / (2 * variance)
        made._set(ZCDP(rho, neighbours=stated.neighbours), stated, variance, rounded=False)
        return made

    @property
    def scale(self) -> float:
        return float(root_up(self._variance))

    @property
    def law(self) -> str:
        """Which of the two laws is drawn: "discrete" or "rounded"."""
        return "rounded" if self._rounded else "discrete"

    @property
    def loss(self) -> LossDistribution:
        """That of the law drawn: rounded, the continuous one in any dimension; discrete, its own at a shift of one.

        The discrete law's loss depends on the direction of the shift, and only √1 says which that is.

        >>> round(DiscreteGaussian.of_scale(5, sensitivity=1).loss.epsilon(1e-6), 5)
        0.83498
        """
        if self._rounded:
            return gaussian_loss(self._variance, self._sensitivity)
        if self._sensitivity.square != 1:
            raise NotPrivate(
                "The loss of discrete Gaussian noise depends on how a shift is spread over the coordinates, which"
                f" {self._sensitivity!r} does not say. For one whole number use"
                " LossDistribution.discrete_gaussian(scale, sensitivity); for any array .guarantee holds."
            )
        return loss_distribution().discrete_gaussian(root_up(self._variance), 1, self._sensitivity.neighbours)

    def accuracy(self, beta: Price, *, size: int = 1) -> float:
        """The smallest whole m with P[|noise| > m] ≤ β, jointly over ``size`` values.

        >>> DiscreteGaussian(rho=0.5, sensitivity=1).accuracy(0.05)
        2
        """
        return _accuracy(self._variance, self._rounded, each_level(beta, size))


@lru_cache(maxsize=4096)
def _accuracy(variance: Fraction, rounded: bool, level: Decimal) -> int:
    """Plans that are compared with each other ask for the same again and again."""
    tail = rounded_gaussian_tail if rounded else discrete_gaussian_tail
    guess = math.ceil(float(gaussian_quantile(level)) * float(root_up(variance)))
    return least_step(lambda m: tail(variance, m), level, guess)


class _Discrete:
    """The discrete Gaussian: by rejection, or by table where so many are drawn at once that making one pays.

    The number asked for decides, not what was drawn before: the same bits give the same noise.
    """

    __slots__ = ("_sampler", "_table")

    def __init__(self, variance: Fraction) -> None:
        self._sampler = DiscreteGaussianSampler(variance)
        self._table: TabulatedGaussianSampler | None = None

    def array(self, count: int, entropy: BitSource, /) -> Any:
        if not self._pays(count):
            return self._sampler.array(count, entropy)
        if self._table is None:
            self._table = TabulatedGaussianSampler(self._sampler.variance)
        return self._table.array(count, entropy)

    def _pays(self, count: int) -> bool:
        variance = self._sampler.variance
        return variance <= LARGEST_VARIANCE and (count >= CHUNK or count**2 >= 500_000 * max(variance, Fraction(20)))

    def one(self, entropy: BitSource, /) -> int:
        return self._sampler.one(entropy)


class _Rounded:
    """floor(σZ + ½) as a sampler of whole numbers."""

    __slots__ = ("_sampler",)

    def __init__(self, variance: Fraction) -> None:
        self._sampler = RoundedGaussianSampler(variance)

    def array(self, count: int, entropy: BitSource, /) -> Any:
        return self._sampler.integers(count, entropy)

    def one(self, entropy: BitSource, /) -> int:
        return self._sampler.one_integer(entropy)
