"""Sums over a unit's rows that do not depend on the order in which rows are read, in wide integers of DuckDB."""

from __future__ import annotations

from tacit.tables.engines.duckdb.terms import once

__all__ = ["nearest", "sum_of_reals", "within"]

_PLACES = 79
"""Of a real, this many binary places before the point and behind it are added: 2⁴⁸ rows fit into 127 bits."""
_SCALE = f"CAST('{float(2**_PLACES)!r}' AS DOUBLE)"


def within(x: str) -> str:
    """A real that is added; null beyond."""
    return once(lambda y: f"CASE WHEN abs({y}) < {_SCALE} THEN {y} END", x)


def sum_of_reals(x: str) -> str:
    """Whole parts and fractions, each added as integers: exact, and the same in every order."""
    inside = within(x)
    whole = f"CAST(trunc({inside}) AS HUGEINT)"
    fraction = once(lambda y: f"CAST(trunc(({y} - trunc({y})) * {_SCALE}) AS HUGEINT)", inside)
    return f"({nearest(f'sum({whole})')} + {nearest(f'sum({fraction})')} / {_SCALE})"


def nearest(total: str) -> str:
    """The real nearest to a wide integer: the engine's own conversion rounds twice, its reading of text once."""
    return f"CAST(CAST({total} AS VARCHAR) AS DOUBLE)"
