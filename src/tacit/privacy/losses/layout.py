"""How a plan is laid on a grid: the step, and for each part the place of one grid point."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tacit.privacy.losses.atoms import common_step
from tacit.privacy.losses.grid import CellLoss, Weight, cut
from tacit.privacy.losses.pair import Pair

Parts = tuple[tuple[Pair, int], ...]

_WIDEST_STEP = 20.0
_NARROWEST_STEP = 2.0**-40  # well above the hair by which edges are moved, and above rounding


@dataclass(frozen=True, slots=True)
class Layout:
    """A step common to all parts and an origin for each."""

    step: float
    origins: tuple[float, ...]

    @classmethod
    def through_atoms(cls, parts: Parts, wanted: float) -> Layout:
        """A step of at most about ``wanted`` that passes through the atoms of all parts where it can."""
        lattices = [pair.lattice for pair, _ in parts]
        spacings = [lattice.spacing for lattice in lattices if lattice is not None and lattice.spacing > 0]
        step = max(min(wanted, _WIDEST_STEP), _NARROWEST_STEP)
        common = common_step(spacings) if spacings else None
        if spacings and common is None:  # not all of them meet on one grid: the one that is used most does
            _, common = max((n * (1 - _spread(pair)), pair.lattice.spacing) for pair, n in parts if pair.lattice)
        if common is not None and common >= _NARROWEST_STEP:
            step = common / max(1, math.ceil(common / step))
        return cls(step, tuple(lattice.anchor if lattice is not None else 0.0 for lattice in lattices))

    def cut(self, parts: Parts, tail: float, weight: Callable[[int], Weight | None]) -> list[CellLoss]:
        """Every part in cells, wider ones where little depends on them, until at most ``tail`` lies beyond."""
        return [
            cut(pair, self.step, origin, tail, partial(weight, i) if _spread(pair) > 0 else None)
            for i, ((pair, _), origin) in enumerate(zip(parts, self.origins, strict=True))
        ]


def spread_out(parts: Parts) -> tuple[float, float]:
    """How many uses lie off their lattice, for the dear grid (by mass) and for the cheap one (all or nothing)."""
    by_mass = whole = 0.0
    for pair, n in parts:
        share = _spread(pair)
        by_mass += n * share
        whole += n if share > 0 else 0
    if len({pair.lattice.spacing for pair, _ in parts if pair.lattice is not None}) > 1:
        by_mass = whole = float(sum(n for _, n in parts))  # several lattices rarely meet on one grid
    return by_mass, whole


def _spread(pair: Pair) -> float:
    """The share of one use that lies off its lattice."""
    return 1.0 if pair.lattice is None else min(1.0, max(pair.lattice.diffuse, 0.0))


def wanted_step(uses: float, tilt: float, slack: float) -> float:
    """The step that adds about ``slack`` to ε: each spread-out use adds (1 + tilt)·step²/12."""
    return math.sqrt(12 * slack / ((1 + tilt) * uses)) if uses > 0 else math.inf
