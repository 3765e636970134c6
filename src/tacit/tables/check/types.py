"""The kind of every part of an expression, and its public range, found before anything runs.

Texts that stand for dates become dates; ranges come from the bounds of columns, by interval arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import singledispatch

from tacit.errors import InvalidParameter
from tacit.tables.expressions.intervals import EVERYTHING, Range, union
from tacit.tables.expressions.kinds import Kind, is_text, kind_of_value, read_date, read_timestamp
from tacit.tables.expressions.operator import ALL, constants_of
from tacit.tables.expressions.operators import OPERATORS, TIME_UNITS, Operator, common_kind
from tacit.tables.expressions.tree import Call, Case, Column, Expression, Literal
from tacit.tables.policy.policy import Policy
from tacit.tables.query.to_sql import expression_sql

__all__ = ["Typing", "Words", "column_kind", "declared_range", "quoted", "range_of", "refuse_no_rows"]

_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=", "in")

LeafKind = Callable[[Expression], "Kind | None"]


class Words(str):
    """Words in an error, shown without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def quoted(expression: Expression) -> str:
    """What the analyst wrote, in short."""
    text = expression_sql(expression)
    return text if len(text) <= 60 else f"{text[:57]}…"


def refuse_no_rows(limit: int | None) -> None:
    """Refuse LIMIT 0, which tools type to look at columns: it would be paid for."""
    if limit == 0:
        hint = "`tacit describe` says what there is, and a plan what an answer would hold. Nothing was spent."
        raise InvalidParameter("LIMIT", given=0, allowed="1 or more: no rows are no answer", hint=hint)


class Typing:
    """Kinds of expressions in one place; ``leaf`` says what a column, a key or an aggregate is, or raises."""

    def __init__(self, leaf: LeafKind, kinds: dict[Expression, Kind]) -> None:
        self._leaf = leaf
        self._kinds = kinds

    def kind(self, expression: Expression) -> Kind | None:
        """The kind of an expression that `typed` has returned; None for NULL."""
        return self._kinds.get(expression)

    def typed(self, expression: Expression) -> Expression:
        """The expression with texts read as dates where dates are meant; every kind checked and kept."""
        expression, kind = _typed(expression, self)
        if kind is not None:
            self._kinds[expression] = kind
        return expression

    def condition(self, expression: Expression, place: str) -> Expression:
        """The expression, which must be true, false or unknown."""
        found = self.typed(expression)
        kind = self.kind(found)
        if kind not in (Kind.BOOLEAN, None):
            given = Words(f"{quoted(found)}, which is {_a(kind)}")
            hint = f"Compare it with something: {place} {quoted(found)} = …"
            raise InvalidParameter(place, given=given, allowed="a condition", hint=hint)
        return found

    def leaf(self, expression: Expression) -> tuple[Expression, Kind | None]:
        """A column, a key or an aggregate, and its kind."""
        return expression, self._leaf(expression)

    def call(self, call: Call) -> tuple[Expression, Kind | None]:
        """A call over typed arguments, and its kind."""
        operator = OPERATORS.get(call.operator)
        if operator is None:
            raise InvalidParameter("expression", given=call.operator, allowed="an operator of the allow-list")
        arguments = tuple(self.typed(part) for part in call.arguments)
        arguments = operator.alike.changed(arguments, self._alike)
        call = Call(call.operator, arguments)
        _check_literals(operator, call)
        _refuse_null(call)
        kinds = tuple(self.kind(part) for part in arguments)
        found = operator.gives(kinds)
        if found is None:
            raise self._misfit(operator, call, kinds)
        return call, found

    def case(self, case: Case) -> tuple[Expression, Kind | None]:
        """CASE over typed parts, and its kind."""
        if not case.branches:
            raise InvalidParameter("CASE", given=Words("no branch"), allowed="at least one WHEN … THEN …")
        conditions = [self.condition(condition, "WHEN") for condition, _ in case.branches]
        values = self._alike(tuple(self.typed(part) for part in case.results()))
        kinds = tuple(self.kind(value) for value in values)
        found = common_kind(kinds)
        if found is None:
            given = Words(f"values of kinds {_list(kinds)}")
            raise InvalidParameter("CASE", given=given, allowed="values of one kind", hint="Cast them: x::VARCHAR.")
        branches = tuple(zip(conditions, values[:-1], strict=True))
        return Case(branches, values[-1]), found if any(kinds) else None

    def _alike(self, arguments: tuple[Expression, ...]) -> tuple[Expression, ...]:
        """Texts among dates read as dates."""
        kinds = {self.kind(part) for part in arguments}
        if Kind.TEXT not in kinds or not kinds & {Kind.DATE, Kind.TIMESTAMP}:
            return arguments
        return tuple(self._as_time(part) for part in arguments)

    def _as_time(self, part: Expression) -> Expression:
        if not is_text(part.constant):
            return part
        text = str(part.constant)
        value = read_date(text) or read_timestamp(text)
        if value is None:
            given = Words(quoted(part))
            raise InvalidParameter("date", given=given, allowed="a date or timestamp", hint="Write DATE '2024-01-31'.")
        found = Literal(value)
        self._kinds[found] = Kind.TIMESTAMP if kind_of_value(value) is Kind.TIMESTAMP else Kind.DATE
        return found

    def _misfit(self, operator: Operator, call: Call, kinds: tuple[Kind | None, ...]) -> InvalidParameter:
        given = Words(_list(kinds))
        return InvalidParameter(quoted(call), given=given, allowed=operator.takes, hint=_advice(call, kinds))


@singledispatch
def _typed(expression: Expression, typing: Typing) -> tuple[Expression, Kind | None]:
    return typing.leaf(expression)


@_typed.register
def _(expression: Literal, typing: Typing) -> tuple[Expression, Kind | None]:
    return expression, kind_of_value(expression.value)


@_typed.register
def _(expression: Call, typing: Typing) -> tuple[Expression, Kind | None]:
    return typing.call(expression)


@_typed.register
def _(expression: Case, typing: Typing) -> tuple[Expression, Kind | None]:
    return typing.case(expression)


def _a(kind: Kind | None) -> str:
    if kind is None:
        return "NULL"
    return f"an {kind}" if kind is Kind.INTEGER else f"a {kind}"


def _list(kinds: tuple[Kind | None, ...]) -> str:
    return ", ".join("NULL" if kind is None else str(kind) for kind in kinds) or "nothing"


def _refuse_null(call: Call) -> None:
    """Nothing equals NULL, nor differs from it: such a condition is met by no row, whatever there is."""
    if call.operator not in _COMPARISONS or Literal(None) not in call.arguments:
        return
    if call.operator == "in":
        hint = "Leave it out, and add OR x IS NULL where rows without a value are meant"
    else:
        hint = "Write x IS NULL or x IS NOT NULL"
    hint += "; in Python .is_null(), .is_not_null(). Nothing was spent."
    raise InvalidParameter(quoted(call), given=Words("NULL"), allowed="a value: nothing equals NULL", hint=hint)


def _advice(call: Call, kinds: tuple[Kind | None, ...]) -> str:
    present = set(kinds) - {None}
    times = present & {Kind.DATE, Kind.TIMESTAMP}
    if call.operator == "-" and times and times == present:
        parts = [quoted(one) for one in reversed(call.arguments)]
        first, last = ("earlier", "later") if any(one.endswith("…") for one in parts) else parts
        return f"Write DATE_DIFF('day', {first}, {last})."
    if call.operator in ("+", "-") and times:
        return "Write date + INTERVAL 3 DAY."
    alike = OPERATORS[call.operator].alike == ALL
    if alike and Kind.TEXT in present and present & {Kind.INTEGER, Kind.REAL}:
        return (
            "Texts stand in single quotes, numbers without; CAST(x AS DOUBLE) reads a text as a number; where there is "
            'no policy yet, types={"x": "real"} (--type x=real) reads a column so.'
        )
    if alike and Kind.BOOLEAN in present:
        return "Write TRUE or FALSE."
    if Kind.TEXT in present and present <= {Kind.TEXT, Kind.INTEGER, Kind.REAL}:
        return "CAST(x AS DOUBLE) reads a text as a number, CAST(x AS VARCHAR) a number as a text."
    return ""


def _check_literals(operator: Operator, call: Call) -> None:
    """Places where only constants may stand, and which constants."""
    for part in operator.literals.of(call.arguments):
        if not part.is_literal:
            raise InvalidParameter(quoted(call), given=Words(quoted(part)), allowed=operator.takes)
    if operator.uses_zones and any(node.called == "at_time_zone" for node in call.arguments[0].walk()):
        allowed = "a timestamp in UTC: what has been converted is local time, and is not converted again"
        raise InvalidParameter(quoted(call), given=Words(quoted(call.arguments[0])), allowed=allowed)
    constants = constants_of(call.arguments)
    if operator.unit_first and (not constants or constants[0] not in TIME_UNITS):
        given = Words(quoted(call.arguments[0])) if constants else None
        raise InvalidParameter(quoted(call), given=given, allowed=f"one of {', '.join(TIME_UNITS)}")
    problem = operator.problem(constants)
    if problem:
        raise InvalidParameter(quoted(call), given=Words("other constants"), allowed=problem)


def column_kind(leaf: Expression, policy: Policy) -> Kind:
    """The kind of a column; there is no other leaf in an expression of rows."""
    if leaf.column_name is not None:
        return policy.columns[leaf.column_name].kind
    raise InvalidParameter("expression", given=type(leaf).__name__, allowed="columns, constants and operators")


def declared_range(column: Column, policy: Policy) -> Range:
    """The public range of a column's values."""
    declared = policy.columns[column.name]
    if declared.kind is Kind.BOOLEAN:
        return Range(Fraction(0), Fraction(1))
    return EVERYTHING if declared.bounds is None else Range(*declared.bounds)


Columns = Callable[[Column], Range]


def range_of(expression: Expression, columns: Columns) -> Range | None:
    """The range of the known values of an expression; None if it is always null."""
    found = _range(expression, columns)
    return None if found is None else found.tidy()


@singledispatch
def _range(expression: Expression, columns: Columns) -> Range | None:
    return EVERYTHING


@_range.register
def _(expression: Column, columns: Columns) -> Range | None:
    return columns(expression)


@_range.register
def _(expression: Literal, columns: Columns) -> Range | None:
    kind = kind_of_value(expression.value)
    if kind is None or not kind.is_number:
        return None if kind is None else EVERYTHING
    exact = Fraction(repr(expression.value))
    return Range(exact, exact)


@_range.register
def _(expression: Case, columns: Columns) -> Range | None:
    return union(range_of(part, columns) for part in expression.results())


@_range.register
def _(expression: Call, columns: Columns) -> Range | None:
    operator = OPERATORS[expression.operator]
    if operator.counts_truth and _is_truth(expression.arguments[0]):
        return Range(Fraction(0), Fraction(1))
    return operator.range_of(expression.arguments, lambda part: range_of(part, columns))


def _is_truth(expression: Expression) -> bool:
    """Whether it is a condition, or TRUE or FALSE."""
    if kind_of_value(expression.constant) is Kind.BOOLEAN:
        return True
    return bool(expression.called) and OPERATORS[expression.called].is_condition
