"""Names, roles, kinds and bounds; every refusal says what to write instead."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tacit.errors import InvalidParameter, MissingBounds, NotPrivate, TacitError, UnknownColumn
from tacit.tables.check.check import Checked, check
from tacit.tables.check.types import range_of
from tacit.tables.expressions.evaluate import evaluate_rows
from tacit.tables.expressions.intervals import Range
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Call, Case, Column, Expression, Literal
from tacit.tables.query.to_sql import to_sql
from tacit.tables.query.tree import Aggregate
from tacit.tables.sql.parse import parse
from tests.tables.trees import policy

POLICY = policy()


def checked(text: str, unit: str | None = "user_id") -> Checked:
    return check(parse(text, "visits"), policy(unit))


def one(aggregate: str) -> Aggregate:
    (found,) = checked(f"SELECT {aggregate} AS x FROM visits").query.aggregates()
    return found


def test_columns_get_the_policys_names() -> None:
    query = checked("SELECT CITY, AVG(AGE) AS a FROM VISITS WHERE Region = 'x' GROUP BY city ORDER BY City").query
    assert to_sql(query) == (
        "SELECT City AS CITY, AVG(age, contribution_bounds_per_row => (0, 120)) AS a FROM visits "
        "WHERE region = 'x' GROUP BY City ORDER BY City"
    )


def test_every_expression_has_its_kind() -> None:
    found = checked(
        "SELECT age > 3 AS old, COUNT(*) AS n, AVG(age) / 2 AS a FROM visits GROUP BY 1 HAVING COUNT(*) > 2"
    )
    query = found.query
    assert found.kinds[query.keys[0]] is Kind.BOOLEAN
    assert [found.kinds[output.expression] for output in query.outputs] == [Kind.BOOLEAN, Kind.INTEGER, Kind.REAL]
    assert query.having is not None
    assert found.kinds[query.having] is Kind.BOOLEAN


@pytest.mark.parametrize(
    ("condition", "error", "says"),
    [
        ("user_id = 'ada'", NotPrivate, "names the people"),
        ("LENGTH(user_id) > 3", NotPrivate, "names the people"),
        ("secret = 'x'", NotPrivate, "policy forbids"),
        ("cty = 'Oslo'", UnknownColumn, r"it has user_id, City, .*Did you mean City\?"),
        ('City = "Oslo"', UnknownColumn, "single quotes: 'Oslo'"),
        ("region = 3", InvalidParameter, "single quotes"),
        ("age = '3'", InvalidParameter, "numbers without"),
        ("active = 1", InvalidParameter, "TRUE or FALSE"),
        ("age", InvalidParameter, "Compare it"),
        ("day > 'yesterday'", InvalidParameter, "DATE '2024-01-31'"),
        ("day - seen > 3", InvalidParameter, "DATE_DIFF"),
        ("day + 3 > day", InvalidParameter, "INTERVAL 3 DAY"),
        ("region LIKE City", InvalidParameter, "literal pattern"),
        ("age IN (age, 2)", InvalidParameter, "list of literals"),
        ("date_trunc('fortnight', day) = day", InvalidParameter, "year, quarter"),
        ("width_bucket(age, 10, 0, 5) = 1", InvalidParameter, "low end below"),
        ("width_bucket(age, 0, 10, 0) = 1", InvalidParameter, "1 to 100000"),
        ("ROUND(score, 99) = 1", InvalidParameter, "digits"),
        ("abs(region) = 1", InvalidParameter, "given text"),
        ("abs(1, 2) = 1", InvalidParameter, "allowed: a number"),
        ("CASE WHEN age > 1 THEN 'a' ELSE 1 END = 'a'", InvalidParameter, "one kind"),
        ("hour(day) = 3", InvalidParameter, "timestamp"),
    ],
)
def test_conditions_that_cannot_be_asked(condition: str, error: type[TacitError], says: str) -> None:
    with pytest.raises(error, match=says):
        checked(f"SELECT COUNT(*) AS n FROM visits WHERE {condition}")


@pytest.mark.parametrize("counted", ["COUNT_UNITS()", "COUNT(DISTINCT user_id)", "COUNT(DISTINCT User_ID)"])
@pytest.mark.parametrize("condition", ["", " FILTER (WHERE active)"])
def test_units_are_counted_alike_however_they_are_written(counted: str, condition: str) -> None:
    query = checked(f"SELECT {counted}{condition} AS n FROM visits").query
    unit = Column("user_id")
    meant = Case(((Column("active"), unit),)) if condition else unit
    assert query.aggregates() == (Aggregate("count_units", meant),)
    assert to_sql(query) == f"SELECT COUNT(DISTINCT user_id){condition} AS n FROM visits"
    assert checked(to_sql(query)).query == query


@pytest.mark.parametrize(
    ("aggregate", "error", "says"),
    [
        ("SUM(region)", InvalidParameter, r"COUNT\(region\)"),
        ("MEDIAN(active)", InvalidParameter, r"FILTER \(WHERE active\)"),
        ("SUM(day)", InvalidParameter, "DATE_DIFF"),
        ("SUM(NULL)", InvalidParameter, "Name a column"),
        ("SUM(user_id)", NotPrivate, "names the people"),
        ("COUNT(secret)", NotPrivate, "forbids"),
        ("COUNT(DISTINCT user_id) FILTER (WHERE user_id = 'u1')", NotPrivate, "names the people"),
        ("COUNT(DISTINCT user_id) FILTER (WHERE secret = 'x')", NotPrivate, "forbids"),
        ("COUNT(DISTINCT secret)", NotPrivate, "forbids"),
        ("MEDIAN(score)", MissingBounds, "score.*bounds = "),
        ("MEDIAN(region)", InvalidParameter, r"COUNT\(region\)"),
        ("MAX(user_id)", NotPrivate, "names the people"),
        ("MODE(user_id)", NotPrivate, "names the people"),
        ("CORR(age, score)", MissingBounds, "score"),
        ("CORR(age, region)", InvalidParameter, r"COUNT\(region\)"),
        ("CORR(age, user_id)", NotPrivate, "names the people"),
        ("QUANTILE(age, 0.1234567)", InvalidParameter, "six decimals"),
        ("MEDIAN(age, interval_share => 1)", InvalidParameter, "from 0, for no interval, to 0.9"),
        ("MEDIAN(age, interval_share => -0.1)", InvalidParameter, "from 0, for no interval, to 0.9"),
        ("MEDIAN(age, interval_share => 0.1234567)", InvalidParameter, "six decimals"),
        ("AVG(age, interval_share => 0.1)", InvalidParameter, "Other intervals are free"),
        ("COUNT(*, interval_share => 0.1)", InvalidParameter, "Other intervals are free"),
        ("MODE(age, interval_share => 0.1)", InvalidParameter, "Other intervals are free"),
        ("MEDIAN(age, contribution_bounds_per_group => (0, 1))", InvalidParameter, "bounds of SUM"),
        ("AVG(score)", MissingBounds, "score.*bounds = .*contribution_bounds_per_row"),
        ("AVG(age + score)", MissingBounds, "score"),
        ("AVG(age / balance)", MissingBounds, "age / balance"),
        ("STDDEV(age, contribution_bounds_per_group => (0, 1))", InvalidParameter, "bounds of SUM"),
        ("COUNT(*, contribution_bounds_per_group => (0, 2))", NotPrivate, "at most 1 rows in a group"),
        ("COUNT(*, contribution_bounds_per_group => (-1, 1))", InvalidParameter, "at least 0"),
        ("COUNT(age, contribution_bounds_per_group => (0, 0.5))", InvalidParameter, "whole numbers"),
        ("COUNT(age, contribution_bounds_per_group => (0, 0))", InvalidParameter, "at least 1"),
    ],
)
def test_aggregates_that_cannot_be_asked(aggregate: str, error: type[TacitError], says: str) -> None:
    with pytest.raises(error, match=says):
        one(aggregate)


def test_people_cannot_be_counted_where_each_row_is_a_unit() -> None:
    with pytest.raises(NotPrivate, match=r"COUNT\(\*\)"):
        checked("SELECT COUNT_UNITS() AS n FROM visits", unit=None)
    assert checked("SELECT COUNT(DISTINCT region) AS n FROM visits", unit=None)


def test_the_unit_is_protected_whatever_its_role() -> None:
    with pytest.raises(NotPrivate, match="names the people"):
        checked("SELECT COUNT(*) AS n FROM visits WHERE region = 'x'", unit="region")


def bounds(low: object, high: object) -> tuple[Fraction, Fraction]:
    return Fraction(str(low)), Fraction(str(high))


@pytest.mark.parametrize(
    ("aggregate", "row", "group"),
    [
        ("AVG(age)", bounds(0, 120), None),
        ("SUM(spend)", bounds(0, 200), bounds(0, 500)),
        ("AVG(spend)", bounds(0, 200), None),
        ("SUM(spend) FILTER (WHERE active)", bounds(0, 200), bounds(0, 500)),
        ("SUM(spend, contribution_bounds_per_row => (0, 10))", bounds(0, 10), None),
        ("SUM(score, contribution_bounds_per_group => (0, 10))", None, bounds(0, 10)),
        ("SUM(age * 2 - 10)", bounds(-10, 230), None),
        ("AVG(-age)", bounds(-120, 0), None),
        ("AVG(balance * balance)", bounds(-2500, 2500), None),
        ("AVG(POWER(balance, 2))", bounds(0, 2500), None),
        ("AVG(ABS(balance))", bounds(0, 50), None),
        ("AVG(LEAST(GREATEST(score, 0), 7))", bounds(0, 7), None),
        ("AVG(CASE WHEN active THEN age ELSE -5 END)", bounds(-5, 120), None),
        ("AVG(COALESCE(age, 500))", bounds(0, 500), None),
        ("AVG(MONTH(day))", bounds(1, 12), None),
        ("SUM(CAST(active AS BIGINT))", bounds(0, 1), None),
        ("SUM(CAST(age > 3 AS BIGINT))", bounds(0, 1), None),
        ("AVG(age / 10)", bounds(0, 12), None),
        ("AVG(age % 7)", bounds(0, 7), None),
        ("AVG(ROUND(spend / 7, 1))", bounds(0, "28.6"), None),
        ("AVG(LENGTH(SUBSTRING(region, 1, 3)))", bounds(0, 3), None),
        ("SUM(1)", bounds(1, 1), None),
    ],
)
def test_bounds_are_found(aggregate: str, row: object, group: object) -> None:
    found = one(aggregate)
    assert (found.bounds, found.group_bounds) == (row, group)


NUMBER_COLUMNS = {"age": (0, 120), "balance": (-50, 50), "tiny": (0.5, 2)}
_UNARY = ["negative", "abs", "sign", "floor", "ceil", "round", "ln", "log10", "log2", "exp", "sqrt", "to_integer"]
_BINARY = ["+", "-", "*", "/", "//", "%", "least", "greatest", "power"]
_EITHER = ["coalesce", "nullif"]
LEAVES = st.sampled_from([Column(name) for name in NUMBER_COLUMNS]) | st.builds(
    Literal, st.integers(-4, 4) | st.floats(-3, 3).map(lambda x: round(x, 1)) | st.none()
)


ROWS = st.tuples(*(st.none() | st.floats(low, high) for low, high in NUMBER_COLUMNS.values()))


def _larger(part: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return st.one_of(
        st.builds(lambda name, x: Call(name, (x,)), st.sampled_from(_UNARY), part),
        st.builds(lambda name, x, y: Call(name, (x, y)), st.sampled_from(_BINARY), part, part),
        st.builds(lambda name, x, y: Call(name, (x, Call("+", (y, Literal(0))))), st.sampled_from(_EITHER), part, part),
        st.builds(lambda x, digits: Call("round", (x, Literal(digits))), part, st.integers(-2, 2)),
        st.builds(lambda x, y, z: Case(((Call(">", (x, y)), Call("abs", (y,))),), z), part, part, part),
        st.builds(lambda x: Call("width_bucket", (x, Literal(-1), Literal(9), Literal(4))), part),
    )


@given(
    st.recursive(LEAVES, _larger, max_leaves=8),
    st.lists(ROWS, min_size=1, max_size=5),
)
@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_value_lies_outside_its_range(tree: Expression, rows: list[tuple[float | None, ...]]) -> None:
    found = range_of(tree, lambda column: Range(*(Fraction(str(end)) for end in NUMBER_COLUMNS[column.name])))
    values = {Column(name): [row[i] for row in rows] for i, name in enumerate(NUMBER_COLUMNS)}
    if any(all(cell is None for cell in cells) for cells in values.values()):
        return  # a column of nulls alone has no kind here
    for value in evaluate_rows(tree, values, len(rows)):
        if value is None:
            continue
        assert isinstance(value, int | float)
        assert found is not None
        slack = 1e-9 * max(1.0, abs(value))
        assert found.low is None or found.low - Fraction(slack) <= value
        assert found.high is None or value <= found.high + Fraction(slack)
