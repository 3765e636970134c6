"""On mechanisms that use up their promise exactly, false verdicts are as rare as stated, over the whole search."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit import ApproxDP, PureDP
from tacit.auditing.audit import _best_limits, audit
from tacit.auditing.claims import read_claim
from tacit.auditing.reading.outcomes import Outcomes, read_outcomes
from tacit.auditing.search import Aim, Samples, search

AUDITS = 100
CONFIDENCE = 0.9
MOST = 27  # P[Bin(100, 0.1) > 27] is below 10^-6


def laplace(values: np.ndarray) -> np.ndarray:
    """Every event on one side of the smaller value has the ratio e exactly: there is much to be lucky with."""
    rng = np.random.default_rng()
    return values + rng.geometric(1 - math.exp(-1), len(values)) - rng.geometric(1 - math.exp(-1), len(values))


def telling(values: np.ndarray) -> np.ndarray:
    """(0, 1/10)-DP, exactly."""
    return np.where(np.random.default_rng().random(len(values)) < 0.1, values, -1)


def indifferent(values: np.ndarray) -> np.ndarray:
    """Says nothing about its input, in three hundred ways: a sample of 400 has many that only one side has seen."""
    return np.random.default_rng().integers(0, 300, len(values))


@pytest.mark.parametrize(
    ("function", "claim"), [(laplace, PureDP(1)), (telling, ApproxDP(0, "0.1")), (indifferent, PureDP("0.1"))]
)
@pytest.mark.thorough
def test_false_verdicts_are_as_rare_as_stated(function: object, claim: object) -> None:
    wrong = 0
    for _ in range(AUDITS):
        found = audit(function, neighbours=(0, 1), claim=claim, samples=400, confidence=CONFIDENCE, batch=400)
        wrong += found.violated
    assert wrong <= MOST


def test_an_auditor_that_tests_on_what_it_searched_is_found_out() -> None:
    """The planted fault: the same limits on the samples that chose the event."""
    profile = read_claim(PureDP("0.1"))
    wrong = 0
    for _ in range(60):
        first, second = (read_outcomes(indifferent(np.full(400, x)), 0) for x in (0, 1))
        found = search(Samples((first, second), (first, second)), Aim(profile, 400, math.log(80)))
        counts = [[_count(f.event, first), _count(f.event, second)] for f in found]
        wrong += _best_limits((0, 1), found, counts, profile, 400, 1 - CONFIDENCE).violated
    assert wrong > MOST


def _count(event: object, outcomes: Outcomes) -> int:
    return int(event.happened(outcomes).sum())  # type: ignore[attr-defined]
