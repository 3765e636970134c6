"""Terms: what an owner may write down."""

from __future__ import annotations

import pickle
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import InvalidParameter, NotPrivate
from tacit.ledger import Terms
from tacit.ledger.amounts import EPSILON, GRAINS, Amount, in_grains, readable
from tacit.privacy import REPLACE, ROW, ZCDP, ApproxDP, PureDP, Unit
from tacit.privacy.prices import text

EXAMPLES = [
    Terms(PureDP(1)),
    Terms(ApproxDP(3, 1e-8), per_question=PureDP("0.1"), per_analyst=ApproxDP(1, 1e-9)),
    Terms(ZCDP("1/3", 1e-9), analysts={"Zoë": ZCDP("0.1"), "ada": ZCDP("0.2")}, reading_delta="1e-5"),
    Terms(ZCDP(1, neighbours=REPLACE)),
    Terms(PureDP(1), unit=Unit("user_id")),
    Terms(PureDP(1), unit=ROW),
]


@pytest.mark.parametrize("terms", EXAMPLES)
def test_written_and_read_back(terms: Terms) -> None:
    assert Terms.read(terms.to_dict()) == terms
    assert pickle.loads(pickle.dumps(terms)) == terms
    assert replace(terms) == terms


def test_a_changed_cap_is_a_changed_value() -> None:
    more = replace(EXAMPLES[1], total=ApproxDP(4, 1e-8))
    assert more != EXAMPLES[1]
    assert more.per_question == ApproxDP("0.1", 0)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Terms(1), "total"),
        (lambda: Terms(PureDP(1), unit="user_id"), "unit"),  # type: ignore[arg-type]
        (lambda: Terms(PureDP(1), per_question=PureDP(2)), "per_question"),
        (lambda: Terms(PureDP(1), per_analyst=ApproxDP(1, 1e-9)), "per_analyst"),
        (lambda: Terms(PureDP(1), analysts={"ada": PureDP(2)}), "cap of ada"),
        (lambda: Terms(PureDP(1), analysts={"": PureDP(1)}), "analyst"),
        (lambda: Terms(PureDP(1), analysts={"é": PureDP("0.1"), "e\u0301": PureDP("0.9")}), "analysts"),
        (lambda: Terms(PureDP(1), analysts=["ada"]), "analysts"),  # type: ignore[arg-type]
        (lambda: Terms(PureDP(1), per_question=0.5), "per_question"),  # type: ignore[arg-type]
        (lambda: Terms(PureDP(1), analysts={"ada": 0.5}), "cap of ada"),  # type: ignore[dict-item]
        (lambda: Terms(PureDP(1), reading_delta=1e-6), "reading_delta"),
        (lambda: Terms(ZCDP(1, 1e-6), reading_delta=1e-6), "reading_delta"),
        (lambda: Terms(PureDP(Fraction(1, 10**6 + 3))), "cap"),
    ],
)
def test_mistakes_are_named(make: object, name: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        make()  # type: ignore[operator]
    assert caught.value.name == name


def test_one_relation_and_one_flavour() -> None:
    with pytest.raises(NotPrivate):
        Terms(PureDP(1), per_question=PureDP(1, neighbours=REPLACE))
    with pytest.raises(NotPrivate):
        Terms(ZCDP(1), per_question=ApproxDP(1, 1e-9))
    assert Terms(ZCDP(1), per_question=PureDP("0.1")).per_question == ZCDP("0.005")


@settings(deadline=None)
@given(st.fractions(min_value=0, max_value=10))
def test_a_price_is_never_rounded_down_and_hardly_up(exact: Fraction) -> None:
    charged = EPSILON.price(PureDP(exact)).main
    assert exact <= charged <= exact * (1 + Fraction(1, 10**29))
    assert GRAINS % charged.denominator == 0
    assert in_grains(charged) == charged * GRAINS


@settings(deadline=None)
@given(st.floats(min_value=0, max_value=10, allow_nan=False))
def test_a_float_is_its_shortest_decimal_exactly(value: float) -> None:
    assert EPSILON.price(PureDP(value)).main == Fraction(repr(value))


@settings(deadline=None)
@given(st.lists(st.fractions(min_value=0, max_value=1, max_denominator=1000), max_size=12))
def test_sums_are_exact_and_stay_short(prices: list[Fraction]) -> None:
    total = sum((EPSILON.price(PureDP(one)) for one in prices), start=Amount.of(0, 0))
    assert total.main == sum(prices)
    assert GRAINS % total.main.denominator == 0
    assert Amount.read(total.texts()) == total


@settings(deadline=None)
@given(st.one_of(st.fractions(min_value=0), st.decimals(0, 10**12, places=4).map(Fraction)))
def test_the_text_of_an_amount_is_that_of_its_price(exact: Fraction) -> None:
    assert Amount(exact, exact).texts() == [text(exact), text(exact)]


def test_readable_numbers_are_short_and_not_below() -> None:
    assert readable(Fraction(1, 10)) == "0.1"
    assert readable(Fraction(2, 3)) == "0.666667"
    assert readable(Fraction(1, 3)) == "0.333334"


def test_the_reading_delta_lies_above_the_totals_own() -> None:
    assert Terms(ZCDP(1, 1e-9)).reading_delta == Fraction(1, 10**6)
    assert Terms(ZCDP(1, 1e-6)).reading_delta == Fraction(1, 10**5)
    assert Terms(ZCDP(1, "0.9")).reading_delta == Fraction(95, 100)
