"""Forms of functions of numbers that are alike on every engine."""

from __future__ import annotations

from fractions import Fraction

from tacit.tables.engines.chain.form import Form, Given
from tacit.tables.expressions.kinds import is_number, is_whole

__all__ = ["edges", "extreme"]

_MOST_BUCKETS = 2**31 - 1


def extreme(function: str) -> Form:
    """least and greatest; the engines' own leave nulls out."""

    def known(*values: str) -> str:
        if len(values) == 1:
            return values[0]
        unknown = " OR ".join(f"{value} IS NULL" for value in values)
        return f"CASE WHEN {unknown} THEN NULL ELSE {function}({', '.join(values)}) END"

    return lambda given: given.dialect.once(known, *given.each())


def edges(given: Given) -> tuple[float, float, float, int] | None:
    """Of width_bucket: both ends, the width of a bucket, and how many there are; None if the constants make none."""
    low, high, count = given.constants[1:]
    if not is_number(low) or not is_number(high) or not is_whole(count, 1, _MOST_BUCKETS):
        return None
    try:
        bottom, top = Fraction(low), Fraction(high)
        start, end, width = float(bottom), float(top), float((top - bottom) / int(count))
    except (ValueError, OverflowError):
        return None
    return (start, end, width, int(count)) if start < end and width > 0 else None
