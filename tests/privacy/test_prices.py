"""Prices mean their shortest decimal; rounding goes the way it says."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InvalidParameter
from tacit.privacy.prices import (
    failure_probability,
    float_down,
    non_negative,
    order,
    positive,
    price,
    read_up,
    round_down,
    round_up,
    source,
    text,
    times,
)

finite = st.floats(allow_nan=False, allow_infinity=False)
fractions = st.fractions(min_value=-(10**12), max_value=10**12)


@pytest.mark.parametrize(
    ("given_value", "meant"),
    [
        (0.1, Fraction(1, 10)),
        (1e-6, Fraction(1, 10**6)),
        (1e-300, Fraction(1, 10**300)),
        ("0.1", Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        ("1e-1000", Fraction(1, 10**1000)),
        (Decimal("0.30"), Fraction(3, 10)),
        (Fraction(2, 7), Fraction(2, 7)),
        (3, Fraction(3)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.float16(0.1), Fraction(1, 10)),
        (np.longdouble("0.1"), Fraction(1, 10)),
        (np.int64(5), Fraction(5)),
        (np.uint8(5), Fraction(5)),
        (-0.0, Fraction(0)),
    ],
)
def test_a_price_is_its_shortest_decimal(given_value: object, meant: Fraction) -> None:
    assert price(given_value, "epsilon") == meant


NO_PRICES = [
    True,
    np.bool_(True),
    math.nan,
    math.inf,
    -math.inf,
    1j,
    np.complex128(1),
    None,
    "",
    "one",
    "nan",
    "inf",
    "1/0",
    "a/b",
    "1/",
    "1/2/3",
    "1e999999999",
    "1e-999999999",
    "9" * 30_000,
    Decimal("NaN"),
    Decimal("sNaN"),
    Decimal("Infinity"),
    [1],
    np.array([1.0]),
    np.array(1.0),
    np.float32("nan"),
    Ellipsis,
    b"1",
    10**400,
    Fraction(10**400),
]


@pytest.mark.parametrize("value", NO_PRICES, ids=lambda value: repr(value)[:30])
def test_what_is_no_number_is_refused_by_name(value: object) -> None:
    with pytest.raises(InvalidParameter) as caught:
        price(value, "epsilon", allowed="a price")
    assert caught.value.name == "epsilon"
    assert caught.value.given is value
    assert caught.value.allowed == "a price"


def test_one_and_true_are_not_confused_by_the_cache() -> None:
    assert price(1) == 1
    with pytest.raises(InvalidParameter):
        price(True)
    assert price(1.0) == 1


@pytest.mark.parametrize(
    ("check", "bad", "good"),
    [
        (positive, [0, -1, "-0.1", 1e200], [0.1, "1e-9", 1e100]),
        (non_negative, [-1, -1e-300, Fraction(10**200)], [0, 0.0, 5]),
        (failure_probability, [-1e-9, 1, 1.5], [0, 0.999]),
        (order, [1, 0.5, 0, "1e200"], [1.0001, 2]),
    ],
)
def test_ranges(check: object, bad: list[object], good: list[object]) -> None:
    for value in bad:
        with pytest.raises(InvalidParameter, match=r"^here: given .*; allowed: "):
            check(value, "here")  # type: ignore[operator]
    for value in good:
        assert check(value, "here") == price(value)  # type: ignore[operator]


@pytest.mark.parametrize("value", [-1, 1.0, "1", True, None, 10**19, Fraction(1), np.timedelta64(1, "D")])
def test_counts_are_whole_numbers(value: object) -> None:
    with pytest.raises(InvalidParameter, match=r"^k: "):
        times(value, "k")


def test_counts() -> None:
    assert times(np.int32(3), "k") == 3
    assert type(times(np.int32(3), "k")) is int
    with pytest.raises(InvalidParameter):
        times(0, "k", least=1)


@given(finite)
def test_a_float_survives_the_round_trip(value: float) -> None:
    exact = price(value) if abs(value) < 1e300 else Fraction(repr(value))
    assert round_up(exact) == value
    assert round_down(exact) == value


@given(fractions)
def test_rounding_is_outward_and_by_less_than_one_float(exact: Fraction) -> None:
    up, down = round_up(exact), round_down(exact)
    assert Fraction(repr(up)) >= exact >= Fraction(repr(down))
    assert Fraction(repr(math.nextafter(up, -math.inf))) < exact
    assert Fraction(repr(math.nextafter(down, math.inf))) > exact


@given(st.floats(min_value=1e-300, max_value=1e300))
def test_foreign_floats_are_read_against_us(value: float) -> None:
    assert read_up(value) >= Fraction(value)
    assert read_up(value) <= Fraction(value) * (1 + Fraction(1, 2**51))
    assert Fraction(float_down(price(value))) <= price(value)
    assert Fraction(float_down(Fraction(value))) == value


def test_rounding_at_the_ends_of_the_floats() -> None:
    assert round_up(Fraction(10**400)) == math.inf
    assert round_down(Fraction(10**400)) == 1.7976931348623157e308
    assert round_up(Fraction(1, 10**400)) == 5e-324
    assert round_down(Fraction(1, 10**400)) == 0.0
    assert round_up(Fraction(0)) == 0.0
    assert round_up(Fraction(-1, 3)) == -0.3333333333333333


@given(fractions)
def test_text_is_exact(exact: Fraction) -> None:
    assert price(text(exact)) == exact
    assert price(eval(source(exact))) == exact


@pytest.mark.parametrize(
    ("exact", "written"),
    [(Fraction(1), "1"), (Fraction(1, 10), "0.1"), (Fraction(1, 10**6), "1e-06"), (Fraction(1, 3), '"1/3"')],
)
def test_prices_print_as_people_write_them(exact: Fraction, written: str) -> None:
    assert source(exact) == written
