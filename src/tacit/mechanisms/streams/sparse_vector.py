"""The sparse vector: which of many values reach a threshold, paying for those that do."""

from __future__ import annotations

from fractions import Fraction

from tacit.mechanisms.selection.selecting import cheapest, stated
from tacit.mechanisms.streams.splits import BOOK, Split
from tacit.mechanisms.streams.thresholding import Thresholding
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.prices import Price

__all__ = ["SparseVector"]


class SparseVector(Thresholding):
    """ε-DP, or (ε,δ)-DP, for a stream of any length with at most ``hits`` answers of True.

    The book's scales: σ = 2cΔ/ε, or √(32c·ln(1/δ))·Δ/ε where that is proved and less; the threshold has Lap(σ), redrawn
    after each hit, each value Lap(2σ). If δ buys nothing it is not spent: the guarantee is then pure.
    Proof: docs/proofs/sparse_vector.md.

    >>> m = SparseVector(epsilon=1, threshold=100, sensitivity=1, hits=3)
    >>> m.threshold_scale, m.query_scale
    (6.0, 12.0)
    >>> m.start().ask_many([900, -900, 900, -900, 900, 900]).tolist()
    [True, False, True, False, True]
    """

    __slots__ = ()

    @classmethod
    def for_accuracy(
        cls,
        error: Price,
        beta: Price,
        *,
        length: int,
        threshold: float | Fraction,
        sensitivity: object,
        hits: int,
        monotone: bool = False,
        split: Split = BOOK,
    ) -> SparseVector:
        """The most private stream all of whose first ``length`` answers are right to within ``error``, but for a β."""
        read = stated(sensitivity, monotone)

        def at(promise: PureDP) -> SparseVector:
            return cls(
                promise=promise,
                threshold=threshold,
                sensitivity=read,
                hits=hits,
                monotone=monotone,
                split=split,
            )

        return cheapest(at, lambda made: made.accuracy(beta, length=length), error, read.neighbours)
