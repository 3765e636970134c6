"""Every measure once more, row by row and in fractions, as the papers define it; shares nothing with the library."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any


@dataclass(frozen=True)
class Measured:
    k: int
    unique: int
    average_risk: Fraction
    distinct_l: int
    entropy_l: float
    recursive_l: int
    equal_t: Fraction
    ordered_t: Fraction


def agrees(a: Sequence[Any], b: Sequence[Any], wildcards: bool) -> bool:
    return all(x == y or (wildcards and (x is None or y is None)) for x, y in zip(a, b, strict=True))


def measured(quasi: Sequence[tuple[Any, ...]], secret: Sequence[Any], c: Fraction, wildcards: bool = False) -> Measured:
    """Compare every row with every row."""
    rows = range(len(quasi))
    groups = [[j for j in rows if agrees(quasi[i], quasi[j], wildcards)] for i in rows]
    inside = [[secret[j] for j in group] for group in groups]
    return Measured(
        k=min(map(len, groups)),
        unique=sum(len(group) == 1 for group in groups),
        average_risk=sum((Fraction(1, len(group)) for group in groups), Fraction(0)) / len(quasi),
        distinct_l=min(len(set(values)) for values in inside),
        entropy_l=min(entropy_l(values) for values in inside),
        recursive_l=min(recursive_l(values, c) for values in inside),
        equal_t=max(equal_t(values, secret) for values in inside),
        ordered_t=max(ordered_t(values, secret) for values in inside),
    )


def entropy_l(values: Sequence[Any]) -> float:
    shares = [count / len(values) for count in Counter(values).values()]
    return math.exp(-sum(share * math.log(share) for share in shares))


def recursive_l(values: Sequence[Any], c: Fraction) -> int:
    counts = sorted(Counter(values).values(), reverse=True)
    return max([0, *(l for l in range(1, len(counts) + 1) if counts[0] < c * sum(counts[l - 1 :]))])  # noqa: E741


def shares(values: Sequence[Any], secret: Sequence[Any]) -> list[Fraction]:
    """By how much each value is more frequent among these than among all, in order, unknown first."""
    order = sorted(set(secret), key=lambda value: (value is not None, value if value is not None else 0))
    here, there = Counter(values), Counter(secret)
    return [Fraction(here[one], len(values)) - Fraction(there[one], len(secret)) for one in order]


def equal_t(values: Sequence[Any], secret: Sequence[Any]) -> Fraction:
    return sum(map(abs, shares(values, secret)), Fraction(0)) / 2


def ordered_t(values: Sequence[Any], secret: Sequence[Any]) -> Fraction:
    moved = shares(values, secret)
    if len(moved) < 2:
        return Fraction(0)
    return sum((abs(sum(moved[: i + 1], Fraction(0))) for i in range(len(moved))), Fraction(0)) / (len(moved) - 1)
