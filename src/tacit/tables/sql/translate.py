"""Nodes of the parser's tree to ours: an allow-list, one function per node; what is not listed is refused by name.

A node's fields are an allow-list too: a field that is set and not expected refuses the statement, so that nothing an
analyst wrote is ever left out of what is run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction

from tacit.tables.expressions import Call, Case, Column, Expression, Literal
from tacit.tables.kinds import Kind
from tacit.tables.literals import bounds_of, literal, read_date, read_timestamp
from tacit.tables.query import Aggregate
from tacit.tables.size import MOST_DEEP, Sizes
from tacit.tables.sql.functions import AGGREGATES, BOUNDS, aggregate, call, cast, moved, part
from tacit.tables.sql.grammar import exp
from tacit.tables.sql.refusals import AGGREGATES_TO_COME, FUNCTIONS, WINDOWS, NotUnderstood, not_yet, void

__all__ = ["Qualified", "Scope", "only", "written"]

_NO_MEANING = {"typed", "safe", "big_int", "_type", "nested", "comments"}


@dataclass(frozen=True, slots=True)
class Scope:
    """Where an expression stands: how columns are named there, and whether aggregates are allowed."""

    tables: frozenset[str]
    place: str
    aggregates: bool
    depth: int = 0
    sizes: Sizes = field(default_factory=Sizes)

    def expression(self, node: exp.Expression) -> Expression:
        """Our tree of a node."""
        if self.depth > MOST_DEEP:
            raise NotUnderstood("an expression", f"is nested more than {MOST_DEEP} deep", "Write it in fewer steps.")
        reader = _READERS.get(type(node))
        if reader is None:
            raise _refused(node)
        found = reader(replace(self, depth=self.depth + 1), node)
        self.sizes.of(found)  # BETWEEN and CASE x WHEN repeat what they look at: nested, they would double each time
        return found

    def placed(self, place: str) -> Scope:
        """The same names, in another clause."""
        return replace(self, place=place)

    def each(self, nodes: Iterable[exp.Expression]) -> tuple[Expression, ...]:
        return tuple(self.expression(node) for node in nodes)


def written(node: object) -> str:
    """About what was written."""
    try:
        return node.sql() if isinstance(node, exp.Expression) else str(node)
    except Exception:  # the parser's printer is not ours to trust: a name is enough
        return type(node).__name__


def only(node: exp.Expression, *expected: str) -> None:
    """Refuse the node if it says more than expected."""
    for name, value in node.args.items():
        if name not in expected and name not in _NO_MEANING and value not in (None, False, []):
            raise not_yet(written(node), f"Leave out {name.strip('_').replace('_', ' ').upper()}.")


def _refused(node: exp.Expression) -> Exception:
    if isinstance(node, exp.Window):
        return void("OVER (…)", WINDOWS, "Write GROUP BY.")
    if isinstance(node, exp.Star):
        reason = "rows are never shown"
        return void("*", reason, "Name what is to be computed: COUNT(*), AVG(column) … GROUP BY column.")
    if isinstance(node, exp.Select | exp.Subquery | exp.Exists):
        return not_yet("a subquery", "Write one SELECT on the table.")
    if isinstance(node, exp.RegexpLike | exp.RegexpILike | exp.SimilarTo):
        return not_yet("a regular expression", "Write LIKE, STARTS_WITH or CONTAINS.")
    if isinstance(node, exp.Rollup | exp.Cube | exp.GroupingSets):
        return not_yet(f"{type(node).__name__.upper()} (…)", "Ask once for each way of grouping.")
    if isinstance(node, exp.BitwiseXor):
        return not_yet("^", "Write POWER(x, y).")
    if isinstance(node, exp.NullSafeNEQ | exp.NullSafeEQ):
        return not_yet("IS DISTINCT FROM", "Write x <> y OR x IS NULL.")
    if isinstance(node, exp.WithinGroup):
        return not_yet(written(node), "Quantiles are not offered yet.")
    if isinstance(node, exp.Interval):
        return not_yet("an INTERVAL alone", "Write date + INTERVAL 3 DAY.")
    return not_yet(written(node), "docs/reference/sql.md lists what can be written.")


# --- leaves


_CLOCKS = ("current_date", "current_time", "current_timestamp", "current_datetime", "localtime", "localtimestamp")


def _column(scope: Scope, node: exp.Column) -> Expression:
    only(node, "this", "table")
    if isinstance(node.this, exp.Star):
        raise _refused(node.this)
    if not isinstance(node.this, exp.Identifier):
        raise _refused(node)
    name, table = str(node.this.this), node.args.get("table")
    if table is None and not node.this.args.get("quoted") and name.lower() in _CLOCKS:
        raise void(name.upper(), FUNCTIONS[name.lower()], "Write DATE '2024-01-31'.")
    if table is not None and str(table.this).lower() not in scope.tables:
        allowed = " or ".join(sorted(scope.tables))
        raise not_yet(f"{table.this}.{node.this.this}", f"Columns are those of {allowed}; write the name alone.")
    return Qualified(node.this.this) if table is not None else Column(node.this.this)


@dataclass(frozen=True, slots=True)
class Qualified(Column):
    """A column written with its table, which is therefore no alias; gone before the tree is finished."""


def _literal(scope: Scope, node: exp.Literal) -> Expression:
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


def _boolean(scope: Scope, node: exp.Boolean) -> Expression:
    return Literal(bool(node.this))


def _null(scope: Scope, node: exp.Null) -> Expression:
    return Literal(None)


# --- operators


def _binary(operator: str) -> Callable[[Scope, exp.Expression], Expression]:
    def read(scope: Scope, node: exp.Expression) -> Expression:
        only(node, "this", "expression")
        return Call(operator, (scope.expression(node.this), scope.expression(node.expression)))

    return read


def _sum(sign: int) -> Callable[[Scope, exp.Expression], Expression]:
    plain = _binary("+" if sign > 0 else "-")

    def read(scope: Scope, node: exp.Expression) -> Expression:
        left, right = node.this, node.expression
        if sign > 0 and isinstance(left, exp.Interval):
            left, right = right, left
        if not isinstance(right, exp.Interval):
            return plain(scope, node)
        only(node, "this", "expression")
        unit, count = _interval(right)
        return moved(unit, sign * count, scope.expression(left))

    return read


def _interval(node: exp.Interval) -> tuple[str, int]:
    only(node, "this", "unit")
    count, unit = node.this, node.args.get("unit")
    negative = isinstance(count, exp.Neg)
    count = count.this if isinstance(count, exp.Neg | exp.Paren) else count
    text = str(count.this) if isinstance(count, exp.Literal) else ""
    digits = text.removeprefix("-")
    if not isinstance(unit, exp.Var) or not digits.isascii() or not digits.isdecimal() or len(digits) > 9:
        raise not_yet("that INTERVAL", "Write a whole number and one unit: INTERVAL 3 MONTH.")
    return str(unit.this), -int(text) if negative else int(text)


def _flat(operator: str, kind: type[exp.Expression]) -> Callable[[Scope, exp.Expression], Expression]:
    """AND, OR and || of many, read in a loop: a long list of conditions is not a deep one."""

    def read(scope: Scope, node: exp.Expression) -> Expression:
        found = []
        while isinstance(node, kind):
            only(node, "this", "expression")
            found.append(node.expression)
            node = node.this
        return Call(operator, scope.each([node, *reversed(found)]))

    return read


def _not(scope: Scope, node: exp.Not) -> Expression:
    only(node, "this")
    return Call("not", (scope.expression(node.this),))


def _negative(scope: Scope, node: exp.Neg) -> Expression:
    only(node, "this")
    below = node.this
    if isinstance(below, exp.Literal) and not below.is_string:
        text = str(below.this)
        if text.isascii() and text.isdecimal() and len(text) <= 40:
            return literal(-int(text))
        return literal(-real(text))
    return Call("negative", (scope.expression(below),))


def _paren(scope: Scope, node: exp.Paren) -> Expression:
    only(node, "this")
    return scope.expression(node.this)


def _is(scope: Scope, node: exp.Is) -> Expression:
    only(node, "this", "expression")
    value, what = scope.expression(node.this), node.expression
    negated = isinstance(what, exp.Not)
    what = what.this if negated else what
    if isinstance(what, exp.Null):
        found: Expression = Call("is_null", (value,))
    elif isinstance(what, exp.Boolean):
        found = Call("coalesce", (value if what.this else Call("not", (value,)), Literal(False)))
    else:
        raise not_yet(written(node), "IS takes NULL, TRUE or FALSE: otherwise write =.")
    return Call("not", (found,)) if negated else found


def _between(scope: Scope, node: exp.Between) -> Expression:
    only(node, "this", "low", "high")
    value = scope.expression(node.this)
    low, high = scope.expression(node.args["low"]), scope.expression(node.args["high"])
    return Call("and", (Call(">=", (value, low)), Call("<=", (value, high))))


def _in(scope: Scope, node: exp.In) -> Expression:
    if node.args.get("query") is not None:
        raise not_yet("IN (SELECT …)", "List the values: IN ('a', 'b').")
    if not node.expressions:
        raise not_yet(written(node), "List the values: IN ('a', 'b').")
    only(node, "this", "expressions")
    return Call("in", (scope.expression(node.this), *scope.each(node.expressions)))


def _like(operator: str) -> Callable[[Scope, exp.Expression], Expression]:
    def read(scope: Scope, node: exp.Expression) -> Expression:
        only(node, "this", "expression", "negate")
        found = Call(operator, (scope.expression(node.this), scope.expression(node.expression)))
        return Call("not", (found,)) if node.args.get("negate") else found

    return read


# --- CASE, casts and functions


def _case(scope: Scope, node: exp.Case) -> Expression:
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


def _if(scope: Scope, node: exp.If) -> Expression:
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


def _cast(scope: Scope, node: exp.Cast | exp.TryCast) -> Expression:
    only(node, "this", "to")
    kind = _kind(node.args["to"])
    if type(node) is exp.Cast and isinstance(node.this, exp.Literal) and node.this.is_string and kind.is_time:
        text = str(node.this.this)
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


def _extract(scope: Scope, node: exp.Extract) -> Expression:
    only(node, "this", "expression")
    return part(str(node.this.this), scope.expression(node.expression))


def _substring(scope: Scope, node: exp.Substring) -> Expression:
    only(node, "this", "start", "length")
    given = (node.this, node.args.get("start"), node.args.get("length"))
    return call("substring", scope.each(one for one in given if one is not None))


def _trim(scope: Scope, node: exp.Trim) -> Expression:
    if node.expression is not None or str(node.args.get("position") or "BOTH").upper() != "BOTH":
        raise not_yet(written(node), "TRIM(x) takes the spaces from both ends.")
    only(node, "this", "position")
    return call("trim", (scope.expression(node.this),))


def _function(scope: Scope, node: exp.Anonymous) -> Expression:
    only(node, "this", "expressions")
    name = str(node.this).lower()
    if name in ("date_add", "date_sub") and len(node.expressions) == 2:
        when, step = node.expressions
        if not isinstance(step, exp.Interval):
            raise not_yet(f"{name.upper()}(…)", "Write date + INTERVAL 3 DAY.")
        unit, count = _interval(step)
        return moved(unit, count if name == "date_add" else -count, scope.expression(when))
    if name == "count_units" and not node.expressions:
        return _aggregate(scope, name, [])
    if name == "count" or name in AGGREGATES:
        return _aggregate(scope, name, node.expressions)
    if name in FUNCTIONS:
        raise void(f"{name.upper()}(…)", FUNCTIONS[name], "Leave it out.")
    if name in AGGREGATES_TO_COME:
        raise not_yet(f"{name.upper()}(…)", AGGREGATES_TO_COME[name])
    return call(name, scope.each(node.expressions))


def _aggregate(scope: Scope, name: str, given: list[exp.Expression]) -> Aggregate:
    if not scope.aggregates:
        hint = "Conditions on released values go into HAVING." if scope.place == "WHERE" else "Name a column there."
        raise not_yet(f"{name.upper()}(…) in {scope.place}", hint)
    inside = replace(scope, aggregates=False, place=f"{name.upper()}(…)")
    bounds = dict(_named(one) for one in given if isinstance(one, exp.Kwarg))
    plain = [one for one in given if not isinstance(one, exp.Kwarg)]
    if len(bounds) + len(plain) != len(given):
        raise NotUnderstood(f"{name.upper()}(…)", "has the same bounds twice")
    distinct = bool(plain) and isinstance(plain[0], exp.Distinct)
    if distinct:
        only(plain[0], "expressions")
        plain = [*plain[0].expressions, *plain[1:]]
    star = len(plain) == 1 and isinstance(plain[0], exp.Star)
    if star:
        only(plain[0])
        if distinct or name != "count":
            raise _refused(plain[0])
        plain = []
    if name == "count_units":
        return Aggregate("count_units")
    return aggregate(name, inside.each(plain), distinct=distinct, star=star, bounds=bounds)


def _named(node: exp.Kwarg) -> tuple[str, tuple[Fraction, Fraction]]:
    only(node, "this", "expression")
    name = str(node.this.this if isinstance(node.this, exp.Expression) else node.this).lower()
    if name not in BOUNDS:
        raise not_yet(f"{name[:40]} => …", f"The named arguments are: {', '.join(BOUNDS)}.")
    pair = node.expression
    ends = pair.expressions if isinstance(pair, exp.Tuple) else []
    if len(ends) != 2:
        raise NotUnderstood(f"{name} => …", "takes two numbers", f"Write {name} => (0, 100).")
    return BOUNDS[name], bounds_of(_exact(ends[0]), _exact(ends[1]))


def _exact(node: exp.Expression) -> Fraction:
    """A bound: a decimal number means exactly that number; p/q too."""
    if isinstance(node, exp.Neg):
        return -_exact(node.this)
    if isinstance(node, exp.Div):
        below = _exact(node.expression)
        if below:
            return _exact(node.this) / below
    if isinstance(node, exp.Literal) and not node.is_string:
        text = str(node.this).lower()
        digits, _, power = text.partition("e")
        if len(digits) <= 400 and len(power) <= 4 and not set(text) - set("0123456789.e+-"):
            return Fraction(text)
    raise NotUnderstood(written(node)[:40], "is not a bound", "Write a number.")


def _filter(scope: Scope, node: exp.Filter) -> Expression:
    """SUM(x) FILTER (WHERE c) is SUM(CASE WHEN c THEN x END)."""
    only(node, "this", "expression")
    found = scope.expression(node.this)
    if not isinstance(found, Aggregate) or not isinstance(node.expression, exp.Where):
        raise not_yet("FILTER", "It follows an aggregate: COUNT(*) FILTER (WHERE age > 40).")
    only(node.expression, "this")
    condition = replace(scope, aggregates=False, place="FILTER").expression(node.expression.this)
    value = Literal(1) if found.argument is None else found.argument
    estimator = "count" if found.estimator == "count_rows" else found.estimator
    return replace(found, estimator=estimator, argument=Case(((condition, value),)))


_READERS: dict[type[exp.Expression], Callable[..., Expression]] = {
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Boolean: _boolean,
    exp.Null: _null,
    exp.Paren: _paren,
    exp.And: _flat("and", exp.And),
    exp.Or: _flat("or", exp.Or),
    exp.DPipe: _flat("concat", exp.DPipe),
    exp.Not: _not,
    exp.Neg: _negative,
    exp.Add: _sum(1),
    exp.Sub: _sum(-1),
    exp.Mul: _binary("*"),
    exp.Div: _binary("/"),
    exp.IntDiv: _binary("//"),
    exp.Mod: _binary("%"),
    exp.EQ: _binary("="),
    exp.NEQ: _binary("<>"),
    exp.LT: _binary("<"),
    exp.LTE: _binary("<="),
    exp.GT: _binary(">"),
    exp.GTE: _binary(">="),
    exp.Is: _is,
    exp.Between: _between,
    exp.In: _in,
    exp.Like: _like("like"),
    exp.ILike: _like("ilike"),
    exp.Case: _case,
    exp.If: _if,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Extract: _extract,
    exp.Substring: _substring,
    exp.Trim: _trim,
    exp.Anonymous: _function,
    exp.Filter: _filter,
}
