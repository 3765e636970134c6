"""Second moments made better by what is known of them without a row: nothing here sees more than was released.

Two categories of one column never meet; a fine bin lies in one coarse bin; an indicator times itself is itself. Of two
columns, what was released is drawn toward n·E[x]·E[y], as if they told nothing of each other, by as much as noise
explains of the difference (James and Stein 1961, by table).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.learn.linear.design import Design

__all__ = ["sharpened"]

Reals = npt.NDArray[np.float64]


def sharpened(design: Design, released: Reals, noise: float) -> tuple[Reals, float]:
    """The matrix, and about how large the noise that remains is, as a matrix; each entry had noise of this size."""
    matrix, kept = released.copy(), np.zeros_like(released)
    first = 1 + len(design.numbers)
    counts = np.maximum((matrix[0, first:] + matrix[range(first, design.width), range(first, design.width)]) / 2, 0.0)
    matrix[0, first:] = matrix[first:, 0] = counts
    rows = max(float(matrix[0, 0]), 1.0)
    means = np.clip(matrix[0] / rows, -1.0, 1.0)
    parts = _parts(design)
    for at, (column, terms) in enumerate(parts):
        for other, later in parts[at:]:
            if column is None and other is None:
                kept[terms, terms], matrix[terms, terms] = _numbers(matrix[terms, terms], means[terms], rows, noise)
                continue
            if column == other:
                found, share = _same(counts[terms.start - first : terms.stop - first], later.stop - later.start), 0.0
            else:
                found, share = _drawn(matrix[terms, later], rows * np.outer(means[terms], means[later]), noise)
            matrix[terms, later], matrix[later, terms] = found, found.T
            kept[terms, later] = kept[later, terms] = share
    return matrix, noise * float(np.sqrt(max(kept.mean() * design.width, 0.5)))


def _parts(design: Design) -> list[tuple[int | None, slice]]:
    """The numbers together (None), then each block with its column."""
    count = len(design.numbers)
    numbers: list[tuple[int | None, slice]] = [(None, slice(1, 1 + count))] if count else []
    starts = zip(design.starts, design.blocks, strict=True)
    blocks = sorted(starts, key=lambda one: (one[1].place, -one[1].size))  # the finer one first
    return numbers + [(block.place, slice(start, start + block.size)) for start, block in blocks]


def _same(counts: Reals, size: int) -> Reals:
    """Bins of one column in two resolutions, or in one: a finer bin is in the coarser one that it lies in."""
    found = np.zeros((counts.size, size))
    fine = np.arange(counts.size)
    found[fine, fine * size // counts.size] = counts
    return found


def _drawn(released: Reals, expected: Reals, noise: float) -> tuple[Reals, float]:
    """A table drawn toward what is expected, and the share of the difference that was kept."""
    difference = released - expected
    share = _kept(difference, noise)
    return expected + share * difference, share


def _numbers(released: Reals, means: Reals, rows: float, noise: float) -> tuple[Reals, Reals]:
    """How much was kept of each, and the products of numbers: all pairs drawn alike, the squares as they are."""
    expected = rows * np.outer(means, means)
    difference = released - expected
    apart = ~np.eye(len(means), dtype=bool)
    share = np.where(apart, _kept(difference[apart], noise), 1.0)
    return share, expected + share * difference


def _kept(difference: Reals, noise: float) -> float:
    """The share of a difference that noise does not explain."""
    with np.errstate(over="ignore", invalid="ignore"):
        square = float((difference / noise).__pow__(2).sum())
    explained = max(difference.size - 2, 1)
    return 1 - explained / square if square > explained else 0.0
