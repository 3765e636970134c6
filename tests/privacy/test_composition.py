"""Composition keeps its parts, is exact where the kind is the same, and never claims less than the truth."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit.privacy.composition as module
from tacit.errors import InvalidParameter, NotPrivate
from tacit.privacy import (
    NOTHING_SPENT,
    REPLACE,
    ZCDP,
    ApproxDP,
    Composition,
    GaussianDP,
    Guarantee,
    Promise,
    PureDP,
    RenyiDP,
    compose,
)
from tacit.privacy.prices import price
from tests.privacy.adaptive import Strategy, play, strategies
from tests.privacy.oracle import (
    Pair,
    arb,
    digits,
    gaussian_delta,
    hockey_stick,
    product_of,
    renyi,
    responses_delta,
    upper,
)
from tests.privacy.test_conversion import finite_pairs, pure_epsilon
from tests.steps import at_most

small = st.sampled_from(["0.01", "0.1", "0.5", "1", "2"])
tiny = st.sampled_from(["1e-9", "1e-7", "0.001"])
guarantees = st.one_of(
    st.builds(PureDP, small),
    st.builds(ApproxDP, small, tiny),
    st.builds(ZCDP, small),
    st.builds(ZCDP, small, tiny),
    st.builds(GaussianDP, small),
    st.builds(RenyiDP, st.sampled_from(["2", "8", "32"]), small),
)
plans = st.lists(st.tuples(guarantees, st.integers(1, 20)), min_size=1, max_size=4)


def total(plan: list[tuple[Guarantee, int]]) -> Promise:
    return sum((often * part for part, often in plan), start=NOTHING_SPENT)


# --- algebra ---------------------------------------------------------------------------------------------------------


def test_ten_tenths_are_one_exactly() -> None:
    ten = 10 * PureDP(0.1)
    assert ten.to(PureDP) == PureDP(1)
    assert ten <= PureDP(1)
    assert not ten <= PureDP("0.999999999999999999999999999999")
    assert sum([PureDP(0.1)] * 10) == ten
    assert ten.epsilon() == 1.0


@given(st.lists(guarantees, min_size=1, max_size=4))
def test_order_and_grouping_do_not_matter(parts: list[Guarantee]) -> None:
    versions = [sum(order, start=NOTHING_SPENT) for order in permutations(parts)]
    for one, other in pairwise(versions):
        assert one == other
        assert hash(one) == hash(other)
    assert compose(parts) == versions[0]
    left = (parts[0] + compose(parts)) + parts[-1]
    right = parts[0] + (compose(parts) + parts[-1])
    assert left == right
    assert versions[0].epsilon(0.01) == pytest.approx(versions[-1].epsilon(0.01), rel=1e-12)


@given(guarantees)
def test_nothing_spent_is_neutral(part: Guarantee) -> None:
    assert NOTHING_SPENT + part == part
    assert part + NOTHING_SPENT == part
    assert 0 * part == NOTHING_SPENT
    assert 1 * part == part
    assert part * 3 == 3 * part == part + part + part == part + 2 * part
    assert 2 * (3 * part) == 6 * part
    assert np.int64(3) * part == 3 * part
    assert part + 0 is part
    assert part >= NOTHING_SPENT


def test_nothing_spent_holds_for_every_relation() -> None:
    part = PureDP(1, neighbours=REPLACE)
    assert NOTHING_SPENT + part == part
    assert part >= NOTHING_SPENT
    assert NOTHING_SPENT.epsilon(0) == 0.0
    assert NOTHING_SPENT.delta(0) == 0.0
    assert NOTHING_SPENT.to(PureDP) == PureDP(0)
    assert NOTHING_SPENT.group(3) == NOTHING_SPENT
    assert repr(NOTHING_SPENT) == "NOTHING_SPENT"


@pytest.mark.parametrize("k", [-1, 1.5, "2", True, None, PureDP(1)])
def test_only_whole_numbers_multiply(k: object) -> None:
    with pytest.raises(InvalidParameter, match="k: "):
        _ = k * PureDP(1) if not isinstance(k, str) else PureDP(1) * k  # type: ignore[operator]


@pytest.mark.parametrize("parts", [[(PureDP(1), -1)], [(PureDP(1), 0.5)], [(2 * PureDP(1), 1)], [("PureDP(1)", 1)]])
def test_compositions_are_made_of_guarantees_and_counts(parts: list[tuple[Guarantee, int]]) -> None:
    with pytest.raises(InvalidParameter, match=r"^(parts|times): given"):
        Composition(parts)


def test_other_things_do_not_add() -> None:
    with pytest.raises(TypeError):
        _ = PureDP(1) + 1
    with pytest.raises(TypeError):
        _ = PureDP(1) + "1"  # type: ignore[operator]


def test_relations_do_not_mix() -> None:
    one, other = PureDP(1), PureDP(1, neighbours=REPLACE)
    for mix in (lambda: one + other, lambda: compose([one, other]), lambda: one <= other, lambda: 2 * one <= other):
        with pytest.raises(NotPrivate, match=r"\.to_replace\(\)"):
            mix()
    assert one.to_replace() + other == PureDP(2, neighbours=REPLACE) + PureDP(1, neighbours=REPLACE)


def test_the_same_kind_adds_up_exactly() -> None:
    assert (3 * ZCDP("1/3") + ZCDP("0.5", "1e-9")).to(ZCDP) == ZCDP("1.5", "1e-9")
    assert (2 * GaussianDP(3) + GaussianDP(4)).to(GaussianDP) == GaussianDP.of_square(34)
    assert (9 * GaussianDP(1)).to(GaussianDP) == GaussianDP(3)
    assert (2 * RenyiDP(4, "0.1") + RenyiDP(8, "0.2")).to(RenyiDP, alpha=4) == RenyiDP(4, "0.4")
    assert (2 * ApproxDP("0.1", "1e-6") + PureDP("0.3")).to(ApproxDP) == ApproxDP("0.5", "2e-6")
    assert (PureDP(1) + ZCDP(1)).to(ZCDP) == ZCDP("1.5")


@pytest.mark.parametrize(
    ("plan", "kind"),
    [
        (PureDP(1) + ZCDP(1), PureDP),
        (PureDP(1) + ApproxDP(1, 1e-6), PureDP),
        (2 * ApproxDP(1, 1e-6), ZCDP),
        (GaussianDP(1) + ZCDP(1), GaussianDP),
        (2 * GaussianDP(1), Composition),
    ],
)
def test_conversions_that_a_part_lacks_are_refused(plan: Promise, kind: type[Promise]) -> None:
    with pytest.raises(NotPrivate, match="does not imply"):
        plan.to(kind)


def test_orders_that_a_part_lacks_are_refused() -> None:
    with pytest.raises(NotPrivate, match="order 9"):
        (RenyiDP(8, 1) + PureDP(1)).to(RenyiDP, alpha=9)
    with pytest.raises(NotPrivate):
        (ZCDP(1, 1e-9) + PureDP(1)).to(RenyiDP, alpha=2)


# --- bounds against the truth ----------------------------------------------------------------------------------------


@settings(max_examples=8)
@given(st.lists(finite_pairs(st.integers(2, 3)), min_size=1, max_size=4), st.floats(0, 1))
@pytest.mark.thorough
def test_products_of_finite_pairs_stay_below_every_bound(pairs: list[Pair], share: float) -> None:
    """Random finite mechanisms run one after the other: their exact joint profile against each way to describe them."""
    joint = product_of(pairs)
    with digits(60):
        pure = [PureDP(pure_epsilon(pair)) for pair in pairs]
        ladders: list[list[Guarantee]] = [
            pure,
            [part.to(ZCDP) for part in pure],
            [part.to(GaussianDP) for part in pure],
            [RenyiDP(3, upper(renyi(pair, 3))) for pair in pairs],
            [approximate(pair, share) for pair in pairs],
            [part if index % 2 else part.to(ZCDP) for index, part in enumerate(pure)],
        ]
        for parts in ladders:
            plan = compose(parts)
            for at in (Fraction(0), price(0.3), plan_top(pure) * Fraction(1, 2), plan_top(pure)):
                assert not hockey_stick(joint, at) > arb(min(price(d) for d in deltas_of(plan, at))), (plan, at)
            for delta in (Fraction(1, 10**6), Fraction(1, 20)):
                for name, epsilon in plan.bounds(delta).items():
                    if math.isfinite(epsilon):
                        reached = hockey_stick(joint, min(Fraction(epsilon), price(epsilon)))
                        assert not reached > arb(delta), (plan, name)


def approximate(pair: Pair, share: float) -> ApproxDP:
    level = pure_epsilon(pair) * Fraction(share)
    return ApproxDP(level, min(upper(hockey_stick(pair, level)) + Fraction(1, 10**50), Fraction(99, 100)))


def plan_top(parts: list[PureDP]) -> Fraction:
    return sum((part.eps for part in parts), start=Fraction(0))


def deltas_of(plan: Promise, at: Fraction) -> list[float]:
    return [plan.delta(at), *(bound.delta(plan.parts, at) for bound in module.BOUNDS)]  # type: ignore[attr-defined]


@settings(max_examples=30)
@given(small, tiny, st.integers(1, 30), st.floats(0.01, 1))
def test_equal_parts_are_exact(epsilon: str, leak: str, k: int, share: float) -> None:
    """k × (ε,δ) at every ε: 1 - (1-δ)^k·(1-δ_k(ε)), the theorem of Kairouz, Oh & Viswanath."""
    plan = k * ApproxDP(epsilon, leak)
    at = k * price(epsilon) * Fraction(share)
    found = plan.delta(at)
    with digits(60):
        truth = 1 - (1 - arb(price(leak))) ** k * (1 - responses_delta(price(epsilon), k, at))
        assert truth <= arb(found) * arb(1 + Fraction(1, 10**15))
        assert arb(found) <= truth * arb(1 + Fraction(1, 10**9))


def test_equal_epsilons_may_leak_differently() -> None:
    mixed = 10 * ApproxDP("0.1", "1e-9") + 5 * ApproxDP("0.1", "1e-8") + 3 * PureDP("0.1") + ApproxDP(0, "1e-9")
    assert mixed.how(1e-6) == "optimal"
    with digits(60):
        kept = (1 - arb(Fraction(1, 10**9))) ** 11 * (1 - arb(Fraction(1, 10**8))) ** 5
        found = mixed.epsilon(1e-6)
        assert 1 - kept * (1 - responses_delta(Fraction(1, 10), 18, Fraction(found))) <= arb(Fraction(1, 10**6))


@pytest.mark.parametrize(
    ("plan", "delta", "expected", "by"),
    [
        (1000 * PureDP("0.01"), 1e-6, 1.365447, "optimal"),
        (1000 * GaussianDP("0.02"), 1e-6, 2.921601, "gaussian"),
        (10 * PureDP("0.1"), 0, 1.0, "basic"),
    ],
)
def test_values_of_the_specification(plan: Composition, delta: float, expected: float, by: str) -> None:
    assert plan.epsilon(delta) == pytest.approx(expected, abs=5e-7)
    assert plan.how(delta) == by


# Three mechanisms that are all ln 3-DP: a fair choice for an adversary who picks each from past answers, and which of
# the two neighbours is in which world, anew in every round.
THIRDS = [
    ([Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]),
    ([Fraction(1, 2), Fraction(1, 2)], [Fraction(1, 6), Fraction(5, 6)]),
    ([Fraction(3, 5), Fraction(3, 10), Fraction(1, 10)], [Fraction(1, 5), Fraction(1, 2), Fraction(3, 10)]),
]


@settings(max_examples=40)
@given(strategies(THIRDS), st.integers(1, 6))
def test_an_adaptive_adversary_stays_within_the_stated_profile(strategy: Strategy, k: int) -> None:
    """The game of k-fold adaptive composition, enumerated: the view's exact profile is below the stated one."""
    view = play(strategy, lambda asked: True, depth=k)
    with digits(60):
        plan = k * PureDP(upper(arb(3).log()))
        for at in (Fraction(0), Fraction(1), Fraction(5, 2), Fraction(4)):
            assert not hockey_stick(view, at) > arb(plan.delta(at)), at
        for delta in ("1e-3", "0.1"):
            assert not hockey_stick(view, plan.epsilon(delta)) > arb(price(delta))


def test_the_adversary_reaches_the_stated_profile() -> None:
    """So the statement cannot be lowered: always randomized response attains it, and 1% less ε is exceeded."""
    view = play(lambda answers: THIRDS[0], lambda asked: True, depth=6)
    with digits(60):
        plan = 6 * PureDP(upper(arb(3).log()))
        epsilon = plan.epsilon("0.01")
        assert hockey_stick(view, Fraction(epsilon) * Fraction(99, 100)) > arb(Fraction(1, 100))


def test_gaussians_are_exact() -> None:
    found = (3 * GaussianDP("0.5") + GaussianDP("0.5")).epsilon(1e-9)
    with digits(60):
        assert gaussian_delta(1, Fraction(found)) <= arb(Fraction(1, 10**9))
        assert gaussian_delta(1, Fraction(found) * (1 - Fraction(1, 10**9))) > arb(Fraction(1, 10**9))


@settings(max_examples=40)
@given(plans, st.sampled_from(["1e-12", "1e-6", "0.05"]))
def test_epsilon_is_the_smallest_of_its_bounds(plan: list[tuple[Guarantee, int]], delta: str) -> None:
    made = total(plan)
    bounds = made.bounds(delta)  # type: ignore[attr-defined]
    assert made.epsilon(delta) <= min(bounds.values()) * (1 + 1e-12)
    assert made.how(delta) in {*bounds, "none"}  # type: ignore[attr-defined]


@settings(max_examples=40)
@given(plans, guarantees, st.sampled_from(["1e-6", "0.05"]))
def test_more_mechanisms_never_cost_less(plan: list[tuple[Guarantee, int]], more: Guarantee, delta: str) -> None:
    """To within the tolerance of the loss distributions, which are rounded up by at most a relative 1e-5 in ε."""
    less, much = total(plan), total(plan) + more
    assert less.epsilon(delta) <= much.epsilon(delta) * (1 + 2e-5)
    assert less.delta(1) <= much.delta(1) * (1 + 1e-4)
    assert less <= less + more


@settings(max_examples=40)
@given(plans, st.floats(-30, -0.1), st.floats(-30, -0.1))
def test_monotone_in_delta(plan: list[tuple[Guarantee, int]], one: float, other: float) -> None:
    small_delta, large_delta = sorted((math.exp(one), math.exp(other)))
    assert total(plan).epsilon(large_delta) <= total(plan).epsilon(small_delta) * (1 + 2e-5)


@settings(max_examples=40)
@given(plans, st.floats(0, 40))
def test_epsilon_and_delta_agree(plan: list[tuple[Guarantee, int]], at: float) -> None:
    """(ε, δ(ε)) is a promise, so asking for ε at that δ gives no more than ε."""
    made = total(plan)
    delta = made.delta(at)
    if 1e-300 < delta < 1:
        assert made.epsilon(delta) <= at * (1 + 3e-5) + 1e-4


@settings(max_examples=40)
@given(plans)
def test_a_composition_is_no_weaker_than_its_conversions(plan: list[tuple[Guarantee, int]]) -> None:
    made = total(plan)
    for kind in (PureDP, ZCDP, GaussianDP):
        try:
            converted = made.to(kind)
        except NotPrivate:
            continue
        assert made <= converted
        assert made.epsilon(1e-6) <= converted.epsilon(1e-6) * (1 + 1e-9)
    if math.isfinite(made.epsilon(1e-3)):
        assert made <= made.to(ApproxDP, delta=1e-3)


def test_the_joint_leak_makes_epsilon_finite_or_not() -> None:
    plan = 2 * ApproxDP(1, "0.1") + ZCDP(1)
    assert plan.epsilon("0.1899") == math.inf
    assert plan.epsilon("0.19") == math.inf  # nothing is left for the zCDP part
    assert math.isfinite(plan.epsilon("0.1901"))
    assert (2 * ApproxDP(1, "0.1")).epsilon("0.19") == 2.0
    assert (2 * ApproxDP(1, "0.1")).epsilon("0.18999999999") == math.inf


# --- groups, order, plain values -------------------------------------------------------------------------------------


def test_groups_are_taken_part_by_part() -> None:
    plan = 2 * PureDP(1) + ZCDP("0.5") + GaussianDP(1)
    assert plan.group(1) == plan
    assert plan.group(3) == 2 * PureDP(3) + ZCDP("4.5") + GaussianDP(3)
    assert plan.to_replace().neighbours is REPLACE
    with pytest.raises(NotPrivate):
        plan.to_replace().to_replace()
    with pytest.raises(NotPrivate):
        (PureDP(1) + ZCDP(1, 1e-9)).group(2)


def test_the_order_of_compositions() -> None:
    plan = 2 * PureDP(1) + ZCDP(1)
    assert PureDP(1) <= plan
    assert PureDP(1) + ZCDP(1) <= plan
    assert not 3 * PureDP(1) <= plan
    assert not plan <= PureDP(1) + ZCDP(1)
    assert ZCDP(2) <= 2 * ZCDP(1) <= ZCDP(2)
    assert GaussianDP(2) <= 4 * GaussianDP(1)
    assert not PureDP(2) <= 2 * PureDP(1)  # twice 1 says more than 2: it also bounds how often the loss is 2
    assert 2 * PureDP(1) < PureDP(2)
    assert not PureDP(2) < 2 * PureDP(1)
    leaking = 2 * ZCDP(1, "0.1")  # leaks with probability 0.19, so it says more than ZCDP(2, "0.2")
    assert leaking <= ZCDP(2, "0.2")
    assert not ZCDP(2, "0.2") <= leaking


@given(plans)
def test_plain_values_round_trip(plan: list[tuple[Guarantee, int]]) -> None:
    made = total(plan)
    assert Promise.from_json(made.to_json()) == made
    assert pickle.loads(pickle.dumps(made)) == made
    names = {kind.__name__: kind for kind in (PureDP, ApproxDP, ZCDP, RenyiDP, GaussianDP)}
    assert eval(repr(made), dict(names)) == made


@pytest.mark.parametrize(
    "written", ["", "[]", "{}", '{"kind": "composition"}', '{"kind": "composition", "parts": [3]}']
)
def test_broken_json_is_refused(written: str) -> None:
    with pytest.raises(InvalidParameter, match="guarantee: "):
        Composition.from_json(written)


class Machine:
    guarantee = PureDP(1)


def test_compose_takes_what_has_a_guarantee() -> None:
    assert compose([Machine(), PureDP(1), 3 * ZCDP(1)]) == 2 * PureDP(1) + 3 * ZCDP(1)
    with pytest.raises(InvalidParameter, match=r"items: .*at least one"):
        compose([])
    with pytest.raises(InvalidParameter, match="items: given 3"):
        compose([PureDP(1), 3])


def test_long_plans_cost_little() -> None:
    with at_most(10**7):
        plan = compose([PureDP(Fraction(1, 1000 + i)) for i in range(2000)])
        assert len(plan.parts) == 2000
        assert plan.epsilon(1e-6) < plan.to(PureDP).epsilon()
    with at_most(10**7):
        same = sum([PureDP("0.001")] * 5000, start=NOTHING_SPENT)
        assert same == 5000 * PureDP("0.001")


def test_unequal_parts_are_composed_by_their_worst_pairs() -> None:
    """100 × ε = 0.1 and 100 × ε = 0.13 at δ = 10⁻⁶: between the exact sums for equal parts of the one and the other."""
    plan = 100 * PureDP("0.1") + 100 * PureDP("0.13")
    assert plan.how("1e-6") == "loss distribution"
    assert (200 * PureDP("0.1")).epsilon("1e-6") < plan.epsilon("1e-6") < (200 * PureDP("0.13")).epsilon("1e-6")
    assert plan.epsilon("1e-6") == pytest.approx(8.546812, abs=1e-4)
    exact = _two_kinds("0.1", 100, "0.13", 100, plan.epsilon("1e-6"))
    assert exact <= 1e-6 * (1 + 1e-9)
    assert _two_kinds("0.1", 100, "0.13", 100, plan.epsilon("1e-6") * (1 - 2e-5)) > 1e-6


def _two_kinds(one: str, n: int, other: str, m: int, epsilon: float) -> float:
    """δ(ε) of n randomized responses at one price and m at another, by the double sum over truthful answers."""

    def answers(price_: str, count: int) -> list[tuple[float, float]]:
        level = float(price_)
        truth = 1 / (1 + math.exp(-level))
        logs = [
            math.lgamma(count + 1) - math.lgamma(j + 1) - math.lgamma(count - j + 1)
            + j * math.log(truth) + (count - j) * math.log1p(-truth)
            for j in range(count + 1)
        ]  # fmt: skip
        return [((2 * j - count) * level, math.exp(log)) for j, log in enumerate(logs)]

    pairs = [(a + b, p * q) for a, p in answers(one, n) for b, q in answers(other, m)]
    return math.fsum(p * -math.expm1(epsilon - loss) for loss, p in pairs if loss > epsilon)


@pytest.mark.parametrize("large", [GaussianDP(25), PureDP(900), ApproxDP(700, "1e-9")])
def test_parts_too_large_for_a_grid_are_left_to_the_other_bounds(large: Guarantee) -> None:
    plan = PureDP(1) + large
    assert "loss distribution" not in plan.bounds("1e-6")
    assert math.isfinite(plan.epsilon("1e-6"))
    assert plan.delta(1) <= 1
