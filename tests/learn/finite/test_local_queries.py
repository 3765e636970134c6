"""Learning from local reports: nobody answers twice, sizes suffice, and the tolerance holds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit import REPLACE, InvalidParameter, PureDP
from tacit.learn import LocalConjunctions, LocalThresholds, StatisticalQueries
from tacit.testing import seeded


def test_the_tolerance_is_hoeffdings_and_holds() -> None:
    queries = StatisticalQueries(epsilon=1)
    gain = math.tanh(0.5)
    assert queries.tolerance(1000, 4, 0.05) == pytest.approx(math.sqrt(math.log(160) / 500) / gain)
    truth = np.arange(20_000) % 10 < 3
    close = queries.tolerance(20_000, 1, 1e-8)
    found = queries.estimate(np.arange(20_000), lambda i: truth[i], seeded(1))
    assert abs(found - 0.3) < close
    assert abs(found - 0.3) < 6 / (math.sqrt(20_000) * 2 * gain)


def test_nobody_answers_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    plain = StatisticalQueries.estimate

    def watched(self, people, question, entropy):
        asked.extend(people.tolist())
        return plain(self, people, question, entropy)

    monkeypatch.setattr(StatisticalQueries, "estimate", watched)
    x = np.random.default_rng(1).random(3000)
    LocalThresholds(np.linspace(0, 1, 17).round(4), epsilon=1).learn(x, x >= 0.5, alpha=0.2, entropy=seeded(1))
    assert len(asked) == len(set(asked))
    asked.clear()
    table = np.random.default_rng(1).random((3000, 4)) < 0.5
    LocalConjunctions(4, epsilon=1).learn(table, table[:, 0], alpha=0.2, entropy=seeded(1))
    assert sorted(asked) == list(range(3000))


@pytest.mark.parametrize("cut", [0.0, 0.3, 1.0])
def test_thresholds_are_learnt_with_as_many_people_as_stated(cut: float) -> None:
    learner = LocalThresholds(np.linspace(0, 1, 21).round(6), epsilon=2)
    people = learner.people(alpha=0.1, beta=1e-7)
    x = np.random.default_rng(2).random(people)
    found = learner.learn(x, x >= cut, alpha=0.1, entropy=seeded(3))
    fresh = np.random.default_rng(9).random(20_000)
    assert (found.predict(fresh) != (fresh >= cut)).mean() < 0.1 + 0.015


def test_conjunctions_are_learnt_with_as_many_people_as_stated() -> None:
    learner = LocalConjunctions(3, epsilon=3)
    people = learner.people(alpha=0.2, beta=1e-7)
    draw = np.random.default_rng(4)
    table = draw.random((people, 3)) < 0.6
    found = learner.learn(table, table[:, 0] & ~table[:, 2], alpha=0.2, entropy=seeded(5))
    assert (found.required, found.forbidden) == ((0,), (2,))


def test_a_conjunction_that_is_never_true_keeps_every_literal() -> None:
    table = np.random.default_rng(4).random((40_000, 2)) < 0.5
    found = LocalConjunctions(2, epsilon=8).learn(table, np.zeros(40_000), alpha=0.5, entropy=seeded(5))
    assert not found.predict(table).any()


def test_local_costs_more_people_than_central() -> None:
    from tacit.learn import realisable_sample

    learner = LocalThresholds(range(1000), epsilon=1)
    central = realisable_sample(1000, 0.1, 0.05, epsilon=1).examples
    assert learner.people(0.1, 0.05) > 100 * central


def test_each_person_is_promised_epsilon_on_her_own_device() -> None:
    promise = PureDP("0.5", neighbours=REPLACE)
    assert LocalThresholds([0, 1], epsilon="0.5").guarantee == promise
    assert LocalConjunctions(2, epsilon="0.5").guarantee == promise


@pytest.mark.parametrize(
    "build",
    [
        lambda: LocalThresholds([], epsilon=1),
        lambda: LocalThresholds([0], epsilon=0),
        lambda: LocalConjunctions(0, epsilon=1),
        lambda: LocalThresholds([0, 1], epsilon=1).people(0, 0.05),
        lambda: StatisticalQueries(1).people_for(1, 0, 0.05),
        lambda: StatisticalQueries(1).tolerance(3, 5, 0.05),
        lambda: LocalThresholds(range(99), epsilon=1).learn([1, 2], [0, 1], alpha=0.1),
        lambda: LocalThresholds(range(9), epsilon=1).learn("abc", [0, 1, 1], alpha=0.1),
        lambda: LocalConjunctions(2, epsilon=1).learn([[1]], [1], alpha=0.1),
    ],
)
def test_bad_parameters(build) -> None:
    with pytest.raises(InvalidParameter):
        build()


def test_half_the_people_widen_the_tolerance() -> None:
    """The planted fault: sizes without the factor of the noise would be far too small."""
    queries = StatisticalQueries(epsilon=1)
    plain = math.ceil(math.log(2 / 0.05) / (2 * 0.05**2))
    assert queries.tolerance(plain, 1, 0.05) > 2 * 0.05
