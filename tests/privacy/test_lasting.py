"""A budget that lasts: either reading may allow, and no adaptive analyst gets more than (ε, δ) out of it."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from fractions import Fraction

import pytest

from tacit.errors import BudgetExceeded, InvalidParameter, NotPrivate
from tacit.privacy import ZCDP, ApproxDP, LastingFilter, PureDP
from tacit.privacy.lasting import Readings, Spent, half_square
from tacit.privacy.neighbours import REPLACE
from tacit.privacy.rounding import decimal_down, ln_down
from tests.privacy.adversaries import Round, charged, most_delta

F = Fraction
Rule = Callable[[Spent], bool]
SMALL, LARGE = Round(F(6, 5)), Round(F(2))
LEAKY = Round(F(6, 5), F(1, 50))


def readings(top: Fraction, delta: Fraction, set_aside: Fraction | None = None) -> Readings:
    """A budget of ln top, rounded down: an e^ε that is a fraction."""
    return Readings(F(ln_down(decimal_down(top))), delta, set_aside or delta)


def reached(menu: list[Round], rule: Rule, top: Fraction, longest: int) -> Fraction:
    return most_delta(menu, lambda asked: rule(charged(menu, asked)), top, longest)


CASES = [
    ([SMALL], F(3), F(1, 20)),
    ([SMALL, LARGE], F(3), F(1, 20)),
    ([Round(F(9, 8)), LARGE], F(4), F(1, 1000)),
    ([Round(F(6, 5)), Round(F(4, 3)), Round(F(3))], F(4), F(1, 100)),
]


@pytest.mark.parametrize(("menu", "top", "delta"), CASES, ids=["one", "two", "rare", "three"])
def test_no_adaptive_analyst_gets_more_than_the_budget(menu: list[Round], top: Fraction, delta: Fraction) -> None:
    both = readings(top, delta)
    found = reached(menu, both.allows, top, 18)
    assert found <= delta
    assert found > 0  # the sums alone never let the loss pass ε: squares were used
    assert reached(menu, lambda spent: spent.epsilon <= both.epsilon, top, 18) == 0


@pytest.mark.parametrize(("menu", "top", "delta"), CASES[1:3], ids=["two", "rare"])
def test_half_the_squares_would_be_found_out(menu: list[Round], top: Fraction, delta: Fraction) -> None:
    """The planted fault: ρ = ε²/4 for a price of ε."""
    both = readings(top, delta)
    assert reached(menu, lambda s: both.allows(Spent(s.epsilon, s.delta, s.squares / 2)), top, 40) > delta


def test_two_purses_would_be_found_out() -> None:
    """The planted fault: dear questions paid from the sum, cheap ones from the squares, each up to its own cap."""
    menu, top, delta = [SMALL, LARGE], F(3), F(1, 20)
    both = readings(top, delta)

    def purses(asked: tuple[int, ...]) -> bool:
        cheap, dear = charged(menu, (asked[0], 0)), charged(menu, (0, asked[1]))
        return cheap.squares <= both.rho and dear.epsilon <= both.epsilon

    assert most_delta(menu, purses, top, 24) > delta  # type: ignore[arg-type]


def test_questions_with_a_delta_leave_alone_what_is_set_aside() -> None:
    menu, top, delta = [SMALL, LEAKY], F(3), F(1, 10)
    both = readings(top, delta, F(1, 20))
    found = reached(menu, both.allows, top, 14)
    assert F(1, 25) < found <= delta
    greedy = Readings(both.epsilon, delta, delta)
    wrong: Rule = lambda s: s.delta <= delta and greedy.allows(Spent(s.epsilon, F(0), s.squares))  # noqa: E731
    assert reached(menu, wrong, top, 14) > delta  # the planted fault: δ′ given out a second time


def test_how_long_it_lasts() -> None:
    both = Readings(F(3), F(1, 10**8), F(1, 10**8))
    assert both.rho // half_square(F(3, 100)) == 303
    assert both.rho // half_square(F(1, 100)) == 2731
    assert ZCDP(both.rho).delta(3) <= 1e-8 < ZCDP(both.rho * F(10001, 10000)).delta(3)


def test_never_worse_than_the_sum_in_epsilon() -> None:
    for price in ("0.003", "0.03", "0.3", "1.5", "3"):
        lasting, plain = LastingFilter(ApproxDP(3, 1e-8), set_aside=1e-8), 0
        while (plain + 1) * F(price) <= 3 and plain < 50:
            lasting.spend(PureDP(price))
            plain += 1
        assert plain


def test_either_reading_allows_and_mixtures_are_judged_as_one() -> None:
    budget = LastingFilter(ApproxDP(3, 1e-8), set_aside=1e-8)
    budget.spend(PureDP("2.9"))
    assert budget.remaining == ApproxDP("0.1", 0)  # squares are used up, the sum is not
    with pytest.raises(BudgetExceeded, match=r"ApproxDP\(0.1, 0\) would fit"):
        budget.spend(PureDP("0.11"))
    small = LastingFilter(ApproxDP(3, 1e-8), set_aside=1e-8)
    for _ in range(200):
        small.spend(PureDP("0.03"))
    assert small.spent == Spent(F(6), F(0), F("0.09"))
    left = small.remaining
    assert F("0.3") < left.eps < F("0.31")
    assert small.allows(left)
    assert not small.allows(PureDP(left.eps + F(1, 10**6)))


def test_delta_is_what_was_not_set_aside() -> None:
    budget = LastingFilter(ApproxDP(3, "1e-8"), set_aside="4e-9")
    assert budget.remaining == ApproxDP(3, "6e-9")
    budget.spend(ApproxDP(1, "6e-9"))
    assert not budget.allows(ApproxDP("0.1", "1e-20"))
    assert budget.allows(PureDP(2))


@pytest.mark.parametrize("bad", [0, -1, "2e-8", 1.5, None, "x"])
def test_what_cannot_be_set_aside(bad: object) -> None:
    with pytest.raises(InvalidParameter, match="set_aside"):
        LastingFilter(ApproxDP(3, "1e-8"), set_aside=bad)


def test_other_budgets_and_costs_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="budget"):
        LastingFilter(ZCDP(1), set_aside=1e-8)
    budget = LastingFilter(ApproxDP(3, 1e-8), set_aside=1e-8)
    with pytest.raises(InvalidParameter, match="cost"):
        budget.spend(0.1)
    with pytest.raises(InvalidParameter, match="delta"):
        budget.spend(ZCDP("0.01"))
    with pytest.raises(NotPrivate):
        budget.spend(PureDP(1, neighbours=REPLACE))
    with pytest.raises(NotPrivate):
        pickle.dumps(budget)
    assert budget.spent == Spent()


def test_meaning_is_the_smaller_reading() -> None:
    both = Readings(F(3), F(1, 10**8), F(1, 10**8))
    assert both.meaning(Spent(F("0.03"), F(0), half_square(F("0.03")))) == (F("0.03"), 0)
    epsilon, delta = both.meaning(Spent(F(9), F(0), F("0.1")))
    assert 2.4 < epsilon < 2.7
    assert delta == F(1, 10**8)


def test_threads_never_overspend() -> None:
    budget, granted = LastingFilter(ApproxDP(1, 1e-6), set_aside=1e-6), []

    def spend() -> None:
        try:
            while True:
                granted.append(budget.spend(PureDP("0.01")))
        except BudgetExceeded:
            pass

    threads = [threading.Thread(target=spend) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(granted) == budget.readings.rho // half_square(F("0.01"))
