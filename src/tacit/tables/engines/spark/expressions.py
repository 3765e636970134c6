"""Row-wise expressions as SQL for Spark; the forms of operators are in `operators`."""

from __future__ import annotations

from collections.abc import Mapping

from tacit.tables.engines.chain import expressions
from tacit.tables.engines.chain.terms import Term
from tacit.tables.engines.spark.dialect import DIALECT
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Expression

__all__ = ["render"]


def render(expression: Expression, kinds: Mapping[str, Kind]) -> Term:
    """The SQL of an expression over the columns of ``rows``, whose kinds are given."""
    return expressions.render(expression, kinds, DIALECT)
