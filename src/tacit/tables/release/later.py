"""Steps over an answer: SELECT around it, windows over its rows, totals of them. Post-processing: no row is read.

Intervals stay right or are left out. A column is *linear* where it is a sum of measured numbers with known noise,
times public numbers: its interval is that of the joint noise (`fitting.least_squares.combination_errors`). What is made
of several linear columns holds if each of them does, at its part of the 5%. What is made of one other column goes by
that column's interval; of several, nothing can be said, and no interval is shown. Nor of windows and totals over rows
that noise chose, groups shown by a private selection among them, or whose places noise decided: which numbers are in
them depends on the noise itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.mechanisms.shared.estimate import BETA
from tacit.report.columns import Column as Shown
from tacit.report.disclosure import PICKED, UNCOMPUTED, UNKNOWN, Disclosure
from tacit.tables.expressions.evaluate import Values, evaluate, values_of
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Column, Expression, Value
from tacit.tables.fitting.least_squares import combination_errors
from tacit.tables.plan.plan import Plan
from tacit.tables.query.later import Later, steps_sql
from tacit.tables.query.tree import PLACES, Aggregate, Window
from tacit.tables.release.disclose import noises
from tacit.tables.release.finish import ranks_of
from tacit.tables.release.intervals import Interval, interval
from tacit.tables.release.windows import Spread, weights_of, windowed

__all__ = ["computed", "longest_texts", "uncomputed"]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]
_MOST_CELLS = 600
"""Measured numbers whose joint noise is followed; of more, only single ones have intervals."""
_ALIKE = 1e-6
_LEAST, _MOST = 1e-25, 1e25
"""Weights beyond these are not followed."""
_PLACED = (*PLACES, "row_number", "ntile")
"""Windows that go by the places of rows, equals included."""
_ADDED = ("count_rows", "count", "count_units", "sum")


def computed(said: Disclosure, plan: Plan, steps: Sequence[Later], kinds: Mapping[str, Kind | None]) -> Disclosure:
    """The disclosure of the answer with the steps taken; ``kinds`` are those of its columns."""
    noise, order = _noise_of(plan, said), plan.checked.query.order
    made = {one.name for one in plan.checked.query.outputs if one.expression.has(Aggregate)}
    held: dict[str, _Held] = {}
    for column in said.columns:
        cells = [*column.values]
        values, is_unsure = values_of(cells, kinds.get(column.name)), column.name in made and not column.is_noisy
        held[column.name] = _Held(values, cells, column, noise.of(column), is_unsure)
    table = _Table(held, said.rows, noise, PICKED in said.remarks, any(one.expression.has(Aggregate) for one in order))
    for step in steps:
        table = table.after(step)
    columns = tuple(one.shown(name) for name, one in table.columns.items())
    without = [name for name, one in table.columns.items() if one.is_unsure and one.ends is None]
    remarks = [*said.remarks, "Computed from released numbers: asked again in another way, the answer inside is free."]
    if without:
        why = "noisy values whose noise is not followed, or rows that noise chose or put in order"
        if noise.is_partial:
            why += "; groups too small to show are in no total and no window, with public keys all groups are"
        remarks.append(f"{UNKNOWN} {', '.join(without)}: {why}.")
    if table.is_picked and PICKED not in remarks:
        remarks.append(PICKED)
    return replace(said, question=steps_sql(said.question, steps), columns=columns, remarks=tuple(remarks))


def uncomputed(said: Disclosure) -> Disclosure:
    """The answer inside by itself, and why: of more rows than the steps can be taken with in a few seconds."""
    why = f"{UNCOMPUTED}: {said.rows} rows are too many for it. The answer inside is shown: compute from that"
    return replace(said, remarks=(*said.remarks, f"{why}, or with fewer columns and shorter patterns, free."))


def longest_texts(said: Disclosure) -> dict[str, int]:
    """The bytes of the longest text in each column."""
    return {
        column.name: max((len(cell.encode()) for cell in column.values if isinstance(cell, str)), default=0)
        for column in said.columns
    }


@dataclass(frozen=True, slots=True)
class _Noise:
    """The noise of measured numbers, in blocks of one number per row: of each block the mechanism, or None where it is
    what rounding moved; and of each column the blocks it is made of, with their weights.
    """

    columns: Mapping[str, tuple[tuple[int, float], ...]]
    blocks: tuple[AdditiveMechanism | None, ...]
    rows: int
    is_partial: bool
    """Whether the groups were shown by a private selection: noise of its own decided which of them there are."""

    def of(self, column: Shown) -> Spread | None:
        """The weights of its cells, if its noise is followed."""
        if column.name not in self.columns:
            return None
        rows = np.arange(self.rows)
        weights = np.zeros((self.rows, self.rows * len(self.blocks)))
        for block, weight in self.columns[column.name]:
            weights[rows, block * self.rows + rows] = weight
        return weights

    def errors(self, weights: Spread, beta: Fraction) -> Floats:
        """How far each row is off at most, all but β of the time; rounding moves each number by half at most."""
        each = [block for block in self.blocks for _ in range(self.rows)]
        drawn = np.array([one is not None for one in each], dtype=bool)
        found: Floats = np.abs(weights[:, ~drawn]).sum(axis=1) / 2
        used = np.abs(weights[:, drawn]).sum(axis=1) > 0
        if used.any():
            noise = tuple(one for one in each if one is not None)
            found[used] += combination_errors(weights[used][:, drawn], noise, beta)
        return found


def _noise_of(plan: Plan, said: Disclosure) -> _Noise:
    """Of the columns that are one measured number each, or read from parts of one, as the answer was drawn."""
    query, columns = plan.checked.query, dict[str, tuple[tuple[int, float], ...]]()
    is_partial = said.group_rule.kind == "private"
    nothing = _Noise({}, (), said.rows, is_partial)
    if query.sets or len(plan.parts) != 1:
        return nothing
    level, blocks = BETA / max(query.together(), 1), dict[object, AdditiveMechanism | None]()
    lines = {line.aggregate: line for line in plan.lines}
    named = {column.name: column for column in said.columns}
    told = {name: one for one in said.noise for name in one.outputs}
    drawn = {name: one for one in noises(plan.parts[0], query) for name in one.outputs}
    for output in query.outputs:
        line = lines.get(output.expression) if isinstance(output.expression, Aggregate) else None
        if line is None or len(line.parts) != 1 or line.aggregate.estimator not in _ADDED:
            continue
        name, mechanism, measure = output.name, line.mechanisms[0], line.parts[0].measure
        if measure == plan.parts[0].decides:
            continue  # its noise is what was large enough to be shown: of its own interval alone something is known
        weights, is_rounded = line.estimator.weights(line.aggregate, line.setting), line.aggregate.estimator != "sum"
        error = line.estimator.off(line.aggregate, line.setting, mechanism, level)
        is_read = line.setting.reading is not None
        if told.get(name) != drawn.get(name) or not _is_plain(named[name], error, 1.5 if is_read else 0.0):
            continue  # an answer that was drawn in another way
        made = list[tuple[int, float]]()
        for at, weight in enumerate(weights):
            blocks.setdefault((measure, at), mechanism)
            made.append(([*blocks].index((measure, at)), float(weight)))
        if is_read and is_rounded:
            blocks[name] = None
            made.append((len(blocks) - 1, 1.0))
        columns[name] = tuple(made)
    if len(blocks) * said.rows > _MOST_CELLS:
        return nothing
    return _Noise(columns, tuple(blocks.values()), said.rows, is_partial)


def _is_plain(column: Shown, error: float, room: float) -> bool:
    """Whether all its intervals are the value, and as much on both sides as the noise says, but for some room."""
    for value, low, high in zip(column.values, column.low or (), column.high or (), strict=False):
        if value is None or low is None or high is None or isinstance(value, str):
            return False
        near = _ALIKE * max(error, 1.0) + room
        if abs(high - float(value) - error) > near or abs(float(value) - low - error) > near:  # type: ignore[arg-type]
            return False
    return column.is_noisy


@dataclass(frozen=True, slots=True)
class _Held:
    """A column between steps: its values, its cells as they were released, its interval, its share in the noise."""

    values: Values
    cells: list[Value]
    ends: Shown | None = None
    spread: Spread | None = None
    is_unsure: bool = False
    """Whether noise is in it, and no interval is known."""

    @property
    def is_exact(self) -> bool:
        """Whether no noise is in it."""
        return not self.is_unsure and self.spread is None and (self.ends is None or not self.ends.is_noisy)

    def taken(self, rows: Rows) -> _Held:
        places = rows.tolist()
        ends = None
        if self.ends is not None:
            low, high = ([end[at] for at in places] if end else None for end in (self.ends.low, self.ends.high))
            ends = replace(
                self.ends,
                values=tuple(self.cells[at] for at in places),
                low=None if low is None else tuple(low),
                high=None if high is None else tuple(high),
            )
        values = Values(self.values.kind, self.values.data[rows], self.values.known[rows])
        spread = None if self.spread is None else self.spread[rows]
        return replace(self, values=values, cells=[self.cells[at] for at in places], ends=ends, spread=spread)

    def interval(self) -> Interval | None:
        """Its own interval, of numbers."""
        if self.values.kind is None or not self.values.kind.is_number:
            return None
        point = np.where(self.values.known, self.values.data, np.nan).astype(np.float64)
        if self.ends is None or self.ends.low is None or self.ends.high is None:
            return None if self.is_unsure else Interval(point, point, is_point=True)
        low = np.array([-np.inf if end is None else end for end in self.ends.low])
        high = np.array([np.inf if end is None else end for end in self.ends.high])
        return Interval(low, high)

    def shown(self, name: str) -> Shown:
        if self.ends is not None:
            return replace(self.ends, name=name)
        return Shown.of(name, self.cells, whole=self.values.kind is Kind.INTEGER)


class _Table:
    """The rows of an answer, or of what was made of it."""

    def __init__(
        self,
        columns: Mapping[str, _Held],
        size: int,
        noise: _Noise,
        is_picked: bool = False,
        is_shuffled: bool = False,
    ) -> None:
        self.columns, self._size, self._noise = dict(columns), size, noise
        self.is_picked = is_picked
        """Whether noise had a say in which rows there are."""
        self._is_shuffled = is_shuffled
        """Whether noise had a say in their order."""
        self._known: dict[Expression, Values] = {}
        self._spreads: dict[Expression, Spread | None] = {}

    def after(self, step: Later) -> _Table:
        """The rows that a step makes of these."""
        if step.where is None:
            return self._selected(step)
        rows = np.flatnonzero(self._holds(step.where))
        taken = {name: one.taken(rows) for name, one in self.columns.items()}
        is_picked = self.is_picked or not self._is_exact(step.where)
        return _Table(taken, len(rows), self._noise, is_picked, self._is_shuffled)._selected(step)

    def _selected(self, step: Later) -> _Table:
        rows = np.arange(self._size)
        if step.having is not None:
            rows = rows[self._holds(step.having)[rows]]
        if step.groups is not None:
            first = _first_of_each([self._values(one).cells() for one in step.groups], self._size)
            rows = rows[np.isin(rows, first)]
            if not step.groups and not self._size:
                return self._totals_of_nothing(step)
        ranks = [ranks_of(self._values(one.expression), one.descending, one.nulls_first) for one in step.order]
        if ranks:
            rows = rows[np.lexsort([rows, *(rank[rows] for rank in reversed(ranks))])]
        by = [one.expression for one in step.order]
        is_shuffled = not all(map(self._is_exact, by)) or (self._is_shuffled and self._has_equals(by, rows))
        judged = [*(() if step.having is None else (step.having,)), *(step.groups or ())]
        is_picked = self.is_picked or not all(map(self._is_exact, judged))
        is_picked |= is_shuffled and (step.limit is not None or step.offset > 0)
        rows = rows[step.offset : None if step.limit is None else step.offset + step.limit]
        made = {one.name: self._column(one.expression).taken(rows) for one in step.outputs}
        return _Table(made, len(rows), self._noise, is_picked, is_shuffled)

    def _totals_of_nothing(self, step: Later) -> _Table:
        """One row where there is none: counts are 0, all else is unknown."""
        empty = {name: _Held(values_of([None], one.values.kind), [None]) for name, one in self.columns.items()}
        alone = _Table(empty, 1, self._noise, self.is_picked)
        for one in step.expressions():
            for window in one.nodes(Window):
                if window.function == "count":
                    alone._known[window] = values_of([0], Kind.INTEGER)
        return alone._selected(replace(step, groups=None))

    def _has_equals(self, expressions: Sequence[Expression], rows: Rows) -> bool:
        """Whether rows are alike in all of these, so that something else decides which of them comes first."""
        cells = [self._values(one).cells() for one in expressions]
        return len({tuple(column[row] for column in cells) for row in rows.tolist()}) < len(rows)

    def _is_loose(self, window: Window) -> bool:
        """Whether noise decides which rows a window sees, or which of them comes first."""
        if self.is_picked or self._noise.is_partial or not self._is_shuffled:
            return self.is_picked or self._noise.is_partial
        if window.frame is None and window.function not in _PLACED:
            return False
        by = (*window.partition, *(one.expression for one in window.order))
        return self._has_equals(by, np.arange(self._size))

    def _holds(self, condition: Expression) -> npt.NDArray[np.bool_]:
        held = self._values(condition)
        return np.asarray(held.data, dtype=bool) & held.known

    def _values(self, expression: Expression) -> Values:
        return evaluate(expression, self._leaf, self._size)

    def _leaf(self, expression: Expression) -> Values | None:
        match expression:
            case Column(name):
                return self.columns[name].values
            case Window():
                if expression not in self._known:
                    self._known[expression] = windowed(expression, self._values, self._size)
                return self._known[expression]
        return None

    def _column(self, expression: Expression) -> _Held:
        match expression:
            case Column(name):
                return self.columns[name]
        values = self._values(expression)
        cells = values.cells()
        if self._is_exact(expression):
            return _Held(values, cells)
        ends = None if values.kind is None or not values.kind.is_number else self._ends(expression)
        if ends is None:
            return _Held(values, cells, is_unsure=True)
        low, high = ends.around(values)
        shown = Shown.of("", cells, low, high, whole=values.kind is Kind.INTEGER)
        return _Held(values, cells, shown, self._spread(expression))

    def _ends(self, expression: Expression) -> Interval | None:
        """Its interval: by the joint noise, or by that of the one column it is made of; None where neither is known."""
        leaves = list(dict.fromkeys(self._linear(expression)))
        noisy = [one for one in leaves if self._spread(one) is not None]
        rest = [one for one in leaves if self._spread(one) is None and not self._is_exact(one)]
        if (noisy and rest) or len(rest) > 1 or any(one.column_name is None for one in rest):
            return None
        known = dict[Expression, Interval | None]()
        for one in noisy:
            values, error = self._values(one), self._errors(one, BETA / len(noisy))
            point = np.where(values.known, values.data, np.nan).astype(np.float64)
            known[one] = Interval(point - error, point + error)
        for one in (*rest, *(one for one in leaves if self._is_exact(one))):
            known[one] = self._exact(one) if self._is_exact(one) else self.columns[str(one.column_name)].interval()
        return interval(expression, known.get, self._size)

    def _exact(self, expression: Expression) -> Interval | None:
        values = self._values(expression)
        return _Held(values, []).interval()

    def _errors(self, expression: Expression, beta: Fraction) -> Floats:
        spread = self._spread(expression)
        assert spread is not None
        return self._noise.errors(spread, beta)

    def _is_exact(self, expression: Expression) -> bool:
        """Whether no noise is in it, nor in which rows it is made of."""
        known = all(self.columns[column.name].is_exact for column in expression.nodes(Column))
        return known and not any(map(self._is_loose, expression.nodes(Window)))

    def _linear(self, expression: Expression) -> Iterator[Expression]:
        """The largest parts whose noise is followed, and what else it is made of."""
        whole = self._spread(expression) is not None or self._is_exact(expression) or not expression.parts()
        if whole or isinstance(expression, Window):
            yield expression
            return
        for part in expression.parts():
            yield from self._linear(part)

    def _spread(self, expression: Expression) -> Spread | None:
        """The weights of measured numbers in it; None if it is no sum of them."""
        if expression not in self._spreads:
            found = self._found_spread(expression)
            self._spreads[expression] = None if found is None or not _is_followed(found) else found
        return self._spreads[expression]

    def _found_spread(self, expression: Expression) -> Spread | None:
        match expression:
            case Column(name):
                return self.columns[name].spread
            case Window(_, argument) if argument is not None:
                below = self._spread(argument)
                if below is None or not self._values(argument).known.all():
                    return None
                if self._is_loose(expression) or not all(map(self._is_exact, expression.parts()[1:])):
                    return None  # which rows are added depends on the noise itself
                matrix = weights_of(expression, self._values, self._size)
                return None if matrix is None else matrix @ below
        parts = expression.parts()
        if expression.called == "negative":
            below = self._spread(parts[0])
            return None if below is None else -below
        if expression.called in ("+", "-"):
            return self._sum(parts[0], parts[1], -1.0 if expression.called == "-" else 1.0)
        if expression.called in ("*", "/"):
            return self._scaled(expression.called, *parts)
        return None

    def _sum(self, left: Expression, right: Expression, sign: float) -> Spread | None:
        spreads = [self._spread(one) for one in (left, right)]
        if all(one is None for one in spreads) or any(
            one is None and not self._is_exact(part) for one, part in zip(spreads, (left, right), strict=True)
        ):
            return None
        first, second = (0.0 if one is None else one for one in spreads)
        return np.asarray(first + sign * second)

    def _scaled(self, operator: str, left: Expression, right: Expression) -> Spread | None:
        if operator == "*" and self._is_exact(left):
            left, right = right, left
        below = self._spread(left)
        if below is None or not self._is_exact(right):
            return None
        factor = self._values(right)
        by = np.where(factor.known, factor.data, np.nan).astype(np.float64)
        with np.errstate(all="ignore"):
            return np.asarray(below * (by if operator == "*" else 1 / by)[:, None])


def _is_followed(weights: Spread) -> bool:
    """Whether doubles hold the eighth powers of all that is in it: bounds on tails go by them."""
    sizes = np.abs(weights[weights != 0])
    return bool(((sizes >= _LEAST) & (sizes <= _MOST)).all())


def _first_of_each(keys: Sequence[Sequence[Value]], size: int) -> Rows:
    """The first row of each group."""
    seen = dict[tuple[Value, ...], int]()
    for at, key in enumerate(zip(*keys, strict=True) if keys else [()] * size):
        seen.setdefault(key, at)
    return np.array(list(seen.values()), dtype=np.intp)
