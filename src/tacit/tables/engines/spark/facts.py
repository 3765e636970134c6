"""Sums over a unit's rows that do not depend on the order in which rows are read, in Spark's exact decimals.

A double becomes a decimal by way of its shortest text: whole parts are taken apart at 2⁴⁰ first, exactly, as 64 bits.
"""

from __future__ import annotations

from tacit.tables.engines.spark.terms import once, real

__all__ = ["exact_sum", "sum_of_reals", "within"]

_SCALE = 2.0**79
"""Of a real, this many binary places before the point and behind it are added."""
_HALF = 2.0**40


def exact_sum(x: str) -> str:
    """The sum of whole numbers of 64 bits, as a decimal of 38 digits."""
    return f"sum(CAST({x} AS DECIMAL(28, 0)))"


def within(x: str) -> str:
    """A real that is added; null beyond."""
    return once(lambda y: f"CASE WHEN abs({y}) < {real(_SCALE)} THEN {y} END", x)


def sum_of_reals(x: str) -> str:
    """Whole parts and fractions, each added as integers: exact, and the same in every order."""
    inside = within(x)
    fraction = once(lambda y: f"({_rest(y)} - CAST(CAST({_rest(y)} AS BIGINT) AS DOUBLE)) * {real(_SCALE)}", inside)
    return f"({_sum_of_whole(inside)} + {_sum_of_whole(fraction)} / {real(_SCALE)})"


def _high(y: str) -> str:
    return f"CAST({y} / {real(_HALF)} AS BIGINT)"


def _rest(y: str) -> str:
    """What a double below 2⁷⁹ is beyond a whole number of 2⁴⁰, exactly."""
    return f"({y} - CAST({_high(y)} AS DOUBLE) * {real(_HALF)})"


def _sum_of_whole(x: str) -> str:
    """Of doubles below 2⁷⁹ without their fractions: the double nearest to the exact sum."""
    high, low = once(_high, x), once(lambda y: f"CAST({_rest(y)} AS BIGINT)", x)
    return f"CAST({exact_sum(high)} * CAST({int(_HALF)} AS DECIMAL(13, 0)) + {exact_sum(low)} AS DOUBLE)"
