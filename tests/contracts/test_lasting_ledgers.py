"""Every ledger with a δ′ set aside: a payment is allowed if the sum of ε or the sum of squares allows it."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tacit.errors import BudgetExceeded, PolicyError
from tacit.ledger import Ledger, Request, Terms
from tacit.ledger.registry import LEDGERS
from tacit.privacy import ApproxDP, PureDP
from tacit.privacy.conversion import largest_zcdp
from tests.contracts.test_ledgers import Places, ledger, places
from tests.ledger.lenient import lenient

BUDGET = ApproxDP(3, "1e-8")
F = Fraction
__all__ = ["ledger", "places"]


def pay(ledger: Ledger, price: object, turn: int, analyst: str = "ada", delta: object = 0) -> None:
    ledger.spend(Request(analyst, f"question {turn}"), ApproxDP(price, delta))


def test_small_prices_last_and_both_readings_are_shown(ledger: Ledger) -> None:
    ledger.open("people", lenient(BUDGET, set_aside="1e-8"))
    for turn in range(30):
        pay(ledger, "0.09", turn)  # 2.7 by the sum, 0.1215 by squares
    assert ledger.remaining() == ApproxDP("0.3", 0)
    pay(ledger, "0.12", 30)
    pay(ledger, "0.09", 31)
    pay(ledger, "0.09", 32)  # the sum is used up to the last digit
    assert ledger.remaining("bob") == ledger.remaining()
    state = ledger.budget()
    assert state.readings is not None
    assert (state.readings["left_by_sum"], state.readings["squares"]) == ("0", "0.1368")
    assert ledger.remaining() == ApproxDP(0, 0)  # the squares had been passed, which the sum allowed
    assert [one.analyst for one in state.accounts] == ["ada"]
    with pytest.raises(BudgetExceeded, match="cap of the whole ledger"):
        pay(ledger, "0.001", 33)
    assert ledger.verify().sound


def test_small_prices_outlast_the_sum(ledger: Ledger) -> None:
    ledger.open("people", lenient(ApproxDP("0.3", "1e-8"), set_aside="1e-8"))
    most = largest_zcdp(F("0.3"), F("1e-8")) // (F("0.003") ** 2 / 2)
    assert most > 240  # a hundred by the sum
    for turn in range(most):
        pay(ledger, "0.003", turn)
    with pytest.raises(BudgetExceeded):
        pay(ledger, "0.003", most)
    epsilon = ledger.budget().to_dict()["charged_means"]["epsilon"]
    assert 0.29 < epsilon <= 0.3
    assert ledger.verify().sound


def test_delta_is_what_was_not_set_aside(ledger: Ledger) -> None:
    ledger.open("people", lenient(BUDGET, set_aside="4e-9"))
    pay(ledger, "0.1", 0, delta="6e-9")
    with pytest.raises(BudgetExceeded, match="It is the δ that does not fit"):
        pay(ledger, "0.1", 1, delta="1e-12")
    pay(ledger, "0.1", 2)
    assert ledger.verify().sound


def test_caps_of_analysts_add_up(ledger: Ledger) -> None:
    ledger.open("people", lenient(BUDGET, set_aside="1e-8", per_analyst=PureDP("0.5")))
    for turn in range(5):
        pay(ledger, "0.1", turn)
    with pytest.raises(BudgetExceeded, match="cap of analyst ada"):
        pay(ledger, "0.1", 5)
    pay(ledger, "0.1", 6, "bob")


def test_what_is_set_aside_stays(ledger: Ledger) -> None:
    terms = lenient(BUDGET, set_aside="1e-8")
    ledger.open("people", terms)
    ledger.open("people", terms)
    for other in (lenient(BUDGET), lenient(BUDGET, set_aside="5e-9")):
        with pytest.raises(PolicyError, match="other terms"):
            ledger.open("people", other)
        with pytest.raises(PolicyError, match="fixed when a ledger is begun"):
            ledger.amend(other, owner="grace", reason="change")
    pay(ledger, 1, 0)
    ledger.amend(lenient(ApproxDP(4, "1e-8"), set_aside="1e-8"), owner="grace", reason="more")
    assert ledger.remaining() == ApproxDP(3, 0)
    assert ledger.verify().sound


def test_an_ordinary_ledger_cannot_be_given_one(ledger: Ledger) -> None:
    ledger.open("people", lenient(BUDGET))
    assert "set_aside" not in ledger.budget().to_dict()["terms"]
    assert ledger.budget().readings is None
    with pytest.raises(PolicyError, match="fixed when a ledger is begun"):
        ledger.amend(lenient(BUDGET, set_aside="1e-8"), owner="grace", reason="change")


def test_no_analyst_has_the_name_of_the_account_of_squares(ledger: Ledger) -> None:
    ledger.open("people", lenient(BUDGET, set_aside="1e-8"))
    pay(ledger, "0.1", 0, " squares")
    pay(ledger, "0.1", 1, "squares")
    state = ledger.budget()
    assert [(one.analyst, one.charged.main) for one in state.accounts] == [("squares", F("0.2"))]
    assert state.head.squares == F("0.01")
    assert ledger.verify().sound


PRICES = st.sampled_from(["0.01", "0.03", "0.1", "0.35", "1", "2.9"])
DELTAS = st.sampled_from(["0", "0", "0", "3e-9"])


@pytest.mark.parametrize("kind", LEDGERS)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(PRICES, DELTAS), max_size=25))
def test_any_sequence_does_what_two_sums_say(kind: str, places: Places, steps: list[tuple[str, str]]) -> None:
    """The model: three exact sums, and a conversion that the ledger did not choose."""
    with places.new(kind) as place:
        ledger = LEDGERS[kind](place)
        ledger.open("people", lenient(ApproxDP(1, "1e-8"), set_aside="4e-9"))
        most = largest_zcdp(F(1), F("4e-9"))
        total, squares, leak = F(0), F(0), F(0)
        for turn, (price, delta) in enumerate(steps):
            after = total + F(price), squares + F(price) ** 2 / 2, leak + F(delta)
            try:
                pay(ledger, price, turn, delta=delta)
                granted = True
            except BudgetExceeded:
                granted = False
            assert granted == (after[2] <= F("6e-9") and (after[0] <= 1 or after[1] <= most))
            total, squares, leak = after if granted else (total, squares, leak)
        assert ledger.verify().sound
        ledger.close()


def test_the_least_price_keeps_payments_to_a_few_thousand(ledger: Ledger) -> None:
    terms = Terms(BUDGET, set_aside="1e-8")
    assert F("0.0095") < terms.smallest < F("0.0096")
    assert Terms(BUDGET).smallest == F("0.003")
    assert Terms(BUDGET, set_aside="1e-8", least=PureDP("0.001")).smallest == F("0.001")
