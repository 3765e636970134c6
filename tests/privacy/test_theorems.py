"""The theorems by name say what the textbooks say, and none beats the exact composition."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import InvalidParameter, NotPrivate
from tacit.privacy import REPLACE, ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP, theorems
from tacit.privacy.prices import price
from tests.privacy.oracle import Pair, arb, digits, hockey_stick, product_of, responses_delta
from tests.privacy.test_conversion import finite_pairs, pure_epsilon

epsilons = st.floats(0.001, 2).map(price)
slacks = st.floats(-40, -0.1).map(lambda power: price(math.exp(power)))


def test_basic_adds_exactly() -> None:
    assert theorems.basic([PureDP("0.1")] * 10) == ApproxDP(1, 0)
    assert theorems.basic([ApproxDP("0.1", "1e-6"), ApproxDP("0.2", "2e-6")]) == ApproxDP("0.3", "3e-6")
    with pytest.raises(NotPrivate):
        theorems.basic([PureDP(1), ZCDP(1)])
    with pytest.raises(NotPrivate):
        theorems.basic([ApproxDP(1, "0.6")] * 2)
    with pytest.raises(InvalidParameter, match="items"):
        theorems.basic([])


@given(epsilons, st.integers(1, 200), slacks)
def test_advanced_is_the_stated_formula(epsilon: Fraction, k: int, slack: Fraction) -> None:
    made = theorems.advanced(ApproxDP(epsilon, "1e-9"), k, slack) if k * Fraction(1, 10**9) + slack < 1 else None
    if made is None:
        return
    with digits(60):
        e, n, d = arb(epsilon), arb(k), arb(slack)
        truth = e * (2 * n * (1 / d).log()).sqrt() + n * e * (e.exp() - 1)
        assert truth <= arb(made.eps) <= truth * arb(1 + Fraction(1, 10**12))
    assert made.dlt == k * Fraction(1, 10**9) + slack


@given(epsilons, st.integers(1, 60), slacks)
def test_advanced_is_true_of_randomized_response(epsilon: Fraction, k: int, slack: Fraction) -> None:
    """The worst case there is, exactly: k randomized responses are within the theorem's (ε', δ')."""
    made = theorems.advanced(PureDP(epsilon), k, slack)
    with digits(200):
        assert not responses_delta(epsilon, k, made.eps) > arb(made.dlt)


@settings(max_examples=60)
@given(epsilons, st.integers(1, 60), slacks)
def test_optimal_is_never_worse_than_the_others(epsilon: Fraction, k: int, slack: Fraction) -> None:
    best = theorems.optimal(PureDP(epsilon), k, slack)
    assert best <= theorems.advanced(PureDP(epsilon), k, slack)
    assert best.eps <= theorems.basic([PureDP(epsilon)] * k).eps * (1 + Fraction(1, 10**12))
    with digits(200):
        assert not responses_delta(epsilon, k, best.eps) > arb(slack)


def test_optimal_with_a_delta_in_each_part() -> None:
    made = theorems.optimal(ApproxDP("0.1", "1e-9"), 100, "1e-6")
    with digits(60):
        kept = (1 - arb(Fraction(1, 10**9))) ** 100
        assert not 1 - kept * (1 - responses_delta(Fraction(1, 10), 100, made.eps)) > arb(Fraction(1, 10**6))
    with pytest.raises(NotPrivate, match="larger delta"):
        theorems.optimal(ApproxDP("0.1", "1e-9"), 100, "1e-8")
    with pytest.raises(NotPrivate, match="Convert it first"):
        theorems.optimal(ZCDP(1), 10, "1e-6")


@pytest.mark.parametrize("slack", [0, 1, -1, math.nan, "x"])
def test_advanced_needs_a_slack(slack: object) -> None:
    with pytest.raises(InvalidParameter, match="slack: given"):
        theorems.advanced(PureDP(1), 10, slack)


def test_advanced_refuses_what_promises_nothing() -> None:
    with pytest.raises(NotPrivate, match="no promise"):
        theorems.advanced(ApproxDP(1, "0.1"), 10, "0.5")
    with pytest.raises(InvalidParameter, match="k: given 0"):
        theorems.advanced(PureDP(1), 0, "0.5")


# --- parallel --------------------------------------------------------------------------------------------------------


def test_parallel_is_the_largest() -> None:
    assert theorems.parallel([PureDP("0.1"), PureDP("0.3")]) == PureDP("0.3")
    assert theorems.parallel([ApproxDP("0.1", "1e-6"), ApproxDP("0.3", "1e-9")]) == ApproxDP("0.3", "1e-6")
    assert theorems.parallel([ZCDP("0.1"), ZCDP("0.2", "1e-9")]) == ZCDP("0.2", "1e-9")
    assert theorems.parallel([GaussianDP(1), GaussianDP(2)]) == GaussianDP(2)
    assert theorems.parallel([RenyiDP(4, 1), RenyiDP(8, 2)]) == RenyiDP(4, 2)
    assert theorems.parallel([ZCDP("0.1"), PureDP(1)]) == ZCDP("0.5")


def test_parallel_needs_add_remove_and_one_kind() -> None:
    with pytest.raises(NotPrivate, match=r"parallel\(parts\)\.to_replace\(\)"):
        theorems.parallel([PureDP(1, neighbours=REPLACE)])
    with pytest.raises(NotPrivate):
        theorems.parallel([PureDP(1), PureDP(1, neighbours=REPLACE)])
    with pytest.raises(NotPrivate):
        theorems.parallel([PureDP(1), ZCDP(1)])
    for parts in ([], [2 * PureDP(1)], [3]):
        with pytest.raises(InvalidParameter, match="parts"):
            theorems.parallel(parts)  # type: ignore[arg-type]


@given(st.lists(finite_pairs(st.integers(2, 3)), min_size=2, max_size=3))
def test_one_changed_part_costs_the_largest_and_two_cost_a_group_of_two(pairs: list[Pair]) -> None:
    """Add-remove: one part differs. Replace: a unit leaves one part and enters another."""
    with digits(60):
        parts = [PureDP(pure_epsilon(pair)) for pair in pairs]
        together = theorems.parallel(parts)
        for changed in range(len(pairs)):
            joint = product_of([pair if i == changed else (pair[0], pair[0]) for i, pair in enumerate(pairs)])
            assert not hockey_stick(joint, together.eps) > arb(0) + arb(Fraction(1, 10**40))
        both = product_of([pairs[0], pairs[1]])
        replaced = theorems.parallel(parts[:2]).to_replace()
        assert not hockey_stick(both, replaced.eps) > arb(Fraction(1, 10**40))


def test_the_maximum_is_false_under_replacement() -> None:
    response = ([Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)])
    joint = product_of([response, response])
    with digits(40):
        assert hockey_stick(joint, pure_epsilon(response)) > arb(Fraction(1, 10))
