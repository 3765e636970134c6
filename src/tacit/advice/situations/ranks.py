"""Quantiles of values between public bounds: the median, the quartiles, any list of them."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any

from tacit.advice.options import LeftOut, Way
from tacit.advice.situations.several import Several, each_at_its_share
from tacit.mechanisms.ranks.quantile import Quantile, read_level
from tacit.mechanisms.ranks.quantiles import Quantiles
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.privacy.neighbours import ADD_REMOVE, Neighbours, relation

__all__ = ["Ranks"]

_KINDS = (PureDP, ZCDP)


@dataclass(frozen=True, slots=True)
class Ranks:
    """Quantiles, each from 0 to 1, of values between two bounds; ``granule`` is the step of the answers."""

    quantiles: Sequence[object]
    bounds: tuple[object, object]
    granule: object = None
    neighbours: Neighbours = ADD_REMOVE

    def __post_init__(self) -> None:
        relation(self.neighbours)
        self._quantile(self.quantiles[0] if len(self.quantiles) else "none", PureDP(1, neighbours=self.neighbours))
        self._quantiles(PureDP(1, neighbours=self.neighbours))

    def title(self) -> str:
        return f"{len(self.quantiles)} quantiles" if len(self.quantiles) > 1 else "one quantile"

    def measured_as(self, beta: str) -> str:
        which = "all quantiles are" if len(self.quantiles) > 1 else "it is"
        return f"ranks within which {which} on values spread evenly, but for a probability {beta}"

    def ways(self) -> Iterable[Way]:
        m = len(self.quantiles)
        where = f"bounds={self.bounds!r}, {{price}}"
        where += "" if self.granule is None else f", granule={self.granule!r}"
        where += "" if self.neighbours is ADD_REMOVE else ", neighbours=tacit.REPLACE"
        levels = ", ".join(repr(q) for q in self.quantiles)
        one = f"tacit.Quantile({levels}, {where})"
        yield Way(
            "Quantile" if m == 1 else "Quantile, one by one",
            _KINDS,
            self._one_by_one,
            _spread_apart,
            one if m == 1 else f"[tacit.Quantile(q, {where}) for q in ({levels})]",
            "like the number of quantiles; like its root under ρ",
            "has one choice for each quantile, at a share of the price",
            parts=m,
        )
        if m > 1:
            yield Way(
                "Quantiles, all at once",
                _KINDS,
                self._quantiles,
                _spread_together,
                f"tacit.Quantiles([{levels}], {where})",
                "like the logarithm of the number of quantiles",
                "splits the values at each quantile it finds, so that a value is in few choices",
                scale=lambda made: 2 / float(made._each),
            )

    def never(self) -> Iterable[LeftOut]:
        reason = "its error depends on how the data lie: tacit.{0}(...).release says it afterwards"
        yield LeftOut("SmoothMedian", reason.format("SmoothMedian"))
        yield LeftOut("ProposeTestRelease", reason.format("ProposeTestRelease"))
        yield LeftOut("Laplace", "a quantile moves by the whole range when one value does: the noise would drown it")

    def _quantile(self, q: Any, promise: Any) -> Quantile:
        read_level(q)
        bounds: Any = self.bounds
        granule: Any = self.granule
        return Quantile(q, bounds=bounds, promise=promise, neighbours=self.neighbours, granule=granule)

    def _one_by_one(self, promise: Any) -> Any:
        if len(self.quantiles) == 1:
            return self._quantile(self.quantiles[0], promise)
        return each_at_its_share([functools.partial(self._quantile, q) for q in self.quantiles], promise)

    def _quantiles(self, promise: Any) -> Quantiles:
        bounds: Any = self.bounds
        granule: Any = self.granule
        levels: Any = list(self.quantiles)
        return Quantiles(levels, bounds=bounds, promise=promise, neighbours=self.neighbours, granule=granule)


def _spread_apart(made: Any, beta: Fraction) -> float:
    """Each is off by a Laplace number of ranks: t with Π(1 - e^(-t/scale)) = 1 - β."""
    scales = [one.scale for one in (made.mechanisms if isinstance(made, Several) else (made,))]
    low, high = 0.0, float(max(scales)) * 100

    def inside(t: float) -> float:
        return math.prod(-math.expm1(-t / scale) for scale in scales)

    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if inside(middle) >= 1 - float(beta) else (middle, high)
    return high


def _spread_together(made: Quantiles, beta: Fraction) -> float:
    """Each is off by its own number of ranks and by parts of those that it lies between, all independent."""
    errors: dict[int, dict[int, float]] = {}  # of each quantile, what it takes of every choice's own error
    own: dict[int, float] = {}
    _walk(made, range(len(made.quantiles)), (None, None), errors, own)
    each = -math.expm1(math.log1p(-float(beta)) / len(own))
    return max(_quantile_of_sum([part * own[at] for at, part in parts.items()], each) for parts in errors.values())


def _walk(
    made: Quantiles,
    wanted: range,
    ends: tuple[int | None, int | None],
    errors: dict[int, dict[int, float]],
    own: dict[int, float],
) -> None:
    if not wanted:
        return
    at = len(wanted) // 2
    middle = wanted[at]
    low = Fraction(0) if ends[0] is None else made._quantiles[ends[0]]
    high = Fraction(1) if ends[1] is None else made._quantiles[ends[1]]
    share, factor = made._choice(middle, (low, high))
    own[middle] = float(1 / factor)
    mixed = {middle: 1.0}
    for end, part in ((ends[0], 1 - float(share)), (ends[1], float(share))):
        for source, weight in errors.get(end, {}).items() if end is not None else ():
            mixed[source] = mixed.get(source, 0.0) + part * weight
    errors[middle] = mixed
    _walk(made, wanted[:at], (ends[0], middle), errors, own)
    _walk(made, wanted[at + 1 :], (middle, ends[1]), errors, own)


def _quantile_of_sum(scales: list[float], level: float) -> float:
    """About t with P[|Σ Laplace of these scales| > t] = level: between a Laplace and a normal law, by its kurtosis."""
    variance = 2 * sum(scale**2 for scale in scales)
    peaked = sum(scale**4 for scale in scales) / sum(scale**2 for scale in scales) ** 2
    normal = -NormalDist().inv_cdf(level / 2)
    laplace = -math.log(level) / math.sqrt(2)
    return math.sqrt(variance) * (normal + peaked * (laplace - normal))
