"""Quantiles, as the dialects write them, and the geometric mean."""

from __future__ import annotations

from fractions import Fraction

from tacit.tables.expressions.tree import Expression
from tacit.tables.query.functions import INTERVAL_SHARE, geometric_mean, quantile
from tacit.tables.query.refusals import NotUnderstood, not_yet
from tacit.tables.query.tree import Aggregate
from tacit.tables.sql.grammar import exp
from tacit.tables.sql.read.aggregates import exact, inside_aggregate
from tacit.tables.sql.scope import Scope, function_name, only, written

__all__ = ["GEOMETRIC", "geometric_node", "quantile_node", "within_group"]

GEOMETRIC = ("geomean", "geometric_mean")
_WITHIN = ("percentile_cont", "percentile_disc")
_EXAMPLE = "Write PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x), or QUANTILE(x, 0.9)."


def quantile_node(scope: Scope, name: str, given: list[exp.Expression]) -> Aggregate:
    """QUANTILE(x, 0.9)."""
    found = inside_aggregate(scope, name, given)
    if len(found.plain) != 2:
        raise NotUnderstood(f"{name.upper()}(…)", "takes a value and a share of the rows", _EXAMPLE)
    value, level = found.plain
    return found.shared(quantile(found.scope.expression(value), _level(level), found.bounds))


def within_group(scope: Scope, node: exp.WithinGroup) -> Aggregate:
    """PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x); MODE() WITHIN GROUP (ORDER BY x)."""
    only(node, "this", "expression")
    call, order = node.this, node.expression
    name = function_name(call)
    if name not in (*_WITHIN, "mode") or not isinstance(order, exp.Order):
        raise not_yet(written(node), _EXAMPLE)
    only(call, "this", "expressions")
    only(order, "expressions")
    found = inside_aggregate(scope, name, call.expressions)
    if len(order.expressions) != 1 or len(found.plain) != (0 if name == "mode" else 1):
        raise NotUnderstood(f"{name.upper()}(…)", "takes one share of the rows, and one value to order by", _EXAMPLE)
    term = order.expressions[0]
    ordered = isinstance(term, exp.Ordered)
    if ordered:
        only(term, "this", "desc", "nulls_first")
    value = found.scope.expression(term.this if ordered else term)
    if name == "mode":
        return found.shared(Aggregate("mode", value))
    level = _level(found.plain[0])
    return found.shared(quantile(value, 1 - level if ordered and term.args.get("desc") else level, found.bounds))


def geometric_node(scope: Scope, name: str, given: list[exp.Expression]) -> Expression:
    """GEOMEAN(x) is EXP(AVG(LN(x))); its bounds are those of x, and above 0."""
    found = inside_aggregate(scope, name, given)
    if len(found.plain) != 1:
        raise NotUnderstood(f"{name.upper()}(…)", "takes one value", f"Write {name.upper()}(column).")
    if found.share is not None:
        raise not_yet(f"{INTERVAL_SHARE} of {name.upper()}", "Its interval is free; leave the share out.")
    return geometric_mean(found.scope.expression(found.plain[0]), found.bounds.get("bounds"), name.upper())


def _level(node: exp.Expression) -> Fraction:
    level = exact(node)
    if not 0 <= level <= 1:
        raise NotUnderstood(written(node)[:40], "is not a share of the rows", "Write a number from 0 to 1.")
    return level
