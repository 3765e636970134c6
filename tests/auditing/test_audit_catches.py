"""The auditor catches every liar we know of, at the confidence that CI uses: one false alarm in ten million."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from tacit import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP
from tacit.auditing.audit import audit
from tests.auditing import liars

CONFIDENCE = 1 - 1e-7


@dataclass(frozen=True)
class Case:
    """A liar, two inputs on which it lies, what it says, and a word of the event that gives it away."""

    name: str
    function: Callable[[Any], Any]
    neighbours: Any
    claim: Any
    samples: int
    clue: str = ""
    options: dict[str, Any] = field(default_factory=dict)


def batched(**options: Any) -> dict[str, Any]:
    return {"batch": 1 << 16, **options}


CASES = [
    Case(
        "Roth 2011: releases the noisy answer that it compared",
        partial(liars.roth_2011, epsilon=2, threshold=0.5, cutoff=1),
        ([0] * 5 + [1], [1] * 5 + [0]),
        PureDP(2),
        40_000,
    ),
    Case(
        "Lee & Clifton 2014: noise that does not grow with the cut-off",
        partial(liars.lee_clifton_2014, epsilon=1, threshold=0, cutoff=6),
        ([0] * 6 + [1] * 6, [1] * 6 + [0] * 6),
        PureDP(1),
        20_000,
    ),
    Case(
        "Stoddard et al. 2014: no noise on the answers",
        partial(liars.stoddard_2014, epsilon=1, threshold=0),
        ([0, 1], [1, 0]),
        PureDP(1),
        5_000,
    ),
    Case(
        "Chen et al. 2015: no cut-off",
        partial(liars.chen_2015, epsilon=1, threshold=0),
        ([0] * 10, [1] * 5 + [-1] * 5),
        PureDP(1),
        20_000,
    ),
    Case(
        "naive thresholding sold at ε",
        partial(liars.naive_thresholds, epsilon=1),
        ([0] * 8, [1] * 8),
        PureDP(1),
        5_000,
    ),
    Case(
        "half the scale",
        partial(liars.discrete_laplace, scale="1/2"),
        (0, 1),
        PureDP(1),
        10_000,
        "output",
        batched(),
    ),
    Case(
        "a scale 8% too small",
        partial(liars.discrete_laplace, scale="0.92"),
        (0, 1),
        PureDP(1),
        400_000,
        "output",
        batched(),
    ),
    Case("textbook Laplace in floats", liars.textbook_laplace, (0.0, 1.0), PureDP(1), 5_000, "reachable"),
    Case(
        "an integer mechanism that computes in floats",
        liars.integers_in_floats,
        [(0, 1), (2**60, 2**60 + 1), (2**60 + 128, 2**60 + 129)],
        PureDP("1/50"),
        20_000,
    ),
    Case("one draw of noise for two counts", liars.reused_noise, ([3, 5], [3, 6]), PureDP(1), 2_000, "output[1] - "),
    Case("raises on an empty table", liars.raises_on_empty, ([], [1]), PureDP(1), 2_000),
    Case("returns early", liars.returns_early, ([], [1]), PureDP(1), 2_000, "output"),
    Case("δ sold as 0", liars.sometimes_tells, (0, 1), PureDP(1), 20_000, "output"),
    Case(
        "Gaussian noise 30% too small for its ρ",
        partial(liars.rounded_gaussian, scale=7),
        (0, 10),
        ZCDP(0.5),
        200_000,
        "output",
        batched(),
    ),
    Case(
        "Gaussian noise 15% too small for its μ",
        partial(liars.rounded_gaussian, scale=8.5),
        (0, 10),
        GaussianDP(1),
        200_000,
        "output",
        batched(),
    ),
    Case(
        "Gaussian noise half as large as its Rényi order allows",
        partial(liars.rounded_gaussian, scale=5),
        (0, 10),
        RenyiDP(4, 2),
        200_000,
        "output",
        batched(),
    ),
    Case(
        "a truth told once in a hundred times, sold as once in two hundred",
        liars.sometimes_tells,
        (0, 1),
        ApproxDP(1, "0.005"),
        100_000,
        "output",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.thorough
def test_a_liar_is_caught(case: Case) -> None:
    found = audit(
        case.function,
        neighbours=case.neighbours,
        claim=case.claim,
        samples=case.samples,
        confidence=CONFIDENCE,
        **case.options,
    )
    assert found.violated, found
    assert found.epsilon_lower > found.epsilon or found.delta_lower > found.delta
    assert case.clue in found.event


def test_the_same_functions_keep_a_promise_that_is_true() -> None:
    """The planted faults are the faults: with honest claims they go free."""
    honest = partial(liars.discrete_laplace, scale=1)
    assert not audit(
        honest, neighbours=(0, 1), claim=PureDP(1), samples=400_000, confidence=CONFIDENCE, batch=1 << 16
    ).violated
    claim = ApproxDP(0, "0.01")
    assert not audit(
        liars.sometimes_tells, neighbours=(0, 1), claim=claim, samples=20_000, confidence=CONFIDENCE
    ).violated
    naive = partial(liars.naive_thresholds, epsilon=1)
    assert not audit(
        naive, neighbours=([0] * 8, [1] * 8), claim=PureDP(8), samples=5_000, confidence=CONFIDENCE
    ).violated
