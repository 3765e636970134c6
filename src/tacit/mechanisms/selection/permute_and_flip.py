"""Permute-and-flip: never worse than the exponential mechanism at the same pure price."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.selection.scores import read_scores
from tacit.mechanisms.selection.selecting import SelectionMechanism, both_ways, float_above, read_field, regret, stated
from tacit.mechanisms.shared.lazy_losses import loss_distribution
from tacit.mechanisms.shared.promise import PriceLike, read_promise
from tacit.noise.entropy import BitSource
from tacit.noise.race import EXPONENTIAL, ScoreArray, race, races, relative_scores
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.prices import Price, positive

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution

__all__ = ["PermuteAndFlip", "flip_probabilities"]


class PermuteAndFlip(SelectionMechanism):
    """ε-DP choice among public candidates: in random order, the first to win a coin of e^(-ε(OPT - u)/2Δ).

    It is report noisy max with exponential noise (Ding et al. 2021), which is how it is drawn. The default at a pure
    price; under ρ the exponential mechanism is better. Proof: docs/proofs/permute_and_flip.md.

    >>> m = PermuteAndFlip(epsilon=1, sensitivity=1)
    >>> m.select(["tea", "coffee"], [30, 2000]), m.guarantee
    ('coffee', PureDP(1))
    >>> [round(float(p), 4) for p in m.probabilities([30, 29])]
    [0.6967, 0.3033]
    """

    __slots__ = ()

    proof: ClassVar[str] = "proofs/permute_and_flip.md"

    def __init__(
        self,
        *,
        sensitivity: object,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
        monotone: bool = False,
    ) -> None:
        read = stated(sensitivity, monotone)
        asked = read_promise("PermuteAndFlip", (PureDP,), read.neighbours, epsilon, delta, rho, mu, promise)
        self._set(asked, read, monotone, asked.eps)

    @classmethod
    def of_scale(cls, scale: Price, *, sensitivity: object, monotone: bool = False) -> PermuteAndFlip:
        """The mechanism with coins of e^(-(OPT - u)/scale); it is 2Δ/scale-DP, or Δ/scale-DP if monotone."""
        read = stated(sensitivity, monotone)
        epsilon = both_ways(monotone) * read.value / positive(scale, "scale")
        return cls(sensitivity=read, promise=PureDP(epsilon, neighbours=read.neighbours), monotone=monotone)

    @property
    def loss(self) -> LossDistribution:
        """That of any ε-DP mechanism: no more is proved of this one."""
        return loss_distribution().pure(
            float_above(self._guarantee.as_pure() or Fraction(0)), self._guarantee.neighbours
        )

    def _pick(self, scores: ScoreArray, entropy: BitSource) -> int:
        return race(scores, self._factor, EXPONENTIAL, entropy)

    def _picks(self, scores: ScoreArray, count: int, entropy: BitSource) -> npt.NDArray[np.intp]:
        return races(scores, self._factor, EXPONENTIAL, count, entropy)

    def probabilities(self, scores: object) -> npt.NDArray[np.float64]:
        """The chance of each candidate, as floats. They depend on the scores: they are not private."""
        return flip_probabilities(relative_scores(read_scores(scores), self._factor))

    def accuracy(self, beta: Price, *, candidates: int, optimal: int = 1) -> float:
        """(2Δ/ε)·ln((|R| - |R_OPT|)/(β(|R_OPT| + 1))), which is less than the exponential mechanism's bound.

        >>> round(PermuteAndFlip(epsilon=1, sensitivity=1).accuracy(0.05, candidates=100), 4)
        13.7954
        """
        count, best = read_field(candidates, optimal)
        return regret(self._factor, beta, Fraction(count - best, best + 1))


def flip_probabilities(logs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """P[r] = p_r·∫₀¹ Π_{s≠r} (1 - t·p_s) dt with p = e^logs, the largest of which is 1 (McKenna & Sheldon 2020)."""
    coins = np.exp(logs)
    # A polynomial of degree n-1: exact with n/2 nodes, and with far fewer to twelve digits once n is large.
    nodes, weights = np.polynomial.legendre.leggauss(min(coins.size // 2 + 1, 60 + 4 * math.isqrt(coins.size)))
    result = np.zeros(coins.size)
    for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        left = np.log1p(-node * coins)
        result += weight * np.exp(left.sum() - left)
    result *= coins
    return result
