"""Expressions in Python: ``tacit.col("age") >= 40`` builds the tree that ``age >= 40`` does in SQL."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from tacit.errors import InvalidParameter, TacitError
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.literals import literal
from tacit.tables.expressions.operators import TIME_UNITS
from tacit.tables.expressions.tree import Call, Case, Column, Expression, Grouping, Literal
from tacit.tables.query.functions import at_time_zone, started
from tacit.tables.query.to_sql import expression_sql
from tacit.tables.query.tree import Aggregate

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
    "when",
]

MOST_NAME = 200
"""How many characters the name of a column of an answer may have."""


def _binary(operator: str) -> Callable[[Term, object], Term]:
    return lambda self, other: Term(Call(operator, (self.expression, expression_of(other))))


def _swapped(operator: str) -> Callable[[Term, object], Term]:
    return lambda self, other: Term(Call(operator, (expression_of(other), self.expression)))


def _plain(operator: str, says: str) -> Callable[[Term], Term]:
    def method(self: Term) -> Term:
        return Term(Call(operator, (self.expression,)))

    method.__doc__ = says
    return method


def _joined(operator: str) -> Callable[[Term, object], Term]:
    """AND and OR of many are one node, as in SQL."""

    def method(self: Term, other: object) -> Term:
        left = self.expression
        parts = left.arguments if isinstance(left, Call) and left.operator == operator else (left,)
        return Term(Call(operator, (*parts, expression_of(other))))

    return method


class Term:
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
        return Term(Call("=", (self.expression, expression_of(other))))

    def __ne__(self, other: object) -> Term:  # type: ignore[override]
        return Term(Call("<>", (self.expression, expression_of(other))))

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

    __invert__ = _plain("not", "NOT x.")
    __neg__ = _plain("negative", "-x.")
    __abs__ = _plain("abs", "ABS(x).")
    abs = _plain("abs", "The distance from 0.")
    sign = _plain("sign", "-1, 0 or 1.")
    floor = _plain("floor", "The next whole number below.")
    ceil = _plain("ceil", "The next whole number above.")
    sqrt = _plain("sqrt", "The square root; null for a negative number.")
    ln = _plain("ln", "The natural logarithm; null where there is none.")
    log10 = _plain("log10", "The logarithm to base 10.")
    log2 = _plain("log2", "The logarithm to base 2.")
    exp = _plain("exp", "e to that power.")
    lower = _plain("lower", "In small letters.")
    upper = _plain("upper", "In capitals.")
    trim = _plain("trim", "Without the spaces at both ends.")
    length = _plain("length", "How many characters.")
    year = _plain("year", "The year of a date.")
    quarter = _plain("quarter", "1 to 4.")
    month = _plain("month", "1 to 12.")
    week = _plain("week", "The week of the year as ISO 8601 counts, 1 to 53.")
    day = _plain("day", "1 to 31.")
    weekday = _plain("weekday", "Monday is 1, Sunday 7.")
    hour = _plain("hour", "0 to 23.")
    minute = _plain("minute", "0 to 59.")
    is_null = _plain("is_null", "Whether the value is unknown.")

    def alias(self, name: str) -> Term:
        """The same, as a column of that name: ``group_by((col("age") // 10).alias("decade"))``."""
        if not isinstance(name, str) or not name.strip() or len(name) > MOST_NAME:
            raise InvalidParameter("alias", given=name, allowed=f"a name of at most {MOST_NAME} characters")
        return Term(self.expression, name)

    def is_not_null(self) -> Term:
        """Whether the value is known."""
        return ~self.is_null()

    def isin(self, values: Iterable[object]) -> Term:
        """Whether the value is one of those listed."""
        if isinstance(values, str | Term):
            raise InvalidParameter("isin", given=values, allowed='a list of values, such as ["a", "b"]')
        listed = tuple(expression_of(value) for value in values)
        if not listed:
            raise InvalidParameter("isin", given=[], allowed="at least one value")
        return Term(Call("in", (self.expression, *listed)))

    def like(self, pattern: object) -> Term:
        """Whether the text is like the pattern: % is any text, _ any character."""
        return Term(Call("like", (self.expression, expression_of(pattern))))

    def ilike(self, pattern: object) -> Term:
        """As `like`, capitals or not."""
        return Term(Call("ilike", (self.expression, expression_of(pattern))))

    def starts_with(self, text: object) -> Term:
        """Whether the text starts so."""
        return Term(Call("starts_with", (self.expression, expression_of(text))))

    def contains(self, text: object) -> Term:
        """Whether that text occurs in it."""
        return Term(Call("contains", (self.expression, expression_of(text))))

    def between(self, low: object, high: object) -> Term:
        """low <= x <= high."""
        return (self >= low) & (self <= high)

    def clip(self, low: object, high: object) -> Term:
        """The value, moved to the nearer end if it lies outside."""
        inner = Call("greatest", (self.expression, expression_of(low)))
        return Term(Call("least", (inner, expression_of(high))))

    def round(self, digits: object = None) -> Term:
        """To whole numbers, or to so many digits; halves go up."""
        rest = () if digits is None else (expression_of(digits),)
        return Term(Call("round", (self.expression, *rest)))

    def cast(self, kind: str | Kind) -> Term:
        """As another kind ("integer", "real", "text", "boolean", "date", "timestamp"); null where it cannot be read."""
        try:
            found = Kind(kind)
        except ValueError:
            allowed = ", ".join(one.value for one in Kind)
            raise InvalidParameter("kind", given=kind, allowed=f"one of {allowed}") from None
        return Term(Call(f"to_{found.value}", (self.expression,)))

    def substring(self, start: object, length: object = None) -> Term:
        """Characters from a place on, the first is 1."""
        rest = () if length is None else (expression_of(length),)
        return Term(Call("substring", (self.expression, expression_of(start), *rest)))

    def concat(self, *others: object) -> Term:
        """This text and the others behind it."""
        return Term(Call("concat", (self.expression, *(expression_of(other) for other in others))))

    def coalesce(self, *others: object) -> Term:
        """The first of these that is known."""
        return Term(Call("coalesce", (self.expression, *(expression_of(other) for other in others))))

    def nullif(self, other: object) -> Term:
        """Null where it is equal to the other."""
        return Term(Call("nullif", (self.expression, expression_of(other))))

    def width_bucket(self, low: float, high: float, count: int) -> Term:
        """Which of ``count`` equal steps from low to high: 1 to count, 0 below, count + 1 from high on."""
        return Term(Call("width_bucket", (self.expression, literal(low), literal(high), literal(count))))

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
        one = self.expression
        if not isinstance(one, Aggregate):
            raise InvalidParameter("filter", given=self, allowed="an aggregate: tacit.count().filter(…)")
        value = Literal(1) if one.argument is None else one.argument
        estimator = "count" if one.estimator == "count_rows" else one.estimator
        argument = Case(((condition_of(condition, "filter"), value),))
        return Term(replace(one, estimator=estimator, argument=argument))

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


def expression_of(value: object) -> Expression:
    """A term's expression, or the constant."""
    if isinstance(value, Term):
        return value.expression
    if isinstance(value, When):
        raise InvalidParameter("when", given=value, allowed="a finished one", hint="End it with .otherwise(value).")
    if isinstance(value, Expression):
        return value
    if isinstance(value, datetime.timedelta):
        hint = 'Write col("day").plus(3, "day").'
        raise InvalidParameter("constant", given=value, allowed="a number, a text, a truth or a date", hint=hint)
    return literal(value)


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
