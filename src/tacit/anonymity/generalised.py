"""Generalised columns: what is written for each row, and how much of a value that loses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.anonymity.domains import Domain, Table
from tacit.anonymity.hierarchy import Hierarchy

__all__ = ["UNKNOWN", "Column", "Generalised", "by_class", "by_level"]

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

UNKNOWN = "unknown"
_ANYTHING = "*"
_MOST_LISTED = 64
"""A set of more values is written as *, and loses all."""
_MARKS = set("{}|\"'") | {" "}


@dataclass(frozen=True, slots=True)
class Column:
    """A generalised column: labels, None for unknown; the label of each row; and the loss of each row, from 0 to 1."""

    labels: tuple[str | None, ...]
    place: Integers
    loss: Floats


@dataclass(frozen=True, slots=True)
class Generalised:
    """Generalised quasi-identifiers of all rows, which of the rows are kept, and how that was found, in words."""

    columns: tuple[Column, ...]
    kept: Flags
    levels: dict[str, int] | None = None
    tried: tuple[int, int] | None = None
    """Combinations of levels that were tried, of how many."""


def by_level(domain: Domain, codes: npt.NDArray[np.int32], level: int) -> Column:
    """A column at one level of its hierarchy."""
    assert domain.hierarchy is not None
    labels = [label or None for label in domain.hierarchy.labels(level)]
    places = domain.hierarchy.nodes(level)
    _, first = np.unique(places, return_index=True)
    return Column(tuple(labels[i] for i in first), places[codes], domain.hierarchy.loss(level)[codes])


def by_class(table: Table, classes: Integers) -> tuple[Column, ...]:
    """Each column with one label per class: the smallest that covers what the rows of the class have."""
    order = np.argsort(classes, kind="stable")
    starts = np.flatnonzero(np.diff(classes[order], prepend=-1))
    found = []
    for domain, codes in zip(table.domains, table.codes, strict=True):
        mine = codes[order].astype(np.int64)
        if domain.hierarchy is not None:
            labels, loss = _ancestors(domain.hierarchy, mine, starts)
        elif domain.number:
            labels, loss = _intervals(domain, mine, starts)
        else:
            labels, loss = _sets(domain, classes, codes)
        places: dict[str | None, int] = {}
        of_class = np.array([places.setdefault(label, len(places)) for label in labels], dtype=np.int64)
        found.append(Column(tuple(places), of_class[classes], np.asarray(loss)[classes]))
    return tuple(found)


def _intervals(domain: Domain, mine: Integers, starts: Integers) -> tuple[list[str | None], Floats]:
    low, high = np.minimum.reduceat(mine, starts), np.maximum.reduceat(mine, starts)
    ends = zip(low.tolist(), high.tolist(), strict=True)
    return [_interval(domain.values, a, b) for a, b in ends], (high - low) / max(len(domain) - 1, 1)


def _interval(values: Sequence[str | None], low: int, high: int) -> str | None:
    if values[low] is not None:
        return values[low] if low == high else f"{values[low]}..{values[high]}"
    if low == high:
        return None
    return f"{_interval(values, low + 1, high)} or {UNKNOWN}"


def _sets(domain: Domain, classes: Integers, codes: npt.NDArray[np.int32]) -> tuple[list[str | None], Floats]:
    size = len(domain)
    found = np.unique(classes * size + codes)
    owner, value = found // size, (found % size).tolist()
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    lengths = np.diff(starts, append=len(found))
    labels: list[str | None] = []
    for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
        if length == 1:
            labels.append(domain.values[value[start]])
        elif length == size or length > _MOST_LISTED:
            labels.append(_ANYTHING)
        else:
            labels.append(_set([domain.values[one] for one in value[start : start + length]]))
    lost = np.where(lengths > _MOST_LISTED, size, lengths)
    return labels, (lost - 1) / max(size - 1, 1)


def _set(values: Sequence[str | None]) -> str:
    texts = sorted(UNKNOWN if value is None else _quoted(value) for value in values)
    return "{" + " | ".join(texts) + "}"


def _quoted(value: str) -> str:
    """A value within a set: in quotes if it could be mistaken for something else."""
    if value != UNKNOWN and not _MARKS & set(value):
        return value
    return '"' + value.replace('"', '""') + '"'


def _ancestors(tree: Hierarchy, mine: Integers, starts: Integers) -> tuple[list[str | None], Floats]:
    """The lowest node above all values of each class."""
    classes = len(starts)
    labels: list[str | None] = [None] * classes
    loss = np.zeros(classes)
    open_ = np.ones(classes, dtype=bool)
    some = mine[starts]
    for level in range(tree.height):
        nodes = tree.nodes(level)[mine]
        one = np.minimum.reduceat(nodes, starts) == np.maximum.reduceat(nodes, starts)
        names, lost = tree.labels(level), tree.loss(level)
        for place in np.flatnonzero(one & open_).tolist():
            labels[place] = names[some[place]] or None
            loss[place] = lost[some[place]]
        open_ &= ~one
    return labels, loss
