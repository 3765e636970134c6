"""Sensitivities are exact, know their norm and relation, and never change norm silently."""

from __future__ import annotations

import copy
import math
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InvalidParameter, NotPrivate
from tacit.privacy import ADD_REMOVE, L1, L2, REPLACE, LInf, Neighbours, Norm, Sensitivity
from tacit.privacy.sensitivity import exact_number, root_up

squares = st.fractions(min_value=Fraction(1, 10**9), max_value=10**9)


def test_a_float_is_the_binary_number_it_is() -> None:
    assert L1(0.1).value == Fraction(0.1) != Fraction(1, 10)
    assert L1("0.1").value == Fraction(1, 10) == L1(Decimal("0.1")).value
    assert L1(np.float32(0.1)).value == Fraction(float(np.float32(0.1)))
    assert L1(np.longdouble("0.1")).value == Fraction(*np.longdouble("0.1").as_integer_ratio())
    assert L1(np.int8(3)) == L1(3)


BAD = [0, -1, 0.0, math.nan, math.inf, True, None, "x", 1j, [1], np.array([1.0]), Decimal("NaN"), np.float32("inf")]


@pytest.mark.parametrize("value", BAD, ids=repr)
@pytest.mark.parametrize("norm", [L1, L2, LInf])
def test_what_is_no_distance_is_refused(norm: Norm, value: object) -> None:
    for build in (norm, norm.sqrt, lambda v: Sensitivity.of(v, norm=norm)):
        with pytest.raises(InvalidParameter) as caught:
            build(value)
        assert caught.value.given is value
    with pytest.raises(InvalidParameter, match=r"^clip: "):
        Sensitivity.of(value, norm=norm, name="clip")


def test_a_bare_number_is_in_the_mechanisms_norm() -> None:
    assert Sensitivity.of(3, norm=L2) == L2(3)
    assert Sensitivity.of(L2(3), norm=L2) == L2(3)
    kept = Sensitivity.of(L1(3, neighbours=REPLACE), norm=L1)
    assert kept.neighbours is REPLACE


@pytest.mark.parametrize(("stated", "norm"), [(L2(3), L1), (LInf(3), L2), (L1(1), L2), (LInf(1), L1)])
def test_another_norm_is_refused_with_what_to_type(stated: Sensitivity, norm: Norm) -> None:
    with pytest.raises(InvalidParameter, match=rf"given {stated!r}".replace("(", r"\(").replace(")", r"\)")) as caught:
        Sensitivity.of(stated, norm=norm)
    assert f".to({norm}, dimension=k)" in str(caught.value)


@pytest.mark.parametrize("one", [L1, L2, LInf])
@pytest.mark.parametrize("other", [L1, L2, LInf])
@given(data=st.data())
@pytest.mark.thorough
def test_norms_convert_soundly(one: Norm, other: Norm, data: st.DataObject) -> None:
    """On random vectors: if the first norm is at most v, the second is at most the converted value."""
    k = data.draw(st.integers(1, 5))
    vector = data.draw(st.lists(st.fractions(-5, 5), min_size=k, max_size=k).filter(any))
    stated = one.sqrt(squared_norm(vector, one))
    assert squared_norm(vector, other) <= stated.to(other, dimension=k).square


@pytest.mark.parametrize(
    ("one", "other", "vector"),
    [
        (L2, L1, [1, 1, 1, 1]),
        (LInf, L1, [1, 1, 1]),
        (LInf, L2, [1, -1, 1]),
        (L1, L2, [3, 0]),
        (L1, LInf, [0, 3]),
        (L2, LInf, [0, 3]),
    ],
)
def test_converted_norms_are_attained(one: Norm, other: Norm, vector: list[int]) -> None:
    exact = [Fraction(entry) for entry in vector]
    stated = one.sqrt(squared_norm(exact, one))
    assert squared_norm(exact, other) == stated.to(other, dimension=len(vector)).square


def squared_norm(vector: list[Fraction], norm: Norm) -> Fraction:
    if norm is L1:
        return sum(abs(entry) for entry in vector) ** 2  # type: ignore[return-value]
    if norm is L2:
        return sum(entry * entry for entry in vector)  # type: ignore[return-value]
    return max(abs(entry) for entry in vector) ** 2


def test_dimension_one_is_a_number_and_must_be_said() -> None:
    assert L2(3).to(L1, dimension=1) == L1(3)
    with pytest.raises(TypeError):
        L2(3).to(L1)  # type: ignore[call-arg]
    with pytest.raises(InvalidParameter, match="dimension"):
        L2(3).to(L1, dimension=0)


@given(squares)
def test_roots_are_exact_or_just_above(square: Fraction) -> None:
    root = root_up(square)
    assert root * root >= square
    assert (root * (1 - Fraction(1, 10**35))) ** 2 < square
    assert root_up(square * square) == square


def test_root_two_is_exact_as_a_square() -> None:
    assert L2.sqrt(2).square == 2
    assert not L2.sqrt(2).is_exact
    assert L2.sqrt(4) == L2(2)
    assert L2.sqrt(4).is_exact
    assert hash(L2.sqrt(4)) == hash(L2(2))


def test_built_by_hand_it_is_checked_too() -> None:
    assert Sensitivity(Norm.L1, Fraction(4)) == L1(2)
    for norm, square in ((L1, Fraction(0)), (L1, Fraction(-4)), (L1, 4), ("L1", Fraction(4))):
        with pytest.raises(InvalidParameter, match=r"^(norm|square): given"):
            Sensitivity(norm, square)  # type: ignore[arg-type]


def test_relations_are_part_of_the_value() -> None:
    assert L1(2).neighbours is ADD_REMOVE
    assert L1(2) != L1(2, neighbours=REPLACE)
    assert L1(2) != L2(2)
    assert L1(3).to_replace() == L1(6, neighbours=REPLACE)
    assert L2.sqrt(2).to_replace().square == 8
    with pytest.raises(NotPrivate):
        L1(3, neighbours=REPLACE).to_replace()
    with pytest.raises(InvalidParameter, match="neighbours"):
        L1(3, neighbours="replace")  # type: ignore[arg-type]


def test_scaling() -> None:
    assert L1(3).scaled(-2) == L1(6)
    assert L1(3).group(4) == L1(12)
    with pytest.raises(InvalidParameter, match="factor"):
        L1(3).scaled(0)
    with pytest.raises(InvalidParameter, match="k"):
        L1(3).group(0)


VALUES = [L1(3), L2.sqrt(2), LInf("0.5", neighbours=REPLACE), L1("1/3"), L2.sqrt("1/3"), L1(0.1)]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_print_copy_and_pickle(value: Sensitivity) -> None:
    names = {"L1": L1, "L2": L2, "LInf": LInf, "Neighbours": Neighbours}
    again = eval(repr(value), dict(names))
    assert again == value
    assert copy.deepcopy(value) == value
    assert pickle.loads(pickle.dumps(value)) == value
    with pytest.raises(AttributeError):
        value.square = Fraction(0)  # type: ignore[misc]


def test_exact_number_reads_data() -> None:
    assert exact_number(-0.5, "low") == Fraction(-1, 2)
    with pytest.raises(InvalidParameter, match="low"):
        exact_number(math.nan, "low")
