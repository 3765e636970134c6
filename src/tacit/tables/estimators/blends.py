"""Sums that share one unit's reach: distances of a value to both ends of its range, and their squares and product.

With q between l and h, the distances q - l and h - q are at least 0 and add up to h - l whatever q is; their squares
and twice their product add up to (h - l)². So one row moves all of them together by no more than the largest moves
alone, and each gets the noise of the whole share. Proof: docs/proofs/blends.md.
"""

from __future__ import annotations

from tacit.tables.engines.contract import Blend, Measure, Present, Quantised, Square
from tacit.tables.estimators.base import Setting
from tacit.tables.estimators.quantising import argument
from tacit.tables.query.tree import Aggregate

__all__ = ["chosen_count", "chosen_sum", "distances", "squares", "width"]


def chosen_sum(row: Quantised, setting: Setting) -> Measure:
    """Σ of a quantised value over the rows that count."""
    return Measure(row, setting.rows * min(row.lowest, 0), setting.rows * max(row.highest, 0), chosen=setting.chosen)


def chosen_count(aggregate: Aggregate, setting: Setting) -> Measure:
    """How many of the rows that count have a known value: the same rows as the sum's."""
    return Measure(Present(argument(aggregate)), 0, setting.rows, chosen=setting.chosen)


def width(row: Quantised) -> int:
    """How many steps lie between the ends of the range."""
    return row.highest - row.lowest


def distances(aggregate: Aggregate, row: Quantised, setting: Setting) -> Blend:
    """Σ(q - lowest) and Σ(highest - q)."""
    measures = (chosen_sum(row, setting), chosen_count(aggregate, setting))
    return Blend(measures, ((1, -row.lowest), (-1, row.highest)), setting.rows * width(row))


def squares(aggregate: Aggregate, row: Quantised, setting: Setting) -> Blend:
    """Σ(highest - q)², 2Σ(highest - q)(q - lowest) and Σ(q - lowest)²."""
    low, high = row.lowest, row.highest
    most = setting.rows * max(low**2, high**2)
    measures = (
        Measure(Square(row), 0, most, chosen=setting.chosen),
        chosen_sum(row, setting),
        chosen_count(aggregate, setting),
    )
    combinations = ((1, -2 * high, high**2), (-2, 2 * (high + low), -2 * high * low), (1, -2 * low, low**2))
    return Blend(measures, combinations, setting.rows * width(row) ** 2)
