"""All tables of two columns measured at once, and a mixture of products fitted to them: the default."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from tacit.privacy import PureDP
from tacit.synth.counts.coarsening import Coarse, most_bins
from tacit.synth.counts.memory import of_one_way, of_pairs, room_of
from tacit.synth.counts.purse import Counts, Measured
from tacit.synth.counts.stage import Stage, joined, shares_of
from tacit.synth.domain.domain import Domain
from tacit.synth.methods.synthesizer import Fit, Synthesizer, joint_tables
from tacit.synth.models.mixture import PairTable, Reals, kept_of
from tacit.synth.models.stacked import KINDS, fit_stacked

__all__ = ["Pairs"]

COMPONENTS, FITS, STEPS = 0, 5, 0
"""0: as many as the noise asks for."""
FIRST, LEAST = Fraction(3, 10), 0.02
_FEWEST = 60


class Pairs(Synthesizer):
    """Every table of two columns with noise, the price shared by cells; mixtures of products, pooled, fitted to all.

    Nothing is chosen, so at (ε, δ) the plan is Gaussian alone: a first look at all tables, then the rest of the price
    for those that say more than noise. Proof: docs/proofs/synthesis.md.

    >>> Pairs(epsilon=1, delta="1e-9").guarantee
    ApproxDP(1, 1e-09)
    """

    looks = 2

    def _scale(self, stage: Stage) -> float:
        columns = len(stage.domain.sizes)
        return stage.purse.scale_at(stage.purse.left / math.comb(columns, 2))

    def _joint(self, stage: Stage) -> Fit:
        scale = self._scale(stage)
        binned = stage.binned(self._bins_within(stage, most_bins(stage.total, scale)))
        ones = stage.one_way(binned)
        laws = [law for law, _, _ in ones]
        listed = list(combinations(range(len(binned)), 2))
        power = 1 / 2 if isinstance(self._price, PureDP) else 2 / 3
        counted = joint_tables(stage, listed, binned)
        cells = by_cells(listed, binned, power)
        first = measured_tables(stage, listed, counted, cells, stage.purse.left * FIRST)
        kept = [_kept(one, stage.total, laws) + LEAST for one in first]
        weights = [size * part for size, part in zip(cells, kept, strict=True)]
        second = measured_tables(stage, listed, counted, weights, stage.purse.left, look=2)
        tables = [joined(one, other) for one, other in zip(first, second, strict=True)]
        stage.told(0.4)
        pairs = {
            (one.columns[0], one.columns[1]): PairTable(one.counts / stage.total, one.scale / stage.total)
            for one in tables
        }
        told = lambda part: stage.told(0.4 + 0.6 * part)  # noqa: E731
        rows = stage.total / scale
        components, steps = COMPONENTS or components_for(rows), STEPS or steps_for(rows)
        components = min(components, self._components_within(stage, binned))
        model = fit_stacked(ones, pairs, components=components, fits=FITS, steps=steps, told=told)
        return model, binned, (*first, *second), ()

    def _joint_taken(self, domain: Domain, bins: Sequence[int]) -> int:
        return _of_tables(bins) + _of_laws(bins, COMPONENTS or _FEWEST)

    def _components_within(self, stage: Stage, binned: Sequence[Coarse]) -> int:
        """As many as there is memory for: by public sizes alone."""
        bins = [one.size for one in binned]
        left = room_of(self.memory) - of_one_way(stage.domain.sizes) - _of_tables(bins)
        return max(COMPONENTS or _FEWEST, left // _of_laws(bins, 1))


def _of_tables(bins: Sequence[int]) -> int:
    """Bytes of all tables of two, measured and divided, and of matrices over all bins."""
    return of_pairs(bins, 100) + 30 * sum(bins) ** 2


def _of_laws(bins: Sequence[int], components: int) -> int:
    """Bytes of mixtures of all kinds while they are fitted and pooled."""
    return sum(bins) * components * (40 + 24 * KINDS * FITS)


def components_for(rows_per_noise: float) -> int:
    """How many components a mixture has: the less noise, the more. Found on other tables than those of the benches.

    >>> [components_for(one) for one in (70, 800, 7000)]
    [60, 62, 239]
    """
    return int(min(max(60 * (rows_per_noise / 750) ** 0.62, _FEWEST), 250))


def steps_for(rows_per_noise: float) -> int:
    """How long a fit goes on: the less noise, the longer. Found on other tables than those of the benches.

    >>> [steps_for(one) for one in (70, 800, 7000)]
    [77, 194, 297]
    """
    return int(min(max(110 * math.log10(max(rows_per_noise, 1.0)) - 125, 60), 400))


def measured_tables(
    stage: Stage,
    tables: Sequence[tuple[int, ...]],
    counted: Sequence[Counts],
    weights: Sequence[float],
    share: Fraction,
    look: int = 1,
) -> list[Measured]:
    """True counts of tables with noise, a share of the price divided by weights."""
    shares = shares_of(weights, share)
    return [
        stage.purse.measure(table, counts, one, look)
        for table, counts, one in zip(tables, counted, shares, strict=True)
    ]


def by_cells(tables: Sequence[tuple[int, ...]], binned: Sequence[Coarse], power: float) -> list[float]:
    """The sum of absolute errors is least for shares in proportion to cells^(2/3), of Laplace noise to √cells."""
    return [math.prod(binned[at].size for at in table) ** power for table in tables]


def _kept(one: Measured, total: float, laws: Sequence[Reals]) -> float:
    """How much of a noisy table's distance from independence noise does not explain."""
    return kept_of(PairTable(one.counts / total, one.scale / total), *(laws[at] for at in one.columns))
