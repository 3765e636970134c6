"""Steps with an answer in Python: ``people.group_by("city").agg(n=count()).order_by(col("n").desc()).limit(3)``.

All of them are computed from released numbers alone, and cost nothing: the question before them is what is asked.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Self

from tacit.errors import InvalidParameter
from tacit.tables.expressions.tree import Column, Expression
from tacit.tables.python.columns import Ordering, Term, condition_of, expression_of, named, order_of
from tacit.tables.query.canonical import default_name
from tacit.tables.query.later import MOST_FRAME, Later
from tacit.tables.query.rows import Rows
from tacit.tables.query.tree import Output, Window
from tacit.tables.sql.parse import parse_condition

__all__ = ["Steps", "dense_rank", "lag", "lead", "rank", "row_number"]


def rank() -> Term:
    """For ``over``: the place of a row of an answer in an order; equals share one, and leave a gap behind them.

    >>> rank().over(order_by="n")
    RANK() OVER (ORDER BY n)
    """
    return Term(Window("rank"))


def dense_rank() -> Term:
    """For ``over``: the place of a row of an answer in an order; equals share one, and leave no gap."""
    return Term(Window("dense_rank"))


def row_number() -> Term:
    """For ``over``: the number of a row of an answer in an order, from 1 on."""
    return Term(Window("row_number"))


def lag(of: str | Term, rows: int = 1) -> Term:
    """For ``over``: the value so many rows of an answer before; null where there is none."""
    return Term(Window("lag", expression_of(named(of)), count=_rows(rows)))


def lead(of: str | Term, rows: int = 1) -> Term:
    """For ``over``: the value so many rows of an answer later; null where there is none."""
    return Term(Window("lead", expression_of(named(of)), count=_rows(rows)))


class Steps(ABC):
    """What can be done with an answer before it is there; each step gives a question that costs what the first does."""

    @abstractmethod
    def _columns(self) -> Sequence[str]:
        """What the answer's columns are called by now."""

    @abstractmethod
    def then(self, *steps: Later) -> Self:
        """The same, and then these steps."""

    def where(self, condition: str | Term) -> Self:
        """Only the rows of the answer whose released values fulfil the condition."""
        return self.then(replace(self._all(), where=self._condition(condition)))

    def having(self, condition: str | Term) -> Self:
        """Only the rows of the answer whose released values fulfil the condition."""
        return self.where(condition)

    def order_by(self, *terms: str | Term | Ordering) -> Self:
        """The rows of the answer in the order of released values: names of columns, or ``tacit.col("n").desc()``."""
        return self.then(replace(self._all(), order=tuple(map(order_of, terms))))

    def limit(self, count: int, offset: int = 0) -> Self:
        """At most so many rows of the answer, after leaving out the first ``offset``."""
        return self.then(replace(self._all(), limit=_rows(count, most=10**15), offset=_rows(offset, most=10**15)))

    def select(self, *columns: str | Term, **named: str | Term) -> Self:
        """These columns of the answer alone: by their names, or computed and named."""
        return self.then(Later(tuple(_outputs(columns, named))))

    def with_columns(self, *columns: Term, **named: str | Term) -> Self:
        """The answer with further columns, computed of released numbers; an old name is replaced."""
        made = {one.name.lower(): one for one in _outputs(columns, named)}
        kept = [made.pop(one.name.lower(), one) for one in self._all().outputs]
        return self.then(Later((*kept, *made.values())))

    def _all(self) -> Later:
        return Later(tuple(Output(name, Column(name)) for name in self._columns()))

    def _condition(self, condition: str | Term) -> Expression:
        if not isinstance(condition, str):
            return condition_of(condition, "where")
        return parse_condition(condition, "answer", Rows(frozenset(("answer",))))


def _outputs(columns: Sequence[str | Term], given: Mapping[str, str | Term]) -> list[Output]:
    found = []
    for one in columns:
        expression = expression_of(named(one))
        found.append(Output(getattr(one, "name", None) or default_name(expression, ()), expression))
    return [*found, *(Output(name, expression_of(named(one))) for name, one in given.items())]


def _rows(value: object, least: int = 0, most: int = MOST_FRAME) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidParameter("rows", given=value, allowed=f"a whole number from {least} to {most}")
    return value
