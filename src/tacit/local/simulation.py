"""What local protocols come to on made-up people: error, bytes and time; and how the three models compare."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.local.categories.frequency import FrequencyRandomizer
from tacit.local.categories.hadamard import HadamardResponse
from tacit.local.categories.hashing import LocalHashing
from tacit.local.categories.kary import KaryResponse
from tacit.local.categories.rappor import Rappor
from tacit.local.categories.sketch import CountMeanSketch
from tacit.local.categories.subset import SubsetSelection
from tacit.local.categories.unary import UnaryEncoding
from tacit.local.shuffle.binary_sum import BinarySum
from tacit.mechanisms.additive.gaussian import Gaussian
from tacit.noise.entropy import BitSource
from tacit.privacy import L2, REPLACE
from tacit.privacy.prices import Price

__all__ = ["KINDS", "Outcome", "errors_of_models", "simulate", "zipf"]

KINDS: dict[str, Callable[..., FrequencyRandomizer]] = {
    "kary": KaryResponse,
    "unary": UnaryEncoding,
    "hashing": LocalHashing,
    "hadamard": HadamardResponse,
    "subset": SubsetSelection,
    "rappor": Rappor,
    "sketch": CountMeanSketch,
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """One protocol on the made-up people, over all runs."""

    name: str
    error: float
    """Root mean squared error of a share, over categories and runs."""
    expected: float
    """What theory says it is."""
    bytes: int
    """Of one report."""
    device: float
    """CPU seconds for one report, many at a time."""
    server: float
    """CPU seconds for one report."""


def zipf(categories: int, people: int) -> npt.NDArray[np.int64]:
    """Made-up people: the i-th category is held by a share that falls like 1/i."""
    weights = 1 / np.arange(1, categories + 1)
    counts = np.floor(people * weights / weights.sum()).astype(np.int64)
    counts[0] += people - counts.sum()
    return np.repeat(np.arange(categories), counts)


def simulate(
    name: str, *, categories: int, people: int, epsilon: Price, runs: int, entropy: BitSource | None = None
) -> Outcome:
    """Run one protocol of `KINDS` on made-up people, several times."""
    r = KINDS[name](categories=range(categories), epsilon=epsilon)
    values = zipf(categories, people)
    truth = np.bincount(values, minlength=categories) / people
    squares = device = server = 0.0
    for _ in range(runs):
        start = time.process_time()
        reports = r.randomize(values, entropy=entropy)
        middle = time.process_time()
        found = r.estimate(reports)
        server += time.process_time() - middle
        device += middle - start
        squares += float(((found.values - truth) ** 2).mean())
    theory = float(r.support.variance(truth, people).mean()) + r._collisions(truth, 10**18)
    each = runs * people
    return Outcome(name, math.sqrt(squares / runs), math.sqrt(theory), r.report_bytes, device / each, server / each)


def errors_of_models(settings: Sequence[tuple[int, float]], delta: float) -> list[tuple[float, float, float]]:
    """For each (n, ε): the standard error of a count by Gaussian noise of a curator, by `BinarySum`, by local response.

    >>> [round(error, 2) for error in errors_of_models([(10**6, 1.0)], 1e-6)[0]]
    [4.22, 5.84, 959.52]
    """
    found = []
    for n, epsilon in settings:
        central = Gaussian(epsilon=str(epsilon), delta=delta, sensitivity=L2(1, neighbours=REPLACE)).scale
        shuffle = BinarySum(n=n, epsilon=str(epsilon), delta=delta).standard_error
        local = math.sqrt(n) * KaryResponse(epsilon=str(epsilon), categories=range(2)).scale
        found.append((central, shuffle, local))
    return found
