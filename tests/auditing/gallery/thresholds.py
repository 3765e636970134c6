"""Sparse vectors (Lyu, Su & Li 2017; Ding et al. 2018) and selections, wrong and right; neighbours are found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit import PureDP
from tests.auditing.gallery.exhibit import Exhibit, coin, lap, laps, rng

THRESHOLD = 1
try:
    from tacit.auditing.neighbours import Answers
except ImportError:  # the auditor that was there before
    Answers = None  # type: ignore[assignment, misc]


def no_noise(answers: Sequence[float]) -> list[bool]:
    """iSVT1, Stoddard et al. 2014."""
    level = THRESHOLD + lap(2)
    return [answer >= level for answer in answers]


def no_cut(answers: Sequence[float]) -> list[bool]:
    """iSVT2, Chen et al. 2015."""
    level = THRESHOLD + lap(2)
    return [answer + noise >= level for answer, noise in zip(answers, laps(2, len(answers)).tolist(), strict=True)]


def small_noise(answers: Sequence[float]) -> list[bool]:
    """iSVT3, Lee & Clifton 2014."""
    return _until_first(answers, 4, 4 / 3, tells=False)


def tells_answer(answers: Sequence[float]) -> list[Any]:
    """iSVT4, Roth 2011."""
    return _until_first(answers, 2, 2, tells=True)


def above_threshold(answers: Sequence[float]) -> list[bool]:
    return _until_first(answers, 2, 4, tells=False)


def _until_first(answers: Sequence[float], level: float, noise: float, *, tells: bool) -> list[Any]:
    limit = THRESHOLD + lap(level)
    out: list[Any] = []
    for answer, off in zip(answers, laps(noise, len(answers)).tolist(), strict=True):
        if answer + off >= limit:
            out.append(answer + off if tells else True)
            break
        out.append(False)
    return out


def naive(answers: Sequence[float]) -> list[bool]:
    return [answer + noise >= 0 for answer, noise in zip(answers, laps(1, len(answers)).tolist(), strict=True)]


def noisy_max(answers: Sequence[float], *, scale: float, tells: bool = False) -> Any:
    noisy = np.asarray(answers) + laps(scale, len(answers))
    return float(noisy.max()) if tells else int(noisy.argmax())


def exponential(scores: Sequence[float], *, epsilon: float) -> int:
    weights = np.exp(epsilon * (np.asarray(scores, dtype=float) - max(scores)) / 2)
    return int(np.searchsorted(np.cumsum(weights) / weights.sum(), coin.random()))


def plain_max(scores: Sequence[float]) -> int:
    return int(np.argmax(scores))


def price(bids: Sequence[float]) -> float:
    """The revenue's best price, chosen at ε = 8 and sold as 1."""
    prices = (0.25, 0.5, 0.75, 1.0)
    return prices[exponential([p * sum(bid >= p for bid in bids) for p in prices], epsilon=8)]


_TEN = Answers(10) if Answers is not None else None
_FIVE = Answers(5) if Answers is not None else None
BROKEN = [
    Exhibit("iSVT1: no noise on the answers", no_noise, _TEN, before=False),
    Exhibit("iSVT2: no cut-off", no_cut, _TEN, before=False),
    Exhibit("iSVT3: noise that does not grow", small_noise, _TEN, before=False),
    Exhibit("iSVT4: tells the noisy answer", tells_answer, _TEN, before=False),
    Exhibit("iSVT4, the pair given", tells_answer, ([0] * 9 + [1], [1] * 9 + [0])),
    Exhibit("thresholds that each cost ε", naive, ([0] * 8, [1] * 8)),
    Exhibit("noisy maximum with noise for one", lambda a: noisy_max(a, scale=0.5), ([1, 1, 1, 0], [0, 0, 0, 1])),
    Exhibit("noisy maximum that tells the maximum", lambda a: noisy_max(a, scale=2, tells=True), _FIVE, before=False),
    Exhibit("an exponential mechanism at 4ε", lambda a: exponential(a, epsilon=4), ([1, 0, 0], [0, 1, 1])),
    Exhibit("the plain maximum", plain_max, ([1, 0], [0, 1])),
    Exhibit("a price chosen at 8ε", price, ([0.0], [1.0])),
]
SOUND = [
    Exhibit("above threshold", above_threshold, _TEN, before=False),
    Exhibit("above threshold, the pair given", above_threshold, ([0] * 9 + [1], [1] * 9 + [0])),
    Exhibit("noisy maximum", lambda a: noisy_max(a, scale=2), _FIVE, before=False),
    Exhibit("an exponential mechanism", lambda a: exponential(a, epsilon=1), ([1, 0, 0], [0, 1, 1])),
    Exhibit("thresholds that each cost ε, sold for what they cost", naive, ([0] * 4, [1] * 4), PureDP(4)),
    Exhibit("a coin", lambda x: coin.random() < 1 / (1 + math.exp(-(1 if x else -1))), (0, 1), PureDP("1.0001")),
    Exhibit("nothing of the input", lambda x: float(rng.integers(0, 1000)), (0, 1), PureDP("0.1")),
]
