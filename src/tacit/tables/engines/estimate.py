"""How much a bounded query moves on a cluster, from public numbers alone: free, and blind to rows.

Rows go once to the partition of their unit, with what the question reads of them; all else stays there. The largest
task is the fullest partition: an even share, or that of a unit which holds more than one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from tacit.tables.engines.contract import BoundedQuery, Distinct, One, Votes
from tacit.tables.expressions.kinds import Kind

__all__ = ["TEXT", "Moved", "moved"]

TEXT = 16
"""Bytes that are reckoned for the letters of a text."""


@dataclass(frozen=True, slots=True)
class Moved:
    """Rows and bytes that are shuffled, and the rows and bytes of the largest task."""

    rows: int
    bytes: int
    task_rows: int
    task_bytes: int


def moved(
    query: BoundedQuery, kinds: Mapping[str, Kind], rows: int, partitions: int, largest: Fraction = Fraction(0)
) -> Moved:
    """Of so many rows over so many partitions, where one unit holds a share of them.

    >>> from tacit.tables.expressions.tree import Column
    >>> from tacit.tables.engines.contract import Measure
    >>> asked = BoundedQuery(None, (Column("city"),), None, "who", 1, 1, (Measure(One(), 0, 1, False),))
    >>> moved(asked, {"who": Kind.INTEGER, "city": Kind.TEXT}, 10**6, 200)
    Moved(rows=1000000, bytes=40000000, task_rows=5000, task_bytes=200000)
    """
    if query.unit is None:
        return Moved(0, 0, -(-rows // partitions), 0)
    width = 8 + _width(kinds.get(query.unit)) + sum(_width(Kind.TEXT) for _ in query.keys) + 8 * _inputs(query)
    most = max(-(-rows // partitions), int(rows * largest))
    return Moved(rows, rows * width, most, most * width)


def _width(kind: Kind | None) -> int:
    return 8 + TEXT if kind in (None, Kind.TEXT) else 8


def _inputs(query: BoundedQuery) -> int:
    """Numbers that a row carries along for its measures."""
    values = {one.value for one in query.measures if not isinstance(one, Distinct | Votes)} - {One()}
    return len(values) + sum(isinstance(one, Distinct) for one in query.measures)
