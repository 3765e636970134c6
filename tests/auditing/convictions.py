"""Many audits of mechanisms that use up their promise exactly, at 95%: how many are convicted?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from tacit import ApproxDP, GaussianDP, PureDP
from tacit.auditing.audit import audit
from tests.auditing.gallery import states
from tests.auditing.gallery.exhibit import coin, lap, laps, rng, seed
from tests.auditing.gallery.thresholds import above_threshold

CONFIDENCE = 0.95
_HALF = ([0] * 5 + [1] * 5, [1] * 5 + [0] * 5)
Make = Callable[[], Callable[[Any], Any]]

SUBJECTS: dict[str, tuple[Make, Any, Any, int]] = {
    "Laplace on a lattice": (lambda: lambda x: x + lap(1), (0, 1), PureDP(1), 600),
    "Laplace on a lattice, few samples": (lambda: lambda x: x + lap(1), (0, 1), PureDP(1), 150),
    "a coin": (lambda: lambda x: x ^ (coin.random() < 0.2689414213), (0, 1), PureDP("1.0001"), 300),
    "δ exactly": (lambda: lambda x: x if coin.random() < 0.1 else -1, (0, 1), ApproxDP(0, "0.1"), 600),
    "nothing of the input": (lambda: lambda x: float(rng.normal()), (0, 1), PureDP("0.05"), 500),
    "Gaussian, rounded": (lambda: lambda x: round(8 * (x + rng.normal())), (0, 1), GaussianDP(1), 400),
    "five numbers": (lambda: lambda x: (x + laps(5, 5)).tolist(), (0, 1), PureDP(1), 600),
    "above threshold": (lambda: above_threshold, [_HALF, ([1] * 10, [0] * 10)], PureDP(1), 600),
    "a call number beside it": (partial(states.counted, 1.0), (0, 1), PureDP(1), 600),
    "a clock beside it": (partial(states.timed, 1.0), (0, 1), PureDP(1), 400),
    "a buffer used again": (partial(states.buffered, 1.0), (0, 1), PureDP(1), 400),
    "a list that is emptied": (partial(states.emptied, 1.0), ([1, 1], [1]), PureDP(1), 600),
    "a budget that runs out": (partial(states.budgeted, 1.0, 700), (0, 1), PureDP(1), 600),
    "noise that grows": (partial(states.warming, 1.0), (0, 1), PureDP(1), 400),
    "odd and even calls": (partial(states.alternating, 1.0), (0, 1), PureDP(1), 600),
    "outcomes that come in runs": (lambda: _runs(), (0, 1), PureDP("0.1"), 400),
}


def _runs() -> Callable[[int], int]:
    """A state that changes now and then, whatever the input: alike for both, but far from independent."""
    level = [0]

    def function(x: int) -> int:
        if coin.random() < 0.01:
            level[0] = coin.randrange(3)
        return level[0]

    return function


def convicted(name: str, audits: int, number: int) -> int:
    """How many of so many audits convict."""
    seed(number)
    make, neighbours, claim, samples = SUBJECTS[name]
    found = 0
    for _ in range(audits):
        found += audit(make(), neighbours=neighbours, claim=claim, samples=samples, confidence=CONFIDENCE).violated
    return found
