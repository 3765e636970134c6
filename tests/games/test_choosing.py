"""Votes and best films: sensitivities by brute force, and the chance of a wrong winner, reached and never passed."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from tacit import EXPONENTIAL, GUMBEL, LAPLACE, Exponential, InvalidParameter, NoisyMax, NotPrivate, PermuteAndFlip
from tacit.games import BestRated, Vote, chance_of_wrong_winner, margin_for
from tacit.testing import seeded

KINDS = [Exponential(epsilon=1, sensitivity=1), PermuteAndFlip(epsilon=1, sensitivity=1)]


@pytest.mark.parametrize("m", KINDS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("margin", [0, 1, 4])
def test_the_chance_is_the_largest_over_all_scores_with_that_margin(m, margin: int) -> None:
    stated = chance_of_wrong_winner(m, margin, candidates=4)
    found = [1 - m.probabilities([9, *(9 - margin - d for d in trail)])[0] for trail in product(range(3), repeat=3)]
    assert max(found) == pytest.approx(stated, rel=1e-9)


@pytest.mark.parametrize("noise", [LAPLACE, EXPONENTIAL, GUMBEL])
def test_noisy_max_stays_within_the_bound(noise) -> None:
    m = NoisyMax(epsilon=1, sensitivity=1, noise=noise)
    stated = chance_of_wrong_winner(m, 4, candidates=5)
    wrong = (m._picks(np.array([4, 0, 0, 0, 0]), 20_000, seeded(4)) != 0).mean()
    assert wrong <= stated + 6 * math.sqrt(stated / 20_000)
    assert wrong > stated / 5


@pytest.mark.parametrize(
    "m", [*KINDS, NoisyMax(epsilon=1, sensitivity=1, noise=LAPLACE)], ids=lambda m: type(m).__name__
)
def test_margins_are_the_reverse(m) -> None:
    for beta in (0.2, 0.01, 1e-6):
        lead = margin_for(m, beta, candidates=7)
        assert chance_of_wrong_winner(m, lead, candidates=7) <= beta
        assert chance_of_wrong_winner(m, lead * 0.99, candidates=7) > beta


def test_thirty_to_twenty_nine() -> None:
    for epsilon in (0.1, 1, 4):
        right = 1 - chance_of_wrong_winner(Exponential(epsilon=epsilon, sensitivity=1), 1, candidates=2)
        assert right == pytest.approx(1 / (1 + math.exp(-epsilon / 2)), rel=1e-9)


def test_one_candidate_always_wins() -> None:
    assert chance_of_wrong_winner(KINDS[0], 0, candidates=1) == 0
    assert margin_for(KINDS[0], 0.5, candidates=1) == 0
    assert Vote(["x"], epsilon=1).winner([]) == "x"


def test_a_ballot_moves_one_count_by_one() -> None:
    vote = Vote(["abc", "d"], epsilon=1)
    before = vote._scores(["d", "d", None, ["unhashable"], ([],), "nobody"])
    assert before.tolist() == [0, 2]


def test_a_person_moves_each_sum_by_at_most_half_the_range() -> None:
    films = BestRated(["a", "b"], bounds=(1, 5), epsilon=1)
    half = films.selection.sensitivity.value
    odd = [
        5,
        1,
        3,
        99,
        -99,
        math.nan,
        math.inf,
        -math.inf,
        None,
        "text",
        "1/0",
        [1],
        np.array([1, 2]),
        10**400,
        np.float32(4.5),
        1j,
        4.2,
    ]
    for one, other in product(odd, odd):
        moved = films._scores([{"a": one, "b": other}])
        assert (np.abs(moved) <= half).all()
    assert films._scores([{"a": 5, "b": 1, "unknown": 5}]).tolist() == [half, -half]
    assert films._scores([{"a": 3}]).tolist() == [0, 0]
    assert films.unit * half == 2


def test_the_average_is_refused_with_the_reason() -> None:
    with pytest.raises(NotPrivate, match="whole range 1 to 5"):
        BestRated.by_average(["a"], bounds=(1, 5), epsilon=1)
    with pytest.raises(NotPrivate, match="one person moves a sum by half the range"):
        BestRated.by_average(["a"], bounds=(0, "0.5"), epsilon=1)


@pytest.mark.parametrize("candidates", [[], ["a", "a"], "ab", None, 3])
def test_bad_candidates(candidates: object) -> None:
    with pytest.raises(InvalidParameter, match="candidates"):
        Vote(candidates, epsilon=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [{"margin": -1}, {"margin": math.nan}, {"candidates": 0}])
def test_bad_questions(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter):
        chance_of_wrong_winner(KINDS[0], **{"margin": 1, "candidates": 2} | wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="mechanism"):
        chance_of_wrong_winner(object(), 1, candidates=2)


def test_bad_ballots_and_ratings() -> None:
    with pytest.raises(InvalidParameter, match="ballots"):
        Vote(["a", "b"], epsilon=1).winner("ab")
    with pytest.raises(InvalidParameter, match="people"):
        BestRated(["a"], bounds=(1, 5), epsilon=1).best([3])
