"""Outputs, HAVING, ORDER BY, LIMIT and intervals, on released values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tacit.errors import UnknownColumn
from tacit.mechanisms.shared.estimate import Estimate
from tacit.tables.expressions.evaluate import evaluate, values_of
from tacit.tables.expressions.tree import Call, Expression, Literal, Value
from tacit.tables.query.tree import Aggregate, Query
from tacit.tables.release.finish import Columns, finish
from tacit.tables.release.intervals import Interval, interval
from tacit.tables.sql.parse import parse
from tests.steps import at_most

SUM = Aggregate("sum", None)


def estimate(values: list[float], off: float = 2.0, whole: bool = True) -> Estimate:
    array = np.array(values)
    return Estimate(array, array - off, array + off, whole)


def ask(tail: str, keys: list[list[Value]], values: list[float]) -> Columns:
    query = parse(f"SELECT city, COUNT(*) AS n FROM visits GROUP BY city {tail}", "visits")
    return finish(query, keys, dict.fromkeys(query.aggregates(), estimate(values)))


def finished(text: str, values: dict[str, list[float]], keys: list[list[Value]]) -> Columns:
    """Estimates by the estimator's name."""
    query: Query = parse(text, "visits")
    return finish(query, keys, {one: estimate(values[one.estimator]) for one in query.aggregates()})


def test_groups_come_sorted_by_their_keys_with_null_last() -> None:
    columns = ask("", [["b", None, "a"]], [1.0, 2.0, 3.0])
    assert columns["city"].values == ["a", "b", None]
    assert columns["n"].values == [3, 1, 2]
    assert columns["n"].low is not None
    assert columns["n"].low.tolist() == [1.0, -1.0, 0.0]


@pytest.mark.parametrize(
    ("tail", "cities"),
    [
        ("ORDER BY n DESC", ["a", "b", "c"]),
        ("ORDER BY n", ["c", "a", "b"]),
        ("ORDER BY city DESC", ["c", "b", "a"]),
        ("HAVING n >= 5 ORDER BY city DESC", ["b", "a"]),
        ("HAVING city LIKE 'b%' OR n < 5", ["b", "c"]),
        ("ORDER BY n DESC LIMIT 1 OFFSET 1", ["b"]),
        ("LIMIT 0", []),
        ("OFFSET 2", ["c"]),
        ("ORDER BY CASE WHEN city = 'b' THEN NULL ELSE 1 END NULLS FIRST", ["b", "a", "c"]),
        ("ORDER BY NULLIF(city, 'a') DESC", ["c", "b", "a"]),
        ("HAVING NULL", []),
    ],
)
def test_having_order_limit(tail: str, cities: list[str]) -> None:
    assert ask(tail, [["c", "a", "b"]], [1.0, 5.0, 5.0])["city"].values == cities


def test_the_order_of_the_engine_is_never_seen() -> None:
    one = ask("ORDER BY n", [["c", "a", "b"]], [5.0, 5.0, 5.0])
    other = ask("ORDER BY n", [["b", "c", "a"]], [5.0, 5.0, 5.0])
    assert one["city"].values == other["city"].values == ["a", "b", "c"]


def test_keys_beyond_doubles_come_in_their_own_order_not_in_the_engines() -> None:
    """Next to each other beyond 2⁵³, they are one number in doubles: sorted by that, they would stand as they came."""
    first, second = 2**53, 2**53 + 1
    one = ask("", [[first, second, None]], [1, 2, 3])
    other = ask("", [[second, None, first]], [2, 3, 1])
    assert one["city"].values == other["city"].values == [first, second, None]
    assert one["n"].values == other["n"].values == [1, 2, 3]


def test_a_quotient_by_what_may_be_zero_has_no_ends_and_by_zero_no_value() -> None:
    text = "SELECT SUM(x) / COUNT(*) AS r FROM visits GROUP BY city"
    columns = finished(text, {"sum": [10.0, 10.0, 10.0], "count_rows": [5.0, 1.0, 0.0]}, [["a", "b", "c"]])
    ratio = columns["r"]
    assert ratio.values == [2.0, 10.0, None]
    assert ratio.low is not None
    assert ratio.high is not None
    assert ratio.low.tolist() == [8 / 7, -np.inf, -np.inf]
    assert ratio.high.tolist() == [4.0, np.inf, np.inf]


def test_keys_constants_and_conditions_have_no_interval() -> None:
    case = "CASE WHEN COUNT(*) > 3 THEN 1 ELSE 0 END"
    text = f"SELECT city, 1 AS one, COUNT(*) > 3 AS many, {case} AS c FROM visits GROUP BY 1"
    for column in finished(text, {"count_rows": [5.0]}, [["a"]]):
        assert column.low is None


def test_no_group_gives_columns_without_rows() -> None:
    assert [column.values for column in ask("", [[]], [])] == [[], []]


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(UnknownColumn, match=r"no column 'x'.*city, n"):
        ask("", [["a"]], [1.0])["x"]


def test_joint_counts_the_distinct_aggregates_of_one_output() -> None:
    query = parse("SELECT SUM(x) / COUNT(*) + COUNT(*) AS r, COUNT(*) AS n FROM visits HAVING AVG(x) > 1", "visits")
    assert query.together() == 2


LEAVES = [Aggregate("sum", None, None, None), Aggregate("mean"), Aggregate("count_rows")]
NUMBERS = st.one_of(st.integers(-5, 5), st.floats(-10, 10).map(lambda x: round(x, 2)))


def _larger(part: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    unary = ["negative", "abs", "floor", "ceil", "sqrt", "ln", "log10", "log2", "exp", "to_real", "to_integer", "round"]
    return st.one_of(
        st.builds(lambda name, x: Call(name, (x,)), st.sampled_from(unary), part),
        st.builds(
            lambda name, x, y: Call(name, (x, y)),
            st.sampled_from(["+", "-", "*", "/", "//", "least", "greatest", "power"]),
            part,
            part,
        ),
        st.builds(lambda x, digits: Call("round", (x, Literal(digits))), part, st.integers(-2, 2)),
    )  # fmt: skip


TREES = st.recursive(st.sampled_from(LEAVES) | st.builds(Literal, NUMBERS), _larger, max_leaves=6)
ENDS = st.tuples(st.floats(-20, 20), st.floats(-20, 20)).map(sorted)


@given(TREES, st.lists(ENDS, min_size=3, max_size=3), st.lists(st.floats(0, 1), min_size=3, max_size=3))
@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_interval_holds_whatever_the_truth_within_the_intervals(
    tree: Expression, ends: list[list[float]], where: list[float]
) -> None:
    """Any truth inside the aggregates' intervals gives a result inside the result's interval."""
    truth = {
        leaf: values_of([min(max(low + share * (high - low), low), high)])
        for leaf, (low, high), share in zip(LEAVES, ends, where, strict=True)
    }
    given_ends = {
        leaf: Interval(np.array([low]), np.array([high])) for leaf, (low, high) in zip(LEAVES, ends, strict=True)
    }
    result = evaluate(tree, truth.get, 1)  # type: ignore[arg-type]
    found = interval(tree, given_ends.get, 1)  # type: ignore[arg-type]
    assert found is not None
    if result.known[0]:
        low, high = found.low[0], found.high[0]
        value = float(result.data[0])
        slack = 1e-9 * max(1.0, abs(value))
        assert np.isnan(low) or low - slack <= value
        assert np.isnan(high) or value <= high + slack


def test_many_groups_take_a_few_steps_each() -> None:
    size = 10**5
    query = parse(
        "SELECT k, SUM(x) / COUNT(*) AS r FROM visits GROUP BY k HAVING COUNT(*) > 5 ORDER BY r DESC LIMIT 10", "visits"
    )
    values = {one: estimate((np.arange(size) % 97).tolist()) for one in query.aggregates()}
    with at_most(5 * size):
        columns = finish(query, [list(range(size))], values)
    assert len(columns["k"].values) == 10
