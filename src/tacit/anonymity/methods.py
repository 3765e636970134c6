"""The ways to enforce limits: Mondrian, strict or relaxed, and the best full-domain generalisation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tacit.anonymity import mondrian
from tacit.anonymity.cells import cells_of
from tacit.anonymity.domains import Table
from tacit.anonymity.full_domain import search
from tacit.anonymity.generalised import Generalised, by_class, by_level
from tacit.anonymity.hierarchy import Hierarchy
from tacit.anonymity.limits import Limits, exact
from tacit.anonymity.measures import broken_by
from tacit.errors import InvalidParameter

__all__ = ["FullDomain", "Method", "Mondrian", "RelaxedMondrian"]

Integers = npt.NDArray[np.int64]


class Method(Protocol):
    """A way to make a table keep limits."""

    @property
    def hierarchies(self) -> Mapping[str, Hierarchy]:
        """Trees of values, by column."""

    def generalise(self, table: Table, limits: Limits) -> Generalised:
        """Generalise the quasi-identifiers until every class keeps the limits."""


@dataclass(frozen=True, slots=True)
class Mondrian:
    """Cut between values: classes are boxes that do not overlap.

    A column with a hierarchy is written as the lowest node above the values of a class; without one, numbers as an
    interval ``20..29`` and texts as a set ``{a | b}``.
    """

    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)

    def generalise(self, table: Table, limits: Limits) -> Generalised:
        return _partitioned(table, limits, mondrian.strict)


@dataclass(frozen=True, slots=True)
class RelaxedMondrian:
    """Cut in the middle, where rows of one value may go to either side: halves are equal, classes overlap."""

    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)

    def generalise(self, table: Table, limits: Limits) -> Generalised:
        return _partitioned(table, limits, mondrian.relaxed)


@dataclass(frozen=True, slots=True)
class FullDomain:
    """Every value of a column at one level of its hierarchy: the combination of levels that loses least.

    ``suppress`` is the share of rows that may be left out; each counts as wholly lost. Every quasi-identifier needs a
    hierarchy.
    """

    hierarchies: Mapping[str, Hierarchy]
    suppress: float | Fraction | str = 0

    def __post_init__(self) -> None:
        if not 0 <= exact("suppress", self.suppress) <= 1:
            raise InvalidParameter("suppress", given=self.suppress, allowed="a share of the rows, from 0 to 1")

    def generalise(self, table: Table, limits: Limits) -> Generalised:
        trees = []
        for domain in table.domains:
            if domain.hierarchy is None:
                what = f"hierarchy of {domain.column}"
                hint = "Mondrian needs none."
                raise InvalidParameter(what, given=None, allowed="one for each quasi-identifier", hint=hint)
            trees.append(domain.hierarchy)
        found = search(table, tuple(trees), limits, exact("suppress", self.suppress))
        columns = tuple(
            by_level(domain, codes, level)
            for domain, codes, level in zip(table.domains, table.codes, found.levels, strict=True)
        )
        levels = {domain.column: level for domain, level in zip(table.domains, found.levels, strict=True)}
        return Generalised(columns, ~found.suppressed, levels, (found.tried, found.combinations))


def _partitioned(table: Table, limits: Limits, cut: mondrian.Cut) -> Generalised:
    def allowed(rows: Integers, part: Integers) -> npt.NDArray[np.bool_]:
        fine = np.ones(int(part.max()) + 1, dtype=bool)
        for value, ordered in table.sensitive.values():
            whole = np.bincount(value)
            for flags in broken_by(cells_of(part, value[rows], None, ordered, whole), limits).values():
                fine &= ~flags
        return fine

    judge = allowed if limits.of_sensitive else None
    sizes = tuple(len(domain) for domain in table.domains)
    classes = mondrian.split(table.codes, sizes, limits.k or 1, cut, judge, limits.monotone)
    return Generalised(by_class(table, classes), np.ones(table.rows, dtype=bool))
