"""Learning over finite classes: mistakes by brute force, the promise by exact laws, the sizes by their own theorem."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest

from tacit import ADD_REMOVE, REPLACE, InvalidParameter, audit_exact
from tacit.learn import (
    Conjunctions,
    FiniteClassLearner,
    Intervals,
    Listed,
    Thresholds,
    agnostic_sample,
    realisable_sample,
    textbook_sample,
)
from tacit.learn.finite.hypotheses import read_labels
from tacit.testing import seeded
from tests.mechanisms.sources import nothing_drawn

DRAW = np.random.default_rng(3)
NUMBERS = [*DRAW.normal(0, 2, 40).tolist(), math.nan, math.inf, -math.inf, 1.0]
BITS = DRAW.random((60, 3)) < 0.5


@pytest.mark.parametrize(
    ("made", "examples"),
    [
        (Thresholds([-1, 0, 1, 2.5]), NUMBERS),
        (Intervals([-1, 0, 1, 2.5]), NUMBERS),
        (Conjunctions(3), BITS),
        (Listed([lambda x: x > 0, lambda x: x < 1, lambda x: 1 / x]), [0, 1, -2, "text", None, 3]),
    ],
    ids=["thresholds", "intervals", "conjunctions", "list"],
)
def test_mistakes_are_those_of_each_hypothesis(made, examples) -> None:
    labels = np.arange(len(examples)) % 3 == 0
    wrong = made.mistakes(examples, labels)
    assert wrong.shape == (made.size,)
    for index in range(made.size):
        assert wrong[index] == (made.hypothesis(index).predict(examples) != labels).sum()


def test_all_hypotheses_are_there_once() -> None:
    assert len({Conjunctions(3).hypothesis(i) for i in range(27)}) == 27
    assert len({Intervals(range(5)).hypothesis(i) for i in range(11)}) == 11


def test_an_example_more_moves_all_scores_one_way_by_at_most_one() -> None:
    made = Thresholds([0, 1, 2, 3])
    for rows in combinations(list(product([-0.5, 0.5, 1.5, 2.5, 3.5], [0, 1])), 2):
        x, y = zip(*rows, strict=True)
        before = made.mistakes(x, read_labels(y, 2))
        for more in product([0.5, 2.5, 9, math.nan], [0, 1]):
            moved = made.mistakes((*x, more[0]), read_labels((*y, more[1]), 3)) - before
            assert set(moved.tolist()) <= {0, 1}


@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE])
def test_promise_by_exact_laws(relation) -> None:
    learner = FiniteClassLearner(Thresholds([0, 1, 2, 3]), epsilon=2, neighbours=relation)
    rows = list(product([0.5, 1.5, 9.0], [0, 1]))
    base = ([0.5, 2.5, 2.5], [0, 1, 1])
    worst = 0.0
    for x, y in rows:
        if relation is ADD_REMOVE:
            pair = base, ([*base[0], x], [*base[1], y])
        else:
            pair = ([*base[0], 0.5], [*base[1], 1]), ([*base[0], x], [*base[1], y])
        result = audit_exact(learner.probabilities(*pair[0]), learner.probabilities(*pair[1]), learner.guarantee)
        assert not result.violated
        worst = max(worst, result.epsilon_lower)
    assert worst > 0.5


def test_dropping_the_factor_two_under_replacement_is_caught() -> None:
    """The planted fault: a mistake more here and one less there."""
    many = 6
    learner = FiniteClassLearner(Thresholds([0, 1, 2, 3]), epsilon=2, neighbours=ADD_REMOVE)
    honest = FiniteClassLearner(Thresholds([0, 1, 2, 3]), epsilon=2, neighbours=REPLACE)
    x = [1.5] * many + [0.5] * many
    y = [1] * many + [0] * many
    pair = ([*x, 0.5], [*y, 0]), ([*x, 0.5], [*y, 1])
    laws = [learner.probabilities(*one) for one in pair]
    assert audit_exact(laws[0], laws[1], honest.guarantee).violated
    laws = [honest.probabilities(*one) for one in pair]
    assert not audit_exact(laws[0], laws[1], honest.guarantee).violated


def test_the_figures_of_a_thousand_thresholds() -> None:
    assert textbook_sample(1000, 0.1, 0.05, epsilon=0.1).examples == 6358
    assert textbook_sample(1000, 0.1, 0.05, epsilon=0.1).binds == "privacy"
    assert textbook_sample(1000, 0.1, 0.05, epsilon=1).examples == 5081
    assert textbook_sample(1000, 0.1, 0.05, epsilon=1).binds == "statistics"
    for relation in (ADD_REMOVE, REPLACE):
        for epsilon, most in ((0.1, 6358), (1, 5081)):
            assert agnostic_sample(1000, 0.1, 0.05, epsilon=epsilon, neighbours=relation).examples <= most
            assert realisable_sample(1000, 0.1, 0.05, epsilon=epsilon, neighbours=relation).examples <= most


def test_privacy_is_free_from_twice_atanh_alpha_on() -> None:
    edge = 2 * math.atanh(0.1)
    assert agnostic_sample(1000, 0.1, 0.05, epsilon=edge * 1.01).binds == "statistics"
    assert agnostic_sample(1000, 0.1, 0.05, epsilon=edge * 0.9).binds == "privacy"


@pytest.mark.parametrize("c", [0.05, 0.3, 2.0])
@pytest.mark.parametrize("alpha", [0.05, 0.3])
def test_the_lemmas_by_enumeration(c: float, alpha: float) -> None:
    """min(1, e^{cx}) ≤ e^{c'x}, and the worst law of the difference of two mistakes has two points."""
    low = min(c, math.atanh(alpha))
    for x in range(-20, 21):
        assert min(1.0, math.exp(min(700.0, c * x))) <= math.exp(low * x) + 1e-15
    bound = math.cosh(low) - alpha * math.sinh(low)
    for up in np.linspace(0, (1 - alpha) / 2, 9):
        down = up + alpha
        assert up * math.exp(low) + down * math.exp(-low) + 1 - up - down <= bound + 1e-15


def failures(mistakes: np.ndarray, bad: np.ndarray, c: float) -> float:
    """The chance that the exponential mechanism picks a bad hypothesis, exactly, on average over samples."""
    logs = -c * mistakes
    masses = np.exp(logs - logs.max(axis=1, keepdims=True))
    return float(((masses * bad).sum(axis=1) / masses.sum(axis=1)).mean())


def test_the_sizes_suffice_and_a_tenth_of_them_does_not() -> None:
    """64 hypotheses that are independent given the sample, all but one α too bad: as hard as a finite class gets."""
    size, alpha, beta, epsilon = 64, 0.2, 0.05, 0.2
    draw = np.random.default_rng(5)
    bad = np.arange(size) > 0
    for base, sample in ((0.0, realisable_sample), (0.4, agnostic_sample)):
        enough = sample(size, alpha, beta, epsilon=epsilon).examples
        rates = np.where(bad, base + alpha, base)
        share = failures(draw.binomial(enough, rates, (2000, size)), bad, epsilon / 2)
        assert share <= beta
        few = draw.binomial(enough // 10, rates, (2000, size))
        assert failures(few, bad, epsilon / 2) > beta


def test_sizes_grow_as_the_theorem_says() -> None:
    sizes = [agnostic_sample(10**k, 0.1, 0.05, epsilon=1).examples for k in (1, 2, 4, 8)]
    assert sizes == sorted(sizes)
    assert sizes[3] - sizes[2] == pytest.approx(2 * (sizes[2] - sizes[1]), rel=0.01)
    assert realisable_sample(1000, 0.1, 0.05, epsilon=0.01).examples == pytest.approx(
        10 * realisable_sample(1000, 0.1, 0.05, epsilon=0.1).examples, rel=0.05
    )


def test_rounding_goes_up() -> None:
    import flint

    for alpha, epsilon in ((0.1, 0.1), (0.01, 0.001), (0.9, 5)):
        with flint.ctx.workprec(200):
            c = flint.arb(epsilon) / 2
            top = flint.arb(alpha).atanh()
            used = c if c < top else top
            exact = (flint.arb(1000) / flint.arb("0.05")).log() / -(used.cosh() - flint.arb(alpha) * used.sinh()).log()
        assert agnostic_sample(1000, alpha, 0.05, epsilon=epsilon).examples in (
            math.ceil(float(exact)),
            math.ceil(float(exact)) + 1,
        )


def test_no_value_is_an_error() -> None:
    learner = FiniteClassLearner(Thresholds([0, 1]), epsilon=1)
    odd = [10**400, -(10**400), math.nan, math.inf, 2**63, True]
    assert learner._class.mistakes(odd, read_labels(odd, 6)).tolist() == [1, 1]
    assert FiniteClassLearner(Conjunctions(2), epsilon=1).learn([[10**400, math.nan], [0, -1]], [1, 0]) is not None


def test_learns_what_it_should() -> None:
    x = np.random.default_rng(1).random(4000)
    learner = FiniteClassLearner(Intervals(np.linspace(0, 1, 21).round(6)), epsilon=1)
    found = learner.learn(x, (x >= 0.3) & (x < 0.7), entropy=seeded(1))
    assert (found.predict(x) != ((x >= 0.3) & (x < 0.7))).mean() < 0.02


def test_growth_with_the_class() -> None:
    made = Conjunctions(11)
    table = np.random.default_rng(2).random((2000, 11)) < 0.7
    labels = table[:, 2] & ~table[:, 5]
    assert made.hypothesis(int(made.mistakes(table, labels).argmin())) == made.hypothesis(
        FiniteClassLearner(made, epsilon=2)._picks(table, labels, 1, seeded(4))[0]
    )


@pytest.mark.parametrize(
    "build",
    [
        lambda: Thresholds([]),
        lambda: Thresholds(3),
        lambda: Thresholds([math.nan]),
        lambda: Intervals(range(10**4)),
        lambda: Conjunctions(0),
        lambda: Conjunctions(99),
        lambda: Listed([]),
        lambda: Listed([3]),
        lambda: FiniteClassLearner([1, 2], epsilon=1),
        lambda: agnostic_sample(0, 0.1, 0.05, epsilon=1),
        lambda: agnostic_sample(10, 0, 0.05, epsilon=1),
        lambda: agnostic_sample(10, 1.5, 0.05, epsilon=1),
        lambda: realisable_sample(10, 0.1, 0, epsilon=1),
        lambda: textbook_sample(10, 0.1, 0.05, epsilon=0),
        lambda: agnostic_sample(10, 1e-12, 0.05, epsilon=1),
    ],
)
def test_bad_parameters(build) -> None:
    with pytest.raises(InvalidParameter):
        build()


@pytest.mark.parametrize(("x", "y"), [(5, []), ([1, 2], [1]), (["a"], [1]), ([[1]], [1]), ([1], ["yes"])])
def test_bad_examples_draw_nothing(x: object, y: object) -> None:
    with nothing_drawn() as bits, pytest.raises(InvalidParameter):
        FiniteClassLearner(Thresholds([0]), epsilon=1).learn(x, y, entropy=bits)
