"""Mixtures that trust the noisy tables more or less, in the parts that foretell best what they have not seen.

How far tables should be shrunk towards independence, and how long a fit should follow them, depends on the table. So
the noisy tables are divided in two by public coins, mixtures of each kind are fitted to one part, and the other says
how much of each to take (stacking: Wolpert 1992, Breiman 1996). Post-processing of released numbers alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from tacit.synth.models.mixture import Mixture, PairTable, Reals, descended, fitting, kept_of, pooled, shrunk
from tacit.synth.public_coins import Public, public_coins

__all__ = ["KINDS", "fit_stacked"]

SPLITS, FITS_OF_A_SPLIT = 2, 1
PART = 1.0
"""The noise added to the tables that are seen, in variances."""
_FEW = 5
_LEAST = 0.05

Ones = Sequence[tuple[Reals, Reals, Reals]]
Pairs = Mapping[tuple[int, int], PairTable]
Triples = Mapping[tuple[int, int, int], PairTable]
Moved = Callable[[PairTable, Reals, Reals], PairTable]


@dataclass(frozen=True, slots=True)
class Kind:
    """How tables are moved before a fit, after which parts of all steps mixtures are kept, and of how many components.

    Few components for each fit (0: as many as told) with many fits are another way to say little.
    """

    moved: Moved
    parts: tuple[float, ...]
    few: int = 0


def _as_they_are(table: PairTable, first: Reals, second: Reals) -> PairTable:
    return table


def _weighed(table: PairTable, first: Reals, second: Reals) -> PairTable:
    """Shrunk, and of less weight where noise explains most: other tables then say what is there."""
    kept = max(_LEAST, kept_of(table, first, second))
    return PairTable(shrunk(table, first, second).shares, table.scale / float(np.sqrt(kept)))


def _of_rank_one(table: PairTable, first: Reals, second: Reals) -> PairTable:
    """Independence, and the one direction in which it is most wrong."""
    product = np.outer(first, second)
    left, sizes, right = np.linalg.svd(table.shares - product, full_matrices=False)
    return PairTable(product + sizes[0] * np.outer(left[:, 0], right[0]), table.scale)


def _in_directions(table: PairTable, first: Reals, second: Reals) -> PairTable:
    """Each direction of the distance from independence shrunk by itself (Gavish & Donoho 2017)."""
    product = np.outer(first, second)
    away = table.shares - product
    away = away - away.mean(axis=0, keepdims=True) - away.mean(axis=1, keepdims=True) + away.mean()
    short, long = sorted(max(1, size - 1) for size in away.shape)
    ratio, noise = short / long, table.scale * np.sqrt(long)
    left, sizes, right = np.linalg.svd(away, full_matrices=False)
    told = np.maximum(sizes / noise, 1e-9)
    kept = np.sqrt(np.maximum((told**2 - ratio - 1) ** 2 - 4 * ratio, 0)) / told
    return PairTable(product + (left * (noise * np.where(told > 1 + np.sqrt(ratio), kept, 0.0))) @ right, table.scale)


ALL = (
    Kind(shrunk, (1.0,)),
    Kind(_as_they_are, (0.35, 0.55, 0.9)),
    Kind(_as_they_are, (0.8,), few=_FEW),
    Kind(_in_directions, (1.0,)),
    Kind(_weighed, (1.0,)),
    Kind(_of_rank_one, (0.55,)),
)
KINDS = sum(len(kind.parts) for kind in ALL)


def fit_stacked(
    ones: Ones,
    pairs: Pairs,
    *,
    components: int,
    fits: int,
    steps: int,
    told: Callable[[float], None] = lambda part: None,
    triples: Triples | None = None,
) -> Mixture:
    """One mixture, pooled from those of each kind by weights that are found in parts of the tables not fitted to.

    Tables with noise of variance σ² become two with independent noise, y + √α·w and y - w/√α for w of variance σ²
    (Oliveira, Lei & Tibshirani 2021). Weights are not below 0 and add up to 1.
    """
    random = public_coins(20_261_118)  # public: it divides released numbers, and says where searches start
    threes = triples or {}
    square, line = np.zeros((KINDS, KINDS)), np.zeros(KINDS)
    for number in range(SPLITS):
        seen, unseen = _divided(pairs, random)
        seen_threes, unseen_threes = _divided(threes, random)
        found = _each(ones, seen, seen_threes, components, FITS_OF_A_SPLIT, steps, random, ALL)
        for table, other in (*unseen.items(), *unseen_threes.items()):
            laws = np.stack([one.table(table).ravel() for one in found])
            square += laws @ laws.T / other.scale**2
            line += laws @ other.shares.ravel() / other.scale**2
        told(0.5 * (number + 1) / SPLITS)
    weights = nearest(square, line)
    found = _each(ones, pairs, threes, components, fits, steps, random, _with(weights))
    told(1.0)
    return pooled(found, weights[weights > 0])


def _with(weights: npt.NDArray[np.float64]) -> list[Kind]:
    """The kinds that have a weight, with those of their numbers of steps that have one."""
    left, found = iter(weights.tolist()), list[Kind]()
    for kind in ALL:
        parts = tuple(part for part in kind.parts if next(left) > 0)
        if parts:
            found.append(replace(kind, parts=parts))
    return found


Columns = TypeVar("Columns", bound=tuple[int, ...])


def _divided(
    tables: Mapping[Columns, PairTable], random: Public
) -> tuple[dict[Columns, PairTable], dict[Columns, PairTable]]:
    """Two tables for each, with independent noise."""
    seen, unseen = {}, {}
    for columns, table in tables.items():
        noise = random.normal(0, table.scale, table.shares.shape)
        seen[columns] = PairTable(table.shares + np.sqrt(PART) * noise, table.scale * float(np.sqrt(1 + PART)))
        unseen[columns] = PairTable(table.shares - noise / np.sqrt(PART), table.scale * float(np.sqrt(1 + 1 / PART)))
    return seen, unseen


def _each(
    ones: Ones,
    pairs: Pairs,
    triples: Triples,
    components: int,
    fits: int,
    steps: int,
    random: Public,
    kinds: Sequence[Kind],
) -> list[Mixture]:
    """A mixture of each kind and number of steps."""
    laws = [law for law, _, _ in ones]
    found: list[Mixture] = []
    for kind in kinds:
        tables = {columns: kind.moved(table, laws[columns[0]], laws[columns[1]]) for columns, table in pairs.items()}
        stops = [max(1, round(part * steps)) for part in kind.parts]
        size, times = (kind.few, 2 * fits) if kind.few else (components, fits)
        found += descended(fitting(ones, tables, triples), size, times, stops, random)
    return found


def nearest(square: npt.NDArray[np.float64], line: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The weights w ≥ 0 of sum 1 with the least w·square·w - 2·line·w.

    Mixtures are much alike, and steps down so flat a slope would end anywhere. Where the least is, the weights above 0
    are those that solve the equations without the others: so all sets of them are tried, and the best is exact.

    >>> nearest(np.eye(2), np.array([2.0, 0.0])).tolist()
    [1.0, 0.0]
    """
    size, found, least = len(line), np.zeros(len(line)), np.inf
    apart = square - square[:1] - square[:, :1] + square[0, 0]  # distances from the first: the same w, as they add to 1
    pull = line - line[0] - square[0] + square[0, 0]
    unit = max(1e-300, float(np.abs(apart).max()))
    for chosen in range(1, 1 << size):
        places = [at for at in range(size) if chosen >> at & 1]
        whole = np.ones((len(places) + 1, len(places) + 1))
        whole[:-1, :-1], whole[-1, -1] = apart[np.ix_(places, places)] / unit, 0.0
        weights = np.linalg.lstsq(whole, np.append(pull[places] / unit, 1.0), rcond=None)[0][:-1]
        if weights.min() < -1e-9 or abs(weights.sum() - 1) > 1e-6:
            continue
        value = float(weights @ whole[:-1, :-1] @ weights - 2 * pull[places] @ weights / unit)
        if value < least:
            least, found = value, np.zeros(size)
            found[places] = np.maximum(weights, 0.0)
    result: npt.NDArray[np.float64] = found / found.sum()
    return result
