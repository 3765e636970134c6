"""Nodes of the parser's tree to ours: an allow-list, one function per node; what is not listed is refused by name.

A node's fields are an allow-list too: a field that is set and not expected refuses the statement, so that nothing an
analyst wrote is ever left out of what is run.
"""

from __future__ import annotations

from tacit.tables.expressions.kinds import literal
from tacit.tables.expressions.tree import Column, Expression, Literal
from tacit.tables.query.limits import Sizes
from tacit.tables.query.refusals import FUNCTIONS, NotUnderstood, not_yet, void
from tacit.tables.query.rows import Qualified
from tacit.tables.sql.grammar import exp
from tacit.tables.sql.read.aggregates import filtered
from tacit.tables.sql.read.arrays import indexed
from tacit.tables.sql.read.functions import case, cast_node, either, extract, function, local, position, substring, trim
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
    real,
    tested,
)
from tacit.tables.sql.read.quantiles import within_group
from tacit.tables.sql.scope import Naming, Reader, Scope, is_star, name_in, only, refused

__all__ = ["boolean", "column", "constant", "null", "scope"]


def column(scope: Scope, node: exp.Column) -> Expression:
    only(node, "this", "table")
    if is_star(node.this):
        raise refused(node.this)
    name, table = name_in(node.this), node.args.get("table")
    if name is None:
        raise refused(node)
    if table is None and not node.this.args.get("quoted") and name.lower() in _CLOCKS:
        raise void(name.upper(), FUNCTIONS[name.lower()], "Write DATE '2024-01-31'.")
    if table is not None and str(table.this).lower() not in scope.tables:
        allowed = " or ".join(sorted(scope.tables))
        raise not_yet(f"{table.this}.{node.this.this}", f"Columns are those of {allowed}; write the name alone.")
    if scope.naming is not None:
        name = scope.naming.column(None if table is None else str(table.this), name)
    return Qualified(name) if table is not None else Column(name)


def constant(scope: Scope, node: exp.Literal) -> Expression:
    text = str(node.this)
    if node.is_string:
        return literal(text)
    if text.isascii() and text.isdecimal():
        if len(text) > 40:
            raise NotUnderstood(f"{text[:20]}…", "is a number of too many digits", "Write it as 1e30.")
        return literal(int(text))
    return literal(real(text))


def boolean(scope: Scope, node: exp.Boolean) -> Expression:
    return Literal(bool(node.this))


def null(scope: Scope, node: exp.Null) -> Expression:
    return Literal(None)


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
    exp.StrPosition: position,
    exp.Anonymous: function,
    exp.Filter: filtered,
    exp.WithinGroup: within_group,
    exp.Bracket: indexed,
}


_CLOCKS = ("current_date", "current_time", "current_timestamp", "current_datetime", "localtime", "localtimestamp")
