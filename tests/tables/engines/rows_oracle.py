"""The chosen rows of a `BoundedRows`, computed in plain Python from the words of `tacit.tables.engines.rows`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from tacit.tables.engines.rows import BoundedRows, ends
from tacit.tables.engines.spool import ChosenRows
from tacit.tables.expressions.tree import Column
from tests.tables.engines.bounding_oracle import added
from tests.tables.engines.hash_oracle import digest, written
from tests.tables.engines.join_oracle import expected_rows
from tests.tables.engines.random_rows import SCHEMA
from tests.tables.engines.row_oracle import value

Row = dict[str, Any]
Unit = tuple[tuple[int, ...], ...]
"""The integers of its rows, in order."""


def expected_units(asked: BoundedRows, rows: Sequence[Row], key: str) -> Counter[Unit]:
    """How many units have these rows."""
    held: dict[Any, list[tuple[int, ...]]] = defaultdict(list)
    for number, row in enumerate(expected_rows(asked.relation, rows, key)):
        if asked.where is not None and value(asked.where, row) is not True:
            continue
        unit = ("row", number) if asked.unit is None else value(Column(asked.unit), row)
        if unit is not None:
            held[unit].append(tuple(added(column, row) for column in asked.columns))
    return Counter(tuple(sorted(first(asked, unit, contents, key))) for unit, contents in held.items())


def first(asked: BoundedRows, unit: Any, contents: list[tuple[int, ...]], key: str) -> list[tuple[int, ...]]:
    if asked.unit is None:
        return contents
    seen: Counter[tuple[int, ...]] = Counter()
    order = []
    for content in contents:
        seen[content] += 1
        parts = [(SCHEMA[asked.unit], unit), *(("integer", one) for one in (*numbers(asked, content), seen[content]))]
        order.append((digest(f"{key};row;" + "".join(map(written, parts))), content, seen[content]))
    return [content for _, content, _ in sorted(order)[: asked.rows]]


def numbers(asked: BoundedRows, content: tuple[int, ...]) -> list[int]:
    """The integers of a row, from their lowest on, as digits of as few numbers below 2⁶² as they fit in, in order."""
    found, size = list[int](), 0
    for column, one in zip(asked.columns, content, strict=True):
        low, high = ends(column)
        base = high - low + 1
        if not found or size * base > 2**62:
            found.append(one if base > 2**62 else one - low)
            size = base
        else:
            found[-1] = found[-1] * base + one - low
            size *= base
    return found


def collected_units(held: ChosenRows) -> Counter[Unit]:
    """The units of all chunks, which must keep what is promised of a chunk."""
    units: Counter[Unit] = Counter()
    for chunk in held:
        rows = list(zip(*(column.tolist() for column in chunk.columns), strict=True))
        assert 0 < len(rows) <= held.asked.chunk
        assert len(rows) == chunk.rows
        starts = chunk.starts.tolist()
        units.update(tuple(sorted(rows[a:b])) for a, b in pairwise(starts))
        assert chunk.of_row().tolist() == [u for u in range(chunk.units) for _ in range(starts[u], starts[u + 1])]
    return units
