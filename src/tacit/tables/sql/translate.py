"""Nodes of the parser's tree to ours: an allow-list, one function per node; what is not listed is refused by name.

A node's fields are an allow-list too: a field that is set and not expected refuses the statement, so that nothing an
analyst wrote is ever left out of what is run.
"""

from __future__ import annotations

from tacit.tables.query.limits import Sizes
from tacit.tables.sql.grammar import exp
from tacit.tables.sql.read.aggregates import filtered
from tacit.tables.sql.read.arrays import indexed
from tacit.tables.sql.read.functions import case, cast_node, either, extract, function, local, substring, trim
from tacit.tables.sql.read.leaves import boolean, column, constant, null
from tacit.tables.sql.read.operators import (
    added,
    between,
    binary,
    bracketed,
    flat,
    like,
    listed,
    negated,
    negative,
    tested,
)
from tacit.tables.sql.read.quantiles import within_group
from tacit.tables.sql.scope import Naming, Reader, Scope

__all__ = ["scope"]


def scope(
    tables: frozenset[str],
    place: str,
    *,
    aggregates: bool,
    sizes: Sizes | None = None,
    naming: Naming | None = None,
) -> Scope:
    """A clause in which columns are named by these tables."""
    return Scope(_READERS, tables, place, aggregates, sizes=Sizes() if sizes is None else sizes, naming=naming)


_READERS: dict[type[exp.Expression], Reader] = {
    exp.Column: column,
    exp.Literal: constant,
    exp.Boolean: boolean,
    exp.Null: null,
    exp.Paren: bracketed,
    exp.And: flat("and", exp.And),
    exp.Or: flat("or", exp.Or),
    exp.DPipe: flat("concat", exp.DPipe),
    exp.Not: negated,
    exp.Neg: negative,
    exp.Add: added(1),
    exp.Sub: added(-1),
    exp.Mul: binary("*"),
    exp.Div: binary("/"),
    exp.IntDiv: binary("//"),
    exp.Mod: binary("%"),
    exp.EQ: binary("="),
    exp.NEQ: binary("<>"),
    exp.LT: binary("<"),
    exp.LTE: binary("<="),
    exp.GT: binary(">"),
    exp.GTE: binary(">="),
    exp.Is: tested,
    exp.Between: between,
    exp.In: listed,
    exp.Like: like("like"),
    exp.ILike: like("ilike"),
    exp.Case: case,
    exp.If: either,
    exp.Cast: cast_node,
    exp.TryCast: cast_node,
    exp.Extract: extract,
    exp.AtTimeZone: local,
    exp.Substring: substring,
    exp.Trim: trim,
    exp.Anonymous: function,
    exp.Filter: filtered,
    exp.WithinGroup: within_group,
    exp.Bracket: indexed,
}
