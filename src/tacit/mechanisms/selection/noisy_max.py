"""Report noisy max: noise on every score, and only the position of the largest is released."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.mechanisms.selection.selecting import (
    SelectionMechanism,
    both_ways,
    cheapest,
    float_above,
    read_field,
    regret,
    stated,
)
from tacit.mechanisms.shared.promise import PriceLike, read_promise
from tacit.mechanisms.shared.tails import read_beta
from tacit.noise.entropy import BitSource
from tacit.noise.race import EXPONENTIAL, GUMBEL, LAPLACE, RaceNoise, ScoreArray, race, races
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.prices import Price, positive, round_up
from tacit.privacy.rounding import TWO, UP, decimal_down, decimal_up, exp_up, least

__all__ = ["EXPONENTIAL", "GUMBEL", "LAPLACE", "NoisyMax"]


class NoisyMax(SelectionMechanism):
    """ε-DP: the position of the largest of score + noise, the noise Laplace, exponential or Gumbel of scale 2Δ/ε.

    Scale Δ/ε suffices for ``monotone`` scores. Gumbel noise is the exponential mechanism (the default for ρ),
    exponential noise is permute-and-flip (the default for ε, and private here only because no number is released).
    Proof: docs/proofs/noisy_max.md.

    >>> m = NoisyMax(epsilon=1, sensitivity=1, monotone=True, noise=LAPLACE)
    >>> m.scale, m.index([3, 500, 7])
    (1.0, 1)
    """

    __slots__ = ("_noise",)

    proof: ClassVar[str] = "proofs/noisy_max.md"

    def __init__(
        self,
        *,
        sensitivity: object,
        noise: RaceNoise | None = None,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
        monotone: bool = False,
    ) -> None:
        read = stated(sensitivity, monotone)
        if noise not in (None, EXPONENTIAL, GUMBEL, LAPLACE):
            raise InvalidParameter("noise", given=noise, allowed="tacit.LAPLACE, tacit.EXPONENTIAL or tacit.GUMBEL")
        asked = read_promise(
            "NoisyMax" if noise is None else f"NoisyMax with {noise.name} noise",
            (PureDP, ZCDP) if noise in (None, GUMBEL) else (PureDP,),
            read.neighbours,
            epsilon,
            delta,
            rho,
            mu,
            promise,
        )
        self._set(asked, read, monotone, asked.range_of_each())
        default = EXPONENTIAL if isinstance(asked, PureDP) else GUMBEL
        self._noise: RaceNoise = default if noise is None else noise

    @classmethod
    def of_scale(
        cls, scale: Price, *, sensitivity: object, noise: RaceNoise | None = None, monotone: bool = False
    ) -> NoisyMax:
        """The mechanism with noise of this scale; it is 2Δ/scale-DP, or Δ/scale-DP if monotone."""
        read = stated(sensitivity, monotone)
        epsilon = both_ways(monotone) * read.value / positive(scale, "scale")
        promise = PureDP(epsilon, neighbours=read.neighbours)
        return cls(sensitivity=read, promise=promise, monotone=monotone, noise=noise)

    @classmethod
    def for_accuracy(
        cls,
        error: Price,
        beta: Price,
        *,
        candidates: int,
        optimal: int = 1,
        sensitivity: object,
        monotone: bool = False,
        noise: RaceNoise | None = None,
    ) -> NoisyMax:
        """The most private choice that is further than ``error`` below the best with probability at most β.

        >>> NoisyMax.for_accuracy(10, 0.05, candidates=100, sensitivity=1).guarantee
        PureDP(1.37955)
        """
        read = stated(sensitivity, monotone)
        return cheapest(
            lambda promise: cls(sensitivity=read, promise=promise, monotone=monotone, noise=noise),
            lambda made: made.accuracy(beta, candidates=candidates, optimal=optimal),
            error,
            read.neighbours,
        )

    @property
    def noise(self) -> RaceNoise:
        """The law of the noise."""
        return self._noise

    @property
    def loss(self) -> LossDistribution:
        """Of bounded range with Gumbel noise; that of any ε-DP mechanism with the other two."""
        kind = LossDistribution.bounded_range if self._noise == GUMBEL else LossDistribution.pure
        return kind(float_above(self._guarantee.range_of_each()), self._guarantee.neighbours)

    def _pick(self, scores: ScoreArray, entropy: BitSource) -> int:
        return race(scores, self._factor, self._noise, entropy)

    def _picks(self, scores: ScoreArray, count: int, entropy: BitSource) -> npt.NDArray[np.intp]:
        return races(scores, self._factor, self._noise, count, entropy)

    def accuracy(self, beta: Price, *, candidates: int, optimal: int = 1) -> float:
        """How far below the best score the choice is, but for a probability β (docs/proofs/noisy_max.md).

        >>> round(NoisyMax(epsilon=1, sensitivity=1, noise=LAPLACE).accuracy(0.05, candidates=100), 4)
        17.1236
        """
        count, best = read_field(candidates, optimal)
        if self._noise == GUMBEL:
            return regret(self._factor, beta, Fraction(count, best))
        if self._noise == EXPONENTIAL:
            return regret(self._factor, beta, Fraction(count - best, best + 1))
        return self._laplace_regret(beta, count - best)

    def _laplace_regret(self, beta: Price, worse: int) -> float:
        """The x/factor with worse·P[L - L' ≥ x] ≤ β; the difference of two Laplace draws has tail e^(-x)(2+x)/4."""
        level = decimal_down(read_beta(beta))

        def beyond(x: Fraction) -> Decimal:
            tail = UP.multiply(exp_up(decimal_up(-x)), UP.add(TWO, decimal_up(x)))
            return UP.multiply(decimal_up(Fraction(worse, 4)), tail)

        return round_up(Fraction(repr(least(beyond, level, guess=5.0))) / self._factor)

    def _extras(self) -> str:
        return f", noise={self._noise.name.upper()}"
