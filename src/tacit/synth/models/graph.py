"""A graphical model over bins, fitted to noisy tables by mirror descent over a junction tree (McKenna et al. 2019).

Of all laws that are near the tables it is the one of largest entropy given its cliques. Post-processing alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.synth.models.junction import Clique, JunctionTree, junction_tree, log_sum, spread_over
from tacit.synth.models.strata import Codes, placed
from tacit.synth.public_coins import Public

__all__ = ["CELL", "GraphModel", "Target", "fit_graph"]

Reals = npt.NDArray[np.float64]
CELL = 140
"""Bytes of memory per cell of a model, while it is fitted."""
_WORK = 50_000_000
"""Cells times steps of one fit: a model that is too large to converge in time says so."""


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """A noisy table as shares of all rows; columns ascending; a variance for each cell, or one for all."""

    columns: Clique
    shares: Reals
    variance: Reals | float


@dataclass(frozen=True, slots=True, eq=False)
class GraphModel:
    """Logs of the laws of the cliques of a junction tree, which agree with each other."""

    tree: JunctionTree
    potentials: tuple[Reals, ...]
    logs: tuple[Reals, ...]
    steps: int = 0
    converged: bool = True
    misfit: float = 0.0

    def table(self, columns: Sequence[int]) -> Reals:
        """The joint law of some columns, by summing out the others along the tree."""
        ordered = tuple(sorted(columns))
        law = _joint(self.tree, self.logs, ordered)
        return np.transpose(law, [ordered.index(at) for at in columns])

    def given(self, fixed: Mapping[int, int]) -> GraphModel:
        """The model among rows that have these bins."""
        potentials = [one.copy() for one in self.potentials]
        for column, code in fixed.items():
            holder = self.tree.holder([column])
            assert holder is not None
            mask = np.full(self.tree.sizes[column], -np.inf)
            mask[code] = 0.0
            potentials[holder] = potentials[holder] + spread_over(mask, (column,), self.tree.cliques[holder])
        logs, _ = self.tree.marginals(potentials)
        return GraphModel(self.tree, tuple(potentials), tuple(logs))

    def draw(self, count: int, random: Public) -> tuple[Codes, None]:
        """Rows of bins: clique by clique, the new columns of each by their law given those that are there."""
        tree, rows = self.tree, np.zeros((count, len(self.tree.sizes)), dtype=np.int64)
        for clique, logs, known in zip(tree.cliques, self.logs, tree.shared, strict=True):
            new = tuple(column for column in clique if column not in known)
            order = [clique.index(column) for column in (*new, *known)]
            law = np.exp(np.transpose(logs, order)).reshape(math.prod(tree.shape(new)), -1)
            groups = np.zeros(count, dtype=np.int64)
            for column in known:
                groups = groups * tree.sizes[column] + rows[:, column]
            cells = placed(groups, law, random)
            for column in reversed(new):
                cells, rows[:, column] = np.divmod(cells, tree.sizes[column])
        return rows, None


def fit_graph(
    sizes: Sequence[int],
    targets: Sequence[Target],
    *,
    start: Sequence[Reals],
    before: GraphModel | None = None,
    steps: int = 1000,
    tolerance: float = 1e-2,
) -> GraphModel:
    """The model of the tables' cliques that is nearest to them, in squares weighted by their variances.

    It starts from the tables themselves where they are cliques, elsewhere from independent columns with the laws
    ``start``; or from a model of fewer tables. Each step is a line search; it has converged when ten steps together
    gain less than a share ``tolerance`` of the misfit.
    """
    tree = junction_tree(sizes, [target.columns for target in targets])
    potentials = _warm(tree, before) if before is not None else _near(tree, targets, start)
    placed = [(_holder(tree, target.columns), target) for target in targets]
    logs, _ = tree.marginals(potentials)
    misfit, slopes = _misfit(tree, logs, placed)
    rate, history, converged, step = 1.0 / max(1e-300, _steepest(slopes)), [misfit], False, 0
    steps = min(steps, max(30, _WORK // tree.cells))
    while step < steps and not converged:
        step += 1
        for _ in range(40):
            tried = [one - rate * slope for one, slope in zip(potentials, slopes, strict=True)]
            new_logs, _ = tree.marginals(tried)
            new_misfit, new_slopes = _misfit(tree, new_logs, placed)
            gain = sum(
                float((slope * (np.exp(a) - np.exp(b))).sum())
                for slope, a, b in zip(slopes, logs, new_logs, strict=True)
            )
            if misfit - new_misfit >= 0.5 * gain:
                break
            rate *= 0.5
        else:
            converged = True
            break
        potentials, logs, misfit, slopes = tried, new_logs, new_misfit, new_slopes
        rate *= 1.5
        history.append(misfit)
        if len(history) > 10 and history[-11] - misfit <= tolerance * max(misfit, 1e-12):
            converged = True
    cells = sum(target.shares.size for target in targets)
    return GraphModel(tree, tuple(potentials), tuple(logs), step, converged, 2 * misfit / max(1, cells))


def _holder(tree: JunctionTree, columns: Clique) -> int:
    found = tree.holder(columns)
    assert found is not None
    return found


def _steepest(slopes: Sequence[Reals]) -> float:
    return max((float(np.abs(slope).max()) for slope in slopes), default=1.0)


def _near(tree: JunctionTree, targets: Sequence[Target], start: Sequence[Reals]) -> list[Reals]:
    """Factors near the tables: the law of each clique given what it shares with its parent."""
    logs = [np.log(np.maximum(law, 1e-6) / np.maximum(law, 1e-6).sum()) for law in start]
    known = {target.columns: target.shares for target in targets}
    potentials = []
    for clique, shared in zip(tree.cliques, tree.shared, strict=True):
        made = np.zeros(tree.shape(clique))
        for column in clique:
            made = made + spread_over(logs[column], (column,), clique)
        if clique in known:
            made = np.log(np.maximum(known[clique], 0.1 * np.exp(made)))
        potentials.append(made - spread_over(log_sum(made, clique, shared), shared, clique))
    return potentials


def _warm(tree: JunctionTree, before: GraphModel) -> list[Reals]:
    """Factors that say what another model said: its law of each clique given what that shares with its parent."""
    potentials = []
    for clique, shared in zip(tree.cliques, tree.shared, strict=True):
        logs = np.log(np.maximum(before.table(clique), 1e-300))
        potentials.append(logs - spread_over(log_sum(logs, clique, shared), shared, clique))
    return potentials


def _misfit(
    tree: JunctionTree, logs: Sequence[Reals], placed: Sequence[tuple[int, Target]]
) -> tuple[float, list[Reals]]:
    """Half the weighted squares of distances from the tables, and its slope in each clique's law."""
    whole, slopes = 0.0, [np.zeros(one.shape) for one in logs]
    for holder, target in placed:
        clique = tree.cliques[holder]
        law = np.exp(log_sum(logs[holder], clique, target.columns))
        apart = law - target.shares
        pull = apart / target.variance
        whole += 0.5 * float((apart * pull).sum())
        slopes[holder] = slopes[holder] + spread_over(pull, target.columns, clique)
    return whole, slopes


def _joint(tree: JunctionTree, logs: Sequence[Reals], columns: Clique) -> Reals:
    """The law of columns that may lie in several cliques: cliques are joined from the leaves up, others summed out."""
    holder = tree.holder(columns)
    if holder is not None:
        return np.exp(log_sum(logs[holder], tree.cliques[holder], columns))
    whole = np.ones(())
    kept: Clique = ()
    factors: list[tuple[Clique, Reals] | None] = [None] * len(logs)
    for at in reversed(range(len(logs))):
        clique, law = tree.cliques[at], np.exp(logs[at])
        parent = tree.parents[at]
        if parent is not None:
            over = np.exp(log_sum(logs[at], clique, tree.shared[at]))
            with np.errstate(invalid="ignore", divide="ignore"):
                law = law / np.where(over > 0, over, 1.0).reshape(spread_over(over, tree.shared[at], clique).shape)
        found = (clique, law)
        for child, into in enumerate(tree.parents):
            if into == at and (factor := factors[child]) is not None:
                found = _product(found, factor)
        keep = set(columns) | (set(tree.shared[at]) if parent is not None else set())
        left = tuple(column for column in found[0] if column in keep)
        if parent is None:
            summed = _summed(found, left)
            whole, kept = _product((kept, whole), (left, summed))[1], tuple(sorted({*kept, *left}))
        elif set(left) - set(tree.shared[at]):
            factors[at] = (left, _summed(found, left))
    return whole


def _summed(factor: tuple[Clique, Reals], kept: Clique) -> Reals:
    axes = tuple(axis for axis, column in enumerate(factor[0]) if column not in kept)
    return factor[1].sum(axis=axes) if axes else factor[1]


def _product(first: tuple[Clique, Reals], second: tuple[Clique, Reals]) -> tuple[Clique, Reals]:
    """Two factors over ascending columns as one."""
    columns = tuple(sorted({*first[0], *second[0]}))
    return columns, spread_over(first[1], first[0], columns) * spread_over(second[1], second[0], columns)
