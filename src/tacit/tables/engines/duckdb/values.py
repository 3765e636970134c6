"""What one row adds to a measure, as a BIGINT that is never null; and the width that is proven from the plan."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from tacit.errors import InvalidParameter
from tacit.tables.engines.contract import Category, Measure, One, Present, Product, Quantised, RowValue, Square
from tacit.tables.engines.duckdb.expressions import render
from tacit.tables.engines.duckdb.keys import listed_term
from tacit.tables.engines.duckdb.operators.casts import cast
from tacit.tables.engines.duckdb.terms import TYPES, literal, once
from tacit.tables.expressions.kinds import Kind

__all__ = ["WIDEST", "clamped", "read", "row_value", "summed", "widest_row"]

WIDEST = 2**62
"""No row and no unit may count for more: then 2⁶⁴ of them fit into the 127 bits that are summed in."""


def read(value: RowValue, kinds: Mapping[str, Kind]) -> tuple[str, ...]:
    """The SQL of what a row value is computed from, over the columns of ``rows``: nothing, one thing or two."""
    match value:
        case One():
            return ()
        case Present(expression):
            return (render(expression, kinds).sql,)
        case Quantised(expression):
            return (cast(render(expression, kinds), Kind.REAL),)
        case Square(inner):
            return read(inner, kinds)
        case Product(left, right):
            return (*read(left, kinds), *read(right, kinds))
        case Category():
            return (_place(value, kinds),)


def row_value(value: RowValue, *names: str) -> str:
    """The SQL of a row's integer, from the names of what was read; refuses a measure wider than `WIDEST`."""
    if widest_row(value) > WIDEST:
        raise InvalidParameter("granule", given=widest_row(value), allowed="at most 2^62 granules per row")
    match value:
        case One():
            return "CAST(1 AS BIGINT)"
        case Present():
            return f"CAST({names[0]} IS NOT NULL AS BIGINT)"
        case Quantised():
            return _quantised(value, names[0])
        case Square(inner):
            return f"({_quantised(inner, names[0])} * {_quantised(inner, names[0])})"
        case Product(left, right):
            return f"({_quantised(left, names[0])} * {_quantised(right, names[1])})"
        case Category():
            return names[0]


def widest_row(value: RowValue) -> int:
    """The largest absolute value that a row can have."""
    match value:
        case One() | Present():
            return 1
        case Quantised():
            return max(abs(value.lowest), abs(value.highest))
        case Square(inner):
            return widest_row(inner) ** 2
        case Product(left, right):
            return widest_row(left) * widest_row(right)
        case Category(_, listed):
            return len(listed)


def summed(value: RowValue, column: str) -> str:
    """The sum over rows, in 64 bits where even 2⁴⁸ rows could not fill them, otherwise in 128."""
    return f"sum(CAST({column} AS SMALLINT))" if widest_row(value) < 2**15 else f"sum({column})"


def clamped(sql: str, measure: Measure) -> str:
    """A unit's sum, clamped; refuses bounds beyond `WIDEST`."""
    if measure.reach > WIDEST or measure.low > measure.high:
        raise InvalidParameter(
            "bounds of a measure", given=(measure.low, measure.high), allowed="two integers in order, up to 2^62"
        )
    return _between(sql, measure.low, measure.high)


def _quantised(value: Quantised, x: str) -> str:
    low, high, centre, granule = (_double(one) for one in (value.low, value.high, value.centre, value.granule))
    inside = (
        f"CASE WHEN {x} < {low} THEN {low} WHEN {x} > {high} THEN {high} ELSE {x} END"  # a third of least(greatest)
    )
    near = f"floor(({inside} - {centre}) / {granule} + 0.5)"
    whole = f"CAST({near} AS BIGINT)" if _surely_whole(value) else f"coalesce(TRY_CAST({near} AS BIGINT), 0)"
    return f"CASE WHEN {x} IS NULL THEN 0 ELSE {_between(whole, value.lowest, value.highest)} END"


def _place(value: Category, kinds: Mapping[str, Kind]) -> str:
    """The place of a listed value, from 1 on: values of another kind are nobody's."""
    term = render(value.expression, kinds)
    kind = term.kind or Kind.TEXT
    listed = [listed_term(one, kind) for one in value.listed]
    items = ", ".join(f"CAST(NULL AS {TYPES[kind]})" if one is None else one for one in listed)
    if not items:
        return "CAST(0 AS BIGINT)"

    def place(x: str) -> str:
        """A null in the list stands for what no row can have: null itself must not find it."""
        found = f"CAST(coalesce(list_position([{items}], {x}), 0) AS BIGINT)"
        return f"CASE WHEN {x} IS NULL THEN CAST(0 AS BIGINT) ELSE {found} END"

    return once(place, cast(term, kind))


def _surely_whole(value: Quantised) -> bool:
    """Whether the quotient stays far inside 64 bits for every value between the bounds: then the cast cannot fail."""
    if widest_row(value) > 2**52 or not value.low - value.granule <= value.centre <= value.high:
        return False
    return 1e-100 < value.granule < 1e100 and max(abs(value.low), abs(value.high)) < 1e100


def _between(sql: str, low: int, high: int) -> str:
    return f"least(greatest({sql}, CAST({low} AS BIGINT)), CAST({high} AS BIGINT))"


def _double(number: Fraction) -> str:
    """The nearest double; the largest one for what lies beyond."""
    try:
        return literal(float(number)).sql
    except OverflowError:
        return literal(math.copysign(1.7976931348623157e308, number)).sql
