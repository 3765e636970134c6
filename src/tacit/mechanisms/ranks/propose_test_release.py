"""Propose, test, release: the median with noise for a proposed sensitivity, if a private test finds it safe."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.mechanisms.ranks.rank_mechanism import RankMechanism
from tacit.mechanisms.ranks.smooth_sensitivity import middle, replacements_until, sorted_points
from tacit.mechanisms.selection.scores import read_count
from tacit.mechanisms.selection.selecting import float_above
from tacit.mechanisms.shared.adding import add_to_integers
from tacit.mechanisms.shared.base import bits_from, meaning
from tacit.mechanisms.shared.lazy_losses import loss_distribution
from tacit.mechanisms.shared.promise import PriceLike, read_promise
from tacit.mechanisms.shared.quantised import Range
from tacit.mechanisms.shared.tails import least_step
from tacit.noise.entropy import BitSource
from tacit.noise.laplace import DiscreteLaplaceSampler
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.neighbours import REPLACE
from tacit.privacy.prices import Price, positive, source
from tacit.privacy.rounding import DOWN, ONE, UP, decimal_down, decimal_up, exp_down, exp_up

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution

__all__ = ["ProposeTestRelease"]


class ProposeTestRelease(RankMechanism):
    """(ε, δ)-DP median of n values, n public, one replaced; None where the values are too close to moving it further.

    You propose that the median moves by at most ``bound``. Half of ε tests how many values would have to be replaced
    before that is false; if clearly some, the other half buys noise for that bound. The answer is a multiple of the
    granule between the bounds; NaN counts as the lower bound. Proof: docs/proofs/noise_that_follows.md.

    >>> m = ProposeTestRelease(n=1001, bounds=(0, 1000), bound=40, epsilon=2, delta=1e-6)
    >>> abs(m.release(range(1001)) - 500) <= 500, m.threshold
    (True, 13)
    >>> m.release([0] * 500 + [1000] * 501) is None       # one value may move this median by 1000
    True
    """

    __slots__ = ("_bound", "_half", "_n", "_threshold")

    proof: ClassVar[str] = "proofs/noise_that_follows.md"

    def __init__(
        self,
        *,
        n: int,
        bounds: Range,
        bound: Price,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
        granule: Price | None = None,
    ) -> None:
        self._n = read_count(n, "n")
        self._read_line(bounds, granule)
        self._bound = self._steps(bound)
        asked = read_promise("ProposeTestRelease", (ApproxDP,), REPLACE, epsilon, delta, rho, mu, promise)
        if not asked.dlt:
            allowed = "a number above 0: with chance δ the test passes values that it should not"
            raise InvalidParameter("delta", given=0, allowed=allowed)
        self._guarantee = asked
        self._half = asked.eps / 2
        self._threshold = _threshold(self._half, asked.dlt)

    def _steps(self, bound: Price) -> int:
        """The proposed bound in whole granules, rounded down."""
        exact = positive(bound, "bound")
        steps = math.floor(exact / self._lattice.granule)
        if not 1 <= steps < self._line.high - self._line.low:
            allowed = f"at least the granule {self.granule!r}, and less than the range of the values"
            raise InvalidParameter("bound", given=bound, allowed=allowed)
        return steps

    @property
    def n(self) -> int:
        """The number of values, which is public."""
        return self._n

    @property
    def bound(self) -> float:
        """The proposed bound: a multiple of the granule."""
        return float(self._bound * self._lattice.granule)

    @property
    def threshold(self) -> int:
        """The median is released if the noisy number of replacements that it takes is above this."""
        return self._threshold

    @property
    def scale(self) -> float:
        """The spread of the noise on the median, where it is released."""
        return float(self._bound * self._lattice.granule / self._half)

    @property
    def loss(self) -> LossDistribution:
        """That of any (ε, δ)-DP mechanism: no more is proved of this one."""
        epsilon, delta = self._guarantee.amounts()
        return loss_distribution().approximate(float_above(epsilon), float_above(delta), REPLACE)

    def release(self, values: Any, *, entropy: BitSource | None = None) -> float | None:
        """A multiple of the granule between the bounds, or None."""
        found = float(self._releases(values, 1, bits_from(entropy))[0])
        return None if math.isnan(found) else found

    def _releases(self, values: Any, count: int, entropy: BitSource) -> npt.NDArray[np.float64]:
        """Many independent releases of the same values, NaN for None: what an audit draws."""
        points = sorted_points(values, self._n, self._lattice, self._line)
        away = replacements_until(points, self._line, self._bound)
        tested = _noisy(away, 1 / self._half, count, entropy)
        drawn = _noisy(int(points[middle(points)]), self._bound / self._half, count, entropy)
        answers = self._lattice.values(self._line.clamped(drawn))
        return np.where(tested > self._threshold, answers, math.nan)

    def explain(self) -> str:
        """Two sentences for someone who has to decide."""
        return (
            f"Replacing one value changes the chance of any outcome {meaning(self._guarantee)}."
            f" Where more than {self._threshold} replacements are needed, with noise, before one more could move the"
            f" median by more than {self.bound:.4g}, the answer has noise of scale {self.scale:.4g}; elsewhere it is"
            " None."
        )

    def __repr__(self) -> str:
        bound = source(self._bound * self._lattice.granule)
        return (
            f"ProposeTestRelease(n={self._n}, bounds={self.bounds!r}, bound={bound}, promise={self._guarantee!r},"
            f" granule={self.granule!r})"
        )


def _noisy(value: int, scale: Fraction, count: int, entropy: BitSource) -> npt.NDArray[np.int64]:
    noisy = add_to_integers(np.full(count, value, dtype=np.int64), DiscreteLaplaceSampler(scale), entropy)
    assert isinstance(noisy, np.ndarray)
    return noisy


def _threshold(epsilon: Fraction, delta: Fraction) -> int:
    """The least t with P[noise > t] = q^(t+1)/(1+q) ≤ δ, q = e^(-ε)."""
    step = DOWN.add(ONE, exp_down(UP.minus(decimal_up(epsilon))))

    def beyond(t: int) -> Decimal:
        return UP.divide(exp_up(UP.minus(decimal_down(epsilon * (t + 1)))), step)

    return int(least_step(beyond, decimal_down(delta), -math.log(float(delta)) / float(epsilon)))
