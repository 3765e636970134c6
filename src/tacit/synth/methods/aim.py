"""Tables of two and three columns, each chosen for what the model gets wrong (AIM: McKenna et al. 2022)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from tacit.noise.entropy import BitSource
from tacit.synth.counts.coarsening import Coarse, most_bins
from tacit.synth.counts.memory import of_one_way, of_pairs, room_of
from tacit.synth.counts.purse import Counts, Measured, Purse, adaptive_purse
from tacit.synth.counts.stage import Stage, joined
from tacit.synth.domain.domain import Domain
from tacit.synth.methods.mst import apart
from tacit.synth.methods.synthesizer import Fit, Synthesizer, joint_tables
from tacit.synth.models.graph import CELL, GraphModel, Target, fit_graph
from tacit.synth.models.junction import cells_of
from tacit.synth.public_coins import public_coins

__all__ = ["AIM"]

_CHOICE = Fraction(1, 20)
"""Of a round's price, what its choice costs."""
_CELLS = 120_000
_DRAWN = 60_000
_MOST_TRIPLES = 1000
_LEAST = 1_000_000
_STEPS, _LAST_STEPS = 25, 600
GROWTH = 4
"""By how much a round costs more when the last one said no more than noise."""


@dataclass(frozen=True, slots=True)
class _Round:
    """What one round costs, and the noise that its table gets."""

    share: Fraction
    scale: float


class AIM(Synthesizer):
    """Rounds of a choice and a table, until the price is spent; what a round costs follows from earlier answers.

    That is why it runs under a `Filter` of ρ, with the discrete law; at a pure ε under one of ε. The cliques of the
    model are kept within ``memory``. Proof: docs/proofs/synthesis.md.

    >>> AIM(rho=0.5).guarantee
    ZCDP(0.5)
    """

    def _purse(self, reach: int, columns: int, entropy: BitSource | None) -> Purse:
        return adaptive_purse(self.guarantee, reach, entropy)

    def _scale(self, stage: Stage) -> float:
        return stage.purse.scale_at(stage.purse.left * (1 - _CHOICE) / (2 * len(stage.domain.sizes)))

    def _joint_taken(self, domain: Domain, bins: Sequence[int]) -> int:
        """Pairs, and the least that triples, rows of the model and its cells can do with."""
        return of_pairs(bins, 16) + 3 * _LEAST + CELL * max(bins) ** 2

    def _room(self, domain: Domain, sizes: Sequence[int]) -> int:
        """A third of the bytes that pairs leave: each of triples, rows of the model and its cells has that many."""
        spent = of_one_way(domain.sizes) + self._joint_taken(domain, sizes)
        return _LEAST + max(0, room_of(self.memory) - spent) // 3

    def _joint(self, stage: Stage) -> Fit:
        binned = stage.binned(self._bins_within(stage, most_bins(stage.total, self._scale(stage))))
        sizes = [one.size for one in binned]
        ones = stage.one_way(binned)
        fixed = [Target((at,), measured, variance) for at, (_, measured, variance) in enumerate(ones)]
        laws = [law for law, _, _ in ones]
        room = self._room(stage.domain, sizes)
        candidates = _candidates(sizes, room // 16)
        counted = dict(zip(candidates, joint_tables(stage, candidates, binned), strict=True))
        found: dict[tuple[int, ...], Measured] = {}
        measured = list[Measured]()
        model = fit_graph(sizes, fixed, start=laws, steps=_STEPS)
        rest, share = stage.purse.left, stage.purse.left / (8 * len(sizes))
        while stage.purse.left > 0:
            share = stage.purse.left if stage.purse.left < 2 * share else share
            scale = stage.purse.scale_at(share * (1 - _CHOICE))
            spent = 1 - float((stage.purse.left - share) / rest)
            open_ = self._fitting(candidates, found, sizes, spent, room)
            table = self._chosen(stage, model, binned, open_, counted, share, scale, room)
            before = model.table(table)
            new = stage.purse.measure(table, counted[table], share * (1 - _CHOICE))
            measured.append(new)
            found[table] = joined(found[table], new) if table in found else new
            model = fit_graph(sizes, fixed + _targets(found, stage.total), start=laws, before=model, steps=_STEPS)
            moved = stage.total * float(np.abs(model.table(table) - before).sum())
            if moved <= math.sqrt(2 / math.pi) * scale * before.size:
                share *= GROWTH
            stage.told(0.2 + 0.7 * spent)
        model = fit_graph(sizes, fixed + _targets(found, stage.total), start=laws, before=model, steps=_LAST_STEPS)
        return model, binned, tuple(measured), ()

    def _fitting(
        self,
        candidates: Sequence[tuple[int, ...]],
        found: dict[tuple[int, ...], Measured],
        sizes: list[int],
        spent: float,
        room: int,
    ) -> list[tuple[int, ...]]:
        """Candidates that keep the junction tree within what it may grow to by now: by released numbers alone."""
        now = max(min(_CELLS, room // CELL) * spent, cells_of(sizes, found))
        within = [one for one in candidates if one in found or cells_of(sizes, [*found, one]) <= now]
        smallest = min(candidates, key=lambda one: cells_of(sizes, [*found, one]))
        return within or [smallest]

    def _chosen(
        self,
        stage: Stage,
        model: GraphModel,
        binned: Sequence[Coarse],
        open_: list[tuple[int, ...]],
        counted: dict[tuple[int, ...], Counts],
        share: Fraction,
        scale: float,
        room: int,
    ) -> tuple[int, ...]:
        """The candidate that the model gets most wrong, beyond what noise would cost: by the exponential mechanism.

        Expected tables are counted in public rows drawn from the model, which costs less than summing it out.
        """
        count = min(_DRAWN, room // (60 * len(binned)))
        rows, _ = model.draw(count, public_coins(1))  # public: the model was fitted to released numbers
        sizes, scores = [one.size for one in binned], []
        for table in open_:
            cells = np.zeros(len(rows), dtype=np.int64)
            for at in table:
                cells = cells * sizes[at] + rows[:, at]
            shape = tuple(sizes[at] for at in table)
            expected = np.bincount(cells, minlength=math.prod(shape)).reshape(shape) * (stage.total / len(rows))
            noise = round(math.sqrt(2 / math.pi) * scale * expected.size)
            scores.append(_WEIGHTS[len(table)] * (apart(counted[table], expected) - noise))
        return open_[stage.purse.choose(np.array(scores), share * _CHOICE, weight=max(_WEIGHTS.values()))]


_WEIGHTS = {2: 1, 3: 1}
"""How much a table of so many columns counts; a row moves a score by at most the largest."""


def _candidates(sizes: Sequence[int], room: int) -> list[tuple[int, ...]]:
    """All pairs, and triples that are small enough, of at most so many cells together: public, as the sizes are."""
    pairs = list(combinations(range(len(sizes)), 2))
    triples = [one for one in combinations(range(len(sizes)), 3) if math.prod(sizes[at] for at in one) <= 4000]
    triples.sort(key=lambda one: (math.prod(sizes[at] for at in one), one))
    found = triples[:_MOST_TRIPLES]
    cells = np.cumsum([math.prod(sizes[at] for at in one) for one in found])
    return [*pairs, *found[: int(np.searchsorted(cells, room, side="right"))]]


def _targets(found: dict[tuple[int, ...], Measured], total: float) -> list[Target]:
    return [Target(one.columns, one.counts / total, (one.scale / total) ** 2) for one in found.values()]
