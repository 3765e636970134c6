"""Tables of two and three columns, chosen for what the model gets wrong (after AIM: McKenna et al. 2022)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np

from tacit.noise.entropy import BitSource
from tacit.privacy import PureDP
from tacit.synth.counts.coarsening import most_bins
from tacit.synth.counts.memory import of_one_way, of_pairs, room_of
from tacit.synth.counts.purse import Measured, Purse, adaptive_purse
from tacit.synth.counts.stage import Stage, joined
from tacit.synth.domain.domain import Domain
from tacit.synth.methods.mst import apart
from tacit.synth.methods.pairs import by_cells, measured_tables, steps_for
from tacit.synth.methods.synthesizer import Fit, Synthesizer, joint_tables
from tacit.synth.models.mixture import Mixture, PairTable, Reals, descended, fitting, shrunk
from tacit.synth.models.stacked import KINDS, fit_stacked
from tacit.synth.public_coins import public_coins

__all__ = ["AIM"]

FIRST = Fraction(3, 5)
"""Of the price for joint tables, what a first look at all pairs costs."""
_CHOICE = Fraction(1, 20)
"""Of a table's price, what its choice costs."""
ROUNDS, GROWTH = 3, 2
"""In how many rounds the rest is spent, and by how much fewer tables one has after one that said no more than noise."""
_DRAWN = 60_000
_MOST_TRIPLES, _CELLS = 1000, 1000
COMPONENTS, FITS, STEPS = 60, 3, 0
_LEAST = 1_000_000

Table = tuple[int, ...]
Found = dict[Table, Measured]
Ones = Sequence[tuple[Reals, Reals, Reals]]


class AIM(Synthesizer):
    """A first look at all pairs, then rounds of choices, tables and a fit, until the price is spent.

    How many tables a round has, and so their noise, follows from earlier answers: that is why it runs under a `Filter`
    of ρ, with the discrete law; at a pure ε under one of ε. Proof: docs/proofs/synthesis.md.

    >>> AIM(rho=0.5).guarantee
    ZCDP(0.5)
    """

    looks = 1 + ROUNDS

    def _purse(self, reach: int, columns: int, entropy: BitSource | None) -> Purse:
        return adaptive_purse(self.guarantee, reach, entropy)

    def _scale(self, stage: Stage) -> float:
        return stage.purse.scale_at(stage.purse.left / math.comb(len(stage.domain.sizes), 2))

    def _joint_taken(self, domain: Domain, bins: Sequence[int]) -> int:
        """Pairs and mixtures, and the least that triples and rows of the model can do with."""
        width = sum(bins)
        mixtures = width * COMPONENTS * (40 + 24 * KINDS * FITS)
        return of_pairs(bins, 100) + 30 * width**2 + mixtures + 2 * _LEAST

    def _room(self, domain: Domain, sizes: Sequence[int]) -> int:
        """Half of the bytes that pairs and mixtures leave: triples and rows of the model have that many each."""
        spent = of_one_way(domain.sizes) + self._joint_taken(domain, sizes)
        return _LEAST + max(0, room_of(self.memory) - spent) // 2

    def _joint(self, stage: Stage) -> Fit:
        scale = self._scale(stage)
        binned = stage.binned(self._bins_within(stage, most_bins(stage.total, scale)))
        sizes, ones = [one.size for one in binned], stage.one_way(binned)
        steps = STEPS or steps_for(stage.total / scale)
        room = self._room(stage.domain, sizes)
        candidates = _candidates(sizes, room // 60)
        counted = dict(zip(candidates, joint_tables(stage, candidates, binned), strict=True))
        pairs = [one for one in candidates if len(one) == 2]
        power = 1 / 2 if isinstance(self._price, PureDP) else 2 / 3
        cells = by_cells(pairs, binned, power)
        looked = measured_tables(stage, pairs, [counted[one] for one in pairs], cells, stage.purse.left * FIRST)
        measured, found = list(looked), {one.columns: one for one in looked}
        model, number = _quick(ones, found, stage.total, steps), max(2, 2 * len(sizes))
        for rounds in range(ROUNDS, 0, -1):
            share = stage.purse.left / (rounds * number)
            expected = self._expected(stage, model, sizes, candidates, room)
            noise = stage.purse.scale_at(share * (1 - _CHOICE))
            scores = [apart(counted[one], expected[one]) - _by_noise(noise, counted[one].size) for one in candidates]
            open_, moved = list(range(len(candidates))), 0.0
            for at in range(min(number, len(candidates))):
                one = stage.purse.choose(np.array([scores[place] for place in open_]), share * _CHOICE)
                table = candidates[open_.pop(one)]
                last = rounds == 1 and (at == number - 1 or not open_)
                price = stage.purse.left if last else share * (1 - _CHOICE)
                new = stage.purse.measure(table, counted[table], price, 2 + ROUNDS - rounds)
                measured.append(new)
                found[table] = joined(found[table], new) if table in found else new
                moved += float(np.abs(new.counts - expected[table]).sum()) / _by_noise(new.scale, new.counts.size)
            if moved <= 1.2 * number:
                number = max(2, number // GROWTH)
            stage.told(0.2 + 0.4 * (1 - (rounds - 1) / ROUNDS))
            if rounds > 1:
                model = _quick(ones, found, stage.total, steps, model)
        twos, threes = _shares(found, stage.total, model)
        told = lambda part: stage.told(0.6 + 0.4 * part)  # noqa: E731
        model = fit_stacked(ones, twos, components=COMPONENTS, fits=FITS, steps=steps, told=told, triples=threes)
        return model, binned, tuple(measured), ()

    def _expected(
        self, stage: Stage, model: Mixture, sizes: Sequence[int], candidates: Sequence[Table], room: int
    ) -> dict[Table, Reals]:
        """The model's tables, counted in public rows drawn from it, which costs less than summing it out."""
        count = min(_DRAWN, room // (60 * len(sizes)))
        rows, _ = model.draw(count, public_coins(1))  # public: the model was fitted to released numbers
        found = dict[Table, Reals]()
        for table in candidates:
            cells = np.zeros(len(rows), dtype=np.int64)
            for at in table:
                cells = cells * sizes[at] + rows[:, at]
            shape = tuple(sizes[at] for at in table)
            counts = np.bincount(cells, minlength=math.prod(shape)).astype(np.float64)
            found[table] = counts.reshape(shape) * (stage.total / len(rows))
        return found


def _by_noise(scale: float, cells: int) -> int:
    """The sum of absolute values that noise alone has; at least 1."""
    return max(1, round(math.sqrt(2 / math.pi) * scale * cells))


def _quick(ones: Ones, found: Found, total: float, steps: int, before: Mixture | None = None) -> Mixture:
    """A mixture that is good enough to choose by."""
    twos, threes = _shares(found, total, before)
    laws = [law for law, _, _ in ones]
    moved = {columns: shrunk(table, laws[columns[0]], laws[columns[1]]) for columns, table in twos.items()}
    return descended(fitting(ones, moved, threes), COMPONENTS, 2, [max(1, steps // 2)], public_coins(2))[0]


def _shares(
    found: Found, total: float, model: Mixture | None
) -> tuple[dict[tuple[int, int], PairTable], dict[tuple[int, int, int], PairTable]]:
    """Tables of two as shares; those of three too, moved towards the model by as much as noise explains."""
    twos, threes = {}, {}
    for table, one in found.items():
        made = PairTable(one.counts / total, one.scale / total)
        if len(table) == 2:
            twos[table[0], table[1]] = made
        elif model is not None:
            told = model.table(table)
            away = made.shares - told
            energy = float((away**2).sum())
            kept = max(0.0, 1 - away.size * made.scale**2 / energy) if energy > 0 else 0.0
            threes[table[0], table[1], table[2]] = PairTable(told + kept * away, made.scale)
    return twos, threes


def _candidates(sizes: Sequence[int], room: int) -> list[Table]:
    """All pairs, and triples that are small enough, of at most so many cells together: public, as the sizes are."""
    pairs: list[Table] = list(combinations(range(len(sizes)), 2))
    triples: list[Table] = [
        one for one in combinations(range(len(sizes)), 3) if math.prod(sizes[at] for at in one) <= _CELLS
    ]
    triples.sort(key=lambda one: (math.prod(sizes[at] for at in one), one))
    found = triples[:_MOST_TRIPLES]
    cells = np.cumsum([math.prod(sizes[at] for at in one) for one in found])
    return [*pairs, *found[: int(np.searchsorted(cells, room, side="right"))]]
