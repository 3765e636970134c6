"""Every mechanism of ours goes free: few samples in CI, ten million in the slow suite; one false alarm in 10^7."""

from __future__ import annotations

import pytest

from tacit import PureDP
from tacit.auditing.audit import audit
from tacit.auditing.registry import SUBJECTS as REGISTERED
from tacit.auditing.subjects import Subject, every_subject, subject_of
from tacit.examples.registry import MECHANISMS
from tacit.local.registry import RANDOMIZERS

CONFIDENCE = 1 - 1e-7
SUBJECTS = every_subject()
IDS = [f"{i}-{subject.name.partition('(')[0]}" for i, subject in enumerate(SUBJECTS)]


def test_every_example_of_the_registries_is_a_subject() -> None:
    registries = (MECHANISMS, RANDOMIZERS)
    assert len(REGISTERED) == sum(map(len, registries)), "two entries have one name"
    assert len(SUBJECTS) == sum(len(entry.examples) for one in registries for entry in one.values())


def test_every_example_is_found_in_the_registry_again() -> None:
    for name, entry in REGISTERED.items():
        for make in entry.examples:
            assert [one for one, other in REGISTERED.items() if other.knows(make())] == [name]
    assert subject_of(object()) is None


def test_all_are_run_side_by_side() -> None:
    assert not [subject.name for subject in SUBJECTS if subject.batch == 1]


@pytest.mark.parametrize("subject", SUBJECTS, ids=IDS)
@pytest.mark.thorough
def test_ours_keep_their_promise(subject: Subject) -> None:
    found = audit(subject, samples=10_000, confidence=CONFIDENCE)
    assert not found.violated, found


@pytest.mark.parametrize("subject", SUBJECTS, ids=IDS)
@pytest.mark.thorough
def test_ours_keep_it_one_at_a_time_too(subject: Subject) -> None:
    assert not audit(subject, samples=400, confidence=CONFIDENCE, batch=1).violated


def test_the_same_audits_convict_when_less_is_claimed() -> None:
    """The planted fault: the promise divided by four."""
    for subject in SUBJECTS:
        if subject.claim == PureDP(1) and subject.repeated is None:
            assert audit(subject, claim=PureDP("0.25"), samples=20_000, confidence=CONFIDENCE).violated, subject.name


@pytest.mark.thorough
def test_runs_side_by_side_convict_when_next_to_nothing_is_claimed() -> None:
    """On the registry's neighbours, not the worst of all, the tightest of these leaks a quarter of its promise."""
    for subject in SUBJECTS:
        if subject.claim == PureDP(1) and subject.repeated is not None:
            assert audit(subject, claim=PureDP("0.02"), samples=50_000, confidence=CONFIDENCE).violated, subject.name


@pytest.mark.slow
@pytest.mark.parametrize("subject", SUBJECTS, ids=IDS)
def test_ours_keep_their_promise_over_ten_million(subject: Subject) -> None:
    found = audit(subject, samples=10**7, confidence=CONFIDENCE)
    assert found.samples == 10**7
    assert not found.violated, found
