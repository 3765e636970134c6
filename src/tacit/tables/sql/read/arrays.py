"""Functions that give several values at once, as BigQuery has them: TOP_K(x, 3), APPROX_QUANTILES(x, 4).

An array is as many columns of the answer: top_1, top_2, … in the order of their ranks, q_0, q_1, … by their offsets;
one of its values is written with its place, TOP_K(x, 3)[OFFSET(0)].
"""

from __future__ import annotations

from fractions import Fraction

from tacit.tables.expressions.tree import Expression
from tacit.tables.query.functions import quantile
from tacit.tables.query.refusals import NotUnderstood, not_yet
from tacit.tables.query.tree import Aggregate
from tacit.tables.sql.grammar import exp
from tacit.tables.sql.read.aggregates import Given, exact, inside_aggregate
from tacit.tables.sql.scope import Scope, function_name, only

__all__ = ["ARRAYS", "array", "array_name", "indexed"]

TOPS = ("top_k", "approx_top_k", "approx_top_count")
ARRAYS = (*TOPS, "approx_quantiles")
_MOST_COLUMNS = 100
_MOST_TILES = 10**6
_EXAMPLES = {
    "approx_quantiles": "Write APPROX_QUANTILES(x, 4), or APPROX_QUANTILES(x, 100)[OFFSET(90)].",
    **dict.fromkeys(TOPS, "Write TOP_K(x, 3): the three most frequent values of x."),
}


def array_name(node: exp.Expression) -> str:
    """The name of a function that gives an array; empty for anything else."""
    name = function_name(node)
    return name if name in ARRAYS else ""


def array(scope: Scope, node: exp.Expression) -> tuple[str, list[tuple[str, Aggregate]]]:
    """A name for all values, and each with the ending of its own."""
    name = array_name(node)
    count, first, _ = _read(scope, node)
    if count > _MOST_COLUMNS:
        raise NotUnderstood(f"{name.upper()}(…)", f"makes at most {_MOST_COLUMNS} columns", "Write […] for one value.")
    places = range(1, count + 1) if name in TOPS else range(count + 1)
    made = [(str(place), _element(scope, node, place)) for place in places]
    what = "" if first.column_name is None else f"_{first.column_name}"
    return ("top" if name in TOPS else "quantiles") + what, made


def indexed(scope: Scope, node: exp.Bracket) -> Aggregate:
    """APPROX_QUANTILES(x, 100)[OFFSET(90)], TOP_K(x, 3)[ORDINAL(1)]."""
    only(node, "this", "expressions", "offset")
    if not array_name(node.this) or len(node.expressions) != 1:
        raise not_yet("[…]", "Lists are not values here: write IN (a, b).")
    offset = _offset(node.expressions[0])
    return _element(scope, node.this, offset + 1 if array_name(node.this) in TOPS else offset)


def _element(scope: Scope, node: exp.Expression, place: int) -> Aggregate:
    name = array_name(node)
    count, value, found = _read(scope, node)
    first = 1 if name in TOPS else 0
    if not first <= place <= count:
        raise NotUnderstood(f"{name.upper()}(…)", "takes a place up to its number of values", _EXAMPLES[name])
    if name not in TOPS:
        return found.shared(quantile(value, Fraction(place, count), found.bounds))
    if found.bounds:
        raise not_yet(f"{name.upper()} with bounds", "Its values are listed in the policy; leave the bounds out.")
    return found.shared(Aggregate("top", value, rank=(place, count)))


def _read(scope: Scope, node: exp.Expression) -> tuple[int, Expression, Given]:
    only(node, "this", "expressions")
    name = array_name(node)
    found = inside_aggregate(scope, name, node.expressions)
    if len(found.plain) != 2:
        raise NotUnderstood(f"{name.upper()}(…)", "takes a value and how many", _EXAMPLES[name])
    count = exact(found.plain[1])
    if count.denominator != 1 or not 1 <= count <= _MOST_TILES:
        raise NotUnderstood(f"{name.upper()}(…)", "takes a whole number from 1 on", _EXAMPLES[name])
    return int(count), found.scope.expression(found.plain[0]), found


def _offset(node: exp.Expression) -> int:
    """OFFSET(k) counts from 0, ORDINAL(k) from 1."""
    name = function_name(node)
    place = exact(node.expressions[0]) if name in ("offset", "ordinal") and len(node.expressions) == 1 else None
    if place is None or place.denominator != 1:
        raise not_yet("[…]", "Write APPROX_QUANTILES(x, 100)[OFFSET(90)].")
    return int(place) - (name == "ordinal")
