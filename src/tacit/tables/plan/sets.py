"""Shares of the sets of keys of one statement: even ones, or such that sets which others tell anyway get less.

Each set's share of the price is a matter of the question, the policy and the price; the shares add up to what they did.
Proof: docs/proofs/grouping_sets.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.tables.estimators.noise import spread
from tacit.tables.fitting.shares import Design, better_shares
from tacit.tables.plan.demands import Statement
from tacit.tables.plan.parts import Part

__all__ = ["are_as_good", "are_as_short", "are_better", "reshared"]

_SAME = 1e-9
_WORTH = 1e-3
"""Of the sum of logarithms: what gains less is not done."""


def reshared(statement: Statement, parts: Sequence[Part]) -> Statement | None:
    """With better shares for the sets whose numbers are made to add up; None where there are none to be had."""
    places = [at for at, one in enumerate(statement.demands) if one.level is not None]
    if len(places) < 2:
        return None
    design, (even, *_) = _told(parts)
    power = 2 if all(parts[at].noise is not None and _falls_twice(parts[at]) for at in places) else 1
    shares = better_shares(design, np.array(even), power)
    whole = sum((statement.demands[at].weight for at in places), start=Fraction(0))
    demands = list(statement.demands)
    for at, share in zip(places, shares, strict=True):
        demands[at] = replace(demands[at], weight=whole * share)
    return replace(statement, demands=tuple(demands))


def are_better(parts: Sequence[Part], even: Sequence[Part]) -> bool:
    """Whether nothing is told worse than at even shares, and all together better."""
    ratios = _ratios(parts, even)
    return bool((ratios <= 1 + _SAME).all() and np.log(ratios).sum() < -_WORTH)


def are_as_good(parts: Sequence[Part], even: Sequence[Part]) -> bool:
    """Whether nothing is told worse."""
    return bool((_ratios(parts, even) <= 1 + _SAME).all())


def are_as_short(parts: Sequence[Part], others: Sequence[Part]) -> bool:
    """Whether no interval is longer, whichever the laws of noise; nor noise wider where no interval is known yet."""
    return bool(all(one <= other * (1 + _SAME) for one, other in zip(_lengths(parts), _lengths(others), strict=True)))


def _ratios(parts: Sequence[Part], even: Sequence[Part]) -> npt.NDArray[np.float64]:
    """Of each spread to what it is at even shares."""
    found, first = (np.array(_spreads(one)) for one in (parts, even))
    return np.asarray(found / first)


def _falls_twice(part: Part) -> bool:
    """Whether the variance of its noise falls with the square of its share, as Laplace's does."""
    return part.noise is not None and part.noise.name == "discrete Laplace"


def _told(parts: Sequence[Part]) -> tuple[Design, list[list[float]]]:
    """Of the parts that add up: the design, and of each measure the variances of its noise, one per set."""
    own = [(part, part.demand.level) for part in parts if part.demand.level is not None]
    levels = [level for _, level in own if level is not None]
    measures = zip(*(part.bounded.measures for part, _ in own), strict=True)
    noise = [
        [spread(part.mechanism_of(one)) ** 2 for (part, _), one in zip(own, each, strict=True)] for each in measures
    ]
    return Design.of(levels[0].sizes, [level.kept for level in levels]), noise


def _lengths(parts: Sequence[Part]) -> list[float]:
    """Of intervals, or else of noise; and sizes of groups."""
    found = list[float]()
    for part in parts:
        for line in part.lines:
            found += [line.error] if line.error else [spread(one) for one in line.mechanisms]
        found += [] if part.keys is None else [float(part.keys.threshold)]
    return found


def _spreads(parts: Sequence[Part]) -> list[float]:
    """Variances and intervals of what adds up; of all else variances of its noise, and sizes of groups."""
    found = list[float]()
    if any(part.demand.level is not None for part in parts):
        design, noise = _told(parts)
        found += [float(one) for each in noise for one in design.variances(np.array(each))]
    for part in parts:
        found += [line.error for line in part.lines if line.error]
        if part.demand.level is None:
            found += [spread(one) ** 2 for line in part.lines for one in line.mechanisms]
            found += [] if part.keys is None else [float(part.keys.threshold)]
    return found
