"""CASE, casts and functions."""

from __future__ import annotations

from dataclasses import replace

from tacit.tables.expressions.kinds import Kind, literal, read_date, read_timestamp
from tacit.tables.expressions.tree import Call, Case, Expression, Grouping, Literal
from tacit.tables.query.functions import (
    AGGREGATES,
    CONDITIONAL,
    DISTINCT,
    LEVELS,
    PAIRS,
    QUANTILES,
    at_time_zone,
    call,
    cast,
    moved,
    part,
    started,
)
from tacit.tables.query.refusals import AGGREGATES_TO_COME, FUNCTIONS, INSTEAD, NotUnderstood, not_yet, void
from tacit.tables.sql.grammar import exp
from tacit.tables.sql.read.aggregates import aggregate_node
from tacit.tables.sql.read.arrays import ARRAYS
from tacit.tables.sql.read.operators import interval
from tacit.tables.sql.read.quantiles import GEOMETRIC, geometric_node, quantile_node
from tacit.tables.sql.scope import Scope, bare_word, only, text_in, written

_MOST_BITS = 30

__all__ = ["case", "cast_node", "either", "extract", "function", "local", "position", "substring", "trim"]


def case(scope: Scope, node: exp.Case) -> Expression:
    only(node, "this", "ifs", "default")
    subject = scope.expression(node.this) if node.this is not None else None
    branches = []
    for branch in node.args["ifs"]:
        only(branch, "this", "true")
        condition = scope.expression(branch.this)
        condition = condition if subject is None else Call("=", (subject, condition))
        branches.append((condition, scope.expression(branch.args["true"])))
    default = node.args.get("default")
    return Case(tuple(branches), Literal(None) if default is None else scope.expression(default))


def either(scope: Scope, node: exp.If) -> Expression:
    only(node, "this", "true", "false")
    if node.args.get("true") is None:
        raise not_yet("IF(…)", "It takes a condition and two values: IF(age > 40, 'old', 'young').")
    default = node.args.get("false")
    otherwise = Literal(None) if default is None else scope.expression(default)
    return Case(((scope.expression(node.this), scope.expression(node.args["true"])),), otherwise)


_KINDS = {
    Kind.INTEGER: "INT BIGINT SMALLINT TINYINT INT128 UINT USMALLINT UTINYINT UBIGINT MEDIUMINT",
    Kind.REAL: "DOUBLE FLOAT DECIMAL BIGDECIMAL",
    Kind.TEXT: "VARCHAR TEXT CHAR NCHAR NVARCHAR",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE DATE32",
    Kind.TIMESTAMP: "TIMESTAMP DATETIME TIMESTAMPNTZ",
}
_KIND_OF_TYPE = {name: kind for kind, names in _KINDS.items() for name in names.split()}


def cast_node(scope: Scope, node: exp.Cast | exp.TryCast) -> Expression:
    only(node, "this", "to")
    kind = _kind(node.args["to"])
    text = text_in(node.this)
    if type(node) is exp.Cast and text is not None and kind.is_time:
        value = read_date(text) if kind is Kind.DATE else read_timestamp(text)
        if value is None:
            example = "'2024-01-31'" if kind is Kind.DATE else "'2024-01-31 10:20:30'"
            raise NotUnderstood(f"'{text[:40]}'", f"is not a {kind}", f"Write {str(kind).upper()} {example}.")
        return literal(value)
    return cast(kind, scope.expression(node.this))


def _kind(node: exp.Expression) -> Kind:
    name = getattr(node.this, "name", "") if isinstance(node, exp.DataType) else ""
    if name in _KIND_OF_TYPE and not node.expressions:
        return _KIND_OF_TYPE[name]
    if name == "DECIMAL":
        raise not_yet(written(node), "Write CAST(x AS DOUBLE), and ROUND(x, 2) for two digits.")
    raise not_yet(f"a cast to {written(node)}", f"The types are: {', '.join(sorted(_WORDS))}.")


_WORDS = ("BIGINT", "DOUBLE", "VARCHAR", "BOOLEAN", "DATE", "TIMESTAMP")


def extract(scope: Scope, node: exp.Extract) -> Expression:
    only(node, "this", "expression")
    return part(str(node.this.this), scope.expression(node.expression))


def local(scope: Scope, node: exp.AtTimeZone) -> Expression:
    """t AT TIME ZONE 'Europe/Copenhagen'."""
    only(node, "this", "zone")
    zone = text_in(node.args["zone"])
    if zone is None:
        raise not_yet("AT TIME ZONE …", "Write the name in quotes: t AT TIME ZONE 'Europe/Copenhagen'.")
    return at_time_zone(scope.expression(node.this), Literal(zone))


def _truncated(scope: Scope, name: str, given: list[exp.Expression]) -> Expression:
    """TIMESTAMP_TRUNC(t, HOUR) and TIMESTAMP_TRUNC(t, HOUR, 'Europe/Copenhagen'), as BigQuery writes them."""
    unit = bare_word(given[1]) if 2 <= len(given) <= 3 else None
    if unit is None:
        raise NotUnderstood(f"{name.upper()}(…)", "takes a time and a unit", f"Write {name.upper()}(t, HOUR).")
    value = scope.expression(given[0])
    if len(given) == 3:
        return started(value, unit.lower(), scope.expression(given[2]))
    return Call("date_trunc", (Literal(unit.lower()), value))


def substring(scope: Scope, node: exp.Substring) -> Expression:
    only(node, "this", "start", "length")
    given = (node.this, node.args.get("start"), node.args.get("length"))
    return call("substring", scope.each(one for one in given if one is not None))


def trim(scope: Scope, node: exp.Trim) -> Expression:
    side = str(node.args.get("position") or "BOTH").upper()
    if node.expression is not None or side not in _SIDES:
        raise not_yet(written(node), "TRIM(x) takes the spaces from both ends, REPLACE(x, 'a', '') what is said.")
    only(node, "this", "position")
    return call(_SIDES[side], (scope.expression(node.this),))


_SIDES = {"BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}


def position(scope: Scope, node: exp.StrPosition) -> Expression:
    """POSITION('a' IN x)."""
    only(node, "this", "substr")
    if node.args.get("substr") is None:
        raise not_yet("POSITION(…)", "Write POSITION('a' IN x) or STRPOS(x, 'a').")
    return call("strpos", scope.each((node.this, node.args["substr"])))


def _grouping(scope: Scope, node: exp.Anonymous) -> Expression:
    """GROUPING(a, b) is 2·GROUPING(a) + GROUPING(b)."""
    if not scope.aggregates:
        raise not_yet(f"GROUPING(…) in {scope.place}", "It is about rows of the answer: write it in SELECT or HAVING.")
    if not 1 <= len(node.expressions) <= _MOST_BITS:
        raise NotUnderstood("GROUPING(…)", f"takes 1 to {_MOST_BITS} keys of GROUP BY", "Write GROUPING(city).")
    inside = replace(scope, aggregates=False, place="GROUPING(…)")
    found, *others = (Grouping(inside.expression(one)) for one in node.expressions)
    total: Expression = found
    for one in others:
        total = Call("+", (Call("*", (total, Literal(2))), one))
    return total


def function(scope: Scope, node: exp.Anonymous) -> Expression:
    only(node, "this", "expressions")
    name = str(node.this).lower()
    if name in ("date_add", "date_sub") and len(node.expressions) == 2:
        when, step = node.expressions
        if not isinstance(step, exp.Interval):
            raise not_yet(f"{name.upper()}(…)", "Write date + INTERVAL 3 DAY.")
        unit, count = interval(step)
        return moved(unit, count if name == "date_add" else -count, scope.expression(when))
    if name in ("timestamp_trunc", "datetime_trunc"):
        return _truncated(scope, name, node.expressions)
    if name in ("grouping", "grouping_id"):
        return _grouping(scope, node)
    if name == "count_units" and not node.expressions:
        return aggregate_node(scope, name, [])
    if name in ("count", DISTINCT, *CONDITIONAL, *AGGREGATES, *PAIRS, *LEVELS):
        return aggregate_node(scope, name, node.expressions)
    if name in QUANTILES:
        return quantile_node(scope, name, node.expressions)
    if name in GEOMETRIC:
        return geometric_node(scope, name, node.expressions)
    if name in ARRAYS:
        raise not_yet(
            f"{name.upper()}(…) as a list", f"Alone it makes several columns; here write {name.upper()}(…)[OFFSET(1)]."
        )
    if name in FUNCTIONS:
        raise void(f"{name.upper()}(…)", FUNCTIONS[name], INSTEAD.get(FUNCTIONS[name], "Leave it out."))
    if name in AGGREGATES_TO_COME:
        raise not_yet(f"{name.upper()}(…)", AGGREGATES_TO_COME[name])
    return call(name, scope.each(node.expressions))
