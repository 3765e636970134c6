"""Passes over the rows: sums of whole numbers that are exact in each chunk and cannot overflow, in one code path.

An entry of a row, and a row's factor, are whole numbers below 2¹⁷ and 2¹⁸ in size, whose product is at most the
clipping limit below 2³¹; a chunk has at most 2²⁰ rows. So the sizes of a chunk's products sum to less than 2⁵³, every
partial sum is a double exactly, and the order of adding does not matter. Chunks are added up in Python's integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tacit.learn.linear.clipping import largest_factors
from tacit.learn.linear.design import Design, Prepared
from tacit.learn.reading.columns import MISSING, Codes
from tacit.learn.reading.rows import Chunk, InMemoryRows, Rows
from tacit.noise.coins import bernoulli
from tacit.noise.entropy import BitSource

__all__ = ["Batch", "Loss", "Passes"]

Reals = npt.NDArray[np.float64]
Wide = npt.NDArray[Any]

ROWS = 1 << 20
"""The most rows that are multiplied at a time."""


class Loss(Protocol):
    """What makes residuals of margins and targets, in whole numbers, row by row."""

    @property
    def outputs(self) -> int:
        """How many margins a row has."""

    @property
    def curvature(self) -> float:
        """The most that a second derivative by a margin is."""

    def residuals(self, margins: Reals, target: Codes, limits: Reals, pure: bool) -> Reals:
        """The derivatives of each row's loss by its margins; together, in L2 (in L1 if pure), at most its limit."""


@dataclass(frozen=True, slots=True, repr=False)
class Batch:
    """Rows, what is to be learned of each, and where each unit begins (None: each row is one); private."""

    rows: Prepared
    target: Codes
    sizes: npt.NDArray[np.int64]
    """The L1 norm of each row, or the square of its L2 norm."""

    firsts: npt.NDArray[np.int64] | None

    def limits(self, limit: int, *, pure: bool) -> Reals:
        """The largest whole factor of each row that keeps its gradient within the limit; 0 for an unknown target."""
        found = limit // self.sizes if pure else largest_factors(limit**2, self.sizes)
        found[self.target == MISSING] = 0
        return found.astype(np.float64)

    def coins(self, sampling: Fraction, bits: BitSource) -> npt.NDArray[np.bool_]:
        """For each row whether its unit is in the sample: one secret coin for each unit."""
        if self.firsts is None:
            return bernoulli(sampling, self.rows.size, bits)
        drawn = bernoulli(sampling, self.firsts.size, bits)
        return np.repeat(drawn, np.diff(np.append(self.firsts, self.rows.size)))


class Passes:
    """Rows that are read again and again; those in memory are prepared once, and their limits found once."""

    def __init__(self, design: Design, rows: Rows, *, pure: bool) -> None:
        self._design = design
        self._rows = rows
        self._pure = pure
        self._held = list(self._read()) if isinstance(rows, InMemoryRows) else None
        self._limits: tuple[int, list[Reals]] = (0, [])

    def _batches(self) -> Iterator[Batch]:
        return iter(self._held) if self._held is not None else self._read()

    def _read(self) -> Iterator[Batch]:
        for chunk in self._rows.chunks():
            for part, firsts in parts_of(chunk, ROWS):
                prepared = self._design.prepare(chunk.codes[part])
                target = np.zeros(prepared.size, dtype=np.int16) if chunk.target is None else chunk.target[part]
                yield Batch(prepared, target, prepared.norms(self._design)[0 if self._pure else 1], firsts)

    def _limited(self, limit: int) -> Iterator[tuple[Batch, Reals]]:
        """All rows with the largest factor of each."""
        if self._held is None:
            return ((batch, batch.limits(limit, pure=self._pure)) for batch in self._read())
        if self._limits[0] != limit:
            self._limits = limit, [batch.limits(limit, pure=self._pure) for batch in self._held]
        return zip(self._held, self._limits[1], strict=True)

    def gradient(
        self, loss: Loss, whole: Reals, limit: int, *, sampling: Fraction = Fraction(1), bits: BitSource | None = None
    ) -> Wide:
        """The sum of the rows' gradients at whole-numbered weights, each row's at most ``limit`` long."""
        total = np.zeros(whole.shape, dtype=object)
        for batch, limits in self._limited(limit):
            if sampling < 1:
                assert bits is not None
                limits = limits * batch.coins(sampling, bits)
            margins = np.stack([batch.rows.margins(self._design, one) for one in whole])
            factors = loss.residuals(margins, batch.target, limits, self._pure)
            total += _wide(np.stack([batch.rows.sums(self._design, one) for one in factors]))
        return total

    def moments(self, upper: tuple[Any, Any] | None) -> Wide:
        """The sums of products of entries at these places of the matrix; or its diagonal, then the sums of numbers.

        Those sums are multiplied by the constant entry: they are the numbers' part of the matrix's first row.
        """
        size = self._design.width + len(self._design.numbers) if upper is None else len(upper[0])
        total = np.zeros(size, dtype=object)
        for batch in self._batches():
            rows = batch.rows
            total += _wide(
                rows.diagonal_and_sums(self._design) if upper is None else rows.products(self._design)[upper]
            )
        return total

    def targets(self, middle: int) -> Wide:
        """How many rows have a target, the sum of targets counted from the middle, and that of their squares by 2¹³."""
        total = np.zeros(3, dtype=object)
        for batch in self._batches():
            known = batch.target[batch.target != MISSING].astype(np.int64) - middle
            total += np.array([known.size, int(known.sum()), int((known * known >> 13).sum())], dtype=object)
        return total


def parts_of(chunk: Chunk, most: int) -> Iterator[tuple[slice, npt.NDArray[np.int64] | None]]:
    """Pieces of at most so many rows that divide no unit, with where each unit begins in the piece.

    A unit of more rows is a piece by itself: its sums are exact too, since together its rows are cut to one limit.
    """
    if chunk.units is None:
        for start in range(0, chunk.size, most):
            yield slice(start, start + most), None
        return
    firsts = chunk.firsts()
    start = 0
    while start < chunk.size:
        ends = np.append(firsts[firsts > start], chunk.size)
        within = ends[ends <= start + most]
        end = int(within[-1] if within.size else ends[0])
        yield slice(start, end), firsts[(firsts >= start) & (firsts < end)] - start
        start = end


def _wide(sums: Reals) -> Wide:
    """Exact doubles as Python's integers."""
    return sums.astype(np.int64).astype(object)
