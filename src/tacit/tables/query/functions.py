"""SQL's function names, and the operator of the allow-list each stands for. No parser in here: names and trees only."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from tacit.tables.expressions.kinds import Kind, is_text
from tacit.tables.expressions.operators import CASTS, OPERATORS, TIME_UNITS, in_sql
from tacit.tables.expressions.tree import Call, Expression, Literal
from tacit.tables.expressions.zones import UTC
from tacit.tables.query.refusals import NotUnderstood, not_yet
from tacit.tables.query.tree import Aggregate

__all__ = [
    "AGGREGATES",
    "AGGREGATE_NAMES",
    "BOUNDS",
    "CONDITIONAL",
    "DISTINCT",
    "FACT_NAMES",
    "INTERVAL_SHARE",
    "LEVELS",
    "PAIRS",
    "QUANTILES",
    "TYPES",
    "aggregate",
    "at_time_zone",
    "call",
    "geometric_mean",
    "quantile",
    "started",
]

Arguments = tuple[Expression, ...]

AGGREGATES = {
    "sum": "sum",
    "avg": "mean",
    "mean": "mean",
    "var": "variance",
    "variance": "variance",
    "var_samp": "variance",
    "var_pop": "variance_pop",
    "stddev": "stddev",
    "stddev_samp": "stddev",
    "stddev_pop": "stddev_pop",
    "mode": "mode",
}
"""Names of aggregates of one argument, and their estimators."""

PAIRS = {
    "covar_samp": "covariance",
    "covar_pop": "covariance_pop",
    "corr": "correlation",
}
"""Names of aggregates of two arguments."""

CONDITIONAL = ("count_if", "countif")
"""COUNT(*) FILTER (WHERE …) in one word."""

DISTINCT = "approx_count_distinct"
"""COUNT(DISTINCT …), which is never exact here."""

LEVELS = {"min": Fraction(0), "median": Fraction(1, 2), "max": Fraction(1)}
"""Quantiles that have a name."""

QUANTILES = ("quantile", "quantile_cont", "quantile_disc", "percentile_cont", "percentile_disc", "approx_quantile")
"""Quantiles of a column at a level: QUANTILE(x, 0.9)."""

AGGREGATE_NAMES = {
    "sum": "SUM",
    "mean": "AVG",
    "variance": "VAR_SAMP",
    "variance_pop": "VAR_POP",
    "stddev": "STDDEV_SAMP",
    "stddev_pop": "STDDEV_POP",
    "count": "COUNT",
    "covariance": "COVAR_SAMP",
    "covariance_pop": "COVAR_POP",
    "correlation": "CORR",
    "mode": "MODE",
}
"""How an estimator is written."""

FACT_NAMES = {"count": "COUNT", "sum": "SUM", "mean": "AVG", "min": "MIN", "max": "MAX"}
"""How a value per unit is written."""

BOUNDS = {
    "contribution_bounds_per_row": "bounds",
    "contribution_bounds_per_group": "group_bounds",
    "contribution_bounds_of_second": "second_bounds",
}
"""Named arguments of aggregates, as Google writes them, and the fields they set."""

INTERVAL_SHARE = "interval_share"
"""The named argument of quantiles that says what of the price their interval gets."""

TYPES = {
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.TEXT: "VARCHAR",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
}
"""The SQL type of a kind."""

_INSTEAD = {
    "log": "LOG means different things in different places: write LN(x) or LOG10(x).",
    "dayofweek": "Write ISODOW(x): Monday is 1, Sunday is 7.",
    "weekday": "Write ISODOW(x): Monday is 1, Sunday is 7.",
    "dow": "Write ISODOW(x): Monday is 1, Sunday is 7.",
    "to_char": "Write STRFTIME(d, '%Y-%m'), with the signs of strftime.",
    "date_format": "Write STRFTIME(d, '%Y-%m'), with the signs of strftime.",
    "to_timestamp": "Write STRPTIME(x, '%d/%m/%Y'), with the signs of strptime.",
    "regexp_replace": "Write REPLACE(x, 'old', 'new'), SPLIT_PART(x, '-', 1) or REGEXP_EXTRACT(x, 'expression').",
    "regexp_full_match": "Write REGEXP_MATCHES(x, '^expression$').",
    "rlike": "Write REGEXP_MATCHES(x, 'expression').",
    "position": "Write POSITION('a' IN x) or STRPOS(x, 'a').",
    "isnull": "Write x IS NULL.",
    "iif": "Write CASE WHEN condition THEN a ELSE b END.",
    "ntile": "Write WIDTH_BUCKET(x, low, high, how_many), with public ends.",
    "time_bucket": "Write DATE_TRUNC('month', d).",
    "trunc": "Write x // 1, FLOOR(x) or ROUND(x).",
}


def call(name: str, arguments: Arguments) -> Expression:
    """The tree of a function by its SQL name; whether kinds and literals fit is checked later, with the policy."""
    name = name.lower()
    if name in _SPECIAL:
        return _SPECIAL[name](arguments)
    operator = in_sql(name)
    if operator is not None and operator.name in CASTS and len(arguments) != 1:
        raise NotUnderstood(f"{name.upper()}(…)", "takes one value", f"Write {name.upper()}(column).")
    if operator is not None:
        return Call(operator.name, arguments)
    instead = _INSTEAD.get(name, "docs/reference/sql.md lists the functions that can be used.")
    raise not_yet(f"{name.upper()}(…)", instead)


def _left(arguments: Arguments) -> Expression:
    if len(arguments) != 2:
        raise not_yet("LEFT(…)", "It takes a text and how many characters: LEFT(city, 3).")
    return Call("substring", (arguments[0], Literal(1), arguments[1]))


def _date_part(arguments: Arguments) -> Expression:
    if len(arguments) != 2 or not is_text(arguments[0].constant):
        raise not_yet("DATE_PART(…)", "It takes a part and a date: DATE_PART('year', d).")
    return part(str(arguments[0].constant), arguments[1])


def part(name: str, value: Expression) -> Expression:
    """EXTRACT(name FROM value)."""
    name = name.lower()
    parts = {written: one.name for one in OPERATORS.values() if one.is_part for written in one.sql}
    if name in parts:
        return Call(parts[name], (value,))
    instead = _INSTEAD.get(name, f"The parts are: {', '.join(parts)}.")
    raise not_yet(f"EXTRACT({name.upper()} FROM …)", instead)


def at_time_zone(value: Expression, zone: Expression) -> Expression:
    """Local time; a timestamp is in UTC, so that saying so first changes nothing."""
    return Call("at_time_zone", (_moment(value), zone))


def started(value: Expression, unit: str, zone: Expression) -> Expression:
    """TIMESTAMP_TRUNC(t, DAY, 'Europe/Copenhagen'): a moment, as t is, when the local day began."""
    if zone in _UTC:
        return Call("date_trunc", (Literal(unit), _moment(value)))
    return Call("timestamp_trunc", (_moment(value), Literal(unit), zone))


def _moment(value: Expression) -> Expression:
    """Without AT TIME ZONE 'UTC'."""
    return value.parts()[0] if value.called == "at_time_zone" and value.parts()[1] in _UTC else value


_UTC = tuple(Literal(name) for name in UTC)


def _zoned(arguments: Arguments) -> Expression:
    """TIMEZONE('Europe/Copenhagen', t)."""
    if len(arguments) != 2:
        raise not_yet("TIMEZONE(…)", "Write t AT TIME ZONE 'Europe/Copenhagen'.")
    return at_time_zone(arguments[1], arguments[0])


def _local(name: str, cast_to: str | None) -> Callable[[Arguments], Expression]:
    """DATE(t), DATE(t, 'Europe/Copenhagen'); DATETIME likewise."""

    def read(arguments: Arguments) -> Expression:
        named = len(arguments) == 2 and is_text(arguments[1].constant)
        if len(arguments) != 1 and not named:
            allowed = "takes one value, and perhaps the name of a time zone"
            raise NotUnderstood(f"{name}(…)", allowed, f"Write {name}(column).")
        value = arguments[0] if len(arguments) == 1 else at_time_zone(*arguments)
        return value if cast_to is None and len(arguments) == 2 else Call(cast_to or "to_timestamp", (value,))

    return read


def _format_first(operator: str, cast_to: str | None = None) -> Callable[[Arguments], Expression]:
    """FORMAT_DATE('%Y-%m', d), PARSE_DATE('%d/%m/%Y', x): the format first, as BigQuery has it."""

    def read(arguments: Arguments) -> Expression:
        made = Call(operator, arguments[::-1])
        return made if cast_to is None else Call(cast_to, (made,))

    return read


def _strftime(arguments: Arguments) -> Expression:
    """STRFTIME(d, '%Y-%m'), and the other way round, as SQLite has it."""
    turned = len(arguments) == 2 and is_text(arguments[0].constant) and not arguments[1].is_literal
    return Call("strftime", arguments[::-1] if turned else arguments)


_SPECIAL: Mapping[str, Callable[[Arguments], Expression]] = {
    "strftime": _strftime,
    **{f"format_{kind}": _format_first("strftime") for kind in ("date", "timestamp", "datetime")},
    **{f"parse_{kind}": _format_first("strptime") for kind in ("timestamp", "datetime")},
    "parse_date": _format_first("strptime", "to_date"),
    "left": _left,
    "date_part": _date_part,
    "timezone": _zoned,
    "date": _local("DATE", "to_date"),
    "datetime": _local("DATETIME", None),
}


def moved(unit: str, count: int, value: Expression) -> Expression:
    """value + INTERVAL 'count' unit."""
    unit = unit.lower().removesuffix("s") if unit.lower() != "s" else unit
    if unit not in TIME_UNITS:
        raise not_yet(f"INTERVAL in {unit.upper()}", f"The units are: {', '.join(TIME_UNITS)}.")
    return Call("date_add", (Literal(unit), Literal(count), value))


def cast(kind: Kind, value: Expression) -> Expression:
    """The total cast to a kind."""
    return Call(f"to_{kind.value}", (value,))


def aggregate(
    name: str,
    arguments: Arguments,
    *,
    distinct: bool = False,
    star: bool = False,
    bounds: Mapping[str, tuple[Fraction, Fraction]],
) -> Aggregate:
    """An aggregate by its SQL name."""
    upper = name.upper()
    if name == "count":
        return _count(arguments, distinct, star, bounds)
    if name in CONDITIONAL and len(arguments) == 1 and not (distinct or star):
        return Aggregate("count_rows", group_bounds=bounds.get("group_bounds")).where(arguments[0])
    if name == DISTINCT and len(arguments) == 1 and not (distinct or star):
        return _count(arguments, True, False, bounds)
    if distinct and name in ("min", "max"):
        distinct = False  # which repetitions do not change
    if distinct:
        raise not_yet(f"{upper}(DISTINCT …)", f"Write {upper}(x), of every row.")
    wanted = 2 if name in PAIRS else 1
    if name in PAIRS and len(arguments) == wanted:
        return Aggregate(
            PAIRS[name], arguments[0], bounds.get("bounds"), None, arguments[1], bounds.get("second_bounds")
        )
    if name in LEVELS and len(arguments) == wanted:
        return quantile(arguments[0], LEVELS[name], bounds)
    if wanted == 2:
        raise NotUnderstood(f"{upper}(…)", "takes two values", f"Write {upper}(column, other_column).")
    if len(arguments) != 1 or star:
        raise NotUnderstood(f"{upper}(…)", "takes one value", f"Write {upper}(column).")
    return Aggregate(AGGREGATES[name], arguments[0], bounds.get("bounds"), bounds.get("group_bounds"))


def quantile(value: Expression, level: Fraction, bounds: Mapping[str, tuple[Fraction, Fraction]]) -> Aggregate:
    """The value that a share of the rows lies below."""
    return Aggregate("quantile", value, bounds.get("bounds"), bounds.get("group_bounds"), level=level)


def geometric_mean(value: Expression, bounds: tuple[Fraction, Fraction] | None, name: str = "GEOMEAN") -> Expression:
    """EXP(AVG(LN(x))); bounds are those of x, and above 0."""
    ends = None
    if bounds is not None:
        if bounds[0] <= 0:
            raise NotUnderstood(f"{name}(…)", "needs bounds above 0", "Logarithms are of positive numbers.")
        ends = Fraction(math.log(bounds[0])), Fraction(math.log(bounds[1]))
    return Call("exp", (Aggregate("mean", Call("ln", (value,)), ends),))


def _count(
    arguments: Arguments, distinct: bool, star: bool, bounds: Mapping[str, tuple[Fraction, Fraction]]
) -> Aggregate:
    if "bounds" in bounds:
        raise not_yet("COUNT with contribution_bounds_per_row", "Each row counts for 1; leave the bounds out.")
    clamp = bounds.get("group_bounds")
    if star or not arguments:
        return Aggregate("count_rows", group_bounds=clamp)
    if len(arguments) != 1:
        raise NotUnderstood("COUNT(…)", "takes one value", "Write COUNT(column) or COUNT(*).")
    if distinct:
        if clamp is not None:
            raise not_yet("COUNT(DISTINCT …) with bounds", "The policy limits what a unit adds; leave the bounds out.")
        return Aggregate("count_distinct", arguments[0])
    if arguments[0].constant is not None:
        return Aggregate("count_rows", group_bounds=clamp)
    return Aggregate("count", arguments[0], group_bounds=clamp)
