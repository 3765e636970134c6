"""Neighbours of the auditor's own: you say what an input looks like, it tries the pairs that have given others away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tacit.errors import InvalidParameter

__all__ = ["Answers", "Numbers", "Proposal"]

Pair = tuple[Any, Any]
_POWERS = (3, 10, 20, 31, 45, 52, 53, 60)


class Proposal(Protocol):
    """Says which pairs of inputs one unit can turn into each other."""

    def pairs(self) -> list[Pair]: ...


@dataclass(frozen=True, slots=True)
class Numbers:
    """Functions of one number that a unit moves by at most ``sensitivity``.

    >>> Numbers().pairs()[:3]
    [(0, 1), (-1, 0), (1, 2)]
    """

    sensitivity: int | float = 1
    whole: bool = field(default=True, kw_only=True)
    """Whole numbers if the sensitivity is one; otherwise floats."""

    def __post_init__(self) -> None:
        if isinstance(self.sensitivity, bool) or not isinstance(self.sensitivity, int | float) or self.sensitivity <= 0:
            raise InvalidParameter("sensitivity", given=self.sensitivity, allowed="a number above 0")

    def pairs(self) -> list[Pair]:
        """Around 0, at powers of two to 2^60 and just above, at halves, on both sides of 0."""
        step = self.sensitivity
        whole = self.whole and isinstance(step, int)
        found: list[Pair] = [(0, step), (-step, 0), (step, 2 * step)]
        for power in _POWERS:
            found += [(2**power, 2**power + step), (-(2**power) - step, -(2**power))]
        found.append((2**60 + 128, 2**60 + 128 + step))
        if not whole:
            found = [(float(a), float(b)) for a, b in found if float(b) - float(a) == step]
            found += [(0.5, 0.5 + step), (-0.5 - step, -0.5), (0.1, 0.1 + step), (step / 3, step / 3 + step)]
        return list(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class Answers:
    """Functions of a list of answers to queries, each of which a unit moves by at most ``sensitivity``.

    With ``all_move=False`` a unit moves one of them only, as in a histogram.

    >>> Answers(4).pairs()[0], Answers(4).pairs()[-1]
    (([1, 1, 1, 1], [0, 1, 1, 1]), ([0, 0, 0, 1], [1, 1, 1, 0]))
    """

    length: int = 10
    sensitivity: int | float = 1
    all_move: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        if isinstance(self.length, bool) or not isinstance(self.length, int) or self.length < 1:
            raise InvalidParameter("length", given=self.length, allowed="a whole number above 0")
        if isinstance(self.sensitivity, bool) or not isinstance(self.sensitivity, int | float) or self.sensitivity <= 0:
            raise InvalidParameter("sensitivity", given=self.sensitivity, allowed="a number above 0")

    def pairs(self) -> list[Pair]:
        """The patterns of Ding et al. (2018), and some where the last answer moves against the others."""
        n, half = self.length, self.length // 2
        ones = [1] * n
        found = [(ones, [0, *ones[1:]]), (ones, [2, *ones[1:]]), (ones, [*ones[1:], 0])]
        if self.all_move and n > 1:
            found += [
                (ones, [2] + [0] * (n - 1)),
                (ones, [0] + [2] * (n - 1)),
                (ones, [2] * half + [0] * (n - half)),
                (ones, [2] * n),
                (ones, [0] * n),
                ([1] * half + [0] * (n - half), [0] * half + [1] * (n - half)),
                (ones, [0] * (n - 1) + [2]),
                (ones, [2] * (n - 1) + [0]),
                ([0] * n, [1] * n),
                ([0] * (n - 1) + [1], [1] * (n - 1) + [0]),
            ]
        return [(_scaled(a, self.sensitivity), _scaled(b, self.sensitivity)) for a, b in found]


def _scaled(pattern: Sequence[int], by: int | float) -> list[Any]:
    return [one * by for one in pattern] if by != 1 else list(pattern)
