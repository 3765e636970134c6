"""The claims of docs/guides/worked_examples.md: equal laws, and what breaks at another unit or with few candidates."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from tacit import AboveThreshold, DiscreteLaplace, Exponential, PureDP, audit_exact
from tacit.testing import seeded


@pytest.mark.parametrize("epsilon", ["0.2", "1", "3"])
def test_discrete_laplace_is_the_exponential_mechanism_without_the_factor_two(epsilon: str) -> None:
    wide = range(-400, 401)
    choice = Exponential.of_scale(1 / Fraction(epsilon), sensitivity=1)
    q = math.exp(-float(epsilon))
    for true in (-3, 0, 17):
        law = choice.probabilities([-abs(true - r) for r in wide])
        noise = [(1 - q) / (1 + q) * q ** abs(true - r) for r in wide]
        assert law == pytest.approx(noise, rel=1e-9, abs=1e-30)
    assert choice.guarantee == PureDP(2 * Fraction(epsilon))
    assert DiscreteLaplace(epsilon=epsilon, sensitivity=1).guarantee == PureDP(epsilon)


def test_the_laws_agree_in_samples_too() -> None:
    noise = DiscreteLaplace(epsilon=1, sensitivity=1).release(np.full(40_000, 5), entropy=seeded(1))
    choice = Exponential.of_scale(1, sensitivity=1)
    picks = choice._picks(np.array([-abs(5 - r) for r in range(-30, 41)]), 40_000, seeded(2)) - 30
    cells = [np.bincount(np.clip(x - 5, -4, 4) + 4, minlength=9) for x in (np.asarray(noise), picks)]
    assert ((cells[0] - cells[1]) ** 2 / (cells[0] + cells[1])).sum() < 55  # 8 degrees: once in 10⁸


def test_with_few_candidates_the_factor_two_is_needed() -> None:
    """The planted fault: on 0, 1, 2 the weights add up to more in the middle, and ε is broken."""
    choice = Exponential.of_scale(1, sensitivity=1)
    laws = [choice.probabilities([-abs(true - r) for r in range(3)]) for true in (0, 1)]
    assert audit_exact(laws[0], laws[1], PureDP(1)).violated
    assert not audit_exact(laws[0], laws[1], choice.guarantee).violated


def index_law(logins_of: list[int], seed: int) -> dict[object, float]:
    alarm = AboveThreshold(epsilon=1, threshold=100, sensitivity=1)
    bits = seeded(seed)
    law: dict[object, float] = {}
    for _ in range(300):
        answers = alarm.start(entropy=bits).ask_many(logins_of).tolist()
        found = answers.index(True) if True in answers else None
        law[found] = law.get(found, 0.0) + 1 / 300
    return law


def test_the_index_names_a_person_at_user_level() -> None:
    with_her, without = index_law([5, 3, 0, 900, 7], 1), index_law([5, 3, 0, 0, 7], 2)
    assert with_her.get(3, 0) > 0.95
    assert without.get(3, 0) < 0.05
    one_login_less = index_law([5, 3, 0, 899, 7], 3)
    assert one_login_less.get(3, 0) > 0.95
