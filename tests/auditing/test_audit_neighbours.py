"""Neighbours of the auditor's own, and the search among many pairs."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tacit import PureDP
from tacit.auditing.audit import audit
from tacit.auditing.neighbours import Answers, Numbers, Rows
from tacit.errors import InvalidParameter
from tacit.testing import seeded
from tests.auditing.gallery.exhibit import seed
from tests.auditing.gallery.thresholds import no_cut, no_noise, small_noise, tells_answer

CONFIDENCE = 1 - 1e-7


@pytest.mark.parametrize("sensitivity", [1, 3, 0.5])
def test_numbers_are_exactly_their_sensitivity_apart(sensitivity: float) -> None:
    pairs = Numbers(sensitivity).pairs()
    assert {b - a for a, b in pairs} == {sensitivity}
    assert len(pairs) > 10
    assert len({repr(pair) for pair in pairs}) == len(pairs)


def test_whole_numbers_reach_beyond_what_floats_can_tell() -> None:
    assert max(abs(a) for a, _ in Numbers().pairs()) > 2**60
    assert any(float(a) == float(b) for a, b in Numbers().pairs())


def test_answers_move_by_at_most_the_sensitivity_each() -> None:
    for length in (1, 2, 7, 10):
        for one, other in Answers(length, 2).pairs():
            assert len(one) == len(other) == length
            assert max(abs(a - b) for a, b in zip(one, other, strict=True)) == 2
    for one, other in Answers(6, all_move=False).pairs():
        assert sum(a != b for a, b in zip(one, other, strict=True)) == 1


@pytest.mark.parametrize(
    "table",
    [[3, 4], [(1, "a"), (2, "b")], [{"age": 3}, {"age": 4}], np.array([[1.0, 2.0], [3.0, 4.0]]), (1.5, 2.5)],
    ids=repr,
)
def test_tables_differ_in_one_row(table: Any) -> None:
    for one, other in Rows(table).pairs():
        assert type(one) is type(other) is type(table)
        assert abs(len(one) - len(other)) == 1
    for one, other in Rows(table, replace=True).pairs():
        assert len(one) == len(other) == len(table)
        assert sum(repr(a) != repr(b) for a, b in zip(one, other, strict=True)) == 1


def test_frames_too() -> None:
    frame = pd.DataFrame({"age": [3, 4], "city": ["Berlin", "Rome"]})
    for one, other in Rows(frame, bounds=(0, 120)).pairs():
        assert list(one.columns) == list(other.columns) == ["age", "city"]
        assert abs(len(one) - len(other)) == 1
        assert set(one["age"]) | set(other["age"]) <= {0, 3, 4, 120}
    with_nulls = Rows(frame, nulls=True).pairs()
    assert any(other["city"].isna().any() for _, other in with_nulls)


def test_what_is_no_description_of_inputs_is_refused() -> None:
    for make in (lambda: Numbers(0), lambda: Answers(0), lambda: Answers(3, -1), lambda: Rows([]), lambda: Rows("ab")):
        with pytest.raises(InvalidParameter):
            make()


def test_a_faulty_sparse_vector_is_convicted_without_a_hint() -> None:
    seed(7)
    assert audit(no_noise, neighbours=Answers(10), claim=PureDP(1), samples=4_000).violated


@pytest.mark.slow
@pytest.mark.parametrize(
    ("broken", "at_least"), [(no_noise, 3.65), (no_cut, 2.24), (small_noise, 1.52), (tells_answer, 1.27)]
)
def test_faulty_sparse_vectors_prove_more_than_others_proved_of_them(
    broken: Any, at_least: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At 90%; the numbers are those of DP-Sniper on the same functions.

    The default settings with coins that are fixed, and with as many trials as calls this fast get on a quiet machine:
    neither load nor chance has a say. Several seeds, with CPU-seconds: ``bench/audit_gallery.py --sparse``.
    """
    monkeypatch.setattr("tacit.auditing.audit._quickly", lambda planned, sampler, clock: 400_000)
    seed(7)
    found = audit(broken, neighbours=Answers(10), claim=PureDP(1), confidence=0.9, entropy=seeded(7))
    assert found.violated
    assert found.epsilon_lower > at_least


def test_whole_numbers_through_floats_are_convicted_without_a_hint() -> None:
    found = audit(lambda x: int(float(x)), neighbours=Numbers(), claim=PureDP(1), samples=2_000)
    assert found.violated


def test_more_pairs_cost_no_power() -> None:
    """One leaking pair among sixteen proves what it proves alone."""

    def leaks_at_seven(x: int) -> int:
        truth = 0.9 if x in (7, 8) else 0.5
        return x % 2 if random.random() < truth else (x + 1) % 2

    pairs = [(2 * k + 1, 2 * k + 2) for k in range(16)]
    settings: dict[str, Any] = {"claim": PureDP(1), "samples": 4_000, "confidence": CONFIDENCE}
    alone = audit(leaks_at_seven, neighbours=(7, 8), **settings)
    among = audit(leaks_at_seven, neighbours=pairs, **settings)
    assert {among.likelier, among.other} == {7, 8}
    assert among.violated
    assert among.epsilon_lower > 0.85 * alone.epsilon_lower
