"""The auction of digital goods: one price for everybody, chosen by the revenue it brings."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.games.values import Reals, read_shares
from tacit.mechanisms.selection.scores import Described, read_count
from tacit.mechanisms.selection.selecting import float_above, regret
from tacit.mechanisms.shared.base import bits_from, meaning
from tacit.mechanisms.shared.lazy_losses import loss_distribution
from tacit.mechanisms.shared.promise import PriceLike, read_promise, within_floats
from tacit.noise.entropy import BitSource
from tacit.noise.lottery import Tickets, draw, draws
from tacit.privacy import REPLACE, ZCDP, Guarantee, PureDP
from tacit.privacy.prices import Price, positive, round_up, source

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution

__all__ = ["DigitalGoods", "optimal_revenue"]

_MOST_PRICES = 10**6
_NUDGE = 1e-9
"""A bid that is a billionth of a step below a price is taken to be that price: 3.01 is not a binary number."""


class DigitalGoods:
    """ε-DP price for n bidders, n public, one bid replaced: P[p] ∝ e^(ε·revenue(p)/top) over α·top, 2α·top, …, top.

    Another bid moves all revenues the same way, each by at most its price, so the factor 2 of the exponential mechanism
    is not needed; `textbook` has it. By default α = 1/(εn), best for the bound. Bids are clamped to [0, top], NaN is 0.
    Proof: docs/proofs/auction.md.

    >>> m = DigitalGoods(n=4, alpha="1/400", top=4, epsilon=1)
    >>> bids = [1, 1, 1, 3.01]
    >>> [round(m.revenue(bids, p), 2) for p in (1, 3, 3.01, 3.02)]
    [4.0, 3.0, 3.01, 0.0]
    >>> 0 < m.price(bids) <= 4, m.guarantee
    (True, PureDP(1, neighbours=Neighbours.REPLACE))
    """

    __slots__ = ("_alpha", "_guarantee", "_n", "_per_revenue", "_top", "_ways")

    proof: ClassVar[str] = "proofs/auction.md"

    def __init__(
        self,
        *,
        n: int,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
        alpha: Price | None = None,
        top: Price = 1,
    ) -> None:
        asked = read_promise("DigitalGoods", (PureDP, ZCDP), REPLACE, epsilon, delta, rho, mu, promise)
        self._set(n, asked, alpha, top, 1)

    @classmethod
    def textbook(cls, *, n: int, epsilon: Price, alpha: Price | None = None, top: Price = 1) -> DigitalGoods:
        """The exponential mechanism as books have it: P[p] ∝ e^(ε·revenue(p)/2·top), α = 2/(εn) by default."""
        made = cls.__new__(cls)
        made._set(n, PureDP(epsilon, neighbours=REPLACE), alpha, top, 2)
        return made

    def _set(self, n: int, guarantee: Guarantee, alpha: Price | None, top: Price, ways: int) -> None:
        self._n = read_count(n, "n")
        self._guarantee = guarantee
        self._ways = ways
        self._top = within_floats(positive(top, "top"))
        self._per_revenue = guarantee.range_of_each() / ways
        self._alpha = self._default() if alpha is None else positive(alpha, "alpha")
        if self._alpha > 1 or self._steps > _MOST_PRICES:
            allowed = "a step from 1/1,000,000 to 1, as a share of the top price"
            raise InvalidParameter("alpha", given=alpha, allowed=allowed)

    def _default(self) -> Fraction:
        """The α that is best for the bound, but not finer than a million prices."""
        best = 1 / (self._per_revenue * self._n)
        if best > 1:
            given = Described(f"n={self._n} at {self._guarantee!r}")
            hint = "Pass alpha=, such as 0.1; or pay more, or ask more bidders."
            allowed = f"a price times n of at least {self._ways}: the default step would be above 1"
            raise InvalidParameter("alpha", given=given, allowed=allowed, hint=hint)
        return max(best, Fraction(1, _MOST_PRICES))

    @property
    def _steps(self) -> int:
        return int(1 / self._alpha)

    @property
    def guarantee(self) -> Guarantee:
        """What is promised for any two lists of bids that differ in one."""
        return self._guarantee

    @property
    def n(self) -> int:
        """The number of bidders, which is public."""
        return self._n

    @property
    def alpha(self) -> Fraction:
        """The step between prices, as a share of the top."""
        return self._alpha

    @property
    def prices(self) -> Reals:
        """The candidates: public."""
        step = self._alpha * self._top
        return np.arange(1, self._steps + 1) * step.numerator / step.denominator

    @property
    def loss(self) -> LossDistribution:
        """Of bounded range, as that of the exponential mechanism."""
        return loss_distribution().bounded_range(float_above(self._guarantee.range_of_each()), REPLACE)

    def price(self, bids: Any, *, entropy: BitSource | None = None) -> float:
        """The price for everybody. Draws nothing if the bids cannot be used."""
        scores = self._scores(bids)
        return float(self.prices[draw(Tickets(scores, self._factor), bits_from(entropy))])

    def _releases(self, bids: Any, count: int, entropy: BitSource) -> Reals:
        """Many independent prices for the same bids: what an audit draws."""
        chosen = self.prices[draws(Tickets(self._scores(bids), self._factor), count, entropy)]
        return np.asarray(chosen, dtype=np.float64)

    @property
    def _factor(self) -> Fraction:
        """Per unit of a score, which is a number of steps times a number of buyers."""
        return self._per_revenue / self._steps  # one bid moves a score by at most the number of steps

    def _scores(self, bids: Any) -> npt.NDArray[np.int64]:
        """Step times buyers, for every price."""
        shares = read_shares(bids, float(self._top))
        if shares.size != self._n:
            given = Described(f"{shares.size} bids")
            raise InvalidParameter("bids", given=given, allowed=f"{self._n}: the number of bidders is public")
        affordable = np.floor(shares * float(1 / self._alpha) + _NUDGE).astype(np.int64)
        reach = np.bincount(np.minimum(affordable, self._steps), minlength=self._steps + 1)
        buyers = reach[::-1].cumsum()[::-1][1:]
        scores: npt.NDArray[np.int64] = buyers * np.arange(1, self._steps + 1)
        return scores

    def revenues(self, bids: Any) -> Reals:
        """What each price would bring. They depend on the bids: they are not private."""
        step = self._alpha * self._top
        return np.asarray(self._scores(bids) * float(step), dtype=np.float64)

    def revenue(self, bids: Any, price: float) -> float:
        """What the candidate nearest to this price would bring; not private."""
        nearest = int(np.abs(self.prices - float(price)).argmin())
        return float(self.revenues(bids)[nearest])

    def probabilities(self, bids: Any) -> Reals:
        """The chance of each price, as floats; not private."""
        logs = self._scores(bids) * float(self._factor)
        masses: Reals = np.exp(logs - logs.max())
        return np.asarray(masses / masses.sum(), dtype=np.float64)

    def accuracy(self, beta: Price) -> float:
        """How far the revenue is below that of the best price of all, but for a probability β, whatever the bids.

        >>> round(DigitalGoods.textbook(n=1000, epsilon=1).accuracy(0.05), 2)      # αn + (2/ε)(ln 1/α + ln 1/β)
        20.42
        >>> round(DigitalGoods(n=1000, epsilon=1).accuracy(0.05), 2)
        10.9
        """
        chosen = regret(self._per_revenue / self._top, beta, Fraction(self._steps))
        return round_up(Fraction(chosen) + self._alpha * self._top * self._n)

    def explain(self) -> str:
        """Two sentences for someone who has to decide."""
        return (
            f"Replacing one bid changes the chance of any price {meaning(self._guarantee)}."
            f" The revenue is more than {self.accuracy('0.05'):.4g} below the best possible at most once in twenty"
            " times."
        )

    def __repr__(self) -> str:
        extras = f"alpha={source(self._alpha)}, top={source(self._top)}"
        if self._ways == 2:
            return f"DigitalGoods.textbook(n={self._n}, epsilon={source(self._guarantee.main)}, {extras})"
        return f"DigitalGoods(n={self._n}, promise={self._guarantee!r}, {extras})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and repr(other) == repr(self)

    def __hash__(self) -> int:
        return hash(repr(self))


def optimal_revenue(bids: Any, *, top: Price = 1) -> float:
    """The revenue of the best single price, which is somebody's bid: not private.

    >>> optimal_revenue([1, 1, 1, 3.01], top=4)
    4.0
    """
    exact = float(positive(top, "top"))
    falling = np.sort(read_shares(bids, exact))[::-1]
    return float((falling * np.arange(1, falling.size + 1)).max(initial=0.0)) * exact
