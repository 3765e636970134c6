"""Looking for the event that shows most: features are fitted on one part of the sample, events scored on another."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from tacit.auditing.claims import Profile
from tacit.auditing.events import Cells, Event, Family, Pairs, Tally, families, fit_cells
from tacit.auditing.looking.feature import Feature
from tacit.auditing.looking.features import every_feature, few_features
from tacit.auditing.reading.outcomes import Outcomes, joined

__all__ = ["FEW", "Aim", "Found", "Samples", "Wanted", "search", "shares"]

_CROSSED = 6
_LEAST_CROSSED = 300  # fewer samples cannot fill the cells
_KEPT = 4
_FAVOURED = 0.5  # of the chance of a false verdict, for the event that promises most
_SIMPLER = 0.05  # so much less may be expected of an event that is easier to understand
FEW = 200
"""Searched samples, under each neighbour, below which only the simplest events are looked at, and one is tested."""
_WORTH_CROSSING = 0.05  # by how much a crossed event has to beat the simple ones, which are easier to read

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Outcomes under both neighbours: a part to fit features to, and a part to score events on."""

    fit: tuple[Outcomes, Outcomes]
    score: tuple[Outcomes, Outcomes]


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """An event worth testing; ``swapped`` if it is likelier under the second neighbour."""

    event: Event
    swapped: bool
    excess: float
    sigmas: float


@dataclass(frozen=True, slots=True)
class Aim:
    """What the test will be: its claim, its number of trials, and ln(1/failure) of the limits of the first event."""

    profile: Profile
    trials: int
    exponent: float
    caution: float = 4.0
    """The choice among many candidates flatters the best of them."""


def shares(count: int) -> list[float]:
    """The share of each of so many events in the chance of a false verdict: half for the first, the rest evenly.

    >>> shares(1), shares(3)
    ([1.0], [0.5, 0.25, 0.25])
    """
    return [1.0] if count == 1 else [_FAVOURED, *[(1 - _FAVOURED) / (count - 1)] * (count - 1)]


Wanted = Callable[[Outcomes, Outcomes], Iterable[Feature]]
"""Further features, fitted to the samples."""


def search(samples: Samples, aim: Aim, wanted: Wanted | None = None) -> list[Found]:
    """A few events, the most promising first, each about other cells than the ones before."""
    if len(samples.score[0]) + len(samples.fit[0]) < FEW:
        return _search_plainly(samples, aim)
    features = [*every_feature(*samples.fit), *(wanted(*samples.fit) if wanted is not None else ())]
    found: list[tuple[Feature, Found]] = []
    for feature in features:
        cells = fit_cells(feature, *samples.fit, fine=True)
        found += [(feature, best) for best in _best_of(cells, *_tallies(cells, samples), aim)]
    found.sort(key=lambda pair: -pair[1].excess)
    simple = [best for _, best in found]
    bar = simple[0].excess + max(_WORTH_CROSSING, _WORTH_CROSSING * abs(simple[0].excess))
    crossed = [best for pairs in _crossed(found, samples) for best in _best_of(*pairs, aim)]
    return _most_promising([*simple, *(best for best in crossed if best.excess > bar)])


def _search_plainly(samples: Samples, aim: Aim) -> list[Found]:
    """One simple event: a small sample cannot choose among many, and each that is tested weakens the others."""
    both = joined([samples.fit[0], samples.score[0]]), joined([samples.fit[1], samples.score[1]])
    aim = replace(aim, exponent=aim.exponent + math.log(_FAVOURED), caution=0.0)
    found = []
    for feature in few_features(*both):
        cells = fit_cells(feature, *both, fine=False)
        tally = Tally.of(cells, *both)
        found += _best_of(cells, tally, tally, aim, simply=True)
    return [max(found, key=lambda one: (one.excess, one.sigmas))]


def _tallies(cells: Cells, samples: Samples) -> tuple[Tally, Tally]:
    return Tally.of(cells, *samples.fit), Tally.of(cells, *samples.score)


def _crossed(found: Sequence[tuple[Feature, Found]], samples: Samples) -> Iterator[tuple[Cells, Tally, Tally]]:
    """The leading features two by two."""
    if len(samples.score[0]) < _LEAST_CROSSED:
        return
    leading: dict[tuple[str, bool], Feature] = {}
    for feature, _ in found:
        if len(leading) < _CROSSED:
            leading.setdefault((feature.name, feature.ordered), feature)
    for feature, _ in found:
        if feature.name in ("form", "last number", "output"):
            leading.setdefault((feature.name, feature.ordered), feature)
    coarse = [fit_cells(feature, *samples.fit, fine=False) for feature in leading.values()]
    parts = *samples.fit, *samples.score
    coded = [(cells, [cells.of(part) for part in parts]) for cells in coarse if cells.size > 1]
    for (one, ones), (other, others) in combinations(coded, 2):
        pairs = Pairs(one, other)
        counts = [np.bincount(pairs.crossed(*codes), minlength=pairs.size) for codes in zip(ones, others, strict=True)]
        yield pairs, Tally(*counts[:2]), Tally(*counts[2:])


def _best_of(cells: Cells, fit: Tally, seen: Tally, aim: Aim, *, simply: bool = False) -> list[Found]:
    """The best event of these cells by proven excess, and the best by standard errors, in either direction."""
    candidates = [one for one in families(cells, fit, seen) if not simply or one.simple or cells.size <= 4]
    found = []
    for simple in (False, True):
        chosen = [one for one in candidates if one.simple == simple]
        if chosen:
            found += _best_two(cells, chosen, int(seen.first.sum()), aim, simply=simply)
    return found


def _best_two(cells: Cells, candidates: Sequence[Family], trials: int, aim: Aim, *, simply: bool) -> list[Found]:
    """All candidates are scored at once: there are many, and few of them large."""
    both = [counts for one in candidates for counts in (one.first, one.second)]
    other = [counts for one in candidates for counts in (one.second, one.first)]
    hits, misses = np.concatenate(both), np.concatenate(other)
    excess = _expected_excess(hits, misses, trials, aim)
    if simply:  # what always happens, or never, shows nothing
        excess = np.where((hits + misses > 0) & (hits + misses < 2 * trials), excess, -np.inf)
    sigmas = _sigmas(hits, misses, trials, aim.profile)
    starts = np.cumsum([0, *map(len, both)])
    found = []
    for score in (excess, sigmas):
        i = int(np.argmax(score))
        part = int(np.searchsorted(starts, i, side="right")) - 1
        mask = candidates[part // 2].mask(i - int(starts[part]))
        found.append(Found(Event(cells, mask), bool(part % 2), float(excess[i]), float(sigmas[i])))
    return found


def _expected_excess(hits: Counts, misses: Counts, trials: int, aim: Aim) -> npt.NDArray[np.float64]:
    """What the test may be expected to prove, less a penalty for what this sample cannot know."""
    spread = aim.exponent / aim.trials + aim.caution / trials
    p, q = hits / trials, misses / trials
    low = p - np.sqrt(2 * p * (1 - p) * spread) - spread / 3
    high = q + np.sqrt(2 * q * (1 - q) * spread) + spread
    return aim.profile.excess(np.maximum(low, 0), np.minimum(high, 1))


def _sigmas(hits: Counts, misses: Counts, trials: int, profile: Profile) -> npt.NDArray[np.float64]:
    """By how many standard errors p exceeds e^ε·q + δ."""
    p, q = hits / trials, misses / trials
    best = np.full(p.shape, -np.inf)
    for point in profile.points:
        factor = math.exp(min(point.epsilon, 300))
        variance = (p * (1 - p) + factor**2 * (q * (1 - q) + 4 / trials)) / trials
        np.maximum(best, (p - factor * q - point.delta) / np.sqrt(variance + 1e-300), out=best)
    return best


def _most_promising(found: Sequence[Found]) -> list[Found]:
    by_excess = sorted(found, key=lambda f: -f.excess)
    by_sigmas = sorted(found, key=lambda f: -f.sigmas)
    best = by_excess[0].excess
    close = [one for one in found if one.excess >= best - _SIMPLER * max(abs(best), 1.0)]
    simplest = sorted(close, key=lambda one: (one.event.burden, -one.excess))[:1]
    simple = [found for found in by_excess if found.event.simple][:1]
    kept: list[Found] = []
    for one in (by_excess[0], by_sigmas[0], *simplest, *simple, *by_excess):
        if not any(_alike(one, other) for other in kept):
            kept.append(one)
        if len(kept) == _KEPT:
            break
    return kept


def _alike(one: Found, other: Found) -> bool:
    same_cells = one.event.cells is other.event.cells and one.event.simple == other.event.simple
    return same_cells and one.swapped == other.swapped
