"""Stated sensitivities: their values and their refusals. That they are true is tests/auditing/test_sensitivity.py."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tacit.errors import InvalidParameter
from tacit.privacy import ADD_REMOVE, L1, L2, REPLACE, LInf
from tacit.privacy import query_sensitivity as q


def test_values_of_the_specification() -> None:
    assert q.count() == L1(1)
    assert q.counts(5, norm=L1) == L1(5)
    assert q.counts(5, norm=L2).square == 5
    assert q.histogram(norm=L1) == L1(1)
    assert q.histogram(norm=L1, neighbours=REPLACE) == L1(2, neighbours=REPLACE)
    assert q.histogram(norm=L2, neighbours=REPLACE).square == 2
    assert q.bounded_sum(-3, 2) == L1(3)
    assert q.bounded_sum(1, 2, neighbours=REPLACE) == L1(2, neighbours=REPLACE)
    assert q.bounded_sum(-3, 2, neighbours=REPLACE) == L1(5, neighbours=REPLACE)
    assert q.bounded_sum_of_all(1, 2) == L1(1, neighbours=REPLACE)
    assert q.mean(0, 100, 50) == L1(2, neighbours=REPLACE)
    assert q.population_sd(0, 1, 10).square == Fraction(9, 100)
    assert q.sample_sd(0, 1, 10).square == Fraction(1, 10)
    assert q.population_variance(0, 1, 10).value == Fraction(9, 100)
    assert q.sample_variance(0, 1, 10).value == Fraction(1, 10)
    assert q.maximum(2, 7) == L1(5)


def test_users_with_many_rows() -> None:
    many = {"rows": 3, "groups": 4}
    assert q.user_sums(0, 2, **many, norm=L1) == L1(24)
    assert q.user_sums(0, 2, **many, norm=L2) == L2(12)
    assert q.user_sums(0, 2, **many, norm=LInf) == LInf(6)
    assert q.user_sums(0, 2, **many, norm=L1, neighbours=REPLACE) == L1(48, neighbours=REPLACE)
    assert q.user_sums(0, 2, **many, norm=L2, neighbours=REPLACE).square == 2 * 144
    assert q.user_sums(-2, 2, **many, norm=L2, neighbours=REPLACE).square == 4 * 144
    assert q.user_sums(-2, 2, **many, norm=LInf, neighbours=REPLACE) == LInf(12, neighbours=REPLACE)


def test_bounds_that_are_floats_are_binary_numbers() -> None:
    assert q.bounded_sum(0, 0.1).value == Fraction(0.1)
    assert q.bounded_sum(0, "0.1").value == Fraction(1, 10)


@pytest.mark.parametrize("bounds", [(2, 1), (0, math.inf), (math.nan, 1), (None, 1), ("a", 1)])
def test_bad_bounds(bounds: tuple[object, object]) -> None:
    for build in (q.bounded_sum, q.bounded_sum_of_all, q.maximum, lambda low, high: q.mean(low, high, 3)):
        with pytest.raises(InvalidParameter, match=r"^(low|high): given"):
            build(*bounds)


def test_an_answer_that_cannot_move_has_no_sensitivity() -> None:
    for build in (lambda: q.bounded_sum(0, 0), lambda: q.mean(5, 5, 3), lambda: q.maximum(1, 1)):
        with pytest.raises(InvalidParameter, match="needs no noise"):
            build()
    assert q.bounded_sum(5, 5) == L1(5)


@pytest.mark.parametrize("n", [0, -1, 1.5, True])
def test_bad_sizes(n: object) -> None:
    for build in (q.mean, q.population_sd, q.sample_sd, q.population_variance, q.sample_variance):
        with pytest.raises(InvalidParameter, match=r"^n: given"):
            build(0, 1, n)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match=r"^n: given 1"):
        q.sample_sd(0, 1, 1)


def test_relations_are_checked() -> None:
    for build in (q.count, lambda neighbours: q.histogram(norm=L1, neighbours=neighbours)):
        with pytest.raises(InvalidParameter, match="neighbours"):
            build(neighbours="replace")
    assert q.count().neighbours is ADD_REMOVE
