"""Numbers for people: rounded, but never to a smaller interval or a lower price than is true."""

from __future__ import annotations

import datetime
import math
from fractions import Fraction

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tacit.report.columns import Column
from tacit.report.numbers import cell, delta, number, percent, price, with_interval

REALS = st.floats(-1e12, 1e12, allow_nan=False)
WIDTHS = st.floats(1e-6, 1e12)


def read(text: str) -> tuple[Fraction, Fraction, Fraction]:
    """Value, lower and upper end of what is shown, read as a person would."""
    plain = text.replace(" ", "")
    if "±" in plain:
        value, error = (Fraction(part) for part in plain.split("±"))
        return value, value - error, value + error
    value, rest = plain.rstrip(")").split("(")
    low, high = rest.split("to")
    return Fraction(value), Fraction(low), Fraction(high)


@given(REALS, WIDTHS, WIDTHS)
@example(41.234, 4.044, 3.746)
@example(0.0, 1.0, 1.0)
@example(999.96, 0.41, 0.41)
def test_the_interval_shown_contains_the_true_one(value: float, below: float, above: float) -> None:
    low, high = value - below, value + above
    assume(low < value < high)
    shown, shown_low, shown_high = read(with_interval(value, low, high))
    assert shown_low <= Fraction(repr(low)) or shown_low <= Fraction(low)
    assert shown_high >= Fraction(repr(high)) or shown_high >= Fraction(high)
    error = max(Fraction(high) - Fraction(value), Fraction(value) - Fraction(low))
    assert shown_low <= shown <= shown_high
    assert abs(shown - Fraction(value)) <= max(error / 10, 1)
    assert shown_high - shown_low <= Fraction(13, 5) * error + 4


@given(st.integers(-(10**14), 10**14), st.integers(0, 10**6))
def test_whole_numbers_are_shown_to_the_last_digit(value: int, error: int) -> None:
    text = with_interval(value, value - error, value + error, whole=True)
    assert text.replace(" ", "") == (f"{value}±{error}" if error else f"{value}")


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ((1003, 962, 1044, True), "1 003 ± 41"),
        ((41.2, 37.1, 45.0, False), "41.2 (37.1 to 45.0)"),
        ((41.2, 37.2, 45.3, False), "41.2 ± 4.1"),
        ((-1234567.8, -1234667.8, -1234467.8, False), "-1 234 568 ± 101"),
        ((1e-7, 0.5e-7, 1.5e-7, False), "0.000000100 ± 0.000000050"),
        ((3.0, None, 9.5, False), "3.0 (-∞ to 9.5)"),
        ((3, None, None, True), "3 (-∞ to ∞)"),
        ((5, 5, 5, True), "5"),
        ((1e300, 0.9e300, 1.1e300, False), "1.00000e+300 ± 1.00000e+299"),
    ],
)
def test_examples(given: tuple[float, float, float, bool], shown: str) -> None:
    assert with_interval(given[0], given[1], given[2], whole=given[3]) == shown


@given(st.fractions(0, 100))
@example(Fraction(1, 3))
@example(Fraction("0.1234561"))
def test_a_price_is_never_shown_as_less(exact: Fraction) -> None:
    for shown in (Fraction(price(str(exact))), Fraction(delta(str(exact)))):
        assert shown >= exact
        assert shown <= exact * Fraction(101, 100) + Fraction(1, 10**12)


@given(st.floats(0, 9))
def test_a_relative_error_is_never_shown_as_less(share: float) -> None:
    text = percent(share)
    if text != "under 0.01%":
        assert float(text.rstrip("%")) >= 100 * share - 1e-9


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "NULL"),
        ("Łódź", "Łódź"),
        ("\x1b[2J", "\\x1b[2J"),
        (True, "true"),
        (datetime.date(2026, 1, 31), "2026-01-31"),
        (datetime.datetime(2026, 1, 31, 12, 30), "2026-01-31 12:30:00"),
        (12, "12"),
        (0.25, "0.25"),
    ],
)
def test_cells_without_noise(value: object, shown: str) -> None:
    assert cell(Column.of("key", [value]), 0) == shown


def test_special_numbers() -> None:
    assert [number(value) for value in (0, -0.0, math.inf, -math.inf, 1e20, 1e-20)] == [
        "0",
        "0",
        "∞",
        "-∞",
        "1e+20",
        "1e-20",
    ]
    assert cell(Column.of("n", [float("nan")], [1], [2]), 0) == "–"
