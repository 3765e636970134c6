"""Filters add exactly, refuse what does not fit, and hold when prices are chosen from earlier answers."""

from __future__ import annotations

import copy
import math
import pickle
import threading
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import BudgetExceeded, InvalidParameter, NotPrivate
from tacit.privacy import REPLACE, ZCDP, ApproxDP, GaussianDP, Guarantee, Neighbours, PureDP, RenyiDP, compose
from tacit.privacy.filters import Filter, OrderFilter
from tacit.privacy.loss_distribution import LossDistribution
from tests.privacy.adaptive import Strategy, play, response, strategies
from tests.privacy.oracle import Pair, arb, digits, gaussian_delta, hockey_stick, renyi, upper
from tests.steps import steps_of

# --- arithmetic ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("budget", "cost", "times"),
    [
        (PureDP(1), PureDP(0.1), 10),
        (ApproxDP(1, 1e-5), ApproxDP(0.1, 1e-6), 10),
        (ApproxDP(1, 0), PureDP(0.1), 10),
        (ZCDP(0.5), ZCDP(0.05), 10),
        (ZCDP(0.5, 1e-6), ZCDP(0.05, 1e-7), 10),
        (ZCDP(0.5), PureDP(1), 1),
        (ZCDP(1), GaussianDP(1), 2),
        (GaussianDP(1), GaussianDP(0.1), 100),
        (GaussianDP(3), GaussianDP.of_square(3), 3),
        (RenyiDP(8, 1), RenyiDP(8, 0.1), 10),
        (RenyiDP(8, 1), RenyiDP(16, 0.1), 10),
        (RenyiDP(8, 4), ZCDP(0.1), 5),
        (RenyiDP(8, 4), GaussianDP(1), 1),
        (PureDP(1, neighbours=REPLACE), PureDP(0.5, neighbours=REPLACE), 2),
    ],
)
def test_a_budget_is_used_up_exactly_and_not_beyond(budget: Guarantee, cost: Guarantee, times: int) -> None:
    account = Filter(budget)
    for _ in range(times):
        assert account.allows(cost)
        account.spend(cost)
    assert account.spent == budget
    assert not any(account.remaining.amounts())
    assert not account.allows(cost)
    with pytest.raises(BudgetExceeded) as caught:
        account.spend(cost)
    assert caught.value.left == account.remaining
    assert "nothing was spent" in str(caught.value)
    assert account.spent == budget


def test_a_refused_cost_changes_nothing_and_says_what_fits() -> None:
    account = Filter(ApproxDP(1, "1e-6"))
    account.spend(ApproxDP("0.25", "1e-7"))
    for cost in (PureDP("0.7500000000000000000000000001"), ApproxDP("0.1", "9.1e-7")):
        assert not account.allows(cost)
        with pytest.raises(BudgetExceeded, match=r"ApproxDP\(0\.75, 9e-07\) would fit"):
            account.spend(cost)
        assert account.remaining == ApproxDP("0.75", "9e-7")
    account.spend(account.remaining)
    account.spend(PureDP(0))
    assert repr(account) == "<Filter: ApproxDP(1, 1e-06) charged of ApproxDP(1, 1e-06)>"


@given(st.lists(st.fractions(0, Fraction(1, 3), max_denominator=1000), max_size=12))
def test_sums_are_those_of_exact_fractions(costs: list[Fraction]) -> None:
    account, used = Filter(PureDP(1)), Fraction(0)
    for cost in costs:
        assert account.allows(PureDP(cost)) == (used + cost <= 1)
        if used + cost <= 1:
            account.spend(PureDP(cost))
            used += cost
    assert account.spent == PureDP(used)
    assert account.remaining == PureDP(1 - used)


def test_mechanisms_and_compositions_are_charged_too() -> None:
    class Machine:
        guarantee = PureDP("0.25")

    account = Filter(PureDP(1))
    assert account.spend(Machine()) == PureDP("0.25")
    assert account.spend(3 * PureDP("0.25")) == PureDP("0.75")
    assert account.remaining == PureDP(0)


def test_a_plan_fixed_in_advance_may_enter_at_its_delta() -> None:
    account = Filter(ApproxDP(2, "1e-5"))
    charged = account.spend(1000 * PureDP("0.01"), delta="1e-6")
    assert isinstance(charged, ApproxDP)
    assert charged.dlt == Fraction(1, 10**6)
    assert float(charged.eps) == pytest.approx(1.365447, abs=1e-6)
    assert account.allows(ZCDP("0.001"), delta="1e-6")
    with pytest.raises(InvalidParameter, match="delta: given None"):
        account.spend(ZCDP("0.001"))
    assert account.spent == charged


# --- what may enter --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("budget", "cost"),
    [
        (PureDP(10), ApproxDP(1, 1e-6)),
        (PureDP(10), ZCDP(1)),
        (PureDP(10), GaussianDP(1)),
        (ZCDP(10), ApproxDP(1, 1e-6)),
        (ZCDP(10), RenyiDP(2, 1)),
        (ZCDP(10), PureDP(1) + RenyiDP(2, 1)),
        (GaussianDP(10), ZCDP(1)),
        (GaussianDP(10), ApproxDP(1, 1e-6)),
        (GaussianDP(10), RenyiDP(2, 1)),
        (RenyiDP(8, 10), RenyiDP(4, 1)),
        (RenyiDP(8, 10), ZCDP(1, 1e-6)),
        (RenyiDP(8, 10), ApproxDP(1, 1e-6)),
    ],
)
def test_a_cost_without_a_conversion_is_refused(budget: Guarantee, cost: Guarantee) -> None:
    account = Filter(budget)
    for attempt in (account.allows, account.spend):
        with pytest.raises(NotPrivate, match="does not imply"):
            attempt(cost)
    assert not any(account.spent.amounts())


def test_another_neighbour_relation_is_refused() -> None:
    with pytest.raises(NotPrivate, match="to_replace"):
        Filter(PureDP(1, neighbours=REPLACE)).spend(PureDP(1))
    with pytest.raises(NotPrivate, match="to_replace"):
        Filter(ApproxDP(9, 1e-5, neighbours=REPLACE)).spend(LossDistribution.gaussian(5), delta=1e-6)


@pytest.mark.parametrize("budget", [2 * PureDP(1), None, 3, "PureDP(1)"])
def test_a_budget_is_one_guarantee(budget: object) -> None:
    with pytest.raises(InvalidParameter, match="budget: given"):
        Filter(budget)  # type: ignore[arg-type]


@pytest.mark.parametrize("cost", [None, 3, "PureDP(1)", object()])
def test_a_cost_is_a_promise(cost: object) -> None:
    with pytest.raises(InvalidParameter, match="cost: given"):
        Filter(PureDP(1)).spend(cost)


@pytest.mark.parametrize("budget", [PureDP(9), ZCDP(9), GaussianDP(9), RenyiDP(2, 9)], ids=repr)
def test_a_loss_distribution_is_refused_by_all_but_an_epsilon_delta_filter(budget: Guarantee) -> None:
    with pytest.raises(NotPrivate, match="plan fixed in advance"):
        Filter(budget).spend(LossDistribution.gaussian(5))
    with pytest.raises(InvalidParameter, match="delta: given"):
        Filter(budget).spend(PureDP(1), delta=1e-6)


def test_a_loss_distribution_enters_as_its_evaluated_epsilon_and_delta() -> None:
    account = Filter(ApproxDP(3, 1e-5))
    loss = LossDistribution.gaussian(5)
    charged = account.spend(loss, delta=1e-6)
    assert isinstance(charged, ApproxDP)
    assert charged.dlt == Fraction(1, 10**6)
    with digits(60):  # N(0,25) against N(1,25)
        assert gaussian_delta(Fraction(1, 25), charged.eps) <= arb(Fraction(1, 10**6))
    assert float(charged.eps) == pytest.approx(loss.epsilon(1e-6), rel=1e-9)
    with pytest.raises(InvalidParameter, match="delta: given None"):
        account.spend(loss)


class Leaky:
    """A loss that reveals everything with probability 10⁻³."""

    neighbours = Neighbours.ADD_REMOVE

    def __init__(self) -> None:
        self.asked: list[float] = []

    def epsilon(self, delta: float) -> float:
        self.asked.append(delta)
        return math.inf if delta < 1e-3 else 0.1


def test_foreign_floats_are_rounded_against_us() -> None:
    account, loss = Filter(ApproxDP(3, "0.5")), Leaky()
    charged = account.spend(loss, delta="0.1")
    assert isinstance(charged, ApproxDP)
    assert Fraction(loss.asked[0]) <= Fraction(1, 10)
    assert charged.eps >= Fraction(0.1)
    with pytest.raises(NotPrivate, match="no ε"):
        account.spend(loss, delta="1e-4")


# --- one order, many orders ------------------------------------------------------------------------------------------


def test_every_order_must_hold() -> None:
    account = OrderFilter([RenyiDP(2, 1), RenyiDP(32, 4)])
    assert account.spend(ZCDP("0.1")) == (RenyiDP(2, "0.2"), RenyiDP(32, "3.2"))
    assert not account.allows(ZCDP("0.1"))  # order 2 would allow it, order 32 does not
    with pytest.raises(BudgetExceeded, match="every order"):
        account.spend(ZCDP("0.1"))
    assert account.remaining == (RenyiDP(2, "0.8"), RenyiDP(32, "0.8"))
    account.spend(ZCDP("0.025"))
    assert account.spent == (RenyiDP(2, "0.25"), RenyiDP(32, 4))
    with pytest.raises(NotPrivate):
        account.spend(RenyiDP(8, "0.01"))
    with pytest.raises(NotPrivate):
        account.spend(LossDistribution.gaussian(5))
    assert account.budget == (RenyiDP(2, 1), RenyiDP(32, 4))
    assert "OrderFilter" in repr(account)


@pytest.mark.parametrize("budgets", [[], [RenyiDP(2, 1), RenyiDP(2, 3)], [RenyiDP(2, 1), ZCDP(1)], [3]])
def test_orders_are_different_renyi_budgets(budgets: list[object]) -> None:
    with pytest.raises(InvalidParameter, match="budgets: given"):
        OrderFilter(budgets)  # type: ignore[arg-type]
    with pytest.raises(NotPrivate):
        OrderFilter([RenyiDP(2, 1), RenyiDP(3, 1, neighbours=REPLACE)])


# --- running for long ------------------------------------------------------------------------------------------------


def test_a_hundred_thousand_spends_cost_the_same_each() -> None:
    account = Filter(ApproxDP(100, "1e-3"))
    cost = ApproxDP("0.001", "1e-9")

    def spend(times: int) -> None:
        for _ in range(times):
            account.spend(cost)

    first = steps_of(lambda: spend(1000))
    spend(98_000)
    assert steps_of(lambda: spend(1000)) == pytest.approx(first, rel=0.01)
    assert account.remaining == ApproxDP(0, "9e-4")


def test_awkward_fractions_do_not_grow_and_are_never_charged_too_little() -> None:
    account, least = Filter(PureDP(50)), Fraction(0)
    for i in range(1, 3000):
        cost = Fraction(1, 10**6 + 2 * i + 1)
        least += cost
        account.spend(PureDP(cost))
        assert account.spent.amounts()[0].denominator.bit_length() <= 4097
    assert 0 <= account.spent.amounts()[0] - least < Fraction(1, 2**4000)


def test_threads_never_overspend() -> None:
    account, succeeded = Filter(PureDP(1)), []

    def run() -> None:
        for _ in range(400):
            try:
                account.spend(PureDP("0.001"))
                succeeded.append(1)
            except BudgetExceeded:
                pass

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(succeeded) == 1000
    assert account.spent == PureDP(1)


def test_a_filter_cannot_be_copied() -> None:
    for account in (Filter(PureDP(1)), OrderFilter([RenyiDP(2, 1)])):
        for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(NotPrivate, match="copies"):
                attempt(account)


# --- fully adaptive analysts, exactly --------------------------------------------------------------------------------
# An analyst asks randomized responses one after the other. Each next price, and which of the two neighbours answers
# which way, depends on all answers so far; the filter alone says when to stop. The joint distributions are exact.

LIES = [Fraction(2, 5), Fraction(1, 3), Fraction(1, 4), Fraction(1, 10)]
analysts = strategies([response(lie) for lie in LIES])
DEPTH = 7


def epsilon_of(pair: Pair) -> Fraction:
    with digits(60):
        return upper(arb(max(*pair[0]) / min(*pair[0])).log())


def pure(pair: Pair) -> Guarantee:
    return PureDP(epsilon_of(pair))


def obeying(budget: Guarantee, charge: Callable[[Pair], Guarantee] = pure) -> Callable[[tuple[Pair, ...]], bool]:
    def allows(asked: tuple[Pair, ...]) -> bool:
        account = Filter(budget)
        for pair in asked[:-1]:
            account.spend(charge(pair))
        return account.allows(charge(asked[-1]))

    return allows


@settings(max_examples=25)
@given(analysts)
def test_epsilon_sums_hold_against_adaptive_analysts(strategy: Strategy) -> None:
    budget = PureDP(2)
    pair = play(strategy, obeying(budget), DEPTH)
    assert sum(pair[0]) == 1 == sum(pair[1])
    with digits(60):
        assert not hockey_stick(pair, budget.eps) > arb(Fraction(1, 10**40))


@settings(max_examples=25)
@given(analysts)
def test_rho_sums_hold_against_adaptive_analysts(strategy: Strategy) -> None:
    budget = ZCDP("0.5")
    pair = play(strategy, obeying(budget), DEPTH)
    with digits(60):
        for alpha in (Fraction(11, 10), Fraction(2), Fraction(10)):
            assert not renyi(pair, alpha) > arb(budget.rho * alpha)


@settings(max_examples=25)
@given(analysts, st.sampled_from([Fraction(3, 2), Fraction(4), Fraction(20)]))
def test_renyi_sums_at_one_order_hold_against_adaptive_analysts(strategy: Strategy, alpha: Fraction) -> None:
    """The tightest charge there is, the exact divergence of each response: the filter's sum still bounds the whole."""

    def exact(pair: Pair) -> Guarantee:
        with digits(60):
            return RenyiDP(alpha, upper(renyi(pair, alpha)))

    budget = RenyiDP(alpha, 1)
    pair = play(strategy, obeying(budget, exact), DEPTH)
    with digits(60):
        assert not renyi(pair, alpha) > arb(budget.eps)


@settings(max_examples=25)
@given(analysts)
def test_squares_of_mu_hold_against_adaptive_analysts(strategy: Strategy) -> None:
    budget = GaussianDP(1)
    pair = play(strategy, obeying(budget), DEPTH)
    with digits(60):
        for at in (Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2)):
            assert not hockey_stick(pair, at) > gaussian_delta(budget.mu_squared, at)


def test_a_filter_that_forgets_a_charge_is_caught() -> None:
    """The planted fault: cheap questions are not counted. The same exact check rejects it."""

    def forgetful(asked: tuple[Pair, ...]) -> bool:
        return sum((epsilon_of(pair) for pair in asked if pair != response(LIES[0])), start=Fraction(0)) <= 2

    def greedy(answers: tuple[int, ...]) -> Pair:
        """Asks for much after an answer it likes, for little otherwise."""
        return response(LIES[2] if answers and answers[-1] == 0 else LIES[0])

    pair = play(greedy, forgetful, DEPTH)
    with digits(60):
        assert hockey_stick(pair, 2) > arb(Fraction(1, 1000))


def test_a_mixed_plan_enters_as_its_evaluated_epsilon_and_delta() -> None:
    """A plan of losses and guarantees has no guarantee of its own; it is charged like a loss distribution."""
    plan = compose([LossDistribution.gaussian(5), PureDP("0.1")])
    charged = Filter(ApproxDP(3, 1e-5)).spend(plan, delta=1e-6)
    assert charged.epsilon(1e-6) >= plan.epsilon(1e-6)
    with pytest.raises(NotPrivate):
        Filter(ZCDP(1)).spend(plan)
