"""The integers of a `BoundedQuery`, computed in plain Python from the words of `tacit.tables.engines.contract`.

The order of groups and rows is the one that `docs/decisions/choosing_rows.md` describes, written here a second time.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from tacit.tables.engines.contract import (
    BoundedQuery,
    Category,
    Cells,
    Distinct,
    Measure,
    One,
    Present,
    Product,
    Quantised,
    RowValue,
    Square,
    Votes,
)
from tacit.tables.expressions.tree import Column
from tests.tables.engines.hash_oracle import digest, written
from tests.tables.engines.join_oracle import expected_rows
from tests.tables.engines.random_rows import SCHEMA
from tests.tables.engines.row_oracle import kind_of, value

PRIME = 2**31 - 1
Row = dict[str, Any]
Answer = dict[tuple[Any, ...], tuple[Any, ...]]
"""Units and measures of each group, by its key: integers, and of cells the pairs (cell, rows in it)."""


def expected(query: BoundedQuery, rows: Sequence[Row], key: str) -> Answer:
    pairs: dict[tuple[Any, tuple[Any, ...]], list[Row]] = defaultdict(list)
    for number, row in enumerate(expected_rows(query.relation, rows, key)):
        if query.where is not None and value(query.where, row) is not True:
            continue
        unit = ("row", number) if query.unit is None else value(Column(query.unit), row)
        if unit is None:
            continue
        group = tuple(value(one, row) for one in query.keys)
        if query.public_keys is not None and query.keys and not listed(group, query):
            continue
        pairs[unit, group].append(row)
    found = {group for _, group in pairs}
    by_unit: dict[Any, list[tuple[Any, ...]]] = defaultdict(list)
    for unit, group in pairs:
        by_unit[unit].append(group)
    answer: dict[Any, list[Any]] = {group: [0] * (1 + len(query.measures)) for group in found}
    if not query.keys:
        answer[()] = [0] * (1 + len(query.measures))
    held: dict[Any, set[Any]] = defaultdict(set)
    tallies: dict[Any, Counter[int]] = defaultdict(Counter)
    for unit, groups in by_unit.items():
        counting = first_groups(query, unit, groups, key)
        for group in counting:
            answer[group][0] += 1
            for i, measure in enumerate(query.measures):
                here = pairs[unit, group]
                if isinstance(measure, Votes):
                    given = [votes for most, votes in measure.weights if len(counting) <= most]
                    answer[group][i + 1] += given[0] if given else measure.weights[-1][1]
                    continue
                if isinstance(measure, Distinct):
                    held[group, i] |= first_values(query, measure, unit, group, here, key)
                    continue
                if measure.chosen and query.unit is not None:
                    here = first_rows(query, unit, group, here, key)
                if isinstance(measure, Cells):
                    tallies[group, i].update(cell for row in here if (cell := added(measure.value, row)))
                    continue
                total = sum(added(measure.value, row) for row in here)
                answer[group][i + 1] += min(max(total, measure.low), measure.high)
    for group, numbers in answer.items():
        for i, measure in enumerate(query.measures):
            if isinstance(measure, Distinct):
                numbers[i + 1] = len(held[group, i])
            elif isinstance(measure, Cells):
                numbers[i + 1] = tuple(sorted(tallies[group, i].items()))
    return {group: tuple(numbers) for group, numbers in answer.items() if numbers[0] or not query.keys}


def listed(group: tuple[Any, ...], query: BoundedQuery) -> bool:
    return position(group, query) is not None


def position(group: tuple[Any, ...], query: BoundedQuery) -> int | None:
    def equal(x: Any, y: Any) -> bool:
        return x is y is None or (
            x is not None and y is not None and x == y and isinstance(x, bool) == isinstance(y, bool)
        )

    return next(
        (i for i, one in enumerate(query.public_keys or ()) if all(map(equal, group, one))),
        None,
    )


def first_groups(query: BoundedQuery, unit: Any, groups: list[tuple[Any, ...]], key: str) -> list[tuple[Any, ...]]:
    if query.unit is None or len(groups) <= query.groups:
        return groups
    x = unit % PRIME if SCHEMA[query.unit].value == "integer" else number(f"{key};unit;", [(SCHEMA[query.unit], unit)])
    return sorted(groups, key=lambda group: (place(query, x, group, key), tie(query, group)))[: query.groups]


def place(query: BoundedQuery, x: int, group: tuple[Any, ...], key: str) -> int:
    kinds = [kind_of(one, {}) for one in query.keys]
    parts = list(zip(kinds, group, strict=True))
    a, b, c = (number(f"{key};group;{name};", parts) for name in "abc")
    y = (a * x + b) % PRIME
    return y * ((y + c) % PRIME) % PRIME


def tie(query: BoundedQuery, group: tuple[Any, ...]) -> Any:
    if query.public_keys is not None:
        return position(group, query)
    return tuple((one is None, one if one is not None else 0) for one in group)


def first_rows(query: BoundedQuery, unit: Any, group: tuple[Any, ...], rows: list[Row], key: str) -> list[Row]:
    values = dict.fromkeys(
        m.value for m in query.measures if isinstance(m, Measure | Cells) and m.chosen and not isinstance(m.value, One)
    )
    seen: dict[tuple[int, ...], int] = defaultdict(int)
    order = []
    for row in rows:
        content = tuple(added(one, row) for one in values)
        seen[content] += 1
        if query.public_keys is not None and query.keys:
            where = [("integer", position(group, query))]
        else:
            where = list(zip((kind_of(one, {}) for one in query.keys), group, strict=True))
        numbers = [("integer", one) for one in (*content, seen[content])]
        text = f"{key};row;" + "".join(map(written, [(SCHEMA[query.unit], unit), *where, *numbers]))
        order.append(((digest(text), content, seen[content]), row))
    return [row for _, row in sorted(order, key=lambda pair: pair[0])[: query.rows]]


def first_values(
    query: BoundedQuery, measure: Distinct, unit: Any, group: tuple[Any, ...], rows: list[Row], key: str
) -> set[Any]:
    """The values a unit holds in a group, without null: at most so many, by their hash and then themselves."""
    kind = kind_of(measure.expression, {})
    values = {one for row in rows if (one := value(measure.expression, row)) is not None}
    if query.unit is None:
        return values
    if query.public_keys is not None and query.keys:
        where = [("integer", position(group, query))]
    else:
        where = list(zip((kind_of(one, {}) for one in query.keys), group, strict=True))
    start = f"{key};value;" + "".join(map(written, [(SCHEMA[query.unit], unit), *where]))
    order = sorted((digest(start + written((kind, one))), one) for one in values)
    return {one for _, one in order[: measure.most]}


def number(start: str, parts: list[tuple[Any, Any]]) -> int:
    text = start + "".join(map(written, parts))
    return (digest(text) >> 97) % PRIME


def added(measured: RowValue, row: Row) -> int:
    match measured:
        case One():
            return 1
        case Present(expression):
            return int(value(expression, row) is not None)
        case Quantised():
            return quantised(measured, row)
        case Square(inner):
            return quantised(inner, row) ** 2
        case Product(left, right):
            return quantised(left, row) * quantised(right, row)
        case Category(expression, listed_values):
            return place_of(value(expression, row), listed_values)


def place_of(one: Any, listed_values: tuple[Any, ...]) -> int:
    """The first listed value that is equal, from 1 on; 0 for null, and true is not 1."""
    if one is None:
        return 0
    return next(
        (i for i, x in enumerate(listed_values, 1) if x == one and isinstance(x, bool) == isinstance(one, bool)), 0
    )


def quantised(measured: Quantised, row: Row) -> int:
    x = value(measured.expression, row)
    if x is None:
        return 0
    low, high, centre, granule = (
        float(one) for one in (measured.low, measured.high, measured.centre, measured.granule)
    )
    near = math.floor((min(max(float(x), low), high) - centre) / granule + 0.5)
    lowest = -math.floor((measured.centre - measured.low) / Fraction(measured.granule))
    highest = math.floor((measured.high - measured.centre) / Fraction(measured.granule))
    return min(max(near, lowest), highest)
