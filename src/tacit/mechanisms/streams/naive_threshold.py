"""Thresholding each value on its own: what the sparse vector saves is measured against this."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from tacit.mechanisms.selection.scores import read_count
from tacit.mechanisms.selection.selecting import stated
from tacit.mechanisms.shared.base import bits_from, meaning
from tacit.mechanisms.shared.promise import PriceLike, read_promise
from tacit.mechanisms.shared.tails import laplace_quantile, read_beta
from tacit.mechanisms.shared.value_by_repr import ValueByRepr
from tacit.mechanisms.streams.threshold_stream import ThresholdStream, read_threshold, usable_scale
from tacit.noise.entropy import BitSource
from tacit.noise.hurdles import LaplaceThrows, NoThrows
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.neighbours import ADD_REMOVE
from tacit.privacy.prices import Price, round_up, source
from tacit.privacy.rounding import UP, decimal_down, decimal_up
from tacit.privacy.sensitivity import Sensitivity

__all__ = ["NaiveThreshold"]


class NaiveThreshold(ValueByRepr):
    """ε-DP for ``length`` questions by ε/length each: f + Lap(Δ·length/ε) against the plain threshold.

    For comparison and audits only: the noise grows with the length, where `AboveThreshold`'s does not. The proof is
    that of Laplace noise and simple composition.

    >>> NaiveThreshold(epsilon=1, threshold=0, sensitivity=1, length=1000).scale
    1000.0
    """

    __slots__ = ("_guarantee", "_length", "_scale", "_sensitivity", "_threshold")

    proof: ClassVar[str] = "proofs/sparse_vector.md"

    def __init__(
        self,
        *,
        threshold: float | Fraction,
        sensitivity: object,
        length: int,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
    ) -> None:
        self._sensitivity: Sensitivity = stated(sensitivity, False)
        self._length = read_count(length, "length", most=10**12)
        self._threshold = read_threshold(threshold)
        asked = read_promise(
            "NaiveThreshold", (PureDP,), self._sensitivity.neighbours, epsilon, delta, rho, mu, promise
        )
        self._guarantee = asked
        self._scale = usable_scale(self._sensitivity.value * self._length / asked.eps)

    @property
    def guarantee(self) -> PureDP:
        """What is promised about all answers together."""
        return self._guarantee

    @property
    def sensitivity(self) -> Sensitivity:
        """How far one unit may move each value."""
        return self._sensitivity

    @property
    def scale(self) -> float:
        """The Laplace scale of the noise on each value."""
        return float(self._scale)

    @property
    def loss(self) -> LossDistribution:
        """A Laplace release for every question."""
        return self._length * LossDistribution.laplace(self._scale, self._sensitivity.value, self._guarantee.neighbours)

    def start(self, *, entropy: BitSource | None = None) -> ThresholdStream:
        """A fresh stream of at most ``length`` questions, any of which may be answered True."""
        return ThresholdStream(
            self._threshold,
            jumps=LaplaceThrows(self._scale),
            bars=NoThrows(),
            redrawn=False,
            hits=self._length,
            length=self._length,
            entropy=bits_from(entropy),
        )

    def accuracy(self, beta: Price, *, length: int) -> float:
        """α such that, but for a probability β, every True has a value ≥ threshold - α and every False one ≤ it + α."""
        count = read_count(length, "length", most=self._length)
        quantile = laplace_quantile(decimal_down(read_beta(beta) / count))
        return round_up(Fraction(UP.multiply(quantile, decimal_up(self._scale))))

    def explain(self) -> str:
        """Two sentences for someone who has to decide."""
        who = "Adding or removing one unit" if self._guarantee.neighbours is ADD_REMOVE else "Replacing one unit"
        return (
            f"{who} changes the chance of any sequence of answers {meaning(self._guarantee)}."
            " The sparse vector makes the same promise with less noise."
        )

    def __repr__(self) -> str:
        return (
            f"NaiveThreshold(promise={self._guarantee!r}, threshold={source(self._threshold)},"
            f" sensitivity={self._sensitivity!r}, length={self._length})"
        )
