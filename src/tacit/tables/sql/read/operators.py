"""Operators: arithmetic, conditions, intervals."""

from __future__ import annotations

from tacit.tables.expressions.kinds import literal
from tacit.tables.expressions.tree import Call, Expression, Literal
from tacit.tables.query.functions import moved
from tacit.tables.query.refusals import NotUnderstood, not_yet
from tacit.tables.sql.grammar import exp
from tacit.tables.sql.scope import Reader, Scope, digits_in, only, text_in, written

__all__ = [
    "added",
    "between",
    "binary",
    "bracketed",
    "flat",
    "interval",
    "like",
    "listed",
    "negated",
    "negative",
    "real",
    "tested",
]


def binary(operator: str) -> Reader:
    def read(scope: Scope, node: exp.Expression) -> Expression:
        only(node, "this", "expression")
        return Call(operator, (scope.expression(node.this), scope.expression(node.expression)))

    return read


def added(sign: int) -> Reader:
    plain = binary("+" if sign > 0 else "-")

    def read(scope: Scope, node: exp.Expression) -> Expression:
        left, right = node.this, node.expression
        if sign > 0 and isinstance(left, exp.Interval):
            left, right = right, left
        if not isinstance(right, exp.Interval):
            return plain(scope, node)
        only(node, "this", "expression")
        unit, count = interval(right)
        return moved(unit, sign * count, scope.expression(left))

    return read


def interval(node: exp.Interval) -> tuple[str, int]:
    only(node, "this", "unit")
    count, unit = node.this, node.args.get("unit")
    below = isinstance(count, exp.Neg)
    count = count.this if isinstance(count, exp.Neg | exp.Paren) else count
    text = digits_in(count) or text_in(count) or ""
    digits = text.removeprefix("-")
    if not isinstance(unit, exp.Var) or not digits.isascii() or not digits.isdecimal() or len(digits) > 9:
        raise not_yet("that INTERVAL", "Write a whole number and one unit: INTERVAL 3 MONTH.")
    return str(unit.this), -int(text) if below else int(text)


def flat(operator: str, kind: type[exp.Expression]) -> Reader:
    """AND, OR and || of many, read in a loop: a long list of conditions is not a deep one."""

    def read(scope: Scope, node: exp.Expression) -> Expression:
        found = []
        while isinstance(node, kind):
            only(node, "this", "expression")
            found.append(node.expression)
            node = node.this
        return Call(operator, scope.each([node, *reversed(found)]))

    return read


def negated(scope: Scope, node: exp.Not) -> Expression:
    only(node, "this")
    return Call("not", (scope.expression(node.this),))


def negative(scope: Scope, node: exp.Neg) -> Expression:
    only(node, "this")
    below = node.this
    text = digits_in(below)
    if text:
        if text.isascii() and text.isdecimal() and len(text) <= 40:
            return literal(-int(text))
        return literal(-real(text))
    return Call("negative", (scope.expression(below),))


def bracketed(scope: Scope, node: exp.Paren) -> Expression:
    only(node, "this")
    return scope.expression(node.this)


def tested(scope: Scope, node: exp.Is) -> Expression:
    only(node, "this", "expression")
    value, what = scope.expression(node.this), node.expression
    turned = isinstance(what, exp.Not)
    what = what.this if turned else what
    if isinstance(what, exp.Null):
        found: Expression = Call("is_null", (value,))
    elif isinstance(what, exp.Boolean):
        found = Call("coalesce", (value if what.this else Call("not", (value,)), Literal(False)))
    else:
        raise not_yet(written(node), "IS takes NULL, TRUE or FALSE: otherwise write =.")
    return Call("not", (found,)) if turned else found


def between(scope: Scope, node: exp.Between) -> Expression:
    only(node, "this", "low", "high")
    value = scope.expression(node.this)
    low, high = scope.expression(node.args["low"]), scope.expression(node.args["high"])
    return Call("and", (Call(">=", (value, low)), Call("<=", (value, high))))


def listed(scope: Scope, node: exp.In) -> Expression:
    if node.args.get("query") is not None:
        instead = "List the values, IN ('a', 'b'); a SELECT is of the unit: WHERE user_id IN (SELECT user_id …) AND …"
        raise not_yet("IN (SELECT …)", instead)
    if not node.expressions:
        raise not_yet(written(node), "List the values: IN ('a', 'b').")
    only(node, "this", "expressions")
    return Call("in", (scope.expression(node.this), *scope.each(node.expressions)))


def like(operator: str) -> Reader:
    def read(scope: Scope, node: exp.Expression) -> Expression:
        only(node, "this", "expression", "negate")
        found = Call(operator, (scope.expression(node.this), scope.expression(node.expression)))
        return Call("not", (found,)) if node.args.get("negate") else found

    return read


def real(text: str) -> float:
    """A number with a point or an exponent."""
    plain = text.lower()
    if not plain.isascii() or set(plain) - set("0123456789.e+-") or len(plain) > 400:
        raise NotUnderstood(text[:40], "is not a number")
    try:
        return float(plain)
    except ValueError:
        raise NotUnderstood(text[:40], "is not a number") from None
