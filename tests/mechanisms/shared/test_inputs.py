"""Values are read as they are: nothing is rounded on the way in, nothing moves two values further apart."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import InvalidParameter
from tacit.mechanisms.shared.inputs import Kind, exact_floats, exact_item, real_numbers, whole_numbers


def exact(value: object) -> list[Fraction]:
    """What the real mechanisms see of an array: exact numbers."""
    read = real_numbers(value)
    assert isinstance(read, np.ndarray)
    flat = read.reshape(-1)
    floats, wide = exact_floats(flat)
    assert (floats[wide] == 0).all()
    return [Fraction(exact_item(flat, i)) if i in wide else Fraction(floats[i]) for i in range(flat.size)]


EDGES = [2**52, 2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2, 2**54 + 1, 2**60 + 127, 2**63 - 1, -(2**53) - 1, -(2**63), 0, 1]


def test_integers_that_floats_cannot_hold_are_kept_exactly() -> None:
    assert exact(np.array(EDGES)) == EDGES
    assert exact(np.array(EDGES).astype(">i8")) == EDGES
    unsigned = [2**53 + 1, 2**63, 2**63 + 1, 2**64 - 1]
    assert exact(np.array(unsigned, dtype=np.uint64)) == unsigned
    assert exact(np.array(unsigned, dtype=">u8")) == unsigned


def test_integers_beside_floats_in_a_list_are_not_rounded() -> None:
    """numpy alone would turn 2**60 + 127 into 2**60 here, and 2**60 + 129 into 2**60 + 256."""
    mixed = [2**60 + 127, 0.5, 2**60 + 129, Fraction(1, 3), True, np.float32(0.25), np.int8(-3), 10**400]
    assert exact(mixed) == [2**60 + 127, Fraction(1, 2), 2**60 + 129, Fraction(1, 3), 1, Fraction(1, 4), -3, 10**400]
    assert int(np.array([2**60 + 127, 0.5])[0]) != 2**60 + 127
    assert exact([[1, 2], [3, 4.5]]) == [1, 2, 3, Fraction(9, 2)]
    assert exact([2**64, -1]) == [2**64, -1]


@given(st.lists(st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.fractions()), max_size=6))
@settings(max_examples=200, deadline=None)
def test_lists_of_numbers_are_read_exactly(values: list[float | Fraction | int]) -> None:
    assert exact(values) == [Fraction(value) for value in values]


@given(st.integers(), st.integers())
def test_whole_numbers_are_read_as_they_are(one: int, other: int) -> None:
    read = whole_numbers([one, other])
    assert isinstance(read, np.ndarray)
    assert read.dtype == object
    assert [(type(x), x) for x in read] == [(int, one), (int, other)]
    assert whole_numbers(one) == one


def test_whole_numbers_of_every_width() -> None:
    top = 2**63 - 1
    for dtype in ("i1", "<i2", ">i4", "<i8", "u1", ">u2", "?"):
        array = np.array([1, 0, 1], dtype=dtype)
        read = whole_numbers(array)
        assert isinstance(read, np.ndarray)
        assert read.dtype == np.int64
        assert read.tolist() == [1, 0, 1]
    for dtype in ("<u8", ">u8"):
        read = whole_numbers(np.array([2**63, top, 2**64 - 1, 0], dtype=dtype))
        assert isinstance(read, np.ndarray)
        assert read.dtype == np.uint64
        assert read.tolist() == [2**63, top, 2**64 - 1, 0]
    assert whole_numbers([2**63, -1]).tolist() == [2**63, -1]  # type: ignore[union-attr]
    assert whole_numbers([]).shape == (0,)  # type: ignore[union-attr]
    assert whole_numbers(np.uint64(2**64 - 1)) == 2**64 - 1
    assert whole_numbers(True) == 1


def test_floats_of_every_width_are_the_binary_numbers_they_are() -> None:
    for dtype in ("f2", "<f4", ">f4", "<f8", ">f8"):
        array = np.array([0.1, -2.5, 0], dtype=dtype)
        assert exact(array) == [Fraction(float(x)) for x in array]
    assert real_numbers(np.float32(0.1)) == float(np.float32(0.1))
    assert real_numbers(Fraction(1, 3)) == Fraction(1, 3)
    assert real_numbers(10**400) == 10**400


def test_errors_do_not_depend_on_the_size_of_whole_numbers() -> None:
    for small, large in (([1, -1], [2**63, -1]), ([1], [2**64]), ([1, 2], [10**40, 2])):
        assert whole_numbers(small).dtype == whole_numbers(large).dtype  # type: ignore[union-attr]
        assert type(real_numbers(small)) is type(real_numbers(large))


@pytest.mark.parametrize("read", [whole_numbers, real_numbers])
def test_what_masks_hide_is_not_released(read: object) -> None:
    with pytest.raises(InvalidParameter):
        read(np.ma.MaskedArray([1, 2], mask=[True, False]))  # type: ignore[operator]
    for hidden in ([np.ma.MaskedArray([1, 2], mask=[True, False])], [[[1, 2]], (np.ma.MaskedArray([[3, 4]]),)]):
        with pytest.raises(InvalidParameter):
            read(hidden)  # type: ignore[operator]


@pytest.mark.parametrize("read", [whole_numbers, real_numbers])
def test_times_and_endless_lists_are_no_numbers(read: object) -> None:
    endless: list[object] = []
    endless.append(endless)
    day = np.timedelta64(5, "D")
    for value in (day, np.timedelta64(5, "s"), np.timedelta64("NaT", "s"), [1, day], np.array([day]), endless):
        with pytest.raises(InvalidParameter, match="value: given"):
            read(value)  # type: ignore[operator]


class Frame:
    """Something with an array inside, as pandas and Arrow columns have."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return self._array


class Broken:
    """Something whose conversion fails with a text of its own."""

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        raise RuntimeError("row 7 holds 42")


@pytest.mark.parametrize("value", [Broken(), [Broken()]])
def test_what_a_failed_conversion_says_is_not_shown(value: object) -> None:
    with pytest.raises(InvalidParameter) as caught:
        real_numbers(value)
    assert "42" not in str(caught.value)
    assert caught.value.__context__ is None


def test_columns_are_read_by_their_array() -> None:
    assert exact(Frame(np.array([1.5, 2]))) == [Fraction(3, 2), 2]
    assert whole_numbers(Frame(np.array([1, 2]))).tolist() == [1, 2]  # type: ignore[union-attr]
    with pytest.raises(InvalidParameter):
        real_numbers(Frame(np.array([None, 1])))


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (np.array(["longest name of all"]), "an array of text"),
        (np.array([b"longest"]), "an array of bytes"),
        (np.zeros(3), "an array of float64"),
        (np.longdouble(1), "a longdouble"),
        (math.nan, "a value of type float"),
        ([1, "x"], "a value of type list"),
        (np.str_("abc"), "a text"),
    ],
)
def test_errors_tell_the_kind_and_nothing_of_the_value(value: object, told: str) -> None:
    assert repr(Kind(value)).replace("float128", "longdouble") == told
