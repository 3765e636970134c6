"""A mixture of products, fitted to noisy tables of pairs: all of its tables of pairs are one matrix product.

Each of many components has one law per column, drawn from independently. Post-processing of released numbers alone;
the random starts are public, and the same measurements give the same mixture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.synth.models.strata import Codes, placed, spread_evenly
from tacit.synth.public_coins import Public

__all__ = ["Mixture", "PairTable", "descended", "fitting", "kept_of", "pooled", "shrunk"]

Reals = npt.NDArray[np.float64]
START = 0.15
Singles = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class PairTable:
    """A noisy table of two columns (or three) as shares of all rows, and the standard deviation of its cells."""

    shares: Reals
    scale: float


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """Components with weights: ``laws[i][:, k]`` is the law of column i in component k."""

    laws: tuple[Reals, ...]
    weights: Reals
    """Of the components; they add up to 1."""
    steps: int = 0
    misfit: float = 0.0
    """The mean squared distance from the tables, in variances of their noise: about 1 at best."""
    converged: bool = True
    """A fit stops after a number of steps, on purpose: nearer to noisy tables is not nearer to the truth."""

    @property
    def components(self) -> int:
        """How many."""
        return int(self.laws[0].shape[1])

    def table(self, columns: Sequence[int]) -> Reals:
        """The joint law of some columns."""
        joint = self.laws[columns[0]] * self.weights
        if len(columns) == 1:
            law: Reals = joint.sum(axis=-1)
            return law
        for at in columns[1:-1]:
            joint = joint[..., None, :] * self.laws[at]
        result: Reals = joint @ self.laws[columns[-1]].T
        return result

    def given(self, fixed: Mapping[int, int]) -> Mixture:
        """The mixture among rows that have these bins."""
        weights = self.weights.copy()
        for column, code in fixed.items():
            weights *= self.laws[column][code]
        whole = float(weights.sum())
        weights = weights / whole if whole > 0 else self.weights
        laws = [law if at not in fixed else _only(law, fixed[at]) for at, law in enumerate(self.laws)]
        return Mixture(tuple(laws), weights, self.steps, self.misfit)

    def draw(self, count: int, random: Public) -> tuple[Codes, Codes]:
        """Rows of bins, and the component of each."""
        groups = spread_evenly(self.weights, count, random)
        return np.stack([placed(groups, law, random) for law in self.laws], axis=1), groups


def _only(law: Reals, code: int) -> Reals:
    made = np.zeros_like(law)
    made[code] = 1.0
    return made


def shrunk(table: PairTable, first: Reals, second: Reals) -> PairTable:
    """A table moved towards independence by as much of its distance as noise explains (James & Stein 1961).

    >>> noise = PairTable(np.full((2, 2), 0.25) + [[0.01, -0.01], [-0.01, 0.01]], 0.02)
    >>> shrunk(noise, np.full(2, 0.5), np.full(2, 0.5)).shares.tolist()
    [[0.25, 0.25], [0.25, 0.25]]
    """
    product = np.outer(first, second)
    return PairTable(product + kept_of(table, first, second) * (table.shares - product), table.scale)


def kept_of(table: PairTable, first: Reals, second: Reals) -> float:
    """The part of a table's distance from independence that noise does not explain: from 0 to 1."""
    apart = table.shares - np.outer(first, second)
    energy = float((apart**2).sum())
    return max(0.0, 1 - apart.size * table.scale**2 / energy) if energy > 0 else 0.0


def descended(task: Task, components: int, fits: int, stops: Sequence[int], random: Public) -> list[Mixture]:
    """For each number of steps in ``stops``, ascending, several mixtures from different starts, pooled.

    Steps are Adam's (Kingma & Ba 2015) on logits, weighted least squares: few steps stay near independence.
    """
    runs = [_descend(task, components, stops, random) for _ in range(fits)]
    found = []
    for at, steps in enumerate(stops):
        laws = np.concatenate([run[at][0] for run in runs], axis=1).astype(np.float64)
        split = tuple(np.split(laws, np.cumsum(task.sizes)[:-1]))
        misfit = float(np.mean([run[at][1] for run in runs]))
        found.append(Mixture(split, np.full(laws.shape[1], 1 / laws.shape[1]), steps, misfit))
    return found


def pooled(mixtures: Sequence[Mixture], weights: Reals) -> Mixture:
    """One mixture of several, each with its weight."""
    laws = tuple(np.concatenate([one.laws[at] for one in mixtures], axis=1) for at in range(len(mixtures[0].laws)))
    parts = np.concatenate([one.weights * weight for one, weight in zip(mixtures, weights, strict=True)])
    misfit = float(sum(one.misfit * weight for one, weight in zip(mixtures, weights, strict=True)))
    return Mixture(laws, parts / parts.sum(), max(one.steps for one in mixtures), misfit)


@dataclass(frozen=True, slots=True, eq=False)
class Triple:
    """A table of three columns: where their bins are, and what it weighs."""

    places: tuple[slice, slice, slice]
    table: Singles
    weight: np.float32

    def pull(self, laws: Singles, into: Singles) -> None:
        """Add the slope of its squared distance, in the laws of its columns."""
        first, second, third = (laws[place] for place in self.places)
        count = np.float32(laws.shape[1])
        both = (first[:, None] * second[None]).reshape(-1, laws.shape[1])
        apart = (both @ third.T / count - self.table.reshape(len(both), -1)) * (2 * self.weight)
        into[self.places[2]] += apart.T @ both
        back = (apart @ third).reshape(len(first), len(second), -1)
        into[self.places[0]] += (back * second[None]).sum(axis=1)
        into[self.places[1]] += (back * first[:, None]).sum(axis=0)


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """What mixtures are fitted to, as one matrix of all columns' bins."""

    sizes: npt.NDArray[np.int64]
    start: Singles
    tables: Singles
    weights: Singles
    ones: Singles
    one_weights: Singles
    unit: float
    cells: int
    triples: tuple[Triple, ...] = ()


def fitting(
    ones: Sequence[tuple[Reals, Reals, Reals]],
    pairs: Mapping[tuple[int, int], PairTable],
    triples: Mapping[tuple[int, int, int], PairTable] | None = None,
) -> Task:
    """All tables of two as one symmetric matrix, with the weights of its blocks; those of three by themselves.

    ``ones`` are, per column, the laws to start from, the measured one-way shares and their variances.
    """
    sizes = np.array([len(start) for start, _, _ in ones])
    ends = np.cumsum(sizes)
    where = [slice(int(end - size), int(end)) for end, size in zip(ends, sizes, strict=True)]
    tables, weights = np.zeros((ends[-1], ends[-1])), np.zeros((ends[-1], ends[-1]))
    for (first, second), table in pairs.items():
        a, b = where[first], where[second]
        tables[a, b], tables[b, a] = table.shares, table.shares.T
        weights[a, b] = weights[b, a] = table.scale**-2
    variances = np.concatenate([variance for _, _, variance in ones])
    unit = float(weights[weights > 0].mean()) if pairs else float(1 / variances.mean())
    start = np.log(np.maximum(np.concatenate([one for one, _, _ in ones]), 1e-4))
    measured = np.concatenate([one for _, one, _ in ones])
    cells = int((weights > 0).sum()) // 2 + len(measured)
    return Task(
        sizes,
        start.astype(np.float32),
        tables.astype(np.float32),
        (weights / unit).astype(np.float32),
        measured.astype(np.float32),
        (1 / (variances * unit)).astype(np.float32),
        unit,
        cells,
        tuple(
            Triple((where[a], where[b], where[c]), table.shares.astype(np.float32), np.float32(table.scale**-2 / unit))
            for (a, b, c), table in (triples or {}).items()
        ),
    )


def _descend(task: Task, components: int, stops: Sequence[int], random: Public) -> list[tuple[Singles, float]]:
    """One search from one start: its laws after each number of steps, and how far they are from the tables."""
    sizes = task.sizes
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    logits = task.start[:, None] + np.float32(START) * random.standard_normal(
        (len(task.start), components), dtype=np.float32
    )
    mean, square = np.zeros_like(logits), np.zeros_like(logits)
    found = []
    for step in range(1, stops[-1] + 1):
        laws = _laws(logits, starts, sizes)
        apart = laws @ laws.T / np.float32(components) - task.tables
        one_apart = (laws.mean(axis=1) - task.ones) * task.one_weights
        slopes = 2 * (apart * task.weights) @ laws + one_apart[:, None]
        for triple in task.triples:
            triple.pull(laws, slopes)
        pull = laws * slopes
        slope = pull - laws * np.repeat(np.add.reduceat(pull, starts, axis=0), sizes, axis=0)
        mean += np.float32(0.1) * (slope - mean)
        square += np.float32(0.01) * (slope * slope - square)
        rate = np.float32(0.1 * np.sqrt(1 - 0.99**step) / (1 - 0.9**step))
        logits -= rate * mean / (np.sqrt(square) + np.float32(1e-20))
        if step in stops:
            found += [_judged(_laws(logits, starts, sizes), task, components)] * stops.count(step)
    return found


def _judged(laws: Singles, task: Task, components: int) -> tuple[Singles, float]:
    apart = laws @ laws.T / np.float32(components) - task.tables
    one_apart = laws.mean(axis=1) - task.ones
    squares = float((apart**2 * task.weights).sum()) / 2 + float((one_apart**2 * task.one_weights).sum())
    return laws, squares * task.unit / task.cells


def _laws(logits: Singles, starts: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]) -> Singles:
    """One law per column and component."""
    top = np.maximum.reduceat(logits, starts, axis=0)
    made = np.exp(logits - np.repeat(top, sizes, axis=0))
    result: Singles = made / np.repeat(np.add.reduceat(made, starts, axis=0), sizes, axis=0)
    return result
