"""Expressions evaluated in Python, over what is public: released values, and the listed keys of a policy.

Same meaning as in an engine: total, null where a value cannot be computed, truth with three values. Numbers are
doubles in arrays; texts and times are evaluated one by one.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.literals import kind_of_value
from tacit.tables.expressions.operators import OPERATORS, common_kind
from tacit.tables.expressions.scalars import SCALARS, as_moment
from tacit.tables.expressions.texts import like, lower
from tacit.tables.expressions.tree import Call, Case, Expression, Literal, Value

__all__ = ["Values", "evaluate", "evaluate_rows", "values_of"]

Array = npt.NDArray[np.generic]
Mask = npt.NDArray[np.bool_]
_LARGEST_WHOLE = float(2**63)


@dataclass(frozen=True, slots=True)
class Values:
    """One value per row: doubles for numbers, truths, or Python objects; ``known`` is false where it is null."""

    kind: Kind | None
    data: npt.NDArray[np.generic]
    known: Mask

    @property
    def size(self) -> int:
        return len(self.known)

    def cells(self) -> list[Value]:
        """As Python values, None for null."""
        known = self.known.tolist()
        if self.kind is Kind.INTEGER:
            return [int(value) if there else None for value, there in zip(self.data.tolist(), known, strict=True)]
        return [value if there else None for value, there in zip(self.data.tolist(), known, strict=True)]

    def widened(self, kind: Kind | None) -> Values:
        """As the wider kind that several values have together."""
        if self.kind is kind:
            return self
        if self.kind is None:
            return _null(kind, self.size)
        if kind is Kind.TIMESTAMP:
            return _each(as_moment, Kind.TIMESTAMP, [self])
        return Values(kind, self.data, self.known)


Leaf = Callable[[Expression], "Values | None"]


def values_of(cells: Sequence[Value], kind: Kind | None = None) -> Values:
    """Python values as an array; their kind is found if it is not given."""
    known = np.array([cell is not None for cell in cells], dtype=bool)
    if kind is None:
        kind = common_kind(tuple({kind_of_value(cell) for cell in cells if cell is not None})) if known.any() else None
    if kind is not None and kind.is_number:
        return Values(kind, np.array([0.0 if cell is None else cell for cell in cells], dtype=np.float64), known)
    if kind is Kind.BOOLEAN:
        return Values(kind, np.array([bool(cell) for cell in cells], dtype=bool), known)
    if kind is Kind.TIMESTAMP:
        cells = [as_moment(cell) if isinstance(cell, datetime.date) else None for cell in cells]
    return Values(kind, _objects(cells), known)


def evaluate(expression: Expression, leaf: Leaf, size: int) -> Values:
    """The expression's values; ``leaf`` gives those of keys, aggregates, columns, or any part that is known."""
    found = leaf(expression)
    if found is not None:
        return found
    if isinstance(expression, Literal):
        return _constant(expression.value, size)
    if isinstance(expression, Case):
        return _case(expression, leaf, size)
    if not isinstance(expression, Call):
        allowed = "keys, aggregates and constants, and operators of them"
        raise InvalidParameter("expression", given=type(expression).__name__, allowed=allowed)
    arguments = [evaluate(part, leaf, size) for part in expression.arguments]
    kind = OPERATORS[expression.operator].gives(tuple(one.kind for one in arguments))
    if kind is None:
        given = ", ".join("NULL" if one.kind is None else str(one.kind) for one in arguments)
        raise InvalidParameter(expression.operator, given=given, allowed=OPERATORS[expression.operator].takes)
    return _apply(expression, arguments, kind, size)


def evaluate_rows(expression: Expression, values: Mapping[Expression, Sequence[Value]], size: int) -> list[Value]:
    """The expression for each row of values of some of its parts."""
    columns = {part: values_of(cells) for part, cells in values.items()}
    return evaluate(expression, columns.get, size).cells()


def _apply(call: Call, arguments: list[Values], kind: Kind, size: int) -> Values:
    name = call.operator
    if name in _LOGIC:
        return _LOGIC[name](arguments)
    if name in _NUMBERS:
        return _numeric(_NUMBERS[name], kind, arguments)
    if name == "is_null":
        return _truth(~arguments[0].known, np.ones(size, dtype=bool))
    if name in _COMPARED:
        return _compare(name, *arguments)
    if name == "in":
        return _in(arguments)
    if name in ("like", "ilike"):
        return _like(call.arguments[1], kind, arguments, lower if name == "ilike" else str)
    if name == "coalesce":
        return _coalesce([one.widened(kind) for one in arguments])
    if name == "nullif":
        same = _compare("=", *arguments)
        return Values(kind, arguments[0].widened(kind).data, arguments[0].known & ~_bools(same)[0])
    if name.startswith("to_") and kind.is_number and arguments[0].kind in (Kind.INTEGER, Kind.REAL, Kind.BOOLEAN):
        return _numeric(np.rint if kind is Kind.INTEGER else np.positive, kind, arguments)
    return _each(SCALARS[name], kind, arguments)


# --- building


def _objects(cells: Sequence[object]) -> npt.NDArray[np.object_]:
    made = np.empty(len(cells), dtype=object)
    made[:] = cells
    return made


def _null(kind: Kind | None, size: int) -> Values:
    if kind is not None and kind.is_number:
        return Values(kind, np.zeros(size), np.zeros(size, dtype=bool))
    if kind is Kind.BOOLEAN:
        return Values(kind, np.zeros(size, dtype=bool), np.zeros(size, dtype=bool))
    return Values(kind, np.full(size, None, dtype=object), np.zeros(size, dtype=bool))


def _constant(value: Value, size: int) -> Values:
    kind = kind_of_value(value)
    if value is None:
        return _null(None, size)
    known = np.ones(size, dtype=bool)
    if kind is Kind.BOOLEAN:
        return Values(kind, np.full(size, value, dtype=bool), known)
    if kind is not None and kind.is_number:
        return Values(kind, np.full(size, float(value), dtype=np.float64), known)  # type: ignore[arg-type]
    return Values(kind, np.full(size, value, dtype=object), known)


def _truth(data: Mask, known: Mask) -> Values:
    return Values(Kind.BOOLEAN, data & known, known)


def _each(function: Callable[..., Value], kind: Kind | None, arguments: Sequence[Values]) -> Values:
    """A function of Python values, where all arguments are known."""
    known = np.logical_and.reduce([one.known for one in arguments])
    rows = np.flatnonzero(known)
    columns = [_python(one, rows) for one in arguments]
    found = [function(*row) for row in zip(*columns, strict=True)]
    cells: list[Value] = [None] * len(known)
    for row, value in zip(rows.tolist(), found, strict=True):
        cells[row] = value
    return values_of(cells, kind)


def _python(values: Values, rows: npt.NDArray[np.intp]) -> list[Value]:
    chosen = values.data[rows].tolist()
    return [int(value) for value in chosen] if values.kind is Kind.INTEGER else chosen


# --- truth


def _bools(values: Values) -> tuple[Mask, Mask]:
    return np.asarray(values.widened(Kind.BOOLEAN).data, dtype=bool) & values.known, values.known


def _and(arguments: Sequence[Values]) -> Values:
    pairs = [_bools(one) for one in arguments]
    false = np.logical_or.reduce([known & ~data for data, known in pairs])
    true = np.logical_and.reduce([data for data, _ in pairs])
    return _truth(true, false | true)


def _not(arguments: Sequence[Values]) -> Values:
    data, known = _bools(arguments[0])
    return _truth(~data, known)


def _or(arguments: Sequence[Values]) -> Values:
    return _not([_and([_not([one]) for one in arguments])])


_LOGIC: dict[str, Callable[[Sequence[Values]], Values]] = {"and": _and, "or": _or, "not": _not}

_COMPARED: dict[str, Callable[..., Mask]] = {
    "=": np.equal,
    "<>": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def _compare(sign: str, left: Values, right: Values) -> Values:
    kind = common_kind((left.kind, right.kind))
    left, right = left.widened(kind), right.widened(kind)
    known = left.known & right.known
    if left.data.dtype != object:
        return _truth(_COMPARED[sign](left.data, right.data), known)
    made = np.zeros(len(known), dtype=bool)
    rows = np.flatnonzero(known)
    made[rows] = _COMPARED[sign](left.data[rows], right.data[rows]).astype(bool)
    return _truth(made, known)


def _like(pattern: Expression, kind: Kind, arguments: Sequence[Values], folded: Callable[[str], str]) -> Values:
    assert isinstance(pattern, Literal)
    test = like(folded(str(pattern.value)))
    return _each(lambda text, _: test(folded(text)), kind, arguments)


def _in(arguments: Sequence[Values]) -> Values:
    return _or([_compare("=", arguments[0], one) for one in arguments[1:]])


def _coalesce(arguments: Sequence[Values]) -> Values:
    data, known = arguments[0].data.copy(), arguments[0].known.copy()
    for one in arguments[1:]:
        fill = ~known & one.known
        data[fill] = one.data[fill]
        known |= fill
    return Values(arguments[0].kind, data, known)


def _case(case: Case, leaf: Leaf, size: int) -> Values:
    results = [evaluate(value, leaf, size) for _, value in case.branches]
    otherwise = evaluate(case.otherwise, leaf, size)
    kinds = tuple(one.kind for one in (*results, otherwise))
    kind = common_kind(kinds) if any(kinds) else None
    data, known = otherwise.widened(kind).data.copy(), otherwise.known.copy()
    waiting = np.ones(size, dtype=bool)
    for (condition, _), result in zip(case.branches, results, strict=True):
        true, _ = _bools(evaluate(condition, leaf, size))
        taken = waiting & true
        data[taken] = result.widened(kind).data[taken]
        known[taken] = result.known[taken]
        waiting &= ~true
    return Values(kind, data, known)


# --- numbers


def _numeric(function: Callable[..., npt.NDArray[np.float64]], kind: Kind, arguments: Sequence[Values]) -> Values:
    """A function of doubles; null where it gives none, and where a whole number leaves 64 bits."""
    known = np.logical_and.reduce([one.known for one in arguments])
    with np.errstate(all="ignore"):
        data = np.asarray(function(*(one.data.astype(np.float64) for one in map(_as_number, arguments))), dtype=float)
        fine = np.isfinite(data) & known
        if kind is Kind.INTEGER:
            fine &= np.abs(data) < _LARGEST_WHOLE
    return Values(kind, np.where(fine, data, 0.0) + 0.0, fine)


def _as_number(values: Values) -> Values:
    return _null(Kind.INTEGER, values.size) if values.kind is None else values


def _round(x: npt.NDArray[np.float64], digits: npt.NDArray[np.float64] | None = None) -> npt.NDArray[np.float64]:
    if digits is None:
        return np.floor(x + 0.5)
    step = 10.0 ** np.abs(digits)
    scaled = np.where(digits >= 0, x * step, x / step)
    rounded = np.floor(scaled + 0.5)
    return np.where(np.abs(scaled) < 2**52, np.where(digits >= 0, rounded / step, rounded * step), x)


def _bucket(x: npt.NDArray[np.float64], low: Array, high: Array, count: Array) -> npt.NDArray[np.float64]:
    inside = np.minimum(np.floor((x - low) / ((high - low) / count)), count - 1) + 1  # type: ignore[operator]
    return np.where(x < low, 0.0, np.where(x >= high, count + 1, inside))  # type: ignore[operator]


_NUMBERS: dict[str, Callable[..., npt.NDArray[np.float64]]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "//": lambda x, y: np.trunc(x / y),
    "%": np.fmod,
    "negative": np.negative,
    "abs": np.abs,
    "sign": np.sign,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": _round,
    "ln": np.log,
    "log10": np.log10,
    "log2": np.log2,
    "exp": np.exp,
    "sqrt": np.sqrt,
    "power": np.power,
    "least": lambda *given: np.minimum.reduce(given),
    "greatest": lambda *given: np.maximum.reduce(given),
    "width_bucket": _bucket,
}
