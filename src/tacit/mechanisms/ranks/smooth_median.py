"""The median with noise that follows the data: Cauchy noise in proportion to the smooth sensitivity."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.mechanisms.ranks.rank_mechanism import RankMechanism
from tacit.mechanisms.ranks.smooth_sensitivity import middle, smooth_sensitivity, sorted_points
from tacit.mechanisms.selection.scores import read_count
from tacit.mechanisms.selection.selecting import float_above
from tacit.mechanisms.shared.base import bits_from, meaning
from tacit.mechanisms.shared.lazy_losses import loss_distribution
from tacit.mechanisms.shared.promise import PriceLike, read_promise
from tacit.mechanisms.shared.quantised import Range
from tacit.noise.cauchy import rounded_cauchy
from tacit.noise.entropy import BitSource
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.neighbours import REPLACE
from tacit.privacy.prices import Price, positive, price, source
from tacit.privacy.rounding import DOWN, ONE, UP, decimal_down, exp_up, ln_down

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution

__all__ = ["SmoothMedian"]


class SmoothMedian(RankMechanism):
    """ε-DP median of n values, n public, one replaced: x + S/(ε - b)·Cauchy, S the smooth sensitivity at e^(-b).

    ``decay`` is e^(-b) as a fraction; by default b is ε/2, just below it. The answer is a multiple of the granule
    between the bounds; NaN counts as the lower bound. `Quantile` is usually better: see docs/guides/following.md.
    Proof: docs/proofs/noise_that_follows.md.

    >>> m = SmoothMedian(n=101, bounds=(0, 100), epsilon=2)
    >>> 0 <= m.release(range(101)) <= 100, m.guarantee
    (True, PureDP(2, neighbours=Neighbours.REPLACE))
    """

    __slots__ = ("_decay", "_n", "_per_step")

    proof: ClassVar[str] = "proofs/noise_that_follows.md"

    def __init__(
        self,
        *,
        n: int,
        bounds: Range,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
        decay: Price | None = None,
        granule: Price | None = None,
    ) -> None:
        self._n = read_count(n, "n")
        self._read_line(bounds, granule)
        asked = read_promise("SmoothMedian", (PureDP,), REPLACE, epsilon, delta, rho, mu, promise)
        self._guarantee = asked
        self._decay = _power_above(asked.eps / 2) if decay is None else _read_decay(decay, asked.eps)
        self._per_step = Fraction(UP.divide(ONE, _left(asked.eps, self._decay)))

    @classmethod
    def textbook(cls, *, n: int, bounds: Range, epsilon: Price, granule: Price | None = None) -> SmoothMedian:
        """6S/ε·Cauchy with b = ε/6 (Nissim, Raskhodnikova & Smith 2007), which the book sells as ε: it is ε/3.

        >>> SmoothMedian.textbook(n=101, bounds=(0, 100), epsilon=3).guarantee
        PureDP(1, neighbours=Neighbours.REPLACE)
        """
        third = PureDP(positive(epsilon, "epsilon") / 3, neighbours=REPLACE)
        return cls(n=n, bounds=bounds, promise=third, granule=granule)

    @property
    def n(self) -> int:
        """The number of values, which is public."""
        return self._n

    @property
    def decay(self) -> Fraction:
        """How fast the sensitivity of values further away stops to count: e^(-b)."""
        return self._decay

    @property
    def loss(self) -> LossDistribution:
        """That of any ε-DP mechanism: no more is proved of this one."""
        return loss_distribution().pure(float_above(self._guarantee.as_pure() or Fraction(0)), REPLACE)

    def release(self, values: Any, *, entropy: BitSource | None = None) -> float:
        """A multiple of the granule between the bounds."""
        return float(self._releases(values, 1, bits_from(entropy))[0])

    def _releases(self, values: Any, count: int, entropy: BitSource) -> npt.NDArray[np.float64]:
        """Many independent releases of the same values: what an audit draws."""
        points = sorted_points(values, self._n, self._lattice, self._line)
        scale = smooth_sensitivity(points, self._line, self._decay) * self._per_step
        centre = int(points[middle(points)])
        drawn = rounded_cauchy(centre, scale, self._line.low, self._line.high, count, entropy)
        return self._lattice.values(drawn)

    def spread(self, values: Any) -> float:
        """The scale of the noise for these values, half of the errors are below it. It depends on them: not private.

        >>> round(SmoothMedian(n=101, bounds=(0, 100), epsilon=2).spread(range(101)), 3)
        1.0
        """
        points = sorted_points(values, self._n, self._lattice, self._line)
        scale = smooth_sensitivity(points, self._line, self._decay) * self._per_step
        return float(scale * self._lattice.granule)

    def explain(self) -> str:
        """Two sentences for someone who has to decide."""
        return (
            f"Replacing one value changes the chance of any outcome {meaning(self._guarantee)}."
            " How far the answer is off depends on how close together the values around the median lie, and cannot be"
            " said without looking at them."
        )

    def __repr__(self) -> str:
        return (
            f"SmoothMedian(n={self._n}, bounds={self.bounds!r}, promise={self._guarantee!r},"
            f" decay={source(self._decay)}, granule={self.granule!r})"
        )


def _power_above(b: Fraction) -> Fraction:
    """A fraction just above e^(-b), with enough digits for a small b."""
    b = min(b, Fraction(64))  # a smaller b is as good, and e^(-10^90) has too many digits
    bits = 40 + max(0, b.denominator.bit_length() - b.numerator.bit_length())
    above = Fraction(exp_up(UP.minus(decimal_down(b))))
    return min(Fraction(1), Fraction(int(above * (1 << bits)) + 1, 1 << bits))


def _left(epsilon: Fraction, decay: Fraction) -> Decimal:
    """ε - ln(1/decay), rounded down: what is left for the shift."""
    b = UP.minus(ln_down(decimal_down(decay)))
    return DOWN.subtract(decimal_down(epsilon), b)


def _read_decay(decay: Price, epsilon: Fraction) -> Fraction:
    allowed = "a number below 1 and above e^(-ε): the part ln(1/decay) of ε pays for a change of the scale"
    exact = price(decay, "decay", allowed=allowed)
    if not 0 < exact < 1 or _left(epsilon, exact) <= 0:
        raise InvalidParameter("decay", given=decay, allowed=allowed)
    return exact
