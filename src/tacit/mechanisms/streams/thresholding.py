"""What the sparse-vector mechanisms share: a threshold, an allowance of hits, two noises, a bound on the error."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import ClassVar

from tacit.errors import InvalidParameter
from tacit.mechanisms.selection.scores import read_count
from tacit.mechanisms.selection.selecting import both_ways, float_above, stated
from tacit.mechanisms.shared.base import bits_from, meaning
from tacit.mechanisms.shared.promise import PriceLike, read_promise
from tacit.mechanisms.shared.tails import laplace_quantile, read_beta
from tacit.mechanisms.shared.value_by_repr import ValueByRepr
from tacit.mechanisms.streams.splits import BOOK, Split, read_split
from tacit.mechanisms.streams.threshold_stream import ThresholdStream, read_threshold, usable_scale
from tacit.noise.entropy import BitSource
from tacit.noise.hurdles import LaplaceThrows
from tacit.noise.lattice import Lattice
from tacit.privacy.composition import Guarantee
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.neighbours import ADD_REMOVE
from tacit.privacy.prices import Price, round_up, source
from tacit.privacy.rounding import UP, decimal_down, decimal_up
from tacit.privacy.sensitivity import Sensitivity

__all__ = ["Thresholding", "laplace_error"]

_FINENESS = 20


class Thresholding(ValueByRepr):
    """A noisy threshold, and noisy values that are compared with it: the price depends on the hits, not on the length.

    ``sensitivity`` is how far one unit can move each value. ``monotone=True`` states that adding a unit moves all of
    them weakly the same way, whatever was answered before.
    """

    __slots__ = ("_guarantee", "_hits", "_monotone", "_scales", "_sensitivity", "_split", "_threshold")

    proof: ClassVar[str] = "proofs/sparse_vector.md"

    def __init__(
        self,
        *,
        threshold: float | Fraction,
        sensitivity: object,
        hits: int,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
        monotone: bool = False,
        split: Split = BOOK,
    ) -> None:
        self._sensitivity: Sensitivity = stated(sensitivity, monotone)
        self._monotone = monotone
        self._split = read_split(split)
        self._hits = read_count(hits, "hits", most=10**9)
        self._threshold = read_threshold(threshold)
        asked = read_promise(
            f"{type(self).__name__} with split={split.name}",
            split.accepts,
            self._sensitivity.neighbours,
            epsilon,
            delta,
            rho,
            mu,
            promise,
        )
        pair = asked.as_approx()
        if pair is None or not pair[0]:
            raise InvalidParameter("epsilon", given=0, allowed="a finite number above 0")
        self._calibrate(asked)
        for scale in (self._scales.threshold, self._scales.query):
            usable_scale(scale * self._sensitivity.value)

    def _calibrate(self, asked: Guarantee) -> None:
        self._scales = self._split.scales(asked, self._hits, both_ways(self._monotone))
        self._guarantee = self._scales.guarantee

    @property
    def guarantee(self) -> Guarantee:
        """What is promised about all answers together, however many there are."""
        return self._guarantee

    @property
    def sensitivity(self) -> Sensitivity:
        """How far one unit may move each value."""
        return self._sensitivity

    @property
    def threshold(self) -> float:
        """The public threshold."""
        return float(self._threshold)

    @property
    def hits(self) -> int:
        """How many answers may be True."""
        return self._hits

    @property
    def threshold_scale(self) -> float:
        """The Laplace scale of the noise on the threshold."""
        return float(self._scales.threshold * self._sensitivity.value)

    @property
    def query_scale(self) -> float:
        """The Laplace scale of the noise on each value."""
        return float(self._scales.query * self._sensitivity.value)

    @property
    def scale(self) -> float:
        """The larger of the two scales."""
        return max(self.threshold_scale, self.query_scale)

    @property
    def loss(self) -> LossDistribution:
        """One pure run per hit where the threshold is redrawn, else one for all of them."""
        where = self._guarantee.neighbours
        ways = both_ways(self._monotone)
        if self._scales.redrawn:
            run = 1 / self._scales.threshold + ways / self._scales.query
            return self._hits * LossDistribution.pure(float_above(run), where)
        total = 1 / self._scales.threshold + ways * self._hits / self._scales.query
        return LossDistribution.pure(float_above(total), where)

    def start(self, *, entropy: BitSource | None = None) -> ThresholdStream:
        """A fresh stream with a fresh allowance: each costs the whole price."""
        bar = self._scales.threshold * self._sensitivity.value
        jump = self._scales.query * self._sensitivity.value
        return ThresholdStream(
            self._threshold,
            jumps=LaplaceThrows(jump),
            bars=LaplaceThrows(bar),
            redrawn=self._scales.redrawn,
            hits=self._hits,
            entropy=bits_from(entropy),
            granule=Lattice.finer_than(min(bar, jump), by=_FINENESS),
        )

    def accuracy(self, beta: Price, *, length: int) -> float:
        """α such that, but for a probability β, every True has a value ≥ threshold - α and every False one ≤ it + α.

        For ``length`` questions asked before the allowance is used up, by a union bound over all noise drawn.
        """
        count = read_count(length, "length")
        bars = min(self._hits, count) if self._scales.redrawn else 1
        total = laplace_error(self._scales.threshold, self._scales.query, bars, count, read_beta(beta))
        return round_up(Fraction(UP.multiply(total, decimal_up(self._sensitivity.value))))

    def explain(self) -> str:
        """Two sentences for someone who has to decide."""
        who = "Adding or removing one unit" if self._guarantee.neighbours is ADD_REMOVE else "Replacing one unit"
        return (
            f"{who} changes the chance of any sequence of answers {meaning(self._guarantee)}."
            f" Over a thousand questions all answers are right to within {self.accuracy('0.05', length=1000):.4g},"
            " nineteen times in twenty."
        )

    def _extras(self) -> str:
        return f", hits={self._hits}"

    def __repr__(self) -> str:
        extras = f"{self._extras()}, split={self._split.name}" + (", monotone=True" if self._monotone else "")
        return (
            f"{type(self).__name__}(promise={self._guarantee!r}, threshold={source(self._threshold)},"
            f" sensitivity={self._sensitivity!r}{extras})"
        )


def laplace_error(bar: Fraction, jump: Fraction, bars: int, jumps: int, beta: Fraction) -> Decimal:
    """bar·ln(2·bars/β) + jump·ln(2·jumps/β), rounded up: no noise exceeds its part, but for a probability β."""
    first = laplace_quantile(decimal_down(beta / (2 * bars)))
    second = laplace_quantile(decimal_down(beta / (2 * jumps)))
    return UP.add(UP.multiply(first, decimal_up(bar)), UP.multiply(second, decimal_up(jump)))
