"""A tree of columns: the most telling tables of two, chosen until all columns are connected (McKenna et al. 2021)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.privacy import PureDP
from tacit.synth.counts.coarsening import most_bins
from tacit.synth.counts.memory import of_pairs
from tacit.synth.counts.purse import Counts
from tacit.synth.counts.stage import Stage
from tacit.synth.domain.domain import Domain
from tacit.synth.methods.pairs import by_cells, measured_tables
from tacit.synth.methods.synthesizer import Fit, Synthesizer, joint_tables
from tacit.synth.models.graph import CELL, Target, fit_graph

__all__ = ["MST"]

CHOICES = Fraction(6, 100)


class MST(Synthesizer):
    """Each choice by the exponential mechanism on the distance from independence, which a row moves by at most 1.

    At (ε, δ) the choices' losses are composed with the Gaussian one. Proof: docs/proofs/synthesis.md.

    >>> MST(epsilon=1, delta="1e-9").guarantee
    ApproxDP(1, 1e-09)
    """

    def _choices(self, columns: int) -> tuple[Fraction, ...]:
        return (CHOICES / (columns - 1),) * (columns - 1) if columns > 2 else ()

    def _scale(self, stage: Stage) -> float:
        return stage.purse.scale_at(stage.purse.left / (len(stage.domain.sizes) - 1))

    def _joint(self, stage: Stage) -> Fit:
        binned = stage.binned(self._bins_within(stage, most_bins(stage.total, self._scale(stage))))
        ones = stage.one_way(binned)
        laws = [law for law, _, _ in ones]
        listed = list(combinations(range(len(binned)), 2))
        counted = joint_tables(stage, listed, binned)
        scores = [
            apart(counts, stage.total * np.outer(laws[a], laws[b]))
            for (a, b), counts in zip(listed, counted, strict=True)
        ]
        tree = self._tree(stage, listed, scores)
        chosen, true = [listed[at] for at in tree], [counted[at] for at in tree]
        power = 1 / 2 if isinstance(self._price, PureDP) else 2 / 3
        tables = measured_tables(stage, chosen, true, by_cells(chosen, binned, power), stage.purse.left)
        stage.told(0.5)
        targets = [Target((at,), measured, variance) for at, (_, measured, variance) in enumerate(ones)]
        targets += [Target(one.columns, one.counts / stage.total, (one.scale / stage.total) ** 2) for one in tables]
        model = fit_graph([one.size for one in binned], targets, start=laws)
        return model, binned, tuple(tables), ()

    def _tree(self, stage: Stage, listed: list[tuple[int, int]], scores: list[int]) -> list[int]:
        """The places of the pairs chosen: each connects what was not connected."""
        columns = len(stage.domain.sizes)
        if columns == 2:
            return [0]
        part, found = list(range(columns)), list[int]()
        for share in self._choices(columns):
            open_ = [at for at, (a, b) in enumerate(listed) if part[a] != part[b]]
            at = open_[stage.purse.choose(np.array([scores[one] for one in open_]), share)]
            found.append(at)
            old, new = part[listed[at][1]], part[listed[at][0]]
            part = [new if one == old else one for one in part]
        return found

    def _joint_taken(self, domain: Domain, bins: Sequence[int]) -> int:
        return of_pairs(bins, 12) + CELL * (len(bins) - 1) * max(bins) ** 2


MOST_EXPECTED = 2.0**50
"""Rows of one cell: noise at absurdly small prices expects more than 64 bits hold, and what wraps has no bound."""


def apart(counts: Counts, expected: npt.NDArray[np.floating[Any]]) -> int:
    """The sum of absolute differences from released numbers, rounded before: a whole number that a row moves by 1."""
    whole = np.round(np.clip(expected, 0, MOST_EXPECTED)).astype(np.int64)
    return int(np.abs(counts - whole).sum())
