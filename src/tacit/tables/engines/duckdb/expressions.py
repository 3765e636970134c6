"""Row-wise expressions as SQL for DuckDB, one small function per operator of `tacit.tables.expressions.operators`.

Each function takes terms that keep the promises of `duckdb_terms` and returns SQL that keeps them: total, finite, in
the calendar. Nothing here looks at data; an expression that is not well-typed is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from tacit.errors import InvalidParameter
from tacit.tables.engines.duckdb.operators.casts import cast
from tacit.tables.engines.duckdb.operators.patterns import like
from tacit.tables.engines.duckdb.operators.times import (
    at_time_zone,
    date_add,
    date_diff,
    date_trunc,
    part,
    timestamp_trunc,
)
from tacit.tables.engines.duckdb.terms import (
    Term,
    as_kind,
    finite,
    identifier,
    in_64_bits,
    in_calendar,
    literal,
    once,
    short,
)
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.operators import CASTS, OPERATORS, TIME_UNITS, common_kind
from tacit.tables.expressions.texts import LONGEST_TEXT, lower
from tacit.tables.expressions.tree import Call, Case, Column, Expression, Literal, Value
from tacit.tables.expressions.zones import is_zone

__all__ = ["render"]

Terms = Sequence[Term]
_LONGEST = 1_000_000_000
_EXACT = 2**52
_NO_TRUTH = "CAST(NULL AS BOOLEAN)"


def render(expression: Expression, kinds: Mapping[str, Kind], tables: Mapping[str, str] | None = None) -> Term:
    """The SQL of an expression over the columns of ``rows``, whose kinds are given; or of the table of each column."""
    match expression:
        case Column(name):
            return _column(name, kinds, "rows" if tables is None else tables.get(name, "rows"))
        case Literal(value):
            return literal(value)
        case Case(branches, otherwise):
            return _case(
                [(render(condition, kinds, tables), render(result, kinds, tables)) for condition, result in branches],
                render(otherwise, kinds, tables),
            )
        case Call(operator, arguments):
            return _call(operator, arguments, [render(argument, kinds, tables) for argument in arguments])
    raise _refused(type(expression).__name__, "an expression over the rows of the table")


def _column(name: str, kinds: Mapping[str, Kind], table: str) -> Term:
    if name not in kinds:
        raise _refused(name, "a column of the table")
    sql, kind = f"{table}.{identifier(name)}", kinds[name]
    if kind is Kind.REAL:
        sql = finite(sql)
    return Term(in_calendar(sql, kind) if kind.is_time else sql, kind)


def _case(branches: Sequence[tuple[Term, Term]], otherwise: Term) -> Term:
    results = (*(result for _, result in branches), otherwise)
    kind = common_kind(tuple(result.kind for result in results))
    if kind is None or any(condition.kind not in (None, Kind.BOOLEAN) for condition, _ in branches):
        raise _refused("CASE", "conditions, and results of one kind")
    arms = " ".join(f"WHEN {as_kind(c, Kind.BOOLEAN)} THEN {as_kind(r, kind)}" for c, r in branches)
    return Term(f"CASE {arms} ELSE {as_kind(otherwise, kind)} END", kind)


def _call(name: str, arguments: tuple[Expression, ...], terms: Terms) -> Term:
    operator = OPERATORS.get(name)
    if operator is None:
        raise _refused(name, "an operator of the allow-list")
    kind = operator.gives(tuple(term.kind for term in terms))
    constants = [one.value if isinstance(one, Literal) else None for one in arguments]
    must_be_literal = arguments[operator.literal_from :] + arguments[: 1 if operator.literal_first else 0]
    if kind is None or not all(isinstance(one, Literal) for one in must_be_literal):
        raise _refused(name, operator.takes)
    if operator.literal_first:
        return Term(_on_times(name, constants[0], terms), kind)
    if operator.literal_from < len(arguments) and name in _WITH_CONSTANTS:
        return Term(_WITH_CONSTANTS[name](terms[0], constants[operator.literal_from :]), kind)
    return Term(_PLAIN[name](terms, kind), kind)


def _refused(given: object, allowed: str) -> InvalidParameter:
    return InvalidParameter("expression", given=given, allowed=allowed)


# truth


def _joined(word: str) -> Callable[[Terms, Kind], str]:
    return lambda terms, kind: "(" + f" {word} ".join(as_kind(term, kind) for term in terms) + ")"


def _not(terms: Terms, kind: Kind) -> str:
    return f"(NOT {as_kind(terms[0], kind)})"


def _comparison(sign: str) -> Callable[[Terms, Kind], str]:
    return lambda terms, _: "(" + f" {sign} ".join(_alike(terms)) + ")"


def _alike(terms: Terms) -> list[str]:
    """The terms, widened to the kind they have together."""
    kind = common_kind(tuple(term.kind for term in terms))
    return [as_kind(term, kind or Kind.TEXT) for term in terms]


def _is_null(terms: Terms, _: Kind) -> str:
    return f"({terms[0].sql} IS NULL)"


def _in(terms: Terms, _: Kind) -> str:
    value, *listed = _alike(terms)
    return f"({value} IN ({', '.join(listed)}))"


def _text_test(form: str) -> Callable[[Terms, Kind], str]:
    return lambda terms, _: form.format(*(as_kind(term, Kind.TEXT) for term in terms))


# numbers


def _arithmetic(sign: str) -> Callable[[Terms, Kind], str]:
    """Doubles give an infinity where they overflow, whole numbers one that 64 bits do not hold: both are null.

    TRY, which would do, takes a thousand times as long for a row in which it is needed: one person's values would show.
    """

    def rendered(terms: Terms, kind: Kind) -> str:
        left, right = (as_kind(term, kind) for term in terms)
        if kind is Kind.REAL:
            return finite(f"({left} {sign} {right})")
        return in_64_bits(f"(CAST({left} AS HUGEINT) {sign} CAST({right} AS HUGEINT))")

    return rendered


def _remainder(terms: Terms, kind: Kind) -> str:
    left, right = (as_kind(term, kind) for term in terms)
    if kind is Kind.REAL:
        return finite(f"({left} % {right})")
    return f"({left} % {once(lambda y: f'CASE WHEN {y} = -1 THEN 1 ELSE {y} END', right)})"


def _quotient(terms: Terms, _: Kind) -> str:
    return finite(f"({as_kind(terms[0], Kind.REAL)} / {as_kind(terms[1], Kind.REAL)})")


def _whole_quotient(terms: Terms, _: Kind) -> str:
    if all(term.kind in (None, Kind.INTEGER) for term in terms):
        left, right = (as_kind(term, Kind.INTEGER) for term in terms)
        return in_64_bits(f"(CAST({left} AS HUGEINT) // CAST({right} AS HUGEINT))")
    return f"TRY_CAST(trunc({_quotient(terms, Kind.REAL)}) AS BIGINT)"


def _negative(terms: Terms, kind: Kind) -> str:
    own = as_kind(terms[0], kind)
    return finite(f"(- {own})") if kind is Kind.REAL else in_64_bits(f"(- CAST({own} AS HUGEINT))")


def _abs(terms: Terms, kind: Kind) -> str:
    own = as_kind(terms[0], kind)
    return f"abs({own})" if kind is Kind.REAL else in_64_bits(f"abs(CAST({own} AS HUGEINT))")


def _sign(terms: Terms, _: Kind) -> str:
    return f"CAST(sign({as_kind(terms[0], terms[0].kind or Kind.INTEGER)}) AS BIGINT)"


def _whole(form: str) -> Callable[[Terms, Kind], str]:
    """A real made whole by a function; an integer is so already."""

    def rendered(terms: Terms, _: Kind) -> str:
        if terms[0].kind is Kind.REAL:
            return f"TRY_CAST({form.format(terms[0].sql)} AS BIGINT)"
        return as_kind(terms[0], Kind.INTEGER)

    return rendered


def _round_to(term: Term, constants: Sequence[Value]) -> str:
    """To so many digits: halves go up; a value too large to have that digit stays as it is."""
    digits = constants[0]
    if not isinstance(digits, int) or isinstance(digits, bool):
        return "CAST(NULL AS DOUBLE)"
    factor = f"CAST('1e{min(abs(digits), 300)}' AS DOUBLE)"
    there, back = ("*", "/") if digits >= 0 else ("/", "*")
    return finite(
        once(
            lambda x: (
                f"CASE WHEN abs({x} {there} {factor}) < {_EXACT} "
                f"THEN floor({x} {there} {factor} + 0.5) {back} {factor} ELSE {x} END"
            ),
            as_kind(term, Kind.REAL),
        )
    )


def _where_defined(function: str, condition: str) -> Callable[[Terms, Kind], str]:
    """A real function, null outside its domain."""

    def rendered(terms: Terms, _: Kind) -> str:
        inside = once(lambda x: f"CASE WHEN {x} {condition} THEN {x} END", as_kind(terms[0], Kind.REAL))
        return finite(f"{function}({inside})")

    return rendered


def _exp(terms: Terms, _: Kind) -> str:
    return finite(f"exp({as_kind(terms[0], Kind.REAL)})")


def _power(terms: Terms, _: Kind) -> str:
    return finite(f"pow({as_kind(terms[0], Kind.REAL)}, {as_kind(terms[1], Kind.REAL)})")


def _extreme(function: str) -> Callable[[Terms, Kind], str]:
    """least and greatest; DuckDB's own leave nulls out."""

    def rendered(terms: Terms, kind: Kind) -> str:
        def known(*values: str) -> str:
            unknown = " OR ".join(f"{value} IS NULL" for value in values)
            return f"CASE WHEN {unknown} THEN NULL ELSE {function}({', '.join(values)}) END"

        return once(known, *(as_kind(term, kind) for term in terms))

    return rendered


def _width_bucket(term: Term, constants: Sequence[Value]) -> str:
    """0 below low, n + 1 from high on, and 1 to n in between; null if the constants make no buckets."""
    low, high, count = constants
    numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in constants)
    if not numbers or not isinstance(count, int) or not (0 < count < 2**31):
        return "CAST(NULL AS BIGINT)"
    try:
        bottom, top = Fraction(low), Fraction(high)  # type: ignore[arg-type]
        edges = (float(bottom), float(top), float((top - bottom) / count))
    except (ValueError, OverflowError):
        return "CAST(NULL AS BIGINT)"
    if not (edges[0] < edges[1] and edges[2] > 0):
        return "CAST(NULL AS BIGINT)"
    start, end, width = (literal(edge).sql for edge in edges)
    return once(
        lambda x: (
            f"CASE WHEN {x} < {start} THEN 0 WHEN {x} >= {end} THEN {count + 1} WHEN {x} IS NOT NULL "
            f"THEN CAST(least(floor(({x} - {start}) / {width}), {count - 1}) AS BIGINT) + 1 END"
        ),
        as_kind(term, Kind.REAL),
    )


# any kind


def _coalesce(terms: Terms, kind: Kind) -> str:
    return f"coalesce({', '.join(as_kind(term, kind) for term in terms)})"


def _nullif(terms: Terms, kind: Kind) -> str:
    return once(lambda x, y: f"CASE WHEN {x} = {y} THEN NULL ELSE {x} END", *(as_kind(term, kind) for term in terms))


def _cast(terms: Terms, kind: Kind) -> str:
    return cast(terms[0], kind)


# text


def _like(term: Term, constants: Sequence[Value]) -> str:
    """Null if the pattern is no text."""
    (pattern,) = constants
    return _NO_TRUTH if not isinstance(pattern, str) else like(as_kind(term, Kind.TEXT), pattern)


def _ilike(term: Term, constants: Sequence[Value]) -> str:
    """Both in small letters."""
    (pattern,) = constants
    return _NO_TRUTH if not isinstance(pattern, str) else like(f"lower({as_kind(term, Kind.TEXT)})", lower(pattern))


def _concat(terms: Terms, kind: Kind) -> str:
    """Lengths are added up first: what would be too long is never made."""

    def joined(*texts: str) -> str:
        length = " + ".join(f"strlen({text})" for text in texts)
        return f"CASE WHEN {length} <= {LONGEST_TEXT} THEN {' || '.join(texts)} END"

    return once(joined, *(as_kind(term, kind) for term in terms))


def _letters(function: str) -> Callable[[Terms, Kind], str]:
    """Small letters or capitals, which can take half as many bytes again."""
    return lambda terms, kind: short(f"{function}({as_kind(terms[0], kind)})")


def _substring(term: Term, constants: Sequence[Value]) -> str:
    """Characters from a position (the first is 1), as SQL counts; null if the constants are no whole numbers."""
    if not all(isinstance(one, int) and not isinstance(one, bool) for one in constants):
        return "CAST(NULL AS VARCHAR)"
    start, *rest = (int(one) for one in constants)  # type: ignore[arg-type]
    end = start + rest[0] if rest else _LONGEST
    if rest and rest[0] < 0:
        return "CAST(NULL AS VARCHAR)"
    first = min(max(start, 1), _LONGEST)
    return f"substring({as_kind(term, Kind.TEXT)}, {first}, {min(max(end - first, 0), _LONGEST)})"


# times


def _on_times(name: str, unit: Value, terms: Terms) -> str:
    unit = str(unit).lower()
    if unit not in TIME_UNITS:
        raise _refused(unit, "a unit of time: " + ", ".join(TIME_UNITS))
    if name == "date_trunc":
        return date_trunc(unit, terms[1])
    if name == "date_add":
        return date_add(unit, as_kind(terms[1], Kind.INTEGER), terms[2])
    return date_diff(unit, terms[1], terms[2])


def _at_time_zone(term: Term, constants: Sequence[Value]) -> str:
    """Local time, in a zone by its public name; null if that is no name."""
    (zone,) = constants
    return at_time_zone(term, zone) if isinstance(zone, str) and is_zone(zone) else "CAST(NULL AS TIMESTAMP)"


def _timestamp_trunc(term: Term, constants: Sequence[Value]) -> str:
    """The start of a local unit of time; null if there is no such unit or zone."""
    unit, zone = constants
    if unit not in TIME_UNITS or not isinstance(zone, str) or not is_zone(zone):
        return "CAST(NULL AS TIMESTAMP)"
    return timestamp_trunc(term, str(unit), zone)


_WITH_CONSTANTS: dict[str, Callable[[Term, Sequence[Value]], str]] = {
    "like": _like,
    "ilike": _ilike,
    "round": _round_to,
    "substring": _substring,
    "width_bucket": _width_bucket,
    "at_time_zone": _at_time_zone,
    "timestamp_trunc": _timestamp_trunc,
}

_PLAIN: dict[str, Callable[[Terms, Kind], str]] = {
    "and": _joined("AND"),
    "or": _joined("OR"),
    "not": _not,
    **{sign: _comparison(sign) for sign in ("=", "<>", "<", "<=", ">", ">=")},
    "is_null": _is_null,
    "in": _in,
    "starts_with": _text_test("starts_with({}, {})"),
    "contains": _text_test("contains({}, {})"),
    **{sign: _arithmetic(sign) for sign in ("+", "-", "*")},
    "%": _remainder,
    "/": _quotient,
    "//": _whole_quotient,
    "negative": _negative,
    "abs": _abs,
    "sign": _sign,
    "floor": _whole("floor({})"),
    "ceil": _whole("ceil({})"),
    "round": _whole("floor({} + 0.5)"),
    "ln": _where_defined("ln", "> 0"),
    "log10": _where_defined("log10", "> 0"),
    "log2": _where_defined("log2", "> 0"),
    "sqrt": _where_defined("sqrt", ">= 0"),
    "exp": _exp,
    "power": _power,
    "least": _extreme("least"),
    "greatest": _extreme("greatest"),
    "coalesce": _coalesce,
    "nullif": _nullif,
    "lower": _letters("lower"),
    "upper": _letters("upper"),
    "trim": _text_test("trim({}, ' ')"),
    "length": _text_test("CAST(length({}) AS BIGINT)"),
    "concat": _concat,
    **{name: part(name) for name in ("year", "quarter", "month", "week", "weekday", "day", "hour", "minute")},
    **dict.fromkeys(CASTS, _cast),
}
"""Every operator that takes no constants apart from its terms."""
