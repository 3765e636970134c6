"""Every stated sensitivity equals the largest change found by enumerating all small data sets."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tacit.auditing.sensitivity import largest_change, rows_as_units, units_of_rows
from tacit.errors import InvalidParameter
from tacit.privacy import ADD_REMOVE, L1, L2, REPLACE, LInf, Neighbours, Norm, Sensitivity
from tacit.privacy import query_sensitivity as q

NORMS = [L1, L2, LInf]
RELATIONS = [ADD_REMOVE, REPLACE]
norms = pytest.mark.parametrize("norm", NORMS, ids=str)
relations = pytest.mark.parametrize("neighbours", RELATIONS, ids=lambda relation: relation.value)
GRID = [Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1)]
BOUNDS = [(0, 1), (-2, 1), (-1, 3), (1, 4), (-4, -1), (-1, 1)]


def found(query: object, rows: list[object], sizes: object, norm: Norm, neighbours: Neighbours) -> Fraction:
    change = largest_change(query, rows_as_units(rows), sizes=sizes, norm=norm, neighbours=neighbours)  # type: ignore[arg-type]
    return change.square


@norms
@relations
def test_count(norm: Norm, neighbours: Neighbours) -> None:
    query = lambda rows: sum(row > 2 for row in rows)  # noqa: E731
    assert found(query, [1, 2, 3, 4], range(1, 4), norm, neighbours) == q.count(norm=norm, neighbours=neighbours).square


@norms
@relations
@pytest.mark.parametrize("k", [1, 2, 3])
def test_overlapping_counts(norm: Norm, neighbours: Neighbours, k: int) -> None:
    query = lambda rows: [sum(row > edge for row in rows) for edge in range(k)]  # noqa: E731
    assert (
        found(query, [0, 1, 5], range(1, 4), norm, neighbours) == q.counts(k, norm=norm, neighbours=neighbours).square
    )


@norms
@relations
def test_histogram(norm: Norm, neighbours: Neighbours) -> None:
    query = lambda rows: [rows.count(cell) for cell in "abc"]  # noqa: E731
    stated = q.histogram(norm=norm, neighbours=neighbours)
    assert found(query, list("abc"), range(1, 4), norm, neighbours) == stated.square


@relations
@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_bounded_sum_with_rows_left_out(low: int, high: int, neighbours: Neighbours) -> None:
    """None stands for a row that a filter or a null policy leaves out."""
    query = lambda rows: sum(row for row in rows if row is not None)  # noqa: E731
    rows = [None, low, Fraction(low + high, 2), high]
    stated = q.bounded_sum(low, high, neighbours=neighbours)
    assert found(query, rows, range(1, 4), L1, neighbours) == stated.square


@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_bounded_sum_of_all(low: int, high: int) -> None:
    rows = [low, Fraction(low + high, 2), high]
    assert found(sum, rows, [3], L1, REPLACE) == q.bounded_sum_of_all(low, high).square


@relations
@pytest.mark.parametrize(("low", "high"), BOUNDS)
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_bounded_sum_of_many_rows(low: int, high: int, rows: int, neighbours: Neighbours) -> None:
    units = units_of_rows([low, high], groups="x", rows=rows, most_groups=1)
    change = largest_change(
        lambda data: sum(value for _, value in data),  # type: ignore[misc]
        units, sizes=[1, 2], norm=L1, neighbours=neighbours,
    )  # fmt: skip
    assert change.square == q.bounded_sum(low, high, rows=rows, neighbours=neighbours).square


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize(("low", "high"), [(0, 1), (-2, 1)])
def test_mean_and_variances(n: int, low: int, high: int) -> None:
    rows = [low + point * (high - low) for point in GRID]
    for query, stated in (
        (mean, q.mean(low, high, n)),
        (variance, q.population_variance(low, high, n)),
        (lambda data: variance(data) * n / (n - 1), q.sample_variance(low, high, n)),
    ):
        assert found(query, rows, [n], L1, REPLACE) == stated.square


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize(("low", "high"), [(0, 1), (-2, 1)])
def test_standard_deviations(n: int, low: int, high: int) -> None:
    """Irrational, so by decimals of 60 digits: equal to the stated square to 50 of them."""
    rows = [low + point * (high - low) for point in GRID]
    for query, stated in (
        (lambda data: root(variance(data)), q.population_sd(low, high, n)),
        (lambda data: root(variance(data) * n / (n - 1)), q.sample_sd(low, high, n)),
    ):
        assert abs(found(query, rows, [n], L1, REPLACE) - stated.square) < Fraction(1, 10**50)


def mean(rows: tuple[Fraction, ...]) -> Fraction:
    return Fraction(sum(rows)) / len(rows)


def variance(rows: tuple[Fraction, ...]) -> Fraction:
    centre = mean(rows)
    return mean(tuple((row - centre) ** 2 for row in rows))


def root(square: Fraction) -> Decimal:
    exact = Context(prec=60)
    return exact.sqrt(exact.divide(Decimal(square.numerator), Decimal(square.denominator)))


@relations
def test_maximum(neighbours: Neighbours) -> None:
    query = lambda rows: max(rows, default=2)  # noqa: E731
    assert found(query, [2, 3, 7], [1, 2, 3], L1, neighbours) == q.maximum(2, 7, neighbours=neighbours).square


@norms
@relations
@pytest.mark.parametrize(("low", "high"), [(0, 1), (-1, 1), (-1, 2), (-5, 4)])
@pytest.mark.parametrize(("rows", "groups"), [(1, 1), (2, 1), (1, 2), (2, 2)])
@pytest.mark.thorough
def test_sums_by_user(low: int, high: int, rows: int, groups: int, norm: Norm, neighbours: Neighbours) -> None:
    """Units that own several rows, in twice as many groups as one of them may touch."""
    names = list(range(2 * groups))
    units = units_of_rows([low, high], groups=names, rows=rows, most_groups=groups)
    change = largest_change(
        lambda data: [sum(value for group, value in data if group == name) for name in names],  # type: ignore[misc]
        units, sizes=[1], norm=norm, neighbours=neighbours,
    )  # fmt: skip
    stated = q.user_sums(low, high, rows=rows, groups=groups, norm=norm, neighbours=neighbours)
    assert change.square == stated.square


# --- the checker itself can fail, and counts right -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "wrong"),
    [
        (sum, L1(4)),
        (lambda rows: max(rows, default=0), L1(1)),
        (lambda rows: sum(rows) / Fraction(max(len(rows), 1)), L1(2)),
    ],
)
def test_a_sensitivity_stated_too_small_is_caught(query: Callable[..., object], wrong: Sensitivity) -> None:
    change = largest_change(query, rows_as_units([0, 1, 5]), sizes=range(1, 4), norm=L1, neighbours=ADD_REMOVE)  # type: ignore[arg-type]
    assert not change.within(wrong)
    assert change.within(L1(5))


def test_a_sensitivity_in_another_norm_or_relation_is_not_compared() -> None:
    change = largest_change(sum, rows_as_units([0, 1]), sizes=[1], norm=L1, neighbours=ADD_REMOVE)  # type: ignore[arg-type]
    for stated in (L2(1), L1(1, neighbours=REPLACE)):
        with pytest.raises(InvalidParameter, match="stated"):
            change.within(stated)


@relations
def test_the_pair_shown_has_the_change_claimed(neighbours: Neighbours) -> None:
    change = largest_change(sum, rows_as_units([-3, 1, 5]), sizes=[1, 2], norm=L1, neighbours=neighbours)  # type: ignore[arg-type]
    assert (sum(change.before) - sum(change.after)) ** 2 == change.square  # type: ignore[arg-type]
    assert len(change.after) - len(change.before) == (1 if neighbours is ADD_REMOVE else 0)
    assert change.square == (25 if neighbours is ADD_REMOVE else 64)


def test_all_data_sets_are_visited() -> None:
    seen = set()

    def query(rows: tuple[object, ...]) -> int:
        seen.add(rows)
        return 0

    largest_change(query, rows_as_units("ab"), sizes=[1, 2], norm=L1, neighbours=ADD_REMOVE)
    assert seen == {(), ("a",), ("b",), ("a", "a"), ("a", "b"), ("b", "b")}


def test_units_of_rows_keeps_its_bounds() -> None:
    units = units_of_rows([1, 2], groups="abc", rows=2, most_groups=2)
    assert () in units
    assert len(units) == len(set(units)) == 1 + 3 * 5 + 3 * 25
    for unit in units:
        groups = [group for group, _ in unit]  # type: ignore[misc]
        assert len(set(groups)) <= 2
        assert all(groups.count(group) <= 2 for group in groups)


def test_no_pair_no_answer() -> None:
    with pytest.raises(InvalidParameter, match="sizes"):
        largest_change(sum, [], sizes=[1], norm=L1, neighbours=ADD_REMOVE)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="neighbours"):
        largest_change(sum, rows_as_units([1]), sizes=[1], norm=L1, neighbours="replace")  # type: ignore[arg-type]


def test_answers_may_be_numpy_numbers_and_arrays() -> None:
    for query in (lambda rows: np.array([sum(rows), 1]), lambda rows: np.float32(sum(rows)), lambda rows: [sum(rows)]):
        found = largest_change(query, rows_as_units([0, 2]), sizes=[1], norm=Norm.L1, neighbours=ADD_REMOVE)
        assert found.square == 4


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("norm", {"norm": "L1"}),  # would be taken for L∞, the smallest of the three
        ("sizes", {"sizes": [0]}),
        ("sizes", {"sizes": [-1]}),
        ("sizes", {"sizes": [1.5]}),
        ("sizes", {"sizes": []}),
        ("query", {"query": lambda rows: float("nan")}),
        ("query", {"query": lambda rows: "12"}),
        ("query", {"query": lambda rows: {"a": 1}}),
        ("query", {"query": list}),
    ],
)
def test_what_cannot_be_measured_is_refused_by_name(name: str, wrong: dict[str, Any]) -> None:
    right = {"query": sum, "units": rows_as_units([0, 2]), "sizes": [1], "norm": Norm.L1, "neighbours": ADD_REMOVE}
    with pytest.raises(InvalidParameter, match=f"^{name}: given"):
        largest_change(**{**right, **wrong})
