"""The pair that shows most among many: all get a few samples, the better half four times as many, and so on.

The last two get as many as a search of one pair: a choice between pairs that both leak needs to see rare events often.
All of it takes less than four times the samples of such a search, and the best was then searched as if it were the
only one: more pairs cost calls, but no power.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tacit.auditing.calls.clock import Clock
from tacit.auditing.calls.sampling import Both, Sampler
from tacit.auditing.claims import Profile
from tacit.auditing.looking.samplers import sampler_features
from tacit.auditing.reading.outcomes import joined
from tacit.auditing.search import Aim, Found, Samples, Wanted, search

__all__ = ["Promising", "most_promising"]

Pair = tuple[Any, Any]
_LEAST = 20
_FOURFOLD = 4  # as many samples in the next round, of half as many pairs
_TIME, _SEARCH = 0.3, 0.2  # shares of the time: for the calls, and for looking at what they gave


@dataclass(frozen=True, slots=True, eq=False)
class Promising:
    """A pair of neighbours, what was drawn for it, in the order of the calls, and the events to test."""

    pair: Pair
    drawn: Both
    found: list[Found]

    @property
    def samples(self) -> Samples:
        """A part to fit to, and a part to score on."""
        half = len(self.drawn[0]) // 2
        ends = slice(half), slice(half, None)
        first, second = self.drawn
        return Samples((first.rows(ends[0]), second.rows(ends[0])), (first.rows(ends[1]), second.rows(ends[1])))

    @property
    def promise(self) -> tuple[float, float]:
        """What the best event may be expected to prove; what it seems to show where that is nothing."""
        return self.found[0].excess, max(one.sigmas for one in self.found)


def most_promising(pairs: Sequence[Pair], sampler: Sampler, searched: int, aim: Aim, clock: Clock) -> Promising:
    """The best of the pairs, by successive halving, in less than half of the time that there is."""
    rounds = max(1, math.ceil(math.log2(len(pairs))))
    looks = 2 * len(pairs)
    kept: list[tuple[Pair, Both | None]] = [(pair, None) for pair in pairs]
    for i in range(rounds):
        enough = max(searched // (rounds * len(kept)), searched // _FOURFOLD ** (rounds - 1 - i))
        tried: list[Promising] = []
        for k, (pair, before) in enumerate(kept):
            if tried and clock.left(_TIME) == 0:
                break
            more = max(_LEAST, enough - (len(before[0]) if before else 0))
            share = (i + (k + 1) / len(kept)) / rounds
            tried.append(_looked_at(pair, before, sampler, more, aim, clock, share, looks))
        tried.sort(key=lambda one: one.promise, reverse=True)
        kept = [(one.pair, one.drawn) for one in tried[: (len(tried) + 1) // 2]]
    return tried[0]


def _looked_at(
    pair: Pair, before: Both | None, sampler: Sampler, count: int, aim: Aim, clock: Clock, share: float, looks: int
) -> Promising:
    """Draws more for a pair and searches all that was drawn for it."""
    sampler.restart()
    drawn = sampler.draw(pair, count, None if before is None else before[0].origin, clock.until(_TIME * share))
    if before is not None:
        drawn = joined([before[0], drawn[0]]), joined([before[1], drawn[1]])
    width = max(drawn[0].width, drawn[1].width)
    few = slice(_affordable(width, clock, looks))
    drawn = drawn[0].widened(width).rows(few), drawn[1].widened(width).rows(few)
    blank = Promising(pair, drawn, [])
    return Promising(pair, drawn, search(blank.samples, aim, _wanted(pair, aim.profile)))


def _affordable(width: int, clock: Clock, looks: int) -> int | None:
    """How many samples can be searched in the time set aside for it; all of them where there is no limit."""
    if clock.seconds is None:
        return None
    each = 2e-6 * (8 + 4 * min(width, 16) + 0.6 * width)  # seconds, on a machine that others use too
    return max(_LEAST, int((_SEARCH * clock.seconds / looks - 0.05) / each))


def _wanted(pair: Pair, profile: Profile) -> Wanted:
    return partial(sampler_features, pair=pair, profile=profile)
