"""What one row adds to a measure, as a BIGINT that is never null; and the width that is proven from the plan."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from tacit.errors import InvalidParameter
from tacit.tables.engines.chain.dialect import Dialect
from tacit.tables.engines.chain.expressions import render
from tacit.tables.engines.chain.keys import listed_term
from tacit.tables.engines.contract import Category, Measure, One, Present, Product, Quantised, RowValue, Square
from tacit.tables.expressions.kinds import Kind

__all__ = ["WIDEST", "clamped", "double", "read", "row_value", "widest_row"]

WIDEST = 2**62
"""No row and no unit may count for more: then 2⁶⁴ of them fit into the 127 bits that are summed in."""


def read(value: RowValue, kinds: Mapping[str, Kind], dialect: Dialect) -> tuple[str, ...]:
    """The SQL of what a row value is computed from, over the columns of ``rows``: nothing, one thing or two."""
    match value:
        case One():
            return ()
        case Present(expression):
            return (render(expression, kinds, dialect).sql,)
        case Quantised(expression):
            return (dialect.cast(render(expression, kinds, dialect), Kind.REAL),)
        case Square(inner):
            return read(inner, kinds, dialect)
        case Product(left, right):
            return (*read(left, kinds, dialect), *read(right, kinds, dialect))
        case Category():
            return (_place(value, kinds, dialect),)


def row_value(dialect: Dialect, value: RowValue, *names: str) -> str:
    """The SQL of a row's integer, from the names of what was read; refuses a measure wider than `WIDEST`."""
    if widest_row(value) > WIDEST:
        raise InvalidParameter("granule", given=widest_row(value), allowed="at most 2^62 granules per row")
    match value:
        case One():
            return "CAST(1 AS BIGINT)"
        case Present():
            return dialect.present(names[0])
        case Quantised():
            return _quantised(dialect, value, names[0])
        case Square(inner):
            return f"({_quantised(dialect, inner, names[0])} * {_quantised(dialect, inner, names[0])})"
        case Product(left, right):
            return f"({_quantised(dialect, left, names[0])} * {_quantised(dialect, right, names[1])})"
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


def clamped(sql: str, measure: Measure) -> str:
    """A unit's sum, clamped; refuses bounds beyond `WIDEST`."""
    if measure.reach > WIDEST or measure.low > measure.high:
        raise InvalidParameter(
            "bounds of a measure", given=(measure.low, measure.high), allowed="two integers in order, up to 2^62"
        )
    return _between(sql, measure.low, measure.high)


def _quantised(dialect: Dialect, value: Quantised, x: str) -> str:
    whole = dialect.granules(value, x, surely_whole=_surely_whole(value))
    return f"CASE WHEN {x} IS NULL THEN 0 ELSE {_between(whole, value.lowest, value.highest)} END"


def _place(value: Category, kinds: Mapping[str, Kind], dialect: Dialect) -> str:
    """The place of a listed value, from 1 on: values of another kind are nobody's."""
    term = render(value.expression, kinds, dialect)
    kind = term.kind or Kind.TEXT
    listed = [listed_term(dialect, one, kind) for one in value.listed]
    items = [f"CAST(NULL AS {dialect.types[kind]})" if one is None else one for one in listed]
    if not items:
        return "CAST(0 AS BIGINT)"

    def place(x: str) -> str:
        """A null in the list stands for what no row can have: null itself must not find it."""
        return f"CASE WHEN {x} IS NULL THEN CAST(0 AS BIGINT) ELSE {dialect.place(items, x)} END"

    return dialect.once(place, dialect.cast(term, kind))


def _surely_whole(value: Quantised) -> bool:
    """Whether the quotient stays far inside 64 bits for every value between the bounds: then the cast cannot fail."""
    if widest_row(value) > 2**52 or not value.low - value.granule <= value.centre <= value.high:
        return False
    return 1e-100 < value.granule < 1e100 and max(abs(value.low), abs(value.high)) < 1e100


def _between(sql: str, low: int, high: int) -> str:
    return f"least(greatest({sql}, CAST({low} AS BIGINT)), CAST({high} AS BIGINT))"


def double(number: Fraction) -> float:
    """The nearest double; the largest one for what lies beyond."""
    try:
        return float(number)
    except OverflowError:
        return math.copysign(1.7976931348623157e308, number)
