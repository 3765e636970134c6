"""The end of a statement, run on released values alone: outputs, HAVING, ORDER BY, LIMIT, arithmetic with intervals.

All of it is post-processing of numbers that were paid for. Rows come sorted by ORDER BY and then by their keys (null
last), never in an engine's order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.errors import UnknownColumn
from tacit.mechanisms.estimate import Estimate
from tacit.tables.estimators.base import Categories
from tacit.tables.expressions.evaluate import Values, evaluate, values_of
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Expression, Grouping, Key, Value
from tacit.tables.query.tree import Aggregate, Query
from tacit.tables.release.intervals import Interval, interval

__all__ = ["Columns", "Released", "finish", "joint"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Released:
    """A column of an answer: values (None for null) and, for numbers made of estimates, the ends of their intervals."""

    name: str
    values: list[Value]
    low: Floats | None
    high: Floats | None
    whole: bool


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of an answer, all of one length."""

    columns: tuple[Released, ...]

    def __iter__(self) -> Iterator[Released]:
        return iter(self.columns)

    def __len__(self) -> int:
        """How many columns."""
        return len(self.columns)

    def __getitem__(self, name: str) -> Released:
        for column in self.columns:
            if column.name == name:
                return column
        raise UnknownColumn(f"The answer has no column {name!r}; it has {', '.join(one.name for one in self)}.")


def joint(query: Query) -> int:
    """The largest number of distinct aggregates in one output: how many intervals must hold together for it."""
    counts = (
        len({node for node in output.expression.walk() if isinstance(node, Aggregate)}) for output in query.outputs
    )
    return max(counts, default=0)


def finish(
    query: Query,
    keys: Sequence[Sequence[Value]],
    estimates: Mapping[Aggregate, Estimate | Categories],
    kinds: Mapping[Expression, Kind] | None = None,
    absent: Sequence[npt.NDArray[np.bool_]] | None = None,
) -> Columns:
    """The answer's columns from released keys (one list per key) and estimates (one entry per group).

    ``absent`` says, per key, in which rows GROUPING SETS left it out; None: nowhere.
    """
    groups = _Groups(query, keys, estimates, kinds or {}, absent)
    rows = groups.chosen()
    return Columns(tuple(groups.column(output.name, output.expression, rows) for output in query.outputs))


class _Groups:
    """All groups, before HAVING and LIMIT."""

    def __init__(
        self,
        query: Query,
        keys: Sequence[Sequence[Value]],
        estimates: Mapping[Aggregate, Estimate | Categories],
        kinds: Mapping[Expression, Kind],
        absent: Sequence[npt.NDArray[np.bool_]] | None,
    ) -> None:
        self._query = query
        self._keys = keys
        self._key_values = [
            values_of(list(cells), kinds.get(expression)) for cells, expression in zip(keys, query.keys, strict=True)
        ]
        self._estimates = estimates
        self._size = len(keys[0]) if keys else max(map(_groups, estimates.values()), default=1)
        nowhere = np.zeros(self._size, dtype=bool)
        self._absent = [nowhere] * len(keys) if absent is None else absent
        self._known: dict[Expression, Values] = {}

    def _leaf(self, expression: Expression) -> Values | None:
        if isinstance(expression, Key):
            return self._key_values[expression.index]
        if isinstance(expression, Grouping):
            return self._grouping(expression)
        if isinstance(expression, Aggregate):
            one = self._estimates[expression]
            if isinstance(one, Categories):
                return values_of(one.cells, one.kind)
            known = np.isfinite(one.value)
            kind = Kind.INTEGER if one.whole else Kind.REAL
            return Values(kind, np.where(known, one.value, 0.0), known)
        return None

    def _grouping(self, expression: Grouping) -> Values:
        assert isinstance(expression.key, Key)
        absent = self._absent[expression.key.index]
        return Values(Kind.INTEGER, absent.astype(np.float64), np.ones(self._size, dtype=bool))

    def _values(self, expression: Expression) -> Values:
        if expression not in self._known:
            self._known[expression] = evaluate(expression, self._leaf, self._size)
        return self._known[expression]

    def chosen(self) -> npt.NDArray[np.intp]:
        """The groups that are shown, in order."""
        rows = np.arange(self._size)
        if self._query.having is not None:
            held = self._values(self._query.having)
            rows = rows[(np.asarray(held.data, dtype=bool) & held.known)[rows]]
        ranks = [_ranks(self._values(term.expression), term.descending, term.nulls_first) for term in self._query.order]
        for cells, absent in zip(self._keys, self._absent, strict=True):
            ranks += [absent.astype(np.float64), _key_ranks(cells)]
        if ranks:
            rows = rows[np.lexsort([rank[rows] for rank in reversed(ranks)])]
        end = None if self._query.limit is None else self._query.offset + self._query.limit
        return rows[self._query.offset : end]

    def column(self, name: str, expression: Expression, rows: npt.NDArray[np.intp]) -> Released:
        if isinstance(expression, Key):
            cells = self._keys[expression.index]
            return Released(name, [cells[row] for row in rows.tolist()], None, None, False)
        values = self._values(expression)
        shown = Values(values.kind, values.data[rows], values.known[rows])
        ends = interval(expression, self._ends, self._size)
        whole = values.kind is Kind.INTEGER
        if ends is None or ends.is_point or values.kind not in (Kind.INTEGER, Kind.REAL):
            return Released(name, shown.cells(), None, None, whole)
        low, high = ends.around(values)
        return Released(name, shown.cells(), low[rows], high[rows], whole)

    def _ends(self, expression: Expression) -> Interval | None:
        """The interval of a leaf."""
        if isinstance(expression, Aggregate):
            one = self._estimates[expression]
            return None if isinstance(one, Categories) else Interval(one.low, one.high)
        if isinstance(expression, Grouping):
            point = self._grouping(expression).data.astype(np.float64)
            return Interval(point, point, is_point=True)
        if isinstance(expression, Key):
            values = self._key_values[expression.index]
            if values.kind is None or not values.kind.is_number:
                return None
            point = np.where(values.known, values.data, np.nan).astype(np.float64)
            return Interval(point, point, is_point=True)
        return None


def _groups(estimate: Estimate | Categories) -> int:
    return len(estimate.cells if isinstance(estimate, Categories) else estimate.value)


def _key_ranks(cells: Sequence[Value]) -> Floats:
    """Numbers that sort as keys do, exactly, null last: two keys of one rank would stand in the engine's order."""
    known = sorted({cell for cell in cells if cell is not None})
    place = {cell: float(number) for number, cell in enumerate(known)}
    return np.array([np.inf if cell is None else place[cell] for cell in cells], dtype=np.float64)


def _ranks(values: Values, descending: bool, nulls_first: bool) -> npt.NDArray[np.float64]:
    """Numbers that sort as the values do, nulls at one end."""
    if values.data.dtype == object:
        rank = np.zeros(values.size)
        rows = np.flatnonzero(values.known)
        cells = values.data[rows].tolist()
        place = {cell: number for number, cell in enumerate(sorted(set(cells)))}
        rank[rows] = [place[cell] for cell in cells]
    else:
        rank = np.asarray(values.data, dtype=np.float64).copy()
    rank = -rank if descending else rank
    rank[~values.known] = -np.inf if nulls_first else np.inf
    return rank
