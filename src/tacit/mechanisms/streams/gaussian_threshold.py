"""AboveThreshold with Gaussian noise: lighter tails, for a stream whose greatest length is stated."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

from tacit.errors import InvalidParameter
from tacit.mechanisms.selection.scores import read_count
from tacit.mechanisms.selection.selecting import both_ways, stated
from tacit.mechanisms.shared.base import bits_from, meaning
from tacit.mechanisms.shared.promise import PriceLike, read_promise, within_floats
from tacit.mechanisms.shared.tails import gaussian_quantile, read_beta
from tacit.mechanisms.shared.value_by_repr import ValueByRepr
from tacit.mechanisms.streams.threshold_stream import ThresholdStream, read_threshold
from tacit.noise.entropy import BitSource
from tacit.noise.hurdles import GaussianThrows
from tacit.privacy.composition import Guarantee
from tacit.privacy.conversion import largest_zcdp
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.neighbours import ADD_REMOVE
from tacit.privacy.prices import Price, round_up, source
from tacit.privacy.rounding import UP, decimal_down, decimal_up, sqrt_up
from tacit.privacy.sensitivity import Sensitivity

__all__ = ["GaussianAboveThreshold"]


class GaussianAboveThreshold(ValueByRepr):
    """(ε,δ)-DP for at most ``length`` questions and ``hits`` hits: T + N(0,σ₁²) is compared with f + N(0,σ₂²).

    Each run to a hit has E[e^((α-1)·loss)] ≤ (length+1)·e^(α(α-1)ρ) with ρ = Δ²/2σ₁² + (2Δ)²/2σ₂² (Δ²/2σ₂² if
    monotone): zCDP but for a factor, which is paid for by a smaller δ. Proof: docs/proofs/gaussian_threshold.md.

    >>> m = GaussianAboveThreshold(epsilon=1, delta=1e-6, threshold=100, sensitivity=1, length=1000)
    >>> round(m.threshold_scale, 2), round(m.query_scale, 2), m.guarantee
    (10.01, 14.16, ApproxDP(1, 1e-06))
    >>> stream = m.start()
    >>> stream.ask(-500), stream.ask(900)
    (False, True)
    """

    __slots__ = ("_guarantee", "_hits", "_length", "_monotone", "_sensitivity", "_threshold", "_variance")

    proof: ClassVar[str] = "proofs/gaussian_threshold.md"

    def __init__(
        self,
        *,
        threshold: float | Fraction,
        sensitivity: object,
        length: int,
        hits: int = 1,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
        monotone: bool = False,
    ) -> None:
        self._sensitivity: Sensitivity = stated(sensitivity, monotone)
        self._monotone = monotone
        self._length = read_count(length, "length", most=10**12)
        self._hits = read_count(hits, "hits", most=1000)
        self._threshold = read_threshold(threshold)
        asked = read_promise(
            "GaussianAboveThreshold", (ApproxDP,), self._sensitivity.neighbours, epsilon, delta, rho, mu, promise
        )
        if not asked.dlt or not asked.eps:
            raise InvalidParameter("promise", given=asked, allowed="epsilon above 0 and delta above 0")
        self._guarantee = asked
        rho_each = largest_zcdp(asked.eps, asked.dlt / (self._length + 1) ** self._hits) / self._hits
        # σ₁² : σ₂² = 1 : ways makes σ₁² + σ₂² smallest at this ρ.
        variance = (1 + both_ways(monotone)) * self._sensitivity.square / (2 * rho_each)
        self._variance = within_floats(variance, bits=900)

    @property
    def guarantee(self) -> ApproxDP:
        """What is promised about all answers together."""
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
    def length(self) -> int:
        """How many questions may be asked in all."""
        return self._length

    @property
    def hits(self) -> int:
        """How many answers may be True."""
        return self._hits

    @property
    def threshold_scale(self) -> float:
        """The standard deviation of the noise on the threshold."""
        return GaussianThrows(self._variance).scale

    @property
    def query_scale(self) -> float:
        """The standard deviation of the noise on each value."""
        return GaussianThrows(both_ways(self._monotone) * self._variance).scale

    @property
    def scale(self) -> float:
        """The larger of the two standard deviations."""
        return max(self.threshold_scale, self.query_scale)

    @property
    def loss(self) -> LossDistribution:
        """That of any (ε, δ)-DP mechanism."""
        return LossDistribution.approximate(self._guarantee.eps, self._guarantee.dlt, self._guarantee.neighbours)

    def start(self, *, entropy: BitSource | None = None) -> ThresholdStream:
        """A fresh stream with a fresh allowance: each costs the whole price."""
        return ThresholdStream(
            self._threshold,
            jumps=GaussianThrows(both_ways(self._monotone) * self._variance),
            bars=GaussianThrows(self._variance),
            redrawn=True,
            hits=self._hits,
            length=self._length,
            entropy=bits_from(entropy),
        )

    def first(self, values: Any, *, entropy: BitSource | None = None) -> int | None:
        """The position of the first hit, or None: none was found."""
        answers = self.start(entropy=entropy).ask_many(values)
        return int(answers.argmax()) if bool(answers.any()) else None

    def accuracy(self, beta: Price, *, length: int | None = None) -> float:
        """α such that, but for a probability β, every True has a value ≥ threshold - α and every False one ≤ it + α."""
        count = read_count(self._length if length is None else length, "length", most=self._length)
        half = read_beta(beta) / 2

        def part(variance: Fraction, draws: int) -> Decimal:
            return UP.multiply(gaussian_quantile(decimal_down(half / draws)), sqrt_up(decimal_up(variance)))

        bars = part(self._variance, min(self._hits, count))
        return round_up(Fraction(UP.add(bars, part(both_ways(self._monotone) * self._variance, count))))

    def explain(self) -> str:
        """Two sentences for someone who has to decide."""
        who = "Adding or removing one unit" if self._guarantee.neighbours is ADD_REMOVE else "Replacing one unit"
        return (
            f"{who} changes the chance of any sequence of answers {meaning(self._guarantee)}."
            f" Over {self._length} questions all answers are right to within {self.accuracy('0.05'):.4g},"
            " nineteen times in twenty."
        )

    def __repr__(self) -> str:
        extras = f", length={self._length}, hits={self._hits}" + (", monotone=True" if self._monotone else "")
        return (
            f"GaussianAboveThreshold(promise={self._guarantee!r}, threshold={source(self._threshold)},"
            f" sensitivity={self._sensitivity!r}{extras})"
        )
