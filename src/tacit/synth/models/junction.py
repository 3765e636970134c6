"""A junction tree: cliques of columns such that any two share no more than the path between them does.

Built from the sets of columns that were measured, by greedy elimination; messages pass in log space.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["JunctionTree", "cells_of", "junction_tree"]

Reals = npt.NDArray[np.float64]
Clique = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class JunctionTree:
    """Cliques in an order in which each one's parent comes before it; None for the first of a component."""

    sizes: tuple[int, ...]
    cliques: tuple[Clique, ...]
    parents: tuple[int | None, ...]
    shared: tuple[Clique, ...]
    """The columns that a clique shares with its parent, in order."""

    @property
    def cells(self) -> int:
        """Of all cliques together."""
        return sum(math.prod(self.sizes[at] for at in clique) for clique in self.cliques)

    def shape(self, clique: Clique) -> tuple[int, ...]:
        """The sizes of a clique's columns."""
        return tuple(self.sizes[at] for at in clique)

    def holder(self, columns: Iterable[int]) -> int | None:
        """The smallest clique that has all of these columns."""
        wanted = set(columns)
        having = [at for at, clique in enumerate(self.cliques) if wanted <= set(clique)]
        return min(having, key=lambda at: math.prod(self.shape(self.cliques[at])), default=None)

    def marginals(self, potentials: Sequence[Reals]) -> tuple[list[Reals], float]:
        """The logs of the cliques' laws, from logs of factors, and the log of what they were divided by.

        Up the tree and down again (Shafer & Shenoy 1990): each clique is visited twice.
        """
        beliefs = [one.copy() for one in potentials]
        messages: list[Reals | None] = [None] * len(beliefs)
        for at in reversed(range(len(beliefs))):
            parent = self.parents[at]
            if parent is not None:
                message = log_sum(beliefs[at], self.cliques[at], self.shared[at])
                messages[at] = message
                beliefs[parent] += spread_over(message, self.shared[at], self.cliques[parent])
        scale = 0.0
        for at, parent in enumerate(self.parents):
            if parent is None:
                whole = float(np.logaddexp.reduce(beliefs[at], axis=None))
                scale += whole
                beliefs[at] -= whole
                continue
            mine = messages[at]
            assert mine is not None
            outer = log_sum(beliefs[parent], self.cliques[parent], self.shared[at])
            with np.errstate(invalid="ignore"):
                change = np.where(np.isneginf(outer), -np.inf, outer - mine)
            beliefs[at] += spread_over(change, self.shared[at], self.cliques[at])
        return beliefs, scale


def log_sum(values: Reals, clique: Clique, kept: Clique) -> Reals:
    """ln of the sum of e^values over all columns but the kept ones; kept ones in the clique's order."""
    axes = tuple(axis for axis, column in enumerate(clique) if column not in kept)
    if not axes:
        return values
    top = values.max(axis=axes, keepdims=True)
    safe = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        result: Reals = np.log(np.exp(values - safe).sum(axis=axes)) + safe.reshape(
            [size for axis, size in enumerate(top.shape) if axis not in axes]
        )
    return result


def spread_over(values: Reals, columns: Clique, clique: Clique) -> Reals:
    """Values over some of a clique's columns, both in ascending order, in a shape that broadcasts over the clique."""
    lengths = iter(values.shape)
    return values.reshape([next(lengths) if column in columns else 1 for column in clique])


def junction_tree(sizes: Sequence[int], sets: Iterable[Iterable[int]]) -> JunctionTree:
    """A tree whose cliques hold each of the sets, and every column.

    >>> junction_tree([2, 3, 4, 5], [(0, 1), (1, 2)]).cliques
    ((0, 1), (1, 2), (3,))
    """
    near: dict[int, set[int]] = {at: set() for at in range(len(sizes))}
    for one in sets:
        for first in one:
            near[first] |= set(one) - {first}
    found = _eliminated(tuple(sizes), near)
    cliques = sorted(one for one in found if not any(one < other for other in found))
    return _joined(tuple(sizes), [tuple(sorted(one)) for one in sorted(map(sorted, cliques))])


def cells_of(sizes: Sequence[int], sets: Iterable[Iterable[int]]) -> int:
    """How many cells the cliques would have together, known before anything is built."""
    near: dict[int, set[int]] = {at: set() for at in range(len(sizes))}
    for one in sets:
        for first in one:
            near[first] |= set(one) - {first}
    found = _eliminated(tuple(sizes), near)
    return sum(math.prod(sizes[at] for at in one) for one in found if not any(one < other for other in found))


def _eliminated(sizes: tuple[int, ...], near: dict[int, set[int]]) -> list[frozenset[int]]:
    """The cliques that arise when columns are taken out one by one, each time the one of the smallest clique."""
    left, found = {at: set(others) for at, others in near.items()}, list[frozenset[int]]()
    cost = {at: _log_cells(sizes, at, others) for at, others in left.items()}
    while left:
        at = min(left, key=lambda one: (cost[one], one))
        around = left.pop(at)
        found.append(frozenset({at} | around))
        for first in around:
            left[first] |= around - {first}
            left[first].discard(at)
        for first in around:
            cost[first] = _log_cells(sizes, first, left[first])
    return list(dict.fromkeys(found))


def _log_cells(sizes: tuple[int, ...], at: int, others: set[int]) -> float:
    return math.log(sizes[at]) + sum(math.log(sizes[one]) for one in others)


def _joined(sizes: tuple[int, ...], cliques: list[Clique]) -> JunctionTree:
    """A tree of the largest separators (Prim); cliques that share nothing start a tree of their own."""
    order, parents, shared = list[int](), list[int | None](), list[Clique]()
    left = list(range(len(cliques)))
    while left:
        best = max(
            (
                (len(set(cliques[at]) & set(cliques[into])), -at, -place)
                for at in left
                for place, into in enumerate(order)
            ),
            default=(0, 0, 0),
        )
        if best[0] == 0:
            at, parent, both = left[0], None, tuple[int, ...]()
        else:
            at, parent = -best[1], -best[2]
            both = tuple(sorted(set(cliques[at]) & set(cliques[order[parent]])))
        left.remove(at)
        order.append(at)
        parents.append(parent)
        shared.append(both)
    return JunctionTree(sizes, tuple(cliques[at] for at in order), tuple(parents), tuple(shared))
