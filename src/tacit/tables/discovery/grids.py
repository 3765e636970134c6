"""Public grids: where values of a column may lie (1, 2, 5, 10, … on both sides of 0), how often a unit may occur."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Call, Case, Column, Expression, Literal

__all__ = ["POWERS", "Bin", "bin_expression", "bins_of"]

POWERS = tuple(2**i for i in range(17))
"""Of rows of a unit: 1, 2, 4, … 65 536."""

_DECADES = {Kind.INTEGER: range(18), Kind.REAL: range(-6, 15)}


@dataclass(frozen=True, slots=True)
class Bin:
    """Values from ``low`` to ``high``; None: no end. The end nearer to 0 belongs to the next bin, except 0 itself."""

    low: Fraction | None
    high: Fraction | None


def bins_of(kind: Kind) -> tuple[Bin, ...]:
    """The bins for a column of numbers, from the lowest to the highest; every number lies in exactly one.

    >>> bins = bins_of(Kind.INTEGER)
    >>> len(bins), bins[len(bins) // 2]
    (110, Bin(low=Fraction(0, 1), high=Fraction(1, 1)))
    """
    steps = _steps(kind)
    above = [Bin(Fraction(0), steps[0]), *(Bin(low, high) for low, high in pairwise(steps))]
    above.append(Bin(steps[-1], None))
    below = [Bin(None if one.high is None else -one.high, -(one.low or Fraction(0))) for one in reversed(above)]
    return (*below, *above)


def bin_expression(column: Column, kind: Kind) -> Expression:
    """The number of the bin that a row's value lies in; null where the value is unknown."""
    steps, branches = _steps(kind), []
    for number, step in enumerate(reversed(steps)):
        branches.append((Call("<", (column, _literal(-step, kind))), Literal(number)))
    branches.append((Call("<", (column, _literal(Fraction(0), kind))), Literal(len(steps))))
    for number, step in enumerate(steps):
        branches.append((Call("<=", (column, _literal(step, kind))), Literal(len(steps) + 1 + number)))
    branches.append((Call(">", (column, _literal(steps[-1], kind))), Literal(2 * len(steps) + 1)))
    return Case(tuple(branches))


def _steps(kind: Kind) -> tuple[Fraction, ...]:
    """1, 2, 5, 10, … above 0."""
    return tuple(Fraction(first) * Fraction(10) ** power for power in _DECADES[kind] for first in (1, 2, 5))


def _literal(value: Fraction, kind: Kind) -> Literal:
    return Literal(int(value) if kind is Kind.INTEGER else float(value))
