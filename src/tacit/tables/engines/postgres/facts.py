"""Sums over a unit's rows that do not depend on the order in which rows are read, in PostgreSQL's exact numerics.

A double is no numeric to PostgreSQL beyond its 15th digit: its whole parts are taken apart at 2⁴⁰ first, exactly.
"""

from __future__ import annotations

from tacit.tables.engines.postgres.terms import once, real

__all__ = ["sum_of_reals", "within"]

_SCALE = 2.0**79
"""Of a real, this many binary places before the point and behind it are added."""
_HALF = 2.0**40


def within(x: str) -> str:
    """A real that is added; null beyond."""
    return once(lambda y: f"CASE WHEN abs({y}) < {real(_SCALE)} THEN {y} END", x)


def sum_of_reals(x: str) -> str:
    """Whole parts and fractions, each added as integers: exact, and the same in every order."""
    inside = within(x)
    whole = f"trunc({inside})"
    fraction = once(lambda y: f"trunc(({y} - trunc({y})) * {real(_SCALE)})", inside)
    return f"({_sum_of_whole(whole)} + {_sum_of_whole(fraction)} / {real(_SCALE)})"


def _sum_of_whole(x: str) -> str:
    """Of doubles without a fraction, below 2⁷⁹: the double nearest to their exact sum."""
    high = once(lambda y: f"trunc({y} / {real(_HALF)})::bigint", x)
    low = once(lambda y: f"({y} - trunc({y} / {real(_HALF)}) * {real(_HALF)})::bigint", x)
    return f"(sum({high}) * {int(_HALF)} + sum({low}))::float8"
