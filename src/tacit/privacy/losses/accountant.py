"""Bounds on ε at a δ, and on δ at an ε, for a plan of pairs: chooses the method and the grid, returns (lower, upper).

Each direction, removing a unit and adding one, is composed on its own; the larger result counts, last of all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

from tacit.privacy.losses import direct
from tacit.privacy.losses.atoms import ApproximatePair
from tacit.privacy.losses.fourier import add_up
from tacit.privacy.losses.grid import CellLoss
from tacit.privacy.losses.layout import Layout, Parts, spread_out, wanted_step
from tacit.privacy.losses.numbers import float_below
from tacit.privacy.losses.outline import Outline, Window
from tacit.privacy.losses.profile import Reading, read_above, read_below

_LONGEST = 2**22
_MOST_CELLS = 2**20
_TILTED_TAIL = 1e-8
SMALLEST_DELTA = 1e-280
MOST_USES = 10**12
"""Beyond this many uses rounding errors of each leave nothing to read; only the sum of the largest losses holds."""


def infinite_mass(parts: Parts, backward: bool) -> float:
    """The probability that some part reveals everything; of a single use it is not understated."""
    masses = [(pair.infinite[1 if backward else 0], n) for pair, n in parts]
    if any(mass >= 1 for mass, _ in masses):
        return 1.0
    if len(masses) == 1 and masses[0][1] == 1:
        return masses[0][0]
    return abs(math.expm1(math.fsum(min(n, 10**300) * math.log1p(-mass) for mass, n in masses)))


def largest_loss(parts: Parts, backward: bool) -> float:
    """The supremum of the finite total loss, rounded up."""
    if max((n for _, n in parts), default=0) > 10**300:
        return math.inf
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
    single = len(parts) == 1 and parts[0][1] == 1
    doubt = 0.0 if single else 1e-13  # on the infinite mass of a composition
    if lost * (1 + doubt) > delta:
        return (math.inf if float_below(lost) * (1 - doubt) >= delta else 0.0), math.inf
    if lost == delta or delta < SMALLEST_DELTA:
        return (largest * (1 - 1e-12) if lost == delta and (not lost or _is_typed(parts)) else 0.0), largest
    if single:
        return direct.epsilon_bounds(parts[0][0], delta, backward)
    return (0.0, largest) if _too_many(parts) else None


def _easy_delta(parts: Parts, epsilon: float, backward: bool) -> tuple[float, float] | None:
    lost = infinite_mass(parts, backward)
    if lost >= 1:
        return 1.0, 1.0
    if epsilon >= largest_loss(parts, backward):
        single = len(parts) == 1 and parts[0][1] == 1
        return (float_below(lost), lost) if single else (lost * (1 - 1e-13), min(lost * (1 + 1e-13), 1.0))
    if len(parts) == 1 and parts[0][1] == 1:
        return direct.delta_bounds(parts[0][0], epsilon, backward)
    return (0.0, 1.0) if _too_many(parts) else None


def _is_typed(parts: Parts) -> bool:
    """Whether the infinite mass is the very number that was typed, and not one that was rounded up."""
    return len(parts) == 1 and parts[0][1] == 1 and isinstance(parts[0][0], ApproximatePair)


def _too_many(parts: Parts) -> bool:
    return sum(n for _, n in parts) > MOST_USES


@dataclass(frozen=True, slots=True)
class _Way:
    """One direction of a plan: its outline, a tilt, and the error in ε that its grid may cause."""

    backward: bool
    outline: Outline
    tilt: float
    slack: float
    largest: float
    floor: float = math.inf

    def window(self) -> Window:
        """Where the tilted total lies, down to ``floor`` if that is asked about, and up to a largest loss nearby."""
        found = self.outline.window(self.tilt, _TILTED_TAIL)
        bottom = min(found.bottom, self.floor)
        top = max(found.top, self.largest) if self.largest < 2 * found.top - bottom else found.top
        return Window(bottom, top, found.down, found.up)


@dataclass(frozen=True, slots=True)
class _Grids:
    """The parts cut into cells for the upper and, if wanted, for the lower reading."""

    counts: list[int]
    for_upper: list[CellLoss]
    for_lower: list[CellLoss] | None

    @classmethod
    def of(cls, parts: Parts, way: _Way, tail: float, lower: bool) -> _Grids:
        window = way.window()
        least = max(
            (window.top - window.bottom) / _LONGEST,
            max((high - low) / _MOST_CELLS for low, high in (pair.reach(tail) for pair, _ in parts)),
        )
        by_mass, whole = spread_out(parts)
        upper_step = max(least, wanted_step(by_mass, way.tilt, way.slack))
        lower_step = max(least, wanted_step(whole, way.tilt, way.slack / 8))  # its error is rather of first order
        layout = Layout.through_atoms(parts, upper_step)
        weight = partial(way.outline.weight, tilt=way.tilt, backward=way.backward)
        cells = layout.cut(parts, tail, weight)
        counts = [n for _, n in parts]
        if not lower:
            return cls(counts, cells, None)
        finer = Layout.through_atoms(parts, lower_step)
        return cls(counts, cells, cells if finer == layout else finer.cut(parts, tail, weight))

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
    tilts, guesses = {}, {}
    for backward in ways:
        outline, left = outlines[backward], delta - infinite_mass(parts, backward)
        tilts[backward] = _useful(outline.tilt_for_delta(left), left, tolerance * largest_loss(parts, backward))
        guess = max(outline.epsilon(tilts[backward], left), 0.05 * outline.spread(tilts[backward]))
        guesses[backward] = min(guess, max(largest_loss(parts, backward), 0.0))
    slack = 0.4 * tolerance * max(guesses.values())  # the larger direction counts, so both may err by its share
    found: list[tuple[float, float]] = []
    for backward in sorted(ways, key=lambda way: -guesses[way]):
        largest = max(largest_loss(parts, backward), 0.0)
        if found and largest <= max(high for _, high in found):
            continue  # it cannot be the larger one
        plan = _Way(backward, outlines[backward], tilts[backward], slack, largest)
        if found:  # a coarse grid often shows that this direction is the smaller one
            rough = replace(plan, slack=16 * slack)
            at_most = _read_epsilon(parts, delta, _Grids.of(parts, rough, tail, False), rough)[1]
            if at_most <= max(low if lower else high for low, high in found):
                continue
        low, high = _read_epsilon(parts, delta, _Grids.of(parts, plan, tail, lower), plan)
        if 0 < high < math.inf and slack > tolerance * max([high, *(h for _, h in found)]):
            # The first guess at ε was far too large, and so was the step: once more, from what was found.
            tilt = _useful(plan.outline.tilt_for_epsilon(high), delta, tolerance * high)
            finer = _Way(backward, plan.outline, tilt, 0.4 * tolerance * high, largest)
            again = _read_epsilon(parts, delta, _Grids.of(parts, finer, tail, lower), finer)
            low, high = max(low, again[0]), min(high, again[1])
        found.append((low, high))
    return found


def _read_epsilon(parts: Parts, delta: float, grids: _Grids, plan: _Way) -> tuple[float, float]:
    low, high = 0.0, max(largest_loss(parts, plan.backward), 0.0)
    for _ in range(6):
        upper, upper_blur, under, under_blur = grids.read(plan)
        high = min(high, upper.crossing(delta)[1] + upper_blur)
        if under is not None:
            low = max(low, under.crossing(delta, start=high)[0] - under_blur)
        bottom = upper.bottom
        if bottom <= 0 or high > bottom + upper_blur:
            break
        plan = replace(plan, tilt=plan.tilt / 8)  # the answer lies below the window
    return max(low, 0.0), max(high, 0.0)


def _composed_delta(
    parts: Parts, epsilon: float, tolerance: float, ways: list[bool], lower: bool
) -> list[tuple[float, float]]:
    rough = Outline.of(parts, 1e-30)
    likely = max(rough[way].delta(rough[way].tilt_for_epsilon(epsilon), epsilon) for way in ways)
    tail = _tail(parts, max(likely, SMALLEST_DELTA))
    outlines = Outline.of(parts, tail)
    found = []
    for backward in ways:
        tilt = outlines[backward].tilt_for_epsilon(epsilon)
        tilt = _useful(tilt, likely, tolerance * max(epsilon, 1e-3 * largest_loss(parts, backward)))
        slack = 0.4 * tolerance * max(epsilon, 0.05 * outlines[backward].spread(tilt))
        largest = largest_loss(parts, backward)
        plan = _Way(backward, outlines[backward], tilt, slack, largest, floor=epsilon - 1e-6)
        found.append(_read_delta(epsilon, _Grids.of(parts, plan, tail, lower), plan))
    return found


def _read_delta(epsilon: float, grids: _Grids, plan: _Way) -> tuple[float, float]:
    upper, upper_blur, under, under_blur = grids.read(plan)
    low = under.delta(epsilon + under_blur) if under is not None else 0.0
    high = upper.delta(epsilon - upper_blur) if epsilon - upper_blur >= upper.bottom else 1.0
    return low, high


def _useful(tilt: float, delta: float, error: float) -> float:
    """``tilt``, capped where a larger one would move ε by less than ``error``: at the end of a bounded loss."""
    return min(tilt, 2 * (10 - math.log(max(delta, SMALLEST_DELTA))) / error) if 0 < error < math.inf else tilt


def _tail(parts: Parts, delta: float) -> float:
    return max(delta * 1e-8 / sum(n for _, n in parts), 1e-295)
