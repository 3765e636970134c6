"""The kind of every part of an expression, found before anything runs; texts that stand for dates become dates."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tacit.errors import InvalidParameter
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.literals import kind_of_value, read_date, read_timestamp
from tacit.tables.expressions.operators import OPERATORS, TIME_UNITS, Operator, common_kind
from tacit.tables.expressions.texts import LONGEST_PATTERN
from tacit.tables.expressions.tree import Call, Case, Expression, Literal
from tacit.tables.expressions.zones import zone_problem
from tacit.tables.query.to_sql import expression_sql

__all__ = ["Typing", "Words", "quoted"]

LeafKind = Callable[[Expression], "Kind | None"]
_ALIKE = {"=", "<>", "<", "<=", ">", ">=", "in", "coalesce", "nullif"}
_MOST_BUCKETS = 100_000


class Words(str):
    """Words in an error, shown without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def quoted(expression: Expression) -> str:
    """What the analyst wrote, in short."""
    text = expression_sql(expression)
    return text if len(text) <= 60 else f"{text[:57]}…"


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
        if isinstance(expression, Literal):
            kind = kind_of_value(expression.value)
        elif isinstance(expression, Call):
            expression, kind = self._call(expression)
        elif isinstance(expression, Case):
            expression, kind = self._case(expression)
        else:
            kind = self._leaf(expression)
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

    def _call(self, call: Call) -> tuple[Expression, Kind]:
        operator = OPERATORS.get(call.operator)
        if operator is None:
            raise InvalidParameter("expression", given=call.operator, allowed="an operator of the allow-list")
        arguments = tuple(self.typed(part) for part in call.arguments)
        if call.operator in _ALIKE:
            arguments = self._alike(arguments)
        if call.operator == "date_diff" and len(arguments) == 3:
            arguments = (arguments[0], *self._alike(arguments[1:]))
        call = Call(call.operator, arguments)
        _check_literals(operator, call)
        kinds = tuple(self.kind(part) for part in arguments)
        found = operator.gives(kinds)
        if found is None:
            raise self._misfit(operator, call, kinds)
        return call, found

    def _case(self, case: Case) -> tuple[Expression, Kind | None]:
        if not case.branches:
            raise InvalidParameter("CASE", given=Words("no branch"), allowed="at least one WHEN … THEN …")
        conditions = [self.condition(condition, "WHEN") for condition, _ in case.branches]
        values = self._alike(tuple(self.typed(part) for part in (*(v for _, v in case.branches), case.otherwise)))
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
        if not isinstance(part, Literal) or not isinstance(part.value, str):
            return part
        value = read_date(part.value) or read_timestamp(part.value)
        if value is None:
            given = Words(quoted(part))
            raise InvalidParameter("date", given=given, allowed="a date or timestamp", hint="Write DATE '2024-01-31'.")
        found = Literal(value)
        self._kinds[found] = Kind.TIMESTAMP if kind_of_value(value) is Kind.TIMESTAMP else Kind.DATE
        return found

    def _misfit(self, operator: Operator, call: Call, kinds: tuple[Kind | None, ...]) -> InvalidParameter:
        given = Words(_list(kinds))
        return InvalidParameter(quoted(call), given=given, allowed=operator.takes, hint=_advice(call, kinds))


def _a(kind: Kind | None) -> str:
    if kind is None:
        return "NULL"
    return f"an {kind}" if kind is Kind.INTEGER else f"a {kind}"


def _list(kinds: tuple[Kind | None, ...]) -> str:
    return ", ".join("NULL" if kind is None else str(kind) for kind in kinds) or "nothing"


def _advice(call: Call, kinds: tuple[Kind | None, ...]) -> str:
    present = set(kinds) - {None}
    times = present & {Kind.DATE, Kind.TIMESTAMP}
    if call.operator == "-" and times and times == present:
        return f"Write DATE_DIFF('day', {quoted(call.arguments[1])}, {quoted(call.arguments[0])})."
    if call.operator in ("+", "-") and times:
        return "Write date + INTERVAL 3 DAY."
    if call.operator in _ALIKE and Kind.TEXT in present and present & {Kind.INTEGER, Kind.REAL}:
        return "Texts stand in single quotes, numbers without; CAST(x AS DOUBLE) reads a text as a number."
    if call.operator in _ALIKE and Kind.BOOLEAN in present:
        return "Write TRUE or FALSE."
    if Kind.TEXT in present and present <= {Kind.TEXT, Kind.INTEGER, Kind.REAL}:
        return "CAST(x AS DOUBLE) reads a text as a number, CAST(x AS VARCHAR) a number as a text."
    return ""


def _check_literals(operator: Operator, call: Call) -> None:
    """Places where only constants may stand, and which constants."""
    for place, part in enumerate(call.arguments):
        wanted = place >= operator.literal_from or (operator.literal_first and place == 0)
        wanted = wanted or (operator.name == "date_add" and place == 1)
        if wanted and not isinstance(part, Literal):
            raise InvalidParameter(quoted(call), given=Words(quoted(part)), allowed=operator.takes)
    if operator.name in ("at_time_zone", "timestamp_trunc") and _is_local(call.arguments[0]):
        allowed = "a timestamp in UTC: what has been converted is local time, and is not converted again"
        raise InvalidParameter(quoted(call), given=Words(quoted(call.arguments[0])), allowed=allowed)
    values = [part.value if isinstance(part, Literal) else None for part in call.arguments]
    check = _CHECKS.get(operator.name)
    if operator.literal_first and (not values or values[0] not in TIME_UNITS):
        given = Words(quoted(call.arguments[0])) if values else None
        raise InvalidParameter(quoted(call), given=given, allowed=f"one of {', '.join(TIME_UNITS)}")
    problem = check(values) if check is not None else ""
    if problem:
        raise InvalidParameter(quoted(call), given=Words("other constants"), allowed=problem)


def _is_local(expression: Expression) -> bool:
    return any(isinstance(node, Call) and node.operator == "at_time_zone" for node in expression.walk())


def _is_whole(value: object, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


def _check_buckets(values: Sequence[object]) -> str:
    if len(values) != 4:
        return "a number, and literals: low, high, how many"
    low, high, count = values[1:]
    numbers = all(isinstance(end, int | float) and not isinstance(end, bool) for end in (low, high))
    if not numbers or not low < high:  # type: ignore[operator]
        return "a low end below the high end: WIDTH_BUCKET(age, 0, 100, 10)"
    return "" if _is_whole(count, 1, _MOST_BUCKETS) else f"1 to {_MOST_BUCKETS} buckets"


def _check_round(values: Sequence[object]) -> str:
    return "" if len(values) < 2 or _is_whole(values[1], -15, 15) else "-15 to 15 digits"


def _check_substring(values: Sequence[object]) -> str:
    fits = all(_is_whole(value, least, 10**6) for value, least in zip(values[1:], (1, 0), strict=False))
    return "" if fits else "a start from 1 and a length from 0"


def _check_pattern(values: Sequence[object]) -> str:
    fits = len(values) == 2 and isinstance(values[1], str) and len(values[1]) <= LONGEST_PATTERN
    return "" if fits else f"a text of at most {LONGEST_PATTERN} characters as the pattern"


def _check_step(values: Sequence[object]) -> str:
    return "" if len(values) == 3 and _is_whole(values[1], -(10**9), 10**9) else "a whole number of at most nine digits"


def _check_trunc(values: Sequence[object]) -> str:
    if len(values) != 3 or values[1] not in TIME_UNITS:
        return f"one of {', '.join(TIME_UNITS)}"
    return zone_problem(values[2])


_CHECKS: dict[str, Callable[[Sequence[object]], str]] = {
    "width_bucket": _check_buckets,
    "round": _check_round,
    "substring": _check_substring,
    "like": _check_pattern,
    "ilike": _check_pattern,
    "date_add": _check_step,
    "timestamp_trunc": _check_trunc,
    "at_time_zone": lambda values: zone_problem(values[1]) if len(values) == 2 else "a timestamp and a time zone",
}
