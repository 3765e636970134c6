"""Nodes without parts: columns and constants."""

from __future__ import annotations

from tacit.tables.expressions.literals import literal
from tacit.tables.expressions.tree import Column, Expression, Literal
from tacit.tables.query.refusals import FUNCTIONS, NotUnderstood, not_yet, void
from tacit.tables.query.rows import Qualified
from tacit.tables.sql.grammar import exp
from tacit.tables.sql.scope import Scope, is_star, name_in, only, refused

__all__ = ["boolean", "column", "constant", "null", "real"]

_CLOCKS = ("current_date", "current_time", "current_timestamp", "current_datetime", "localtime", "localtimestamp")


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


def real(text: str) -> float:
    """A number with a point or an exponent."""
    plain = text.lower()
    if not plain.isascii() or set(plain) - set("0123456789.e+-") or len(plain) > 400:
        raise NotUnderstood(text[:40], "is not a number")
    try:
        return float(plain)
    except ValueError:
        raise NotUnderstood(text[:40], "is not a number") from None


def boolean(scope: Scope, node: exp.Boolean) -> Expression:
    return Literal(bool(node.this))


def null(scope: Scope, node: exp.Null) -> Expression:
    return Literal(None)
