"""Private keys: the rule's exact chances against the definition of (ε, δ)-DP, and what is drawn against the chances."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import tacit
from tacit.errors import InvalidParameter, NotPrivate
from tacit.mechanisms.additive.gaussian_noise import variance_for
from tacit.mechanisms.selection.key_selection import GaussianKeySelection, OptimalKeySelection
from tacit.privacy import L2, ZCDP, ApproxDP, GaussianDP

PRICES = [
    ("1", "1e-6", 1),
    ("0.1", "1e-9", 1),
    ("3", "1e-5", 4),
    ("0.5", "1e-30", 2),
    ("20", "1e-3", 1),
    ("0.01", "0.1", 3),
]


def exponential(x: Fraction) -> Fraction:
    """e^x from a sum of its series, an oracle of its own, just above the truth."""
    with localcontext() as context:
        context.prec = 80
        return Fraction((Decimal(x.numerator) / Decimal(x.denominator)).exp()) * (1 + Fraction(1, 10**70))


def violations(chances: list[Fraction], epsilon: Fraction, delta: Fraction) -> list[int]:
    """Where two neighbouring counts of units break (ε, δ)-DP of the decision, in either direction and outcome."""
    growth = exponential(epsilon)
    broken = []
    for n, (fewer, more) in enumerate(pairwise(chances)):
        pairs = ((fewer, more), (more, fewer), (1 - fewer, 1 - more), (1 - more, 1 - fewer))
        if any(p > growth * q + delta for p, q in pairs):
            broken.append(n)
    return broken


@pytest.mark.parametrize(("epsilon", "delta", "groups"), PRICES)
def test_every_pair_of_neighbouring_counts_keeps_the_promise(epsilon: str, delta: str, groups: int) -> None:
    rule = OptimalKeySelection(epsilon=epsilon, delta=delta, groups=groups)
    each, slip = Fraction(epsilon) / groups, Fraction(delta) / groups
    chances = [rule.probability(n) for n in range(len(rule._tables()[0]) + 2)]
    assert chances[0] == 0
    assert chances[-1] == 1
    assert chances == sorted(chances)
    assert not violations(chances, each, slip)


@pytest.mark.parametrize(("epsilon", "delta", "groups"), PRICES)
def test_no_rule_shows_more(epsilon: str, delta: str, groups: int) -> None:
    """Optimal: one more part in a thousand anywhere before certainty breaks the promise."""
    rule = OptimalKeySelection(epsilon=epsilon, delta=delta, groups=groups)
    each, slip = Fraction(epsilon) / groups, Fraction(delta) / groups
    chances = [rule.probability(n) for n in range(len(rule._tables()[0]))]
    tried = [n for n in (1, 2, len(chances) // 2, len(chances) - 2) if 0 < n < len(chances) - 1 and chances[n] < 1]
    assert tried
    for n in tried:
        rest = min(chances[n], 1 - chances[n])
        bolder = [*chances[:n], chances[n] + rest / 1000, *chances[n + 1 :]]
        assert violations(bolder, each, slip), n


@pytest.mark.parametrize("epsilon", ["0.02", "0.05", "1", "7", "900"])
@pytest.mark.parametrize("delta", ["1e-12", "1e-6", "0.1", "0.9"])
@pytest.mark.parametrize(("groups", "least"), [(1, 1), (3, 7), (20, 1)])
def test_the_threshold_is_bounded_without_its_table(epsilon: str, delta: str, groups: int, least: int) -> None:
    bound = OptimalKeySelection.threshold_at_least(epsilon, delta, groups, least)
    threshold = OptimalKeySelection(epsilon=epsilon, delta=delta, groups=groups, least=least).threshold
    assert threshold - 2 < bound < threshold + 1e-6
    assert OptimalKeySelection.threshold_at_least("1e-400", "1e-400") == math.inf


def test_a_planted_fault_is_seen() -> None:
    """The chances of ε = 1.1 sold as ε = 1."""
    rule = OptimalKeySelection(epsilon="1.1", delta="1e-6")
    chances = [rule.probability(n) for n in range(len(rule._tables()[0]))]
    assert violations(chances, Fraction(1), Fraction(1, 10**6))


def test_one_unit_shows_at_most_delta() -> None:
    rule = OptimalKeySelection(epsilon=1, delta="1e-5", groups=10)
    assert Fraction(1, 10**6) * (1 - Fraction(1, 10**15)) < rule.probability(1) <= Fraction(1, 10**6)


def test_keys_are_kept_with_the_chances_of_the_table() -> None:
    rule = OptimalKeySelection(epsilon=1, delta="0.05")
    n, size = 2, 200_000
    kept = rule.keep(np.full(size, n), entropy=tacit.testing.seeded(7)).mean()
    chance = float(rule.probability(n))
    off = 5.5 * (chance * (1 - chance) / size) ** 0.5
    assert abs(kept - chance) < off
    assert abs(kept - 1.1 * chance) > off
    assert abs(kept - 0.9 * chance) > off


def test_keys_without_units_never_show_and_large_ones_always_do() -> None:
    for rule in (OptimalKeySelection(epsilon=1, delta="1e-6"), GaussianKeySelection(promise=ZCDP(1, "1e-6"))):
        kept = rule.keep(np.array([0, 0, 10**6, 2**62]))
        assert kept.tolist() == [False, False, True, True]


@pytest.mark.parametrize("promise", [ZCDP("0.1", "1e-3"), ApproxDP(1, "2e-3")])
@pytest.mark.parametrize("groups", [1, 5])
def test_gaussian_threshold_lets_one_unit_through_at_most_delta(promise: ApproxDP | ZCDP, groups: int) -> None:
    """Against the normal law itself, at the threshold and one below it."""
    from statistics import NormalDist

    rule = GaussianKeySelection(promise=promise, groups=groups)
    slip = float(promise.dlt) / groups / (1 if isinstance(promise, ZCDP) else 2)
    law = NormalDist(0, rule._noise.scale)

    def beyond(threshold: int) -> float:  # 1 + noise ≥ threshold, noise rounded to whole numbers
        return 1 - law.cdf(threshold - 1 - 0.5)

    assert beyond(rule.threshold) <= slip * 1.02  # the discrete law is not the rounded one: a hair's breadth apart
    assert beyond(rule.threshold - 1) > slip * 0.98


def test_gaussian_rule_draws_what_it_says() -> None:
    rule = GaussianKeySelection(promise=ZCDP("0.05", "1e-4"), groups=2)
    size = 100_000
    kept = rule.keep(np.full(size, rule.threshold), entropy=tacit.testing.seeded(3)).mean()
    assert 0.5 < kept < 0.6  # noise of at least zero, ties included


@pytest.mark.parametrize(("epsilon", "delta", "groups"), PRICES)
@pytest.mark.parametrize("least", [1, 2, 7, 40])
def test_a_least_number_of_units_keeps_the_promise_and_adds_to_the_threshold(
    epsilon: str, delta: str, groups: int, least: int
) -> None:
    rule = OptimalKeySelection(epsilon=epsilon, delta=delta, groups=groups, least=least)
    plain = OptimalKeySelection(epsilon=epsilon, delta=delta, groups=groups)
    chances = [rule.probability(n) for n in range(len(rule._tables()[0]) + least + 2)]
    assert chances[:least] == [0] * least
    assert chances[least] > 0
    assert chances[-1] == 1
    assert not violations(chances, Fraction(epsilon) / groups, Fraction(delta) / groups)
    assert rule.threshold == plain.threshold + least - 1


def test_hiding_small_keys_after_the_optimal_rule_would_break_the_promise() -> None:
    """The planted fault: the plain rule, and groups below 10 struck out. Ten units then show far more than nine."""
    plain = OptimalKeySelection(epsilon=1, delta="1e-6")
    chances = [plain.probability(n) if n >= 10 else Fraction(0) for n in range(len(plain._tables()[0]))]
    assert violations(chances, Fraction(1), Fraction(1, 10**6)) == [9]


@pytest.mark.parametrize("least", [1, 5])
def test_both_rules_draw_with_the_least_number_of_units(least: int) -> None:
    optimal = OptimalKeySelection(epsilon=1, delta="0.05", least=least)
    gaussian = GaussianKeySelection(promise=ZCDP("0.05", "1e-4"), groups=2, least=least)
    plain = GaussianKeySelection(promise=ZCDP("0.05", "1e-4"), groups=2)
    assert gaussian.threshold == plain.threshold + least - 1
    size = 200_000
    for rule in (optimal, gaussian):
        assert not rule.keep(np.full(size, least - 1)).any()
        assert rule.keep(np.array([10**6, 2**62])).all()
    chance = float(optimal.probability(least + 1))
    kept = optimal.keep(np.full(size, least + 1), entropy=tacit.testing.seeded(11)).mean()
    off = 5.5 * (chance * (1 - chance) / size) ** 0.5
    assert abs(kept - chance) < off < min(abs(kept - 0.9 * chance), abs(kept - 1.1 * chance))
    at = gaussian.keep(np.full(size, gaussian.threshold), entropy=tacit.testing.seeded(12)).mean()
    assert 0.5 < at < 0.6


def test_an_absurd_price_has_a_rule_too() -> None:
    """What e^ε cannot be computed for is refused by ledgers, not by an overflow."""
    rule = OptimalKeySelection(epsilon="1e20", delta="1e-9")
    chances = [rule.probability(n) for n in range(len(rule._tables()[0]))]
    assert not violations(chances, Fraction(600), Fraction(1, 10**9))
    assert chances[1] <= Fraction(1, 10**9)


def test_refusals() -> None:
    with pytest.raises(InvalidParameter, match="least"):
        OptimalKeySelection(epsilon=1, delta="1e-9", least=0)
    with pytest.raises(NotPrivate, match="δ = 0"):
        OptimalKeySelection(epsilon=1, delta=0)
    with pytest.raises(NotPrivate, match="δ = 0"):
        GaussianKeySelection(promise=ZCDP(1))
    with pytest.raises(InvalidParameter, match="at least"):
        OptimalKeySelection(epsilon="1e-9", delta="1e-9")
    with pytest.raises(InvalidParameter, match="groups"):
        OptimalKeySelection(epsilon=1, delta="1e-9", groups=0)


@pytest.mark.parametrize("groups", [1, 7])
def test_the_rule_from_its_two_parts_is_the_rule_from_its_promise(groups: int) -> None:
    """(ε, δ) is noise at the μ that (ε, δ/2) means, and half of δ to slip: both ways give one threshold."""
    promise = ApproxDP(1, "1e-6")
    whole = GaussianKeySelection(promise=promise, groups=groups)
    mu_squared = 1 / variance_for(ApproxDP(1, "5e-7"), L2(1))
    parts = GaussianKeySelection.of_noise(GaussianDP.of_square(mu_squared), "5e-7", groups)
    assert parts.threshold == whole.threshold
    assert parts._noise.scale == whole._noise.scale
    assert parts.guarantee.dlt == promise.dlt
    assert promise.eps * Fraction(999, 1000) < parts.guarantee.eps <= promise.eps * (1 + Fraction(1, 10**9))
    with pytest.raises(NotPrivate):
        GaussianKeySelection.of_noise(GaussianDP(1), 0)


@pytest.mark.parametrize("groups", [1, 2, 7, 50])
def test_the_threshold_without_the_table_is_that_of_the_table(groups: int) -> None:
    decided = 0
    for epsilon in ("0.02", "0.1", "0.3", "1", "2.5", "7", "30"):
        for delta in ("1e-12", "1e-9", "3e-7", "1e-4", "0.02", "0.3"):
            rule = OptimalKeySelection(epsilon=epsilon, delta=delta, groups=groups)
            decided += rule._made is None  # otherwise floats could not tell, and the table did
            assert rule.threshold == rule._exact_threshold(), (epsilon, delta)
            assert rule.probability(rule.threshold) >= Fraction(1, 2) > rule.probability(rule.threshold - 1)
    assert decided >= 25


def test_a_rule_that_is_only_planned_makes_no_table() -> None:
    rule = OptimalKeySelection(epsilon="0.001", delta="1e-8")
    assert rule.threshold > 10_000
    assert rule.explain()
    assert rule._made is None
    rule.keep(np.array([3]))
    assert rule._made is not None
