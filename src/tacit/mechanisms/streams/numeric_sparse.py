"""NumericSparse: the sparse vector that also tells how large the values were that reached the threshold."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.additive.laplace import Laplace
from tacit.mechanisms.selection.selecting import both_ways
from tacit.mechanisms.shared.base import bits_from
from tacit.mechanisms.streams.splits import NoiseScales, advanced_sigma
from tacit.mechanisms.streams.threshold_stream import Closed, ThresholdStream, read_queries, read_query
from tacit.mechanisms.streams.thresholding import Thresholding
from tacit.noise.entropy import BitSource
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.prices import Price
from tacit.privacy.rounding import decimal_down, decimal_up, sqrt_down, sqrt_up
from tacit.privacy.sensitivity import L1

__all__ = ["NumericSparse", "NumericStream"]


class NumericSparse(Thresholding):
    """ε-DP, or (ε,δ)-DP: at most ``hits`` values that reached the threshold, each with fresh Laplace noise.

    The book's division: 8ε/9 finds the hits and ε/9 pays for their numbers; with δ, √512/(√512+1) and 1/(√512+1).
    Dwork & Roth 2014, Algorithm 3. Proof: docs/proofs/sparse_vector.md.

    >>> m = NumericSparse(epsilon=9, threshold=100, sensitivity=1, hits=2)
    >>> m.threshold_scale, m.query_scale, m.answer_scale
    (0.5, 1.0, 2.0)
    >>> stream = m.start()
    >>> stream.ask(-900) is None, abs(stream.ask(900) - 900) < 100
    (True, True)
    """

    __slots__ = ("_answer",)

    def _calibrate(self, asked: Guarantee) -> None:
        assert isinstance(asked, PureDP | ApproxDP)
        ways = both_ways(self._monotone)
        pure = PureDP(asked.eps, neighbours=asked.neighbours)
        finding = PureDP(asked.eps * Fraction(8, 9), neighbours=asked.neighbours)
        self._scales = self._split.scales(finding, self._hits, ways)
        answer = 9 * self._hits / asked.eps
        self._guarantee = pure
        composed = _composed(asked, self._hits, ways) if isinstance(asked, ApproxDP) and asked.dlt else None
        if composed is not None and composed[0].threshold < self._scales.threshold:
            self._scales, answer = composed
            self._guarantee = asked
        width = answer * self._sensitivity.value
        self._answer = Laplace.of_scale(width, sensitivity=self._sensitivity.to(L1, dimension=1))

    @property
    def answer_scale(self) -> float:
        """The Laplace scale of the noise on the numbers that are released."""
        return self._answer.scale

    @property
    def loss(self) -> LossDistribution:
        """That of the hits, and of one Laplace release for each."""
        return super().loss + self._hits * self._answer.loss

    def start(self, *, entropy: BitSource | None = None) -> NumericStream:  # type: ignore[override]
        """A fresh stream with a fresh allowance: each costs the whole price."""
        bits = bits_from(entropy)
        return NumericStream(super().start(entropy=bits), self._answer, bits)

    def answer_accuracy(self, beta: Price) -> float:
        """The error that none of the released numbers exceeds, but for a probability β."""
        return self._answer.accuracy(beta, size=self._hits)


class NumericStream(Closed):
    """Answers with a noisy number where the value reached the threshold, and with None where it did not."""

    __slots__ = ("_answer", "_entropy", "_finder")

    def __init__(self, finder: ThresholdStream, answer: Laplace, entropy: BitSource) -> None:
        super().__init__()
        self._finder = finder
        self._answer = answer
        self._entropy = entropy

    @property
    def exhausted(self) -> bool:
        """Whether the allowance is used up: the next question raises."""
        return self._finder.exhausted

    @property
    def hits_left(self) -> int:
        """How many more numbers may be released."""
        return self._finder.hits_left

    @property
    def asked(self) -> int:
        """How many questions were answered."""
        return self._finder.asked

    def ask(self, value: Any) -> float | None:
        """A noisy number on a public lattice if the noisy value reaches the noisy threshold, else None."""
        read = read_query(value)
        number: float | None = self._answer.release(read, entropy=self._entropy) if self._finder.ask(read) else None
        return number

    def ask_many(self, values: Any) -> npt.NDArray[np.float64]:
        """The answers in order, NaN for None; fewer than the values if the allowance was used up on the way."""
        read = read_queries(values)
        hits = self._finder.ask_many(read)
        out = np.full(hits.size, np.nan)
        if bool(hits.any()):
            found = read[: hits.size][hits]
            numbers = found.tolist() if found.dtype == object else found
            out[hits] = self._answer.release(numbers, entropy=self._entropy)
        return out

    def __repr__(self) -> str:
        return repr(self._finder).replace("ThresholdStream", "NumericStream")


def _composed(promise: ApproxDP, hits: int, ways: int) -> tuple[NoiseScales, Fraction] | None:
    """σ(e) = √(32c·ln(2/δ))/e at ε₁ = √512/(√512+1)·ε for the hits and ε₂ = 2/(√512+1)·ε for the numbers."""
    half = promise.dlt / 2
    root = decimal_down(Fraction(512))
    low, high = Fraction(sqrt_down(root)), Fraction(sqrt_up(decimal_up(Fraction(512))))
    first = promise.eps * low / (high + 1)
    second = 2 * promise.eps / (high + 1)
    finding = advanced_sigma(first, half, hits)
    answer = advanced_sigma(second, half, hits)
    if finding is None or answer is None:
        return None
    return NoiseScales(finding, ways * finding, True, promise), answer
