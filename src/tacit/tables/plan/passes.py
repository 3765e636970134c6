"""Several bounded queries in as few passes over the rows as give exactly the same integers.

Queries that differ in their measures alone share a pass. Queries that differ in WHERE share one if moving the condition
into the row values (CASE WHEN condition THEN x END) provably changes no integer: where neither rows nor groups of a
unit have to be chosen, for then WHERE would have come before the choice. Proof: docs/proofs/batches.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from tacit.tables.engines.contract import Asked, BoundedQuery, Integers, RowValue

__all__ = ["InPass", "Passes", "Place", "merged"]

_MOST_MEASURES = 200
"""Of one pass: statements of thousands of columns are slow to compile."""
_MOST_CHOSEN = 20
"""Of one pass: quantiles, modes and counts of distinct values, each of which takes steps of its own."""


class Place(Protocol):
    """Where a query finds its integers."""

    def of(self, found: Sequence[Integers], /) -> Integers:
        """Its integers among what all passes found."""


@dataclass(frozen=True, slots=True)
class InPass:
    """Some of the measures of one pass."""

    at: int
    measures: tuple[int, ...]

    def of(self, found: Sequence[Integers]) -> Integers:
        """What the query would have got by itself; ``units`` only where its keys are private."""
        return replace(found[self.at], measures=tuple(found[self.at].measures[i] for i in self.measures))


@dataclass(frozen=True, slots=True)
class Passes:
    """What an engine runs, and where each query finds its integers."""

    bounded: tuple[BoundedQuery, ...]
    places: tuple[Place, ...]
    """One per query."""

    def integers(self, query: int, found: Sequence[Integers]) -> Integers:
        """What the query would have got by itself."""
        return self.places[query].of(found)

    def only(self, queries: Sequence[int]) -> Passes:
        """The same passes, for some of the queries: the first of them is number 0 there."""
        return replace(self, places=tuple(self.places[one] for one in queries))


def merged(queries: Sequence[BoundedQuery]) -> Passes:
    """The passes for these queries."""
    movable = [_conditioned(query) for query in queries]
    alike: dict[BoundedQuery, int] = {}
    for one in movable:
        if one is not None:
            frame = replace(one, measures=())
            alike[frame] = alike.get(frame, 0) + 1
    building: list[_Pass] = []
    places = []
    for query, moved in zip(queries, movable, strict=True):
        together = moved is not None and alike[replace(moved, measures=())] > 1
        one = moved if together and moved is not None else query
        at = next((i for i, made in enumerate(building) if made.takes(one)), len(building))
        if at == len(building):
            building.append(_Pass(replace(one, measures=()), _contents(one), []))
        places.append(InPass(at, building[at].add(one.measures)))
    return Passes(tuple(replace(one.frame, measures=tuple(one.measures)) for one in building), tuple(places))


@dataclass(slots=True)
class _Pass:
    """A pass being filled. ``contents`` are the row values by which rows are chosen, in their order."""

    frame: BoundedQuery
    contents: tuple[RowValue, ...]
    measures: list[Asked]

    def takes(self, query: BoundedQuery) -> bool:
        """Whether its integers come out the same here: nothing chosen, or chosen by the same contents."""
        if replace(query, measures=()) != self.frame:
            return False
        together = set(self.measures) | set(query.measures)
        if len(together) > _MOST_MEASURES or sum(one.takes_steps for one in together) > _MOST_CHOSEN:
            return False
        own = _contents(query)
        return own == self.contents or not any(_chooses_rows(measure) for measure in query.measures)

    def add(self, measures: Sequence[Asked]) -> tuple[int, ...]:
        self.measures += [one for one in dict.fromkeys(measures) if one not in self.measures]
        return tuple(self.measures.index(one) for one in measures)


def _contents(query: BoundedQuery) -> tuple[RowValue, ...]:
    """What chosen measures add up, in the order of first use: rows are chosen by it."""
    rows = [value for measure in query.measures for value in measure.row_values()]
    chosen = {value for measure in query.measures if measure.chosen for value in measure.row_values()}
    return tuple(dict.fromkeys(value for value in rows if value in chosen))


def _chooses_rows(measure: Asked) -> bool:
    """Distinct values are chosen by themselves, whatever rows are chosen for other measures."""
    return measure.chosen and bool(measure.row_values())


def _conditioned(query: BoundedQuery) -> BoundedQuery | None:
    """The query without WHERE, its condition moved into the row values; None if that could change an integer."""
    listed = query.public_keys
    if listed is None or any(measure.chosen for measure in query.measures):
        return None
    if query.unit is not None and query.groups < len(set(listed)):
        return None
    moved = [measure.where(query.where) for measure in query.measures]
    known = tuple(one for one in moved if one is not None)
    return replace(query, where=None, measures=known) if len(known) == len(moved) else None
