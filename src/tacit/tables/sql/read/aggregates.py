"""Aggregates, with their bounds and FILTER."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from tacit.tables.expressions.kinds import bounds_of
from tacit.tables.expressions.tree import Expression
from tacit.tables.query.functions import BOUNDS, INTERVAL_SHARE, aggregate
from tacit.tables.query.refusals import NotUnderstood, misplaced, not_yet
from tacit.tables.query.tree import Aggregate
from tacit.tables.sql.grammar import exp
from tacit.tables.sql.scope import Scope, digits_in, is_star, only, refused, undistinct, written

__all__ = ["Given", "aggregate_node", "argument_name", "exact", "filtered", "inside_aggregate"]


Bounds = dict[str, tuple[Fraction, Fraction]]


@dataclass(frozen=True, slots=True)
class Given:
    """The arguments of an aggregate: their scope, those that have no name, and the named ones."""

    scope: Scope
    plain: list[exp.Expression]
    bounds: Bounds
    share: Fraction | None

    def shared(self, made: Aggregate) -> Aggregate:
        """The aggregate with the share of its interval, if one was given."""
        return made if self.share is None else replace(made, interval_share=self.share)


def inside_aggregate(scope: Scope, name: str, given: list[exp.Expression]) -> Given:
    """What an aggregate was given."""
    if not scope.aggregates:
        raise misplaced(name, scope.place)
    plain = [one for one in given if argument_name(one) is None]
    shares = [exact(one.expression) for one in given if argument_name(one) == INTERVAL_SHARE]
    pairs = [one for one in given if argument_name(one) not in (None, INTERVAL_SHARE)]
    bounds = dict(_named(one) for one in pairs)
    if len(bounds) != len(pairs) or len(shares) > 1:
        raise NotUnderstood(f"{name.upper()}(…)", "has the same named argument twice")
    inside = replace(scope, aggregates=False, place=f"{name.upper()}(…)")
    return Given(inside, plain, bounds, shares[0] if shares else None)


def aggregate_node(scope: Scope, name: str, given: list[exp.Expression]) -> Aggregate:
    found = inside_aggregate(scope, name, given)
    plain, distinct = undistinct(found.plain)
    star = len(plain) == 1 and is_star(plain[0])
    if star:
        only(plain[0])
        if distinct or name != "count":
            raise refused(plain[0])
        plain = []
    if name == "count_units":
        return found.shared(Aggregate("count_units"))
    made = aggregate(name, found.scope.each(plain), distinct=distinct, star=star, bounds=found.bounds)
    return found.shared(made)


def argument_name(node: exp.Expression) -> str | None:
    """What a named argument is called: contribution_bounds_per_row => (0, 100)."""
    if not isinstance(node, exp.Kwarg):
        return None
    return str(getattr(node.this, "this", node.this)).lower()


def _named(node: exp.Expression) -> tuple[str, tuple[Fraction, Fraction]]:
    only(node, "this", "expression")
    name = str(argument_name(node))
    if name not in BOUNDS:
        raise not_yet(f"{name[:40]} => …", f"The named arguments are: {', '.join((*BOUNDS, INTERVAL_SHARE))}.")
    pair = node.expression
    ends = pair.expressions if isinstance(pair, exp.Tuple) else []
    if len(ends) != 2:
        raise NotUnderstood(f"{name} => …", "takes two numbers", f"Write {name} => (0, 100).")
    return BOUNDS[name], bounds_of(exact(ends[0]), exact(ends[1]))


def exact(node: exp.Expression) -> Fraction:
    """A number of the question: a decimal one means exactly that; p/q too."""
    found = _EXACT[type(node)](node) if type(node) in _EXACT else None
    if found is None:
        raise NotUnderstood(written(node)[:40], "is not a number", "Write one, such as 0.5 or 1/3.")
    return found


def _quotient(node: exp.Expression) -> Fraction | None:
    below = exact(node.expression)
    return exact(node.this) / below if below else None


def _decimal(node: exp.Expression) -> Fraction | None:
    text = digits_in(node).lower()
    digits, _, power = text.partition("e")
    fits = text and len(digits) <= 400 and len(power) <= 4 and not set(text) - set("0123456789.e+-")
    return Fraction(text) if fits else None


_EXACT: dict[type[exp.Expression], Callable[[exp.Expression], Fraction | None]] = {
    exp.Neg: lambda node: -exact(node.this),
    exp.Div: _quotient,
    exp.Literal: _decimal,
}


def filtered(scope: Scope, node: exp.Filter) -> Expression:
    """SUM(x) FILTER (WHERE c) is SUM(CASE WHEN c THEN x END)."""
    only(node, "this", "expression")
    found = scope.expression(node.this)
    if not isinstance(found, Aggregate) or not isinstance(node.expression, exp.Where):
        raise not_yet("FILTER", "It follows an aggregate: COUNT(*) FILTER (WHERE age > 40).")
    only(node.expression, "this")
    return found.where(replace(scope, aggregates=False, place="FILTER").expression(node.expression.this))
