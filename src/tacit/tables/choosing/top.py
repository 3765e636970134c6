"""The k listed values that most rows have: one choice of k places per group. Proof: docs/proofs/choices.md."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.selection.top_k import TopK
from tacit.mechanisms.shared.base import bits_from
from tacit.noise.entropy import BitSource
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.tables.choosing.choice import ListedMechanism
from tacit.tables.engines.contract import Cells, Tallies

__all__ = ["FullestCells", "FullestCellsMechanism"]

Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FullestCells:
    """The k listed values that most rows have, best first."""

    cells: Cells
    rows: int
    k: int

    def mechanism(self, price: PureDP | ZCDP, groups: int) -> FullestCellsMechanism:
        return FullestCellsMechanism(self, price, groups)


@dataclass(frozen=True, slots=True)
class FullestCellsMechanism(ListedMechanism[FullestCells]):
    """k choices per group without replacement: permute-and-flip at ε, one race of Gumbel noise at ρ."""

    @property
    def name(self) -> str:
        law = "Gumbel noise" if isinstance(self.guarantee, ZCDP) else "permute-and-flip"
        return f"top {self.choice.k} by {law}"

    @property
    def each(self) -> TopK:
        return TopK(self.choice.k, promise=self.price, sensitivity=self.choice.rows, monotone=True)

    def release(self, tallies: Tallies, beta: Fraction, *, entropy: BitSource | None = None) -> Places:
        """The places of the chosen values, from 1 on, best first; a line per group."""
        bits, each = bits_from(entropy), self.each
        places = [each.indices(scores, entropy=bits) for scores in self.scores(tallies)]
        return np.array(places, dtype=np.int64).reshape(-1, self.choice.k) + 1

    def explain(self) -> str:
        off = self.accuracy(Fraction(1, 20))
        what = f"{self.choice.k} of {self.candidates} listed values"
        return f"{what}, {self.name}, each at most {off:.4g} rows below its due"
