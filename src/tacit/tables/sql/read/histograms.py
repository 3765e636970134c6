"""HISTOGRAM(x, 0, 20, 40): how many rows lie between public edges; groups by the edge below, and their counts."""

from __future__ import annotations

from itertools import pairwise

from tacit.tables.query.refusals import NotUnderstood
from tacit.tables.sql.grammar import exp
from tacit.tables.sql.read.aggregates import exact
from tacit.tables.sql.scope import function_name, labelled

__all__ = ["histogrammed"]

_MOST_EDGES = 1_000
_EXAMPLE = "Write HISTOGRAM(age, 0, 20, 40, 60): from each edge up to the next, and from the last on."


def histogrammed(tree: exp.Select) -> exp.Select:
    """The same statement with a column of edges, a column of counts, and groups by the edges."""
    outputs = [labelled(one) for one in tree.expressions]
    if not any(function_name(node) == "histogram" for _, node in outputs):
        return tree
    made, shown, keys = tree.copy(), list[exp.Expr](), list[exp.Expr]()
    for original, (label, node) in zip(tree.expressions, outputs, strict=True):
        if function_name(node) != "histogram":
            shown.append(original.copy())
            continue
        name, edge = label or "histogram", _edge(node)
        counted = exp.Anonymous(this="COUNT", expressions=[exp.Star()])
        shown += [exp.alias_(edge, name, quoted=True), exp.alias_(counted, f"{name}_count", quoted=True)]
        keys.append(edge.copy())
    group = made.args.get("group")
    made.set("expressions", shown)
    made.set("group", exp.Group(expressions=[*([] if group is None else group.expressions), *keys]))
    return made


def _edge(node: exp.Expr) -> exp.Case:
    """The last edge that is not above the value; null below the first, and where nothing is known."""
    value, *edges = node.expressions or [exp.Null()]
    if not 1 <= len(edges) <= _MOST_EDGES:
        raise NotUnderstood("HISTOGRAM(…)", f"takes a value and 1 to {_MOST_EDGES} public edges", _EXAMPLE)
    if any(low >= high for low, high in pairwise(exact(one) for one in edges)):
        raise NotUnderstood("HISTOGRAM(…)", "takes public edges in order, each once", _EXAMPLE)
    found = exp.Case(ifs=[exp.If(this=exp.LT(this=value.copy(), expression=edges[0].copy()), true=exp.Null())])
    for low, high in pairwise(edges):
        found.append("ifs", exp.If(this=exp.LT(this=value.copy(), expression=high.copy()), true=low.copy()))
    last = exp.GTE(this=value.copy(), expression=edges[-1].copy())
    found.append("ifs", exp.If(this=last, true=edges[-1].copy()))
    return found
