"""Reading a price: the same keywords everywhere, one promise, refused where it is not proved."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InvalidParameter, NotPrivate
from tacit.mechanisms.shared.promise import read_promise
from tacit.privacy import ADD_REMOVE, REPLACE, ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP

ALL = (PureDP, ApproxDP, ZCDP, GaussianDP, RenyiDP)


@pytest.mark.parametrize(
    ("keywords", "promise"),
    [
        ({"epsilon": 0.1}, PureDP("0.1")),
        ({"epsilon": 1, "delta": 1e-6}, ApproxDP(1, "1e-6")),
        ({"rho": "0.5"}, ZCDP("0.5")),
        ({"rho": "0.5", "delta": "1e-9"}, ZCDP("0.5", "1e-9")),
        ({"mu": 2}, GaussianDP(2)),
        ({"promise": RenyiDP(2, 1)}, RenyiDP(2, 1)),
    ],
)
def test_keywords_say_which_promise(keywords: dict[str, object], promise: Guarantee) -> None:
    assert read_promise("Any", ALL, ADD_REMOVE, **keywords) == promise  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("keywords", "name"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": 0, "delta": 0.1}, "epsilon"),
        ({"rho": 0}, "rho"),
        ({"rho": 0, "delta": 0.1}, "rho"),
        ({"mu": 0}, "mu"),
        ({"promise": PureDP(0)}, "epsilon"),
        ({"promise": RenyiDP(2, 0)}, "epsilon"),
        ({"epsilon": 1, "delta": 1}, "delta"),
        ({"mu": 1, "delta": 0.1}, "delta"),
        ({"promise": PureDP(1), "delta": 0.1}, "delta"),
        ({"promise": PureDP(1, neighbours=REPLACE)}, "promise"),
        ({"promise": 2 * PureDP(1)}, "promise"),
        ({}, "price"),
        ({"epsilon": 1, "mu": 1}, "price"),
        ({"delta": 0.1}, "price"),
    ],
)
def test_bad_prices_name_the_parameter(keywords: dict[str, object], name: str) -> None:
    with pytest.raises(InvalidParameter) as refused:
        read_promise("Any", ALL, ADD_REMOVE, **keywords)  # type: ignore[arg-type]
    assert refused.value.name == name


def test_unproved_promises_are_refused_with_a_way_out() -> None:
    with pytest.raises(NotPrivate, match=r"not proved to keep ZCDP.*Pass epsilon="):
        read_promise("Laplace", (PureDP,), ADD_REMOVE, rho=1)
    with pytest.raises(NotPrivate, match="unbounded privacy loss"):
        read_promise("Gaussian", (ApproxDP,), ADD_REMOVE, epsilon=1)


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**9))
def test_six_digits_never_promise_more(amount: Fraction) -> None:
    for kind in (PureDP, ZCDP, GaussianDP):
        given_promise = kind(amount)
        rounded = given_promise.rounded_up()
        assert given_promise <= rounded
        assert rounded <= kind(amount * (1 + Fraction(1, 10**5)))
    assert ApproxDP(amount, "0.1") <= ApproxDP(amount, "0.1").rounded_up()
