"""A tree, level by level: exact counts of classes on both sides of every split, and a private choice in every node."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.learn.reading.rows import InMemoryRows, Rows
from tacit.learn.spending.spending import Spending
from tacit.learn.trees.impurity import UNIT, purity
from tacit.learn.trees.splits import Places, Splits

__all__ = ["Grown", "grow", "leaf_of"]

Integers = npt.NDArray[np.int64]
Chosen = npt.NDArray[np.int64]
"""For each inner node, level after level, the column and the split."""


@dataclass(frozen=True, slots=True, repr=False)
class _Part:
    """Some rows: the cells of each column, the class, and the node that each has reached; private."""

    cells: list[Places]
    target: Places
    node: Places

    @property
    def size(self) -> int:
        return int(self.target.size)


@dataclass(frozen=True, slots=True)
class Grown:
    """A tree of 2^depth leaves: what was chosen, and the exact counts of classes in its leaves, which are private."""

    chosen: Chosen
    leaves: Integers


def grow(
    splits: Splits,
    rows: Rows,
    spending: Spending,
    *,
    classes: int,
    shares: Sequence[Fraction],
    columns: Sequence[int] | None = None,
    name: str = "",
) -> Grown:
    """A tree with a level for each share of the budget; ``columns`` are those that may be split on."""
    used = list(range(len(splits.sizes))) if columns is None else list(columns)
    weights = np.concatenate([_of_column(splits, place) for place in used])
    read = _reader(splits, rows)
    chosen = np.zeros((0, 2), dtype=np.int64)
    for level, share in enumerate(shares):
        choice = spending.choice(
            f"{name}splits of level {level + 1}", share, sensitivity=UNIT * rows.limit, monotone=True, base=weights
        )
        scores = _scores(splits, used, read(chosen), 1 << level, classes)
        picked = [_found(splits, used, choice.index(row, entropy=spending.bits)) for row in scores]
        chosen = np.concatenate([chosen, np.array(picked, dtype=np.int64)])
    return Grown(chosen, _leaves(read(chosen), 1 << len(shares), classes))


def leaf_of(splits: Splits, chosen: Chosen, cells: Sequence[Places]) -> Places:
    """The leaf that each row falls into, given its cells."""
    node = np.zeros(cells[0].size, dtype=np.intp)
    done = 0
    while done < len(chosen):
        width = done + 1  # nodes of this level: as many as all before it, and one more
        node = _next(splits, chosen[done : done + width], cells, node)
        done += width
    return node


def _next(splits: Splits, level: Chosen, cells: Sequence[Places], node: Places) -> Places:
    right = np.zeros(node.size, dtype=np.bool_)
    for column in np.unique(level[:, 0]).tolist():
        here = level[node, 0] == column
        right[here] = splits.right(column, level[node[here], 1], cells[column][here])
    return 2 * node + right


def _reader(splits: Splits, rows: Rows) -> Callable[[Chosen], Iterator[_Part]]:
    """All rows whose class is known, each at the node that it reaches in the tree so far."""

    def read() -> Iterator[_Part]:
        for chunk in rows.chunks():
            assert chunk.target is not None
            known = chunk.target >= 0
            codes = chunk.codes[known]
            cells = [splits.cells(place, codes[:, place]) for place in range(len(splits.sizes))]
            yield _Part(cells, chunk.target[known].astype(np.intp), np.zeros(len(codes), dtype=np.intp))

    held = list(read()) if isinstance(rows, InMemoryRows) else None

    def at(chosen: Chosen) -> Iterator[_Part]:
        for part in read() if held is None else held:
            yield _Part(part.cells, part.target, leaf_of(splits, chosen, part.cells))

    return at


def _scores(splits: Splits, used: Sequence[int], parts: Iterator[_Part], nodes: int, classes: int) -> Integers:
    """A row of scores for each node: one for each split of the columns used."""
    held = [np.zeros((nodes, splits.sizes[place], classes), dtype=np.int64) for place in used]
    for part in parts:
        for place, counts in zip(used, held, strict=True):
            size = splits.sizes[place]
            at = (part.node * size + part.cells[place]) * classes + part.target
            counts += np.bincount(at, minlength=nodes * size * classes).reshape(counts.shape)
    return np.concatenate([_both_sides(splits, p, counts) for p, counts in zip(used, held, strict=True)], axis=1)


def _both_sides(splits: Splits, place: int, counts: Integers) -> Integers:
    total = counts.sum(axis=1, keepdims=True)
    one = counts if splits.by_category(place) else counts.cumsum(axis=1)[:, :-1]
    return purity(one) + purity(total - one)


def _leaves(parts: Iterator[_Part], nodes: int, classes: int) -> Integers:
    counts = np.zeros(nodes * classes, dtype=np.int64)
    for part in parts:
        counts += np.bincount(part.node * classes + part.target, minlength=nodes * classes)
    return counts.reshape(nodes, classes)


def _of_column(splits: Splits, place: int) -> Integers:
    counts = splits.counts
    start = sum(counts[:place])
    return splits.weights[start : start + counts[place]]


def _found(splits: Splits, used: Sequence[int], index: int) -> tuple[int, int]:
    for place in used:
        count = splits.counts[place]
        if index < count:
            return place, index
        index -= count
    raise IndexError(index)
