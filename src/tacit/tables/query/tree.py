"""The query tree: what SQL and the Python API both build, what the planner prices, what is printed back as SQL."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from tacit.tables.expressions.tree import Case, Column, Expression, Literal
from tacit.tables.query.options import NO_OPTIONS, Options
from tacit.tables.query.relations import Relation

__all__ = ["FRAMED", "PLACES", "RANKS", "Aggregate", "Order", "Output", "Query", "Window"]


@dataclass(frozen=True, slots=True)
class Aggregate(Expression):
    """One statistic of the rows of a group; ``estimator`` names a file of `tacit.tables.estimators`.

    ``bounds`` clamp each row's value, ``group_bounds`` what one unit adds to one group; None means: as the policy says.
    ``second`` is the other argument of COVAR and CORR, ``level`` the share of rows below a quantile.
    """

    estimator: str
    argument: Expression | None = None
    bounds: tuple[Fraction, Fraction] | None = None
    group_bounds: tuple[Fraction, Fraction] | None = None
    second: Expression | None = None
    second_bounds: tuple[Fraction, Fraction] | None = None
    level: Fraction | None = None
    rank: tuple[int, int] | None = None
    """Of TOP_K: the place, from 1 on, and how many are chosen."""
    interval_share: Fraction | None = None
    """Of quantiles: what of the price goes into the interval; at 0 it is the whole range between the bounds."""

    def arguments(self) -> tuple[Expression, ...]:
        """The row-wise expressions it is of."""
        return tuple(one for one in (self.argument, self.second) if one is not None)

    def where(self, condition: Expression) -> Aggregate:
        """The same statistic of the rows for which a condition holds: FILTER (WHERE …)."""
        value = Literal(1) if self.argument is None else self.argument
        estimator = "count" if self.estimator == "count_rows" else self.estimator
        return replace(self, estimator=estimator, argument=Case(((condition, value),)))

    def over(self, change: Callable[[Column], Expression]) -> Expression:
        return self.of(lambda argument: argument.over(change))

    def measured(self) -> tuple[Expression, ...]:
        return self.arguments()

    def of(self, change: Callable[[Expression], Expression]) -> Aggregate:
        """The same statistic of changed arguments."""
        first = None if self.argument is None else change(self.argument)
        return replace(self, argument=first, second=None if self.second is None else change(self.second))


@dataclass(frozen=True, slots=True)
class Output:
    """A column of the answer: its name, and an expression over keys, aggregates and literals."""

    name: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class Order:
    """One term of ORDER BY, on released values; ``nulls_first`` is where unknown values go."""

    expression: Expression
    descending: bool = False
    nulls_first: bool = False


RANKS = ("row_number", "rank", "dense_rank", "percent_rank", "ntile")
"""Functions of the order alone."""
PLACES = ("lag", "lead", "first_value", "last_value")
"""Functions that give the value of another row."""
FRAMED = ("sum", "avg", "count", "min", "max")
"""Functions of all rows of the frame."""
Frame = tuple[int | None, int | None]
"""From and to which row, counted from the current one; None: all that there are."""


@dataclass(frozen=True, slots=True)
class Window(Expression):
    """A function of the rows of an answer around each row: SUM(n) OVER (PARTITION BY … ORDER BY … ROWS …)."""

    function: str
    argument: Expression | None = None
    partition: tuple[Expression, ...] = ()
    order: tuple[Order, ...] = ()
    frame: Frame | None = None
    """None: all rows of the partition; up to the current one and its equals where there is an order."""
    count: int = 1
    """How many rows LAG and LEAD go, how many parts NTILE makes."""
    is_total: bool = False
    """Whether it is one number for all rows of a group, of which the partition is the keys."""

    def parts(self) -> tuple[Expression, ...]:
        first = () if self.argument is None else (self.argument,)
        return (*first, *self.partition, *(one.expression for one in self.order))

    def with_parts(self, parts: tuple[Expression, ...]) -> Expression:
        left = list(parts)
        argument = None if self.argument is None else left.pop(0)
        partition, ordered = left[: len(self.partition)], left[len(self.partition) :]
        order = tuple(replace(one, expression=part) for one, part in zip(self.order, ordered, strict=True))
        return replace(self, argument=argument, partition=tuple(partition), order=order)


@dataclass(frozen=True, slots=True)
class Query:
    """SELECT outputs FROM table WHERE where GROUP BY keys HAVING having ORDER BY order LIMIT limit OFFSET offset.

    ``where`` and ``keys`` are expressions over rows; all others over what is released. ``options`` are what a statement
    says about its price and limits.
    """

    table: str
    outputs: tuple[Output, ...]
    where: Expression | None = None
    keys: tuple[Expression, ...] = ()
    having: Expression | None = None
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0
    options: Options = NO_OPTIONS
    source: Relation | None = None
    """What the rows are, if not those of the table."""
    sets: tuple[tuple[int, ...], ...] = ()
    """GROUPING SETS: the keys of each, by their places, in order. Empty: one set, of all keys."""

    def aggregates(self) -> tuple[Aggregate, ...]:
        """Every distinct aggregate, in the order of first use: outputs, then HAVING, then ORDER BY."""
        used = [output.expression for output in self.outputs]
        used += [] if self.having is None else [self.having]
        used += [term.expression for term in self.order]
        return tuple(dict.fromkeys(node for one in used for node in one.nodes(Aggregate)))

    def together(self) -> int:
        """The largest number of distinct aggregates in one output: how many intervals must hold together for it."""
        return max((len(set(output.expression.nodes(Aggregate))) for output in self.outputs), default=0)
