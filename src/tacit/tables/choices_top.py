"""The k listed values that most rows have: one choice of k places per group. Proof: docs/proofs/choices.md."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.base import bits_from
from tacit.mechanisms.top_k import TopK
from tacit.noise.entropy import BitSource
from tacit.privacy import ZCDP, Guarantee
from tacit.tables.bounded import Category, Cells, Tallies
from tacit.tables.choices import of_groups

__all__ = ["FullestCells", "FullestCellsMechanism"]

Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FullestCells:
    """The k listed values that most rows have, best first."""

    cells: Cells
    rows: int
    k: int

    def mechanism(self, price: Guarantee, groups: int) -> FullestCellsMechanism:
        return FullestCellsMechanism(self, price, groups)


@dataclass(frozen=True, slots=True)
class FullestCellsMechanism:
    """k choices per group without replacement: permute-and-flip at ε, one race of Gumbel noise at ρ.

    A unit that comes only adds rows, so that all counts move one way.
    """

    choice: FullestCells
    guarantee: Guarantee
    groups: int

    @property
    def name(self) -> str:
        law = "Gumbel noise" if isinstance(self.guarantee, ZCDP) else "permute-and-flip"
        return f"top {self.choice.k} by {law}"

    @property
    def candidates(self) -> int:
        value = self.choice.cells.value
        assert isinstance(value, Category)
        return len(value.listed)

    @property
    def each(self) -> TopK:
        """The choice in one group."""
        price = of_groups(self.guarantee, Fraction(1), self.groups)
        return TopK(self.choice.k, promise=price, sensitivity=self.choice.rows, monotone=True)

    @property
    def scale(self) -> float:
        return self.each.scale

    @property
    def reach(self) -> str:
        return f"{self.choice.rows} rows in each of {self.groups} groups, all one way"

    def accuracy(self, beta: Fraction) -> float:
        return self.each.accuracy(beta, candidates=self.candidates)

    def release(self, tallies: Tallies, beta: Fraction, *, entropy: BitSource | None = None) -> Places:
        """The places of the chosen values, from 1 on, best first; a line per group."""
        bits, each = bits_from(entropy), self.each
        made = np.zeros((len(tallies), self.choice.k), dtype=np.int64)
        for group in range(len(tallies)):
            cells, counts = tallies.of(group)
            scores = np.zeros(self.candidates, dtype=np.int64)
            scores[cells - 1] = counts
            made[group] = np.array(each.indices(scores, entropy=bits), dtype=np.int64) + 1
        return made

    def explain(self) -> str:
        off = self.accuracy(Fraction(1, 20))
        what = f"{self.choice.k} of {self.candidates} listed values"
        return f"{what}, {self.name}, each at most {off:.4g} rows below its due"
