"""Which limits lose least: what was bought of how often units occur, read as rows cut at each step of a ladder.

Post-processing of two released histograms. A bin of units stands for the middle of its numbers, and bins that noise
alone explains for none; so that shares are estimates, and said to be.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from tacit.tables.release.answer import Answer

__all__ = ["FoundLimits", "Step", "best_limits"]

_NOISE = math.log(20)  # Laplace noise of scale 1 exceeds it once in twenty times
_NORMAL = 1.96


@dataclass(frozen=True, slots=True)
class Step:
    """One pair of limits: the share of rows that it cuts, and the error of a count in a group of middling size."""

    groups: int | None
    rows: int
    cut: float
    noise: float
    bias: float

    @property
    def error(self) -> float:
        """What noise does at most in 95% of draws, and what cutting does."""
        return self.noise + self.bias


@dataclass(frozen=True, slots=True, repr=False)
class FoundLimits:
    """The steps of the ladder, best rows for each number of groups, and the one with the least expected error."""

    steps: tuple[Step, ...]
    best: Step | None
    asking: str
    """The price of the questions that the errors are for."""
    answers: tuple[Answer, ...]

    @property
    def toml(self) -> str:
        """The lines of [limits] in the policy; empty if nothing stood out of the noise."""
        if self.best is None:
            return ""
        groups = [] if self.best.groups is None else [f"groups = {self.best.groups}"]
        return "\n".join([*groups, f"rows = {self.best.rows}"])

    def __repr__(self) -> str:
        return self.toml or "no limit stood out of the noise; the price or the table is too small"


def best_limits(
    rows: Answer, groups: Answer | None, main: float, *, is_rho: bool, cells: int | None, asking: str
) -> FoundLimits:
    """Compare limits by the error of a count by the same keys at a price; ``cells`` is how many groups there are."""
    by_rows, by_groups = _spread(rows), [(1.0, 1.0)] if groups is None else _spread(groups)
    answers = (rows,) if groups is None else (rows, groups)
    if not by_rows or not by_groups:
        return FoundLimits((), None, asking, answers)
    units = sum(count for _, count in by_rows)
    occurs = _mean(by_groups)
    total = units * occurs * _mean(by_rows)
    most = max(place for place, _ in by_groups)
    size = total / max(cells or most, 1)
    steps = list[Step]()
    ladder = [1] if groups is None else _ladder(most)
    for group, row in product(ladder, _ladder(max(place for place, _ in by_rows))):
        cut = 1 - _kept(by_groups, group) * _kept(by_rows, row)
        reach = math.sqrt(group) * row * _NORMAL / math.sqrt(2 * main) if is_rho else group * row * _NOISE / main
        steps.append(Step(None if groups is None else group, row, cut, reach, cut * size))
    best = min(steps, key=lambda one: (one.error, one.rows))
    if groups is None:
        return FoundLimits(tuple(steps), best, asking, answers)
    shown = [min((one for one in steps if one.groups == group), key=lambda one: one.error) for group in ladder]
    return FoundLimits(tuple(shown), best, asking, answers)


def _spread(answer: Answer) -> list[tuple[float, float]]:
    """How often units occur, and how many do: the middle of each bin that noise does not explain, and its number."""
    lows, highs = answer["from"].values, answer["to"].values
    found = zip(lows, highs, answer["units"].values, answer["found"].values, strict=True)
    made = []
    for low, high, count, shown in found:
        if shown and isinstance(low, int) and isinstance(count, int | float):
            made.append(((low + (high if isinstance(high, int) else 2 * low)) / 2, float(count)))
    return made


def _mean(spread: Sequence[tuple[float, float]]) -> float:
    return sum(place * count for place, count in spread) / sum(count for _, count in spread)


def _kept(spread: Sequence[tuple[float, float]], limit: int) -> float:
    """The share of occurrences that a limit counts."""
    return sum(min(place, limit) * count for place, count in spread) / sum(place * count for place, count in spread)


def _ladder(most: float) -> list[int]:
    """1, 2, 4, … up to the first that cuts nothing."""
    return [2**at for at in range(math.ceil(math.log2(max(most, 1))) + 1)]
