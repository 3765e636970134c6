"""A stream of values against a threshold: which of them reach it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.advice.options import LeftOut, Way
from tacit.advice.paste import sensitivity_text
from tacit.advice.situations.hurdles import stream_error
from tacit.advice.situations.numbers import read_sensitivity
from tacit.advice.situations.rivals import GAUSS, LAPLACE_LAW, Law
from tacit.mechanisms.additive.gaussian import Gaussian
from tacit.mechanisms.selection.scores import read_count
from tacit.mechanisms.streams.above_threshold import AboveThreshold
from tacit.mechanisms.streams.gaussian_threshold import GaussianAboveThreshold
from tacit.mechanisms.streams.naive_threshold import NaiveThreshold
from tacit.mechanisms.streams.sparse_vector import SparseVector
from tacit.mechanisms.streams.splits import BOOK, IMPROVED, Split
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.gaussian import GaussianDP
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.privacy.neighbours import Neighbours
from tacit.privacy.sensitivity import L1, L2, LInf

__all__ = ["Thresholds"]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """``length`` values, one after the other, of which the first ``hits`` that reach ``threshold`` are told.

    One unit moves each value by ``sensitivity``; ``monotone=True``: all of them the same way, as counts do.
    """

    length: int
    sensitivity: object = None
    hits: int = 1
    threshold: object = 0
    monotone: bool = False

    def __post_init__(self) -> None:
        read_count(self.length, "length", most=10**9)
        read_count(self.hits, "hits", most=self.length)
        read_sensitivity(self.sensitivity)

    @property
    def neighbours(self) -> Neighbours:
        return read_sensitivity(self.sensitivity).neighbours

    def title(self) -> str:
        which = "the first" if self.hits == 1 else f"the first {self.hits:,}"
        return f"{which} of {self.length:,} values to reach a threshold"

    def measured_as(self, beta: str) -> str:
        return f"how far from the threshold all answers are right, but for a chance of {beta}: proven, and in fact"

    def ways(self) -> Iterable[Way]:
        stated = read_sensitivity(self.sensitivity)
        each = stated.to(LInf, dimension=self.length)
        extras = f"threshold={self.threshold!r}, sensitivity={sensitivity_text(each, bare=True)}"
        one_way = ", monotone=True" if self.monotone else ""
        yield self._laplace(IMPROVED, each, extras + one_way)
        yield self._laplace(BOOK, each, extras + one_way)
        hits = "" if self.hits == 1 else f", hits={self.hits}"
        threshold: Any = self.threshold
        yield Way(
            "GaussianAboveThreshold",
            (ApproxDP,),
            lambda promise: GaussianAboveThreshold(
                promise=promise,
                threshold=threshold,
                sensitivity=each,
                length=self.length,
                hits=self.hits,
                monotone=self.monotone,
            ),
            lambda made, beta: float(made.accuracy(beta)),
            f"tacit.GaussianAboveThreshold({{price}}, {extras}, length={self.length}{hits}{one_way})",
            "like ln of the length, and the root of the hits",
            "adds up many hits more slowly, for a δ and a stated length",
            comes_to=self._comes_to(GAUSS),
        )
        total = stated.to(L2, dimension=self.length)
        yield Way(
            "Gaussian noise on every value",
            (ApproxDP, ZCDP, GaussianDP),
            lambda promise: Gaussian(promise=promise, sensitivity=total),
            lambda made, beta: float(made.accuracy(beta, size=self.length)),
            f"tacit.Gaussian({{price}}, sensitivity={sensitivity_text(total)})",
            "like the root of the length",
            "tells all values, not only which reach the threshold",
            comes_to=self._without_bar(GAUSS),
        )
        everything = stated.to(L1, dimension=self.length)
        yield Way(
            "NaiveThreshold",
            (PureDP,),
            lambda promise: NaiveThreshold(promise=promise, threshold=threshold, sensitivity=each, length=self.length),
            lambda made, beta: float(made.accuracy(beta, length=self.length)),
            f"tacit.NaiveThreshold({{price}}, {extras}, length={self.length})",
            "like the length",
            f"pays for every question: a distance of {float(everything.value):g} in all",
            comes_to=self._without_bar(LAPLACE_LAW),
        )

    def _laplace(self, split: Split, each: Any, extras: str) -> Way:
        one = self.hits == 1
        kind: Any = AboveThreshold if one else SparseVector
        more = {} if one else {"hits": self.hits}
        typed = extras + ("" if one else f", hits={self.hits}")
        typed += ", split=tacit.IMPROVED" if split is IMPROVED else ""
        which = "with the improved split" if split is IMPROVED else "as in the book"

        def build(promise: Any) -> Any:
            return kind(
                promise=promise,
                threshold=self.threshold,
                sensitivity=each,
                monotone=self.monotone,
                split=split,
                **more,
            )

        def error(made: Any, beta: Fraction) -> float:
            return float(made.accuracy(beta, length=self.length))

        return Way(
            f"{kind.__name__} {which}",
            (PureDP, ApproxDP) if split is BOOK and not one else (PureDP,),
            build,
            error,
            f"tacit.{kind.__name__}({{price}}, {typed})",
            "like ln of the length, and the hits",
            "pays for hits alone, however many values there are",
            comes_to=self._comes_to(LAPLACE_LAW),
        )

    def _comes_to(self, law: Law) -> Callable[[Any, Fraction], float]:
        def error(made: Any, beta: Fraction) -> float:
            redrawn = law is GAUSS or made._scales.redrawn
            scales = made.threshold_scale, made.query_scale
            return stream_error(law, *scales, self.length, self.hits, float(beta), redrawn=redrawn)

        return error

    def _without_bar(self, law: Law) -> Callable[[Any, Fraction], float]:
        return lambda made, beta: stream_error(law, 0.0, made.scale, self.length, self.hits, float(beta), redrawn=False)

    def never(self) -> Iterable[LeftOut]:
        yield LeftOut("NumericSparse", "it tells the values of the hits too, for more noise on finding them")
