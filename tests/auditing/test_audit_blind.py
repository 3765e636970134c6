"""What cannot be judged is called blind, with the reason; what can be read is read."""

from __future__ import annotations

import random
from itertools import count
from typing import Any

import pytest

from tacit import PureDP
from tacit.auditing.audit import audit
from tests.auditing.gallery import outcomes
from tests.auditing.gallery.exhibit import Exhibit, lap, seed

SLOW = ("a pandas Series", "a pandas DataFrame")
CONFIDENCE = 1 - 1e-7


def of(function: Any, **options: Any) -> Any:
    return audit(function, neighbours=(0, 1), claim=PureDP(1), **{"samples": 2_000, **options})


@pytest.mark.parametrize("name", outcomes.WRAPPINGS)
@pytest.mark.thorough
def test_a_leak_is_seen_in_whatever_it_is_wrapped(name: str) -> None:
    seed(7)
    wrap = outcomes.WRAPPINGS[name]
    samples = 600 if name in SLOW else 2_000
    found = audit(lambda x: wrap(4 * x + lap(0.5)), neighbours=(0, 1), claim=PureDP(1), samples=samples)
    assert found.violated, found


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: 5, "every outcome is the same (int 5)"),
        (lambda x: outcomes.Sealed(), "cannot be read: Sealed"),
        (lambda x: "".join(random.choices("abcdefgh", k=20)), "all different and not numbers"),
        (lambda x: random.randbytes(16), "cannot be read: 16 bytes as bytes"),
        (lambda x: x / 0, "every call failed: ZeroDivisionError: division by zero"),
    ],
)
def test_blind_is_a_verdict_with_a_reason(function: Any, reason: str) -> None:
    found = of(function)
    assert reason in found.blind
    assert not found.violated
    assert "the audit is blind" in found.verdict
    assert "not disproved" not in found.verdict
    assert found.to_dict()["blind"] == found.blind
    assert "blind=" in repr(found)


def test_a_violation_is_no_less_one_where_part_of_the_outcome_is_not_read() -> None:
    found = of(lambda x: (x, outcomes.Sealed()))
    assert found.violated
    assert found.blind == ""


def test_what_drifts_is_told_and_a_leak_beside_it_is_proven() -> None:
    calls = count()
    sound = of(lambda x: [next(calls), random.random() < 0.5])
    assert "in the second half of the calls" in sound.blind
    broken = of(lambda x: [next(calls), x])
    assert broken.violated
    assert "output[1]" in broken.event or "last number" in broken.event


def test_a_budget_that_runs_out_is_told() -> None:
    left = iter(range(2_500))

    def spends(x: int) -> bool:
        next(left)
        return random.random() < 0.5

    assert "a form that did not come up before is likelier in the second half of the calls" in of(spends).blind


def test_honest_noise_is_neither_blind_nor_disproved() -> None:
    exhibit = Exhibit("ε 1", lambda x: x + lap(1))
    found = audit(exhibit.subject(), neighbours=(0, 1), claim=PureDP(1), samples=5_000, confidence=CONFIDENCE)
    assert not found.violated
    assert found.blind == ""
    assert "is not disproved" in found.verdict
