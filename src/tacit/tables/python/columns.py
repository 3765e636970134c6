"""Expressions in Python: ``tacit.col("age") >= 40`` builds the tree that ``age >= 40`` does in SQL."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import singledispatch

from tacit.errors import InvalidParameter, TacitError
from tacit.tables.expressions.kinds import Kind, literal
from tacit.tables.expressions.operators import TIME_UNITS
from tacit.tables.expressions.tree import Call, Case, Column, Expression, Grouping, Literal
from tacit.tables.python.methods import OperatorMethods
from tacit.tables.python.other_names import OtherNames
from tacit.tables.query.functions import at_time_zone, started
from tacit.tables.query.to_sql import expression_sql
from tacit.tables.query.tree import Aggregate, Order, Window

__all__ = [
    "MOST_NAME",
    "Ordering",
    "Term",
    "When",
    "col",
    "condition_of",
    "expression_of",
    "greatest",
    "least",
    "lit",
    "named",
    "order_of",
    "when",
]

MOST_NAME = 200
"""How many characters the name of a column of an answer may have."""


def _binary(operator: str) -> Callable[[Term, object], Term]:
    return lambda self, other: self._called(operator, (other,))


def _swapped(operator: str) -> Callable[[Term, object], Term]:
    return lambda self, other: Term(Call(operator, (expression_of(other), self.expression)))


def _joined(operator: str) -> Callable[[Term, object], Term]:
    """AND and OR of many are one node, as in SQL."""

    def method(self: Term, other: object) -> Term:
        return Term(Call(operator, (*self.expression.operands(operator), expression_of(other))))

    return method


class Term(OperatorMethods, OtherNames):
    """An expression that Python's operators build on: ``+ - * / // % **``, comparisons, ``&`` and, ``|`` or, ``~`` not.

    >>> (col("age") >= 40) & col("city").isin(["Oslo", "Bergen"])
    (age >= 40) AND (city IN ('Oslo', 'Bergen'))
    """

    __slots__ = ("expression", "name")

    def __init__(self, expression: Expression, name: str | None = None) -> None:
        self.expression = expression
        self.name = name

    __add__, __radd__ = _binary("+"), _swapped("+")
    __mul__, __rmul__ = _binary("*"), _swapped("*")
    __truediv__, __rtruediv__ = _binary("/"), _swapped("/")
    __floordiv__, __rfloordiv__ = _binary("//"), _swapped("//")
    __mod__, __rmod__ = _binary("%"), _swapped("%")
    __pow__, __rpow__ = _binary("power"), _swapped("power")
    __sub__, __rsub__ = _binary("-"), _swapped("-")
    __lt__, __le__, __gt__, __ge__ = _binary("<"), _binary("<="), _binary(">"), _binary(">=")
    __and__, __or__ = _joined("and"), _joined("or")
    __rand__, __ror__ = _swapped("and"), _swapped("or")

    def __eq__(self, other: object) -> Term:  # type: ignore[override]
        return self.is_null() if other is None else self._called("=", (other,))

    def __ne__(self, other: object) -> Term:  # type: ignore[override]
        return ~self.is_null() if other is None else self._called("<>", (other,))

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise _NotATruth(
            "condition",
            given=self,
            allowed="no truth value: it has one per row",
            hint="Write & for and, | for or, ~ for not, .between(a, b) for a <= x <= b, .isin([...]) for in.",
        )

    def __iter__(self) -> Iterable[Term]:
        raise _NotIterable("column", given=self, allowed="one value per row, which cannot be listed")

    def __contains__(self, value: object) -> bool:
        raise _NotIterable("column", given=self, allowed="one value per row, which cannot be searched")

    def __invert__(self) -> Term:
        return self._called("not", ())

    def __neg__(self) -> Term:
        return self._called("negative", ())

    def __abs__(self) -> Term:
        return self._called("abs", ())

    def _called(self, operator: str, given: tuple[object, ...]) -> Term:
        return Term(Call(operator, (self.expression, *map(expression_of, given))))

    def alias(self, name: str) -> Term:
        """The same, as a column of that name: ``group_by((col("age") // 10).alias("decade"))``."""
        if not isinstance(name, str) or not name.strip() or len(name) > MOST_NAME:
            raise InvalidParameter("alias", given=name, allowed=f"a name of at most {MOST_NAME} characters")
        return Term(self.expression, name)

    def over(
        self,
        *,
        partition_by: str | Term | Sequence[str | Term] = (),
        order_by: str | Term | Ordering | Sequence[str | Term | Ordering] = (),
        rows: tuple[int | None, int | None] | None = None,
    ) -> Term:
        """A statistic of the rows of an answer around each row: ``tacit.sum("n").over()`` is the total in every row.

        ``rows`` are the first and the last row of a frame, counted from the current one: ``(-2, 0)`` for the last
        three; None for all there are on that side. It stands after `agg`, in ``with_columns`` and its like.
        """
        made = _window(self.expression)
        if made is None:
            allowed = "sum, mean, count, min or max of released numbers, or a place in an order"
            raise InvalidParameter("over", given=self, allowed=allowed, hint='Write tacit.sum("n").over().')
        partition = tuple(expression_of(named(one)) for one in _listed(partition_by))
        order = tuple(map(order_of, _listed(order_by)))
        if rows is not None and not (isinstance(rows, tuple) and len(rows) == 2 and all(map(_is_frame, rows))):
            raise InvalidParameter("rows", given=rows, allowed="two numbers of rows, or None: (-2, 0)")
        return Term(replace(made, partition=partition, order=order, frame=rows), self.name)

    def is_not_null(self) -> Term:
        """Whether the value is known."""
        return ~self.is_null()

    def isin(self, values: Iterable[object]) -> Term:
        """Whether the value is one of those listed."""
        if isinstance(values, str | Term):
            raise InvalidParameter("isin", given=values, allowed='a list of values, such as ["a", "b"]')
        listed = tuple(values)
        if not listed:
            raise InvalidParameter("isin", given=[], allowed="at least one value")
        return self._called("in", listed)

    def between(self, low: object, high: object) -> Term:
        """low <= x <= high."""
        return (self >= low) & (self <= high)

    def clip(self, low: object, high: object) -> Term:
        """The value, moved to the nearer end if it lies outside."""
        return self._called("greatest", (low,))._called("least", (high,))

    def cast(self, kind: str | Kind) -> Term:
        """As another kind ("integer", "real", "text", "boolean", "date", "timestamp"); null where it cannot be read."""
        try:
            found = Kind(kind)
        except ValueError:
            allowed = ", ".join(one.value for one in Kind)
            raise InvalidParameter("kind", given=kind, allowed=f"one of {allowed}") from None
        return self._called(f"to_{found.value}", ())

    def date_trunc(self, unit: str, zone: str | None = None) -> Term:
        """The start of the year, quarter, month, week, day, hour, minute or second; in a time zone, the moment of that.

        Timestamps are in UTC: with a zone it is the moment of UTC at which the local year, … or second began.
        """
        if zone is not None:
            return Term(started(self.expression, _unit(unit), literal(zone)))
        return Term(Call("date_trunc", (Literal(_unit(unit)), self.expression)))

    def grouping(self) -> Term:
        """1 in rows of an answer that are not grouped by this key of a rollup, where it is null; 0 in the others."""
        return Term(Grouping(self.expression))

    def at_time_zone(self, zone: str) -> Term:
        """What clocks show in a time zone, such as "Europe/Copenhagen"; timestamps are in UTC."""
        return Term(at_time_zone(self.expression, literal(zone)))

    def plus(self, count: int, unit: str) -> Term:
        """So many units of time later; earlier if negative."""
        return Term(Call("date_add", (Literal(_unit(unit)), literal(count), self.expression)))

    def until(self, end: object, unit: str) -> Term:
        """How many starts of such units lie after this, up to the end: DATE_DIFF(unit, this, end)."""
        return Term(Call("date_diff", (Literal(_unit(unit)), self.expression, expression_of(end))))

    def desc(self, *, nulls_first: bool = False) -> Ordering:
        """For `order_by`: the largest first."""
        return Ordering(self.expression, True, nulls_first)

    def asc(self, *, nulls_first: bool = False) -> Ordering:
        """For `order_by`: the smallest first."""
        return Ordering(self.expression, False, nulls_first)

    def filter(self, condition: Term) -> Term:
        """An aggregate of the rows for which the condition holds: FILTER (WHERE …)."""
        if not isinstance(self.expression, Aggregate):
            raise InvalidParameter("filter", given=self, allowed="an aggregate: tacit.count().filter(…)")
        return Term(self.expression.where(condition_of(condition, "filter")))

    def __repr__(self) -> str:
        try:
            return expression_sql(self.expression)
        except (TacitError, RecursionError, AssertionError, KeyError):
            return "Term(…)"


class _NotATruth(InvalidParameter, TypeError):
    """Also a TypeError, as Python's own."""


class _NotIterable(InvalidParameter, TypeError):
    """Also a TypeError, as Python's own."""


@dataclass(frozen=True, slots=True)
class Ordering:
    """A term of ORDER BY."""

    expression: Expression
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class When:
    """CASE being written: ``when(condition, value).when(…).otherwise(value)``."""

    branches: tuple[tuple[Expression, Expression], ...]

    def when(self, condition: Term, value: object) -> When:
        """A further branch."""
        return When((*self.branches, (expression_of(condition), expression_of(value))))

    def otherwise(self, value: object) -> Term:
        """The value where no condition holds; ``otherwise(None)`` is null."""
        return Term(Case(self.branches, expression_of(value)))


def when(condition: Term, value: object) -> When:
    """CASE WHEN condition THEN value …

    >>> when(col("age") < 18, "young").otherwise("grown")
    CASE WHEN age < 18 THEN 'young' ELSE 'grown' END
    """
    return When(((expression_of(condition), expression_of(value)),))


def col(name: str) -> Term:
    """A column of the table, by its name.

    >>> col("age") // 10 * 10
    (age // 10) * 10
    """
    if not isinstance(name, str) or not name.strip():
        raise InvalidParameter("column", given=name, allowed="the name of a column")
    return Term(Column(name))


def lit(value: object) -> Term:
    """A constant, where a text would be the name of a column: ``with_columns(kind=lit("visit"))``.

    >>> lit("visit"), lit(0.5)
    ('visit', 0.5)
    """
    return Term(literal(value))


def least(*values: object) -> Term:
    """The smallest of several values in a row: LEAST(a, b).

    >>> least(col("spend"), 100), greatest(col("spend"), col("earned"), 0)
    (LEAST(spend, 100), GREATEST(spend, earned, 0))
    """
    return Term(Call("least", tuple(expression_of(one) for one in values)))


def greatest(*values: object) -> Term:
    """The largest of several values in a row: GREATEST(a, b)."""
    return Term(Call("greatest", tuple(expression_of(one) for one in values)))


def _listed(given: object) -> Sequence[object]:
    return list(given) if isinstance(given, list | tuple) else [given]


def _is_frame(end: object) -> bool:
    return end is None or (isinstance(end, int) and abs(end) <= _MOST_FRAME)


_WINDOWS = {"sum": "sum", "mean": "avg", "count": "count", "count_rows": "count"}
_ENDS = {Fraction(0): "min", Fraction(1): "max"}
_MOST_FRAME = 1_000


@singledispatch
def _window(expression: Expression) -> Window | None:
    """The window that a statistic of the rows of an answer is; None if it is none."""
    return None


@_window.register
def _(expression: Window) -> Window | None:
    return expression


@_window.register
def _(expression: Aggregate) -> Window | None:
    name = _WINDOWS.get(expression.estimator)
    if expression.estimator == "quantile" and expression.level is not None:
        name = _ENDS.get(expression.level)
    return None if name is None else Window(name, expression.argument)


@singledispatch
def named(term: object) -> object:
    """A column by its name; anything else as it is."""
    return term


@named.register
def _(term: str) -> object:
    return col(term)


@singledispatch
def order_of(term: object) -> Order:
    """A term of an order of released rows: the name of a column, an expression, or one with its direction."""
    return Order(expression_of(named(term)))


@order_of.register
def _(term: Ordering) -> Order:
    return Order(term.expression, term.descending, term.nulls_first)


@singledispatch
def expression_of(value: object) -> Expression:
    """A term's expression, or the constant."""
    return literal(value)


@expression_of.register
def _(value: Term) -> Expression:
    return value.expression


@expression_of.register
def _(value: Expression) -> Expression:
    return value


@expression_of.register
def _(value: When) -> Expression:
    raise InvalidParameter("when", given=value, allowed="a finished one", hint="End it with .otherwise(value).")


@expression_of.register
def _(value: datetime.timedelta) -> Expression:
    hint = 'Write col("day").plus(3, "day").'
    raise InvalidParameter("constant", given=value, allowed="a number, a text, a truth or a date", hint=hint)


def condition_of(value: object, step: str) -> Expression:
    """The expression of a condition; refuses what Python makes of ``"age" == 40``: False, which holds for no row."""
    if value is None or isinstance(value, bool | str):
        hint = 'A column is col("age"), so that Python does not compare its name: col("age") == 40.'
        raise InvalidParameter(step, given=value, allowed="a condition of columns", hint=hint)
    return expression_of(value)


def _unit(unit: str) -> str:
    if unit not in TIME_UNITS:
        raise InvalidParameter("unit", given=unit, allowed=f"one of {', '.join(TIME_UNITS)}")
    return unit
