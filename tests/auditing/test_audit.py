"""The audit as a function: what it takes, what it says, what it refuses."""

from __future__ import annotations

import dataclasses
import json
import random
import time
from typing import Any

import numpy as np
import pytest

import tacit
from tacit import PureDP
from tacit.auditing.audit import audit
from tacit.auditing.subjects import subject_of
from tacit.errors import InvalidParameter
from tacit.testing import seeded


def liar(truth: Any) -> Any:
    return truth


def audit_of(one: Any, other: Any, **options: Any) -> Any:
    settings = {"neighbours": (one, other), "claim": PureDP(1), "samples": 500, **options}
    return audit(liar, **settings)


@pytest.mark.parametrize(
    ("one", "other", "clue"),
    [
        (1, 2, "output = 1"),
        (1.5, 2.5, "output = "),
        ("yes", "no", "form = '"),
        (None, 0, ""),
        (float("nan"), 0.0, ""),
        ((1, 2), (1, 2, 3), ""),
        ([1, 2], [2, 1], ""),
        (np.arange(3), np.arange(3)[::-1], ""),
        (1, 1.0, "form = "),
        (True, 1, "form = "),
        (2**80, 2**80 + 1, ""),
        (0.0, -0.0, "bit"),
        ({"a": 1}, {"b": 1}, "form = "),
        (b"a", b"b", "form = "),
    ],
)
def test_any_kind_of_outcome_can_give_a_secret_away(one: Any, other: Any, clue: str) -> None:
    found = audit_of(one, other)
    assert found.violated, found
    assert clue in found.event
    assert not audit_of(one, one).violated


def test_the_text_of_an_error_gives_a_secret_away_too() -> None:
    def refuses(rows: list[int]) -> None:
        raise ValueError(f"{len(rows)} rows are too few")

    found = audit(refuses, neighbours=([7], [7, 7]), claim=PureDP(1), samples=500)
    assert found.violated
    assert found.event in (f"the number in raises ValueError: # rows are too few = {n}" for n in (1, 2))


def test_what_is_proven_is_below_the_truth_and_near_it() -> None:
    def coin(truth: np.ndarray) -> np.ndarray:
        return np.where(np.random.default_rng().random(len(truth)) < 0.9, truth, 1 - truth)

    found = audit(coin, neighbours=(0, 1), claim=PureDP(1), samples=200_000, batch=1 << 16, confidence=1 - 1e-7)
    assert 2.1 < found.epsilon_lower < np.log(9)
    assert 0.9 - np.e * 0.1 - 0.03 < found.delta_lower < 0.9 - np.e * 0.1
    assert found.at_least < 0.9
    assert found.at_most > 0.1
    assert (found.epsilon, found.delta, found.samples) == (1.0, 0.0, 200_000)


def test_the_worst_of_several_pairs_is_found() -> None:
    def only_seven_leaks(x: int) -> int:
        return x if x == 7 else random.randrange(3)

    found = audit(only_seven_leaks, neighbours=[(0, 1), (1, 2), (7, 8), (3, 4)], claim=PureDP(1), samples=2_000)
    assert found.violated
    assert {found.likelier, found.other} == {7, 8}


def test_the_result_is_a_value_that_explains_itself() -> None:
    found = audit_of(1, 2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.epsilon_lower = 0.0
    assert repr(found).startswith("AuditResult(claim=PureDP(1), violated=True, epsilon_lower=")
    assert "PureDP(1) is violated: ε ≥" in found.verdict
    assert "PureDP(1) was not judged, the audit is blind: every outcome is the same" in audit_of(1, 1).verdict
    fair = audit(lambda x: random.random() < 0.5, neighbours=(0, 1), claim=PureDP(1), samples=500)
    assert "is not disproved" in fair.verdict
    assert json.loads(json.dumps(found.to_dict()))["violated"] is True
    assert str(found).splitlines()[0] == found.verdict
    assert str(found).splitlines()[-1] == "samples      500 under each neighbour"


def test_progress_is_reported_to_the_end() -> None:
    seen: list[tuple[int, int]] = []
    audit_of(1, 2, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (1000, 1000)
    assert seen == sorted(seen)


def test_seeded_audits_of_ours_can_be_repeated() -> None:
    m = tacit.DiscreteLaplace(epsilon=1, sensitivity=1)
    first, second = (audit(m, samples=5_000, entropy=seeded(3)) for _ in range(2))
    assert first == second


def test_the_slowest_neighbours_decide_what_is_affordable() -> None:
    def slow_from_eight_on(x: int) -> int:
        time.sleep(0.002 * (x >= 8))
        return x % 2

    found = audit(slow_from_eight_on, neighbours=[(8, 8), (9, 9)], claim=PureDP(1), samples=10**6, seconds=1)
    assert found.samples <= 250


def test_a_deadline_holds_for_slow_calls_and_a_slow_first_one() -> None:
    """Two calls of 10 ms for each sample: not more of them fit, however few were timed before."""
    calls = []

    def slow(x: int) -> int:
        time.sleep(0.3 if not calls else 0.01)
        calls.append(x)
        return random.randrange(2)

    found = audit(slow, neighbours=(0, 1), claim=PureDP(1), seconds=2)
    assert len(calls) <= 2 / 0.01
    assert found.samples == len(calls) // 2


def test_seconds_limit_the_samples() -> None:
    assert audit_of(1, 2, samples=10**9, seconds=0.02).samples < 10**6


def test_neighbours_of_ours_follow_the_stated_sensitivity() -> None:
    subject = subject_of(tacit.DiscreteLaplace(epsilon=1, sensitivity=3))
    assert subject is not None
    assert all(abs(x - y) == 3 for x, y in subject.pairs)
    stream = subject_of(tacit.AboveThreshold(epsilon=1, threshold=100, sensitivity=2))
    assert stream is not None
    assert stream.pairs == (([100] * 5 + [104], [102] * 6),)


def test_a_batch_that_raises_is_asked_one_at_a_time() -> None:
    def fails_on_one(values: Any) -> Any:
        if np.ndim(values):
            return 1 / (np.asarray(values).sum() // 0)
        if values == 1:
            raise KeyError("secret")
        return 5

    found = audit(fails_on_one, neighbours=(0, 1), claim=PureDP(1), samples=500, batch=100)
    assert found.violated
    assert "secret" not in found.event


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"neighbours": None}, r"neighbours: given None; .*Write neighbours=\(x, y\)"),
        ({"neighbours": [1, 2]}, r"neighbours: given \[1, 2\]; allowed: a tuple of two"),
        ({"neighbours": []}, "neighbours: given"),
        ({"claim": None}, r"claim: given None; .*PureDP\(1\)"),
        ({"claim": 1}, "claim: given 1; allowed: a guarantee"),
        ({"samples": 10}, "samples: given 10; allowed: a whole number from 100"),
        ({"samples": 1.5}, "samples: given 1.5"),
        ({"confidence": 1}, "confidence: given 1; allowed: a number from 0.5"),
        ({"confidence": "high"}, "confidence: given 'high'"),
        ({"batch": 0}, "batch: given 0"),
        ({"batch": 10}, r"batch: given .*Leave batch out"),
        ({"seconds": -1}, "seconds: given -1"),
    ],
)
def test_what_cannot_be_used_is_refused(options: dict[str, Any], message: str) -> None:
    settings = {"neighbours": (0, 1), "claim": PureDP(1), "samples": 500, **options}
    with pytest.raises(InvalidParameter, match=message):
        audit(lambda x: 3, **settings)


def test_what_cannot_be_called_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="mechanism: given 3; allowed: a mechanism, a function"):
        audit(3, neighbours=(0, 1), claim=PureDP(1))


def test_a_function_that_always_fails_is_not_judged_and_its_message_is_shown() -> None:
    found = audit(lambda: 1, neighbours=(0, 1), claim=PureDP(1), samples=200)
    assert not found.violated
    assert found.blind.startswith("every call failed: TypeError: ")
    assert "takes 0 positional arguments but 1 was given" in found.blind


@pytest.mark.parametrize(
    "claim", [3 * PureDP("0.1"), tacit.Laplace.of_scale(3, sensitivity=1).loss, 2 * tacit.ZCDP("0.05")], ids=repr
)
def test_compositions_and_losses_are_claims_too(claim: Any) -> None:
    coin = [1, 0, 0, 0]
    assert not audit(lambda x: random.choice(coin), neighbours=(0, 1), claim=claim, samples=1_000).violated
    assert audit_of(0, 1, claim=claim).violated
