"""Sample and aggregate: any function of rows, run on disjoint blocks of them, and a private median of its results."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.mechanisms.ranks.quantile import Quantile
from tacit.mechanisms.selection.scores import Described, kind_of, read_count
from tacit.mechanisms.shared.base import bits_from, meaning
from tacit.mechanisms.shared.promise import PriceLike
from tacit.mechanisms.shared.quantised import Range
from tacit.mechanisms.shared.value_by_repr import ValueByRepr
from tacit.noise.entropy import BitSource
from tacit.privacy.composition import Guarantee
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.neighbours import REPLACE
from tacit.privacy.prices import Price

__all__ = ["SampleAndAggregate"]

Function = Callable[[Any], Any]


class SampleAndAggregate(ValueByRepr):
    """ε-DP (or ε²/8-zCDP) result of any function of n rows, n public, one replaced: the median over random blocks.

    The function gets the rows of one block, of n/blocks rows or one more, and gives a number. One row is in one block,
    so it moves one of the results, whatever the function does; a result that is no number, or an error, takes no part.
    Proof: docs/proofs/noise_that_follows.md.

    >>> m = SampleAndAggregate(blocks=40, bounds=(0, 100), epsilon=2)
    >>> abs(m.release(list(range(101)) * 40, lambda rows: sum(rows) / len(rows)) - 50) < 25, m.guarantee
    (True, PureDP(2, neighbours=Neighbours.REPLACE))
    """

    __slots__ = ("_blocks", "_median")

    proof: ClassVar[str] = "proofs/noise_that_follows.md"

    def __init__(
        self,
        *,
        blocks: int,
        bounds: Range,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
        granule: Price | None = None,
    ) -> None:
        self._blocks = read_count(blocks, "blocks")
        self._median = Quantile(
            "1/2",
            bounds=bounds,
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            mu=mu,
            promise=promise,
            neighbours=REPLACE,
            granule=granule,
        )

    @property
    def blocks(self) -> int:
        """How many parts the rows are dealt into."""
        return self._blocks

    @property
    def guarantee(self) -> Guarantee:
        """What is promised for any two data sets that differ in one row."""
        return self._median.guarantee

    @property
    def loss(self) -> LossDistribution:
        """That of the median of the results."""
        return self._median.loss

    def accuracy(self, beta: Price) -> float:
        """How many of the blocks' results lie between the answer and their median, but for a probability β."""
        return self._median.accuracy(beta)

    def release(self, rows: Any, function: Function, *, entropy: BitSource | None = None) -> float:
        """A multiple of the granule between the bounds."""
        return float(self._releases(rows, function, 1, bits_from(entropy))[0])

    def _releases(self, rows: Any, function: Function, count: int, entropy: BitSource) -> npt.NDArray[np.float64]:
        """Many independent releases of the same rows, each with its own blocks: what an audit draws."""
        table = _rows(rows, self._blocks)
        order = entropy.words(count * len(table)).reshape(count, len(table)).argsort(axis=1, kind="stable")
        deals, which = np.unique(order, axis=0, return_inverse=True)
        out = np.empty(count)
        for i, deal in enumerate(deals):
            places = np.flatnonzero(which.reshape(-1) == i)
            results = [_result(function, table[part]) for part in np.array_split(deal, self._blocks)]
            out[places] = self._median._releases(results, places.size, entropy)
        return out

    def explain(self) -> str:
        """Two sentences for someone who has to decide."""
        return (
            f"Replacing one row changes the chance of any outcome {meaning(self.guarantee)}."
            f" The answer is more than {self.accuracy('0.05'):.4g} of the {self._blocks} results of the blocks away"
            " from their median at most once in twenty times."
        )

    def __repr__(self) -> str:
        return (
            f"SampleAndAggregate(blocks={self._blocks}, promise={self.guarantee!r}, bounds={self._median.bounds!r},"
            f" granule={self._median.granule!r})"
        )


def _rows(rows: Any, blocks: int) -> npt.NDArray[Any]:
    """Rows that can be dealt: an array by its first dimension, anything listed as Python holds it."""
    if isinstance(rows, np.ndarray) and rows.ndim and not hasattr(rows, "mask"):
        table = rows
    elif isinstance(rows, list | tuple | range):
        table = np.empty(len(rows), dtype=object)
        table[:] = list(rows)
    else:
        raise InvalidParameter("rows", given=kind_of(rows), allowed="a list, or an array with one row per unit")
    if len(table) < blocks:
        given = Described(f"{len(table)} rows for {blocks} blocks")
        raise InvalidParameter("rows", given=given, allowed="at least one row per block")
    return table


def _result(function: Function, rows: npt.NDArray[Any]) -> float:
    """What the function says of these rows; NaN, which takes no part, where that is no number."""
    try:
        return float(function(rows))
    except Exception:  # whatever one block does must not be seen
        return math.nan
