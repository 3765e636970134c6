"""Bounds on ε at a δ, and on δ at an ε, for a plan of pairs: chooses the method and the grid, returns (lower, upper).

Each direction, removing a unit and adding one, is composed on its own; the larger result counts, last of all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tacit.privacy.losses import direct
from tacit.privacy.losses.fourier import add_up
from tacit.privacy.losses.grid import CellLoss
from tacit.privacy.losses.layout import Layout, Parts, spread_out, wanted_step
from tacit.privacy.losses.outline import Outline, Window
from tacit.privacy.losses.profile import Reading, read_above, read_below

_LONGEST = 2**22
_TILTED_TAIL = 1e-8
SMALLEST_DELTA = 1e-280


def infinite_mass(parts: Parts, backward: bool) -> float:
    """The probability that some part reveals everything."""
    masses = [(pair.infinite[1 if backward else 0], n) for pair, n in parts]
    if any(mass >= 1 for mass, _ in masses):
        return 1.0
    return masses[0][0] if len(masses) == 1 and masses[0][1] == 1 else _any(masses)


def _any(masses: list[tuple[float, int]]) -> float:
    return -math.expm1(math.fsum(n * math.log1p(-mass) for mass, n in masses))


def largest_loss(parts: Parts, backward: bool) -> float:
    """The supremum of the finite total loss, rounded up."""
    total = math.fsum(n * (-pair.extremes[0] if backward else pair.extremes[1]) for pair, n in parts)
    single = len(parts) == 1 and parts[0][1] == 1
    return total if single or total <= 0 else total * (1 + 2.0**-50)


def directions(parts: Parts) -> tuple[bool, ...]:
    """Forward, and backward as well unless it is the same."""
    return (False,) if all(pair.symmetric for pair, _ in parts) else (False, True)


def epsilon_bounds(parts: Parts, delta: float, tolerance: float, *, lower: bool) -> tuple[float, float]:
    """(lower, upper) bounds on the smallest ε ≥ 0 with δ(ε) ≤ delta; without ``lower``, the lower one may be 0."""
    ways, found = [], []
    for backward in directions(parts):
        easy = _easy_epsilon(parts, delta, backward)
        if easy is None:
            ways.append(backward)
        else:
            found.append(easy)
    if ways:
        found.extend(_composed_epsilon(parts, delta, tolerance, ways, lower))
    return max(low for low, _ in found), max(high for _, high in found)


def delta_bounds(parts: Parts, epsilon: float, tolerance: float, *, lower: bool) -> tuple[float, float]:
    """(lower, upper) bounds on δ(epsilon); without ``lower``, the lower one may be 0."""
    ways, found = [], []
    for backward in directions(parts):
        easy = _easy_delta(parts, epsilon, backward)
        if easy is None:
            ways.append(backward)
        else:
            found.append(easy)
    if ways:
        found.extend(_composed_delta(parts, epsilon, tolerance, ways, lower))
    return max(low for low, _ in found), max(high for _, high in found)


def _easy_epsilon(parts: Parts, delta: float, backward: bool) -> tuple[float, float] | None:
    """What needs no composition: nothing left of δ, or a single use."""
    lost, largest = infinite_mass(parts, backward), max(largest_loss(parts, backward), 0.0)
    if lost > delta:
        return math.inf, math.inf
    if lost >= delta * (1 - 1e-13) or delta < SMALLEST_DELTA:
        return (largest * (1 - 1e-12) if lost == delta else 0.0), largest
    if len(parts) == 1 and parts[0][1] == 1:
        return direct.epsilon_bounds(parts[0][0], delta, backward)
    return None


def _easy_delta(parts: Parts, epsilon: float, backward: bool) -> tuple[float, float] | None:
    lost = infinite_mass(parts, backward)
    if epsilon >= largest_loss(parts, backward):
        slack = 0.0 if len(parts) == 1 and parts[0][1] == 1 else 1e-13
        return lost * (1 - slack), min(lost * (1 + slack), 1.0)
    if len(parts) == 1 and parts[0][1] == 1:
        return direct.delta_bounds(parts[0][0], epsilon, backward)
    return None


@dataclass(frozen=True, slots=True)
class _Way:
    """One direction of a plan: its outline, a tilt, and the error in ε that its grid may cause."""

    backward: bool
    outline: Outline
    tilt: float
    slack: float

    def window(self) -> Window:
        return self.outline.window(self.tilt, _TILTED_TAIL)


@dataclass(frozen=True, slots=True)
class _Grids:
    """The parts cut into cells for the upper and, if wanted, for the lower reading."""

    counts: list[int]
    for_upper: list[CellLoss]
    for_lower: list[CellLoss] | None

    @classmethod
    def of(cls, parts: Parts, ways: list[_Way], tail: float, lower: bool) -> _Grids:
        least = max((w.top - w.bottom) / _LONGEST for w in (way.window() for way in ways))
        by_mass, whole = spread_out(parts)
        upper_step = max(least, min(wanted_step(by_mass, way.tilt, way.slack) for way in ways))
        lower_step = max(least, min(wanted_step(whole, way.tilt, way.slack) for way in ways))
        layout = Layout.through_atoms(parts, upper_step)
        cells = layout.cut(parts, tail)
        counts = [n for _, n in parts]
        if not lower:
            return cls(counts, cells, None)
        finer = Layout.through_atoms(parts, lower_step)
        return cls(counts, cells, cells if finer == layout else finer.cut(parts, tail))

    def read(self, way: _Way) -> tuple[Reading, float, Reading | None, float]:
        """The upper reading and its blur, and the lower reading and its blur."""
        window = way.window()
        turned = [c.reversed() if way.backward else c for c in self.for_upper]
        dear = add_up([(c.dear(), n) for c, n in zip(turned, self.counts, strict=True)], way.tilt, window)
        if self.for_lower is None:
            return read_above(dear), dear.blur, None, 0.0
        if self.for_lower is not self.for_upper:
            turned = [c.reversed() if way.backward else c for c in self.for_lower]
        cheap = add_up([(c.cheap(way.tilt), n) for c, n in zip(turned, self.counts, strict=True)], way.tilt, window)
        return read_above(dear), dear.blur, read_below(cheap), cheap.blur


def _composed_epsilon(
    parts: Parts, delta: float, tolerance: float, ways: list[bool], lower: bool
) -> list[tuple[float, float]]:
    tail = _tail(parts, delta)
    outlines = Outline.of(parts, tail)
    plans = []
    for backward in ways:
        left = delta - infinite_mass(parts, backward)
        tilt = outlines[backward].tilt_for_delta(left)
        plans.append(_at_tilt(outlines[backward], tilt, left, tolerance, backward))
    grids = _Grids.of(parts, plans, tail, lower)
    found = []
    for plan in plans:
        low, high = 0.0, max(largest_loss(parts, plan.backward), 0.0)
        for _ in range(6):
            upper, upper_blur, under, under_blur = grids.read(plan)
            high = min(high, upper.crossing(delta)[1] + upper_blur)
            if under is not None:
                low = max(low, under.crossing(delta, start=high)[0] - under_blur)
            bottom = float(upper.losses[0])
            if bottom <= 0 or high > bottom + upper_blur:
                break
            plan = _Way(plan.backward, plan.outline, plan.tilt / 8, plan.slack)  # the answer lies below the window
        found.append((max(low, 0.0), max(high, 0.0)))
    return found


def _at_tilt(outline: Outline, tilt: float, delta: float, tolerance: float, backward: bool) -> _Way:
    guess = max(outline.epsilon(tilt, delta), 0.05 * outline.spread(tilt))
    return _Way(backward, outline, tilt, 0.4 * tolerance * guess)


def _composed_delta(
    parts: Parts, epsilon: float, tolerance: float, ways: list[bool], lower: bool
) -> list[tuple[float, float]]:
    rough = Outline.of(parts, 1e-30)
    likely = max(rough[way].delta(rough[way].tilt_for_epsilon(epsilon), epsilon) for way in ways)
    tail = _tail(parts, max(likely, SMALLEST_DELTA))
    outlines = Outline.of(parts, tail)
    plans = []
    for backward in ways:
        tilt = outlines[backward].tilt_for_epsilon(epsilon)
        slack = 0.4 * tolerance * max(epsilon, 0.05 * outlines[backward].spread(tilt))
        plans.append(_Way(backward, outlines[backward], tilt, slack))
    grids = _Grids.of(parts, plans, tail, lower)
    found = []
    for plan in plans:
        low, high = 0.0, 1.0
        for _ in range(6):
            upper, upper_blur, under, under_blur = grids.read(plan)
            if under is not None:
                low = max(low, under.delta(epsilon + under_blur))
            if epsilon - upper_blur >= upper.losses[0]:
                high = upper.delta(epsilon - upper_blur)
                break
            plan = _Way(plan.backward, plan.outline, plan.tilt / 8, plan.slack)
        found.append((low, high))
    return found


def _tail(parts: Parts, delta: float) -> float:
    return max(delta * 1e-8 / sum(n for _, n in parts), 1e-295)
