"""The end of a statement, run on released values alone: outputs, HAVING, ORDER BY, LIMIT, arithmetic with intervals.

All of it is post-processing of numbers that were paid for. Rows come sorted by ORDER BY and then by their keys (null
last), never in an engine's order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt

from tacit.errors import UnknownColumn
from tacit.mechanisms.shared.estimate import BETA, Estimate
from tacit.tables.estimators.base import Categories
from tacit.tables.expressions.evaluate import Values, evaluate, values_of
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Call, Expression, Grouping, Key, Value
from tacit.tables.query.tree import Aggregate, Query
from tacit.tables.release.intervals import Interval, interval
from tacit.tables.release.ratios import Linear, ratio_ends

__all__ = ["Columns", "Released", "finish", "ranks_of"]

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


def finish(
    query: Query,
    keys: Sequence[Sequence[Value]],
    estimates: Mapping[Aggregate, Estimate | Categories],
    kinds: Mapping[Expression, Kind] | None = None,
    absent: Sequence[npt.NDArray[np.bool_]] | None = None,
    linear: Mapping[Aggregate, Linear] | None = None,
    level: Fraction = BETA,
) -> Columns:
    """The answer's columns from released keys (one list per key) and estimates (one entry per group).

    ``absent`` says, per key, in which rows GROUPING SETS left it out; None: nowhere. Ratios of what is ``linear`` have
    intervals of their own; ``level`` is how often the interval of each estimate may miss.
    """
    groups = _Groups(query, keys, estimates, kinds or {}, absent, _Ratios(linear or {}, level))
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
        ratios: _Ratios,
    ) -> None:
        self._query, self._ratios = query, ratios
        self._keys: dict[Expression, Sequence[Value]] = {Key(at): cells for at, cells in enumerate(keys)}
        self._size = len(keys[0]) if keys else max(map(len, estimates.values()), default=1)
        nowhere = np.zeros(self._size, dtype=bool)
        self._absent = [nowhere] * len(keys) if absent is None else absent
        self._leaves: dict[Expression, _Leaf] = {one: _estimated(made) for one, made in estimates.items()}
        for at, (cells, expression) in enumerate(zip(keys, query.keys, strict=True)):
            left_out = Values(Kind.INTEGER, self._absent[at].astype(np.float64), np.ones(self._size, dtype=bool))
            self._leaves[Key(at)] = _Leaf.exact(values_of(list(cells), kinds.get(expression)))
            self._leaves[Grouping(Key(at))] = _Leaf.exact(left_out)
        self._known: dict[Expression, Values] = {}

    def _leaf(self, expression: Expression) -> Values | None:
        found = self._found(expression)
        return None if found is None else found.values

    def _ends(self, output: Expression, expression: Expression) -> Interval | None:
        """The interval of a leaf of an output, or of a ratio of two."""
        found = self._found(expression)
        return self._ratios.ends(output, expression) if found is None else found.ends

    def _found(self, expression: Expression) -> _Leaf | None:
        """A key, GROUPING of a key, or an aggregate; all of which have one part at most."""
        return self._leaves.get(expression) if len(expression.parts()) < 2 else None

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
        ranks = [
            ranks_of(self._values(term.expression), term.descending, term.nulls_first) for term in self._query.order
        ]
        for cells, absent in zip(self._keys.values(), self._absent, strict=True):
            ranks += [absent.astype(np.float64), _key_ranks(cells)]
        if ranks:
            rows = rows[np.lexsort([rank[rows] for rank in reversed(ranks)])]
        end = None if self._query.limit is None else self._query.offset + self._query.limit
        return rows[self._query.offset : end]

    def column(self, name: str, expression: Expression, rows: npt.NDArray[np.intp]) -> Released:
        cells = self._keys.get(expression)
        if cells is not None:
            return Released(name, [cells[row] for row in rows.tolist()], None, None, False)
        values = self._values(expression)
        shown = Values(values.kind, values.data[rows], values.known[rows])
        ends = interval(expression, partial(self._ends, expression), self._size)
        whole = values.kind is Kind.INTEGER
        if ends is None or ends.is_point or values.kind not in (Kind.INTEGER, Kind.REAL):
            return Released(name, shown.cells(), None, None, whole)
        low, high = ends.around(values)
        return Released(name, shown.cells(), low[rows], high[rows], whole)


@dataclass(frozen=True, slots=True)
class _Ratios:
    """Ratios of two sums of released integers: one test for both."""

    linear: Mapping[Aggregate, Linear]
    level: Fraction

    def ends(self, output: Expression, expression: Expression) -> Interval | None:
        """At the shares of both of them, if they stand nowhere else in the output."""
        match expression:
            case Call("/", (Aggregate() as top, Aggregate() as bottom)) if top in self.linear and bottom in self.linear:
                alone = sum(one in (top, bottom) for one in output.nodes(Aggregate)) == 2
                share = 2 * self.level if alone and top != bottom else self.level
                found = ratio_ends(self.linear[top], self.linear[bottom], min(share, BETA))
                return None if found is None else Interval(*found)
        return None


@dataclass(frozen=True, slots=True)
class _Leaf:
    """What expressions are made of: values, and how far each may be off; None where that has no meaning."""

    values: Values
    ends: Interval | None

    @classmethod
    def exact(cls, values: Values) -> _Leaf:
        """Released values without noise."""
        if values.kind is None or not values.kind.is_number:
            return cls(values, None)
        point = np.where(values.known, values.data, np.nan).astype(np.float64)
        return cls(values, Interval(point, point, is_point=True))


def _estimated(made: Estimate | Categories) -> _Leaf:
    if isinstance(made, Categories):
        return _Leaf(values_of(made.cells, made.kind), None)
    known = np.isfinite(made.value)
    kind = Kind.INTEGER if made.whole else Kind.REAL
    return _Leaf(Values(kind, np.where(known, made.value, 0.0), known), Interval(made.low, made.high))


def _key_ranks(cells: Sequence[Value]) -> Floats:
    """Numbers that sort as keys do, exactly, null last: two keys of one rank would stand in the engine's order."""
    known = sorted({cell for cell in cells if cell is not None})
    place = {cell: float(number) for number, cell in enumerate(known)}
    return np.array([np.inf if cell is None else place[cell] for cell in cells], dtype=np.float64)


def ranks_of(values: Values, descending: bool, nulls_first: bool) -> npt.NDArray[np.float64]:
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
