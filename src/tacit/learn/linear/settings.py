"""What a fit chooses by itself: from the number of terms, the promise, and a declared or released number of rows.

The formulas were found on generated tables (a census of made-up people and normal columns: bench/learning_settings.py),
never on a benchmark's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from tacit.errors import InvalidParameter
from tacit.learn.linear.design import UNIT, Design
from tacit.learn.spending.budget import Budget
from tacit.privacy.prices import positive, times

__all__ = ["TOO_LITTLE", "Settings", "signal_of", "usual_for_bins", "usual_for_numbers", "usual_norm", "usual_settings"]


@dataclass(frozen=True, slots=True)
class Settings:
    """What a fit is free to choose, from public numbers alone.

    ``clip`` is the most that a unit's gradient can be, ``ridge`` how strongly the preconditioner follows the noise,
    ``moments`` the share of the budget that buys the second moments, ``later`` the part of the steps that is averaged,
    ``sampling`` the chance of each unit to be in a step. With a ``bend``, all gradients are taken together (`pooling`)
    and the loss is taken to bend by this part of the most that it can: cut gradients bend less than whole ones.
    ``doubt`` says how much of their noise is added to the second moments: directions that may be noise are not trusted.
    """

    steps: int
    clip: float
    ridge: tuple[float, float]
    moments: Fraction
    later: float = 0.5
    sampling: Fraction = Fraction(1)
    bend: float | None = None
    doubt: float = 0.7

    def chosen(self, *, steps: object, clip: object, sampling: object) -> Settings:
        """The same with what a caller insists on."""
        made = self
        if steps is not None:
            made = replace(made, steps=times(steps, "steps", least=1))
        if clip is not None:
            size = float(positive(clip, "clip"))
            if not 2**-20 <= size <= _WIDEST:
                raise InvalidParameter("clip", given=clip, allowed="a number from 2**-20 to 7")
            made = replace(made, clip=size)
        if sampling is not None:
            rate = positive(sampling, "sampling")
            if rate > 1:
                raise InvalidParameter("sampling", given=sampling, allowed="above 0 and at most 1")
            made = replace(made, sampling=rate)
        return made


_WIDEST = 7.0  # its square in whole numbers stays below 2⁶²


def usual_norm(design: Design) -> float:
    """About how long a row is: indicators count in full, numbers as half of their largest size."""
    quarter = sum((most / UNIT) ** 2 for most in design.largest) / 4
    return math.sqrt(1 + len(design.blocks) + quarter)


def usual_settings(design: Design, budget: Budget, rows: float) -> Settings:
    """Settings for classes, of so many rows."""
    return _pure(design, budget, rows) if budget.pure else _gaussian(design, budget, rows)


def usual_for_numbers(design: Design, budget: Budget, rows: float, spread: float) -> Settings:
    """Settings for a number whose standard deviation is about ``spread``."""
    if budget.pure:
        made = _pure(design, budget, rows)
        return replace(made, clip=min(2 * made.clip * spread, _WIDEST))
    clip = min(0.6 * usual_norm(design) * spread, _WIDEST)
    return Settings(steps=32, clip=clip, ridge=(0.7, 0.15), moments=Fraction(1, 10), later=0.75)


def usual_for_bins(design: Design, budget: Budget, rows: float) -> Settings:
    """Settings for classes by indicators of bins: many terms, of which most are hardly ever there."""
    if budget.pure:
        return _pure(design, budget, rows)
    signal = signal_of(design, budget, rows)
    part = min(max(0.3 * (signal / 110) ** 0.35, 0.3), 0.65)
    clip = min(part * usual_norm(design), _WIDEST)
    return Settings(
        steps=16, clip=clip, ridge=(0.4, 0.7), moments=Fraction(1, 10), bend=_bend(signal), doubt=_doubt(signal)
    )


def signal_of(design: Design, budget: Budget, rows: float) -> float:
    """How far the rows stand out of the noise: n·μ/√d, and n·ε/d for Laplace's."""
    if budget.pure:
        return max(rows, 1.0) * float(budget.spent_as.eps) / design.width  # type: ignore[attr-defined]
    return max(rows, 1.0) * noise_level(budget) / math.sqrt(design.width)


TOO_LITTLE = 6.0
"""Where rows stand out of the noise by less, classes are told by a constant alone: more terms would say noise.

Found on generated tables: below it a model of all terms was worse than the commoner class where classes were uneven.
"""


def noise_level(budget: Budget) -> float:
    """μ, as a float to choose by."""
    rho = budget.spent_as.as_zcdp()
    assert rho is not None
    return math.sqrt(2 * float(rho[0]))


def _gaussian(design: Design, budget: Budget, rows: float) -> Settings:
    signal = signal_of(design, budget, rows)
    part = min(max(0.37 * (signal / 110) ** 0.3, 0.37), 0.65)
    clip = min(part * usual_norm(design), _WIDEST)
    return Settings(
        steps=16, clip=clip, ridge=(0.4, 1.0), moments=Fraction(1, 10), bend=_bend(signal), doubt=_doubt(signal)
    )


def _bend(signal: float) -> float:
    """The more the noise, the more gradients are cut, and the less they bend."""
    return float(min(max(0.15 * (signal / 110) ** 0.4, 0.15), 0.35))


def _doubt(signal: float) -> float:
    """Where rows hardly stand out of the noise, steps are shorter."""
    return float(0.7 * max(100 / signal, 1.0) ** 0.55)


def _pure(design: Design, budget: Budget, rows: float) -> Settings:
    signal = signal_of(design, budget, rows)
    steps = min(max(round(0.5 * math.sqrt(signal)), 4), 32)
    size = 1 + len(design.blocks) + sum(most / UNIT for most in design.largest) / 2
    clip = min(0.42 * size, _WIDEST)
    return Settings(steps=steps, clip=clip, ridge=(1.0, 1.0), moments=Fraction(1, 10), later=0.5)
