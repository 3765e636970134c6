"""AboveThreshold: the first of a stream of values to reach a threshold, at a price that ignores its length."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from tacit.errors import InvalidParameter
from tacit.mechanisms.selection.selecting import cheapest, stated
from tacit.mechanisms.shared.base import bits_from
from tacit.mechanisms.shared.promise import PriceLike
from tacit.mechanisms.streams.splits import BOOK, Split
from tacit.mechanisms.streams.threshold_stream import read_queries
from tacit.mechanisms.streams.thresholding import Thresholding
from tacit.noise.coins import uniform_below
from tacit.noise.entropy import BitSource
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.prices import Price

__all__ = ["AboveThreshold"]


class AboveThreshold(Thresholding):
    """ε-DP however long the stream: T + Lap(2Δ/ε) is compared with f + Lap(4Δ/ε) until the first hit.

    ``split=IMPROVED`` is less noise at the same price. Dwork & Roth 2014, Algorithm 1; Lyu, Su & Li 2017.
    Proof: docs/proofs/sparse_vector.md.

    >>> m = AboveThreshold(epsilon=1, threshold=100, sensitivity=1)
    >>> m.threshold_scale, m.query_scale, m.guarantee
    (2.0, 4.0, PureDP(1))
    >>> stream = m.start()
    >>> stream.ask(-500), stream.ask(900), stream.exhausted
    (False, True, True)
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        threshold: float | Fraction,
        sensitivity: object,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
        monotone: bool = False,
        split: Split = BOOK,
    ) -> None:
        super().__init__(
            threshold=threshold,
            sensitivity=sensitivity,
            hits=1,
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            mu=mu,
            promise=promise,
            monotone=monotone,
            split=split,
        )

    @classmethod
    def for_accuracy(
        cls,
        error: Price,
        beta: Price,
        *,
        length: int,
        threshold: float | Fraction,
        sensitivity: object,
        monotone: bool = False,
        split: Split = BOOK,
    ) -> AboveThreshold:
        """The most private stream all of whose first ``length`` answers are right to within ``error``, but for a β."""
        read = stated(sensitivity, monotone)

        def at(promise: PureDP) -> AboveThreshold:
            return cls(
                promise=promise,
                threshold=threshold,
                sensitivity=read,
                monotone=monotone,
                split=split,
            )

        return cheapest(at, lambda made: made.accuracy(beta, length=length), error, read.neighbours)

    def first(self, values: Any, *, entropy: BitSource | None = None) -> int | None:
        """The position of the first hit, or None: none was found."""
        answers = self.start(entropy=entropy).ask_many(values)
        return int(answers.size) - 1 if answers.size and answers[-1] else None

    def first_or_random(self, values: Any, *, entropy: BitSource | None = None) -> int:
        """The position of the first hit, or a uniformly random one if none was found."""
        read = read_queries(values)
        if not read.size:
            raise InvalidParameter("values", given=np.empty(0), allowed="at least one value to choose from")
        bits = bits_from(entropy)
        found = self.first(read, entropy=bits)
        return int(uniform_below(read.size, 1, bits)[0]) if found is None else found

    def _extras(self) -> str:
        return ""
