"""Public groups that a statement lists: read in each way that they are written, typed, and counted right."""

# ruff: noqa: E501

from __future__ import annotations

import datetime
from fractions import Fraction
from pathlib import Path

import pytest

import tacit
from tacit.errors import InvalidParameter, NotPrivate, TacitError
from tacit.ledger import InMemory
from tacit.tables.check.check import Checked, check
from tacit.tables.expressions.tree import Column, Literal
from tacit.tables.query.options import ListedGroups
from tacit.tables.query.to_sql import to_sql
from tacit.tables.sql.parse import parse
from tests.tables.trees import policy

LIST = ListedGroups("City", (Literal("Oslo"), Literal("Rome")))


def checked(text: str) -> Checked:
    query = parse(text, "visits")
    assert parse(to_sql(query), "visits") == query
    found = check(query, policy())
    assert check(found.query, policy()).query == found.query
    return found


@pytest.mark.parametrize(
    "text",
    [
        "SELECT City, COUNT(*) AS n FROM visits RIGHT OUTER JOIN UNNEST(['Oslo', 'Rome']) AS City USING (City) GROUP BY City",
        "SELECT City, COUNT(*) AS n FROM visits RIGHT JOIN UNNEST(['Oslo', 'Rome', 'Oslo']) City USING (City) GROUP BY 1",
        "SELECT k AS City, COUNT(*) AS n FROM visits v RIGHT JOIN UNNEST(['Oslo', 'Rome']) AS k ON v.City = k GROUP BY k",
        "SELECT k AS City, COUNT(*) AS n FROM visits RIGHT JOIN UNNEST(['Oslo', 'Rome']) AS k ON k = visits.City GROUP BY 1",
        "SELECT City, COUNT(*) AS n FROM visits RIGHT JOIN (SELECT DISTINCT City FROM UNNEST(['Oslo', 'Rome']) AS City) "
        "USING (City) GROUP BY City",
        "SELECT z.City, COUNT(*) AS n FROM visits RIGHT JOIN (SELECT DISTINCT City FROM UNNEST(['Oslo', 'Rome']) AS City) "
        "AS z ON visits.City = z.City GROUP BY z.City",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(group_selection_strategy=PUBLIC_GROUPS) City, COUNT(*) AS n FROM visits "
        "RIGHT OUTER JOIN UNNEST(/* ['x'] */ ['Oslo', 'Rome']) AS City USING (City) GROUP BY City",
    ],
)
def test_the_ways_of_writing_a_list_mean_the_same(text: str) -> None:
    found = checked(text)
    assert found.query.options.listed == (LIST,)
    assert found.query.keys == (Column("City"),)
    assert [output.name for output in found.query.outputs] == ["City", "n"]
    assert found.key_domains == (("Oslo", "Rome"),)


@pytest.mark.parametrize(
    ("column", "written", "meant"),
    [
        ("region", "'a', 'b', 'a'", ("a", "b")),
        ("age", "1, -2, 3.0", (1, -2, 3)),
        ("score", "1, 1.0, -0.0, 0, 2.5", (1.0, 0.0, 2.5)),
        ("day", "DATE '2024-01-31', '2024-02-01'", (datetime.date(2024, 1, 31), datetime.date(2024, 2, 1))),
        ("seen", "TIMESTAMP '2024-01-31 10:00:00'", (datetime.datetime(2024, 1, 31, 10),)),
        ("active", "TRUE", (True,)),
    ],
)  # fmt: skip
def test_listed_values_are_of_the_columns_kind_and_each_once(
    column: str, written: str, meant: tuple[object, ...]
) -> None:
    join = f"RIGHT JOIN UNNEST([{written}]) AS {column} USING ({column})"
    (domain,) = checked(f"SELECT {column}, COUNT(*) AS n FROM visits {join} GROUP BY {column}").key_domains
    assert domain == meant
    assert [repr(value) for value in domain or ()] == [repr(value) for value in meant]


@pytest.mark.parametrize(
    ("join", "error", "says"),
    [
        ("RIGHT JOIN UNNEST([]) AS City USING (City)", InvalidParameter, "at least one"),
        ("RIGHT JOIN UNNEST(['a']) AS City", InvalidParameter, "ON is missing"),
        ("RIGHT JOIN UNNEST(['a']) AS City USING (region)", InvalidParameter, "the list is called City"),
        ("RIGHT JOIN UNNEST(['a']) AS k ON visits.City = visits.region", InvalidParameter, "a column of the table = k"),
        ("RIGHT JOIN UNNEST(['a']) AS k ON visits.City < k", InvalidParameter, "= is missing"),
        ("RIGHT JOIN UNNEST(['a']) AS k ON other.City = k", InvalidParameter, "visits"),
        ("RIGHT JOIN UNNEST(['a']) AS k ON upper(City) = k", InvalidParameter, "is missing"),
        ("RIGHT JOIN UNNEST([NULL]) AS City USING (City)", InvalidParameter, "never matches NULL"),
        ("RIGHT JOIN UNNEST([1]) AS City USING (City)", InvalidParameter, "quotes"),
        ("RIGHT JOIN UNNEST([1.5]) AS age USING (age)", InvalidParameter, "GROUP BY"),
        ("RIGHT JOIN UNNEST([region]) AS City USING (City)", InvalidParameter, "constants"),
        ("RIGHT JOIN UNNEST([upper('a')]) AS City USING (City)", InvalidParameter, "constants"),
        ("RIGHT JOIN UNNEST([random()]) AS City USING (City)", NotPrivate, "depend on the question"),
        ("RIGHT JOIN UNNEST([COUNT(*)]) AS City USING (City)", InvalidParameter, "not understood"),
        ("RIGHT JOIN UNNEST(['a' FROM visits]) AS City USING (City)", InvalidParameter, "not understood"),
        ("RIGHT JOIN UNNEST(['a'] || ['b']) AS City USING (City)", InvalidParameter, r"\) is missing"),
        ("RIGHT JOIN UNNEST([['a']]) AS City USING (City)", InvalidParameter, "missing"),
        ("RIGHT JOIN UNNEST((SELECT list(City) FROM visits)) AS City USING (City)", InvalidParameter, "missing"),
        ("RIGHT JOIN UNNEST([(SELECT City FROM visits LIMIT 1)]) AS City USING (City)", InvalidParameter, "missing"),
        ("RIGHT JOIN (SELECT DISTINCT City FROM visits) AS z USING (City)", InvalidParameter, "not understood"),
        ("RIGHT JOIN (SELECT DISTINCT region FROM UNNEST(['a']) AS City) USING (City)", InvalidParameter, "their name"),
        ("RIGHT JOIN (SELECT City FROM UNNEST(['a']) AS City) USING (City)", InvalidParameter, "not understood"),
        ("LEFT JOIN UNNEST(['a']) AS City USING (City)", InvalidParameter, "not understood"),
        ("JOIN UNNEST(['a']) AS City USING (City)", InvalidParameter, "not understood"),
        ("RIGHT JOIN UNNEST(['a']) AS City USING (City) RIGHT JOIN UNNEST(['b']) AS City USING (City)", InvalidParameter, "two things"),
        ("RIGHT JOIN UNNEST(['a']) AS City USING (City) RIGHT JOIN UNNEST(['b']) AS k ON visits.City = k", InvalidParameter, "one list"),
        ("RIGHT JOIN UNNEST(['u1']) AS user_id USING (user_id)", NotPrivate, "names the people"),
        ("RIGHT JOIN UNNEST(['x']) AS secret USING (secret)", NotPrivate, "forbids"),
        ("RIGHT JOIN UNNEST(['x']) AS nowhere USING (nowhere)", TacitError, "no column"),
        ("RIGHT JOIN UNNEST(['x']) AS region USING (region)", InvalidParameter, "a column of GROUP BY"),
    ],
)  # fmt: skip
def test_what_is_no_list(join: str, error: type[TacitError], says: str) -> None:
    with pytest.raises(error, match=says):
        checked(f"SELECT City, COUNT(*) AS n FROM visits {join} GROUP BY City")


def test_a_list_is_public_and_a_threshold_is_not() -> None:
    listed = "FROM visits RIGHT JOIN UNNEST(['a']) AS City USING (City) GROUP BY City"
    clause = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(group_selection_strategy=LAPLACE_THRESHOLD) City, COUNT(*) AS n"
    with pytest.raises(InvalidParameter, match="PUBLIC_GROUPS beside a list"):
        checked(f"{clause} {listed}")
    assert checked(f"{clause} FROM visits GROUP BY City").key_domains == (None,)
    assert checked("SELECT City, COUNT(*) AS n FROM visits GROUP BY City").key_domains != (None,)


def test_listed_groups_hold_what_the_rows_say(tmp_path: Path) -> None:
    """Against a count by hand: at ε 10⁶ the noise is gone, unlisted rows are left out before limits, empty groups show."""
    rows = [("a", "x"), ("a", "y"), ("b", "x"), ("c", "y"), ("c", "z"), ("c", "z"), ("d", "z"), ("e", "")]
    (tmp_path / "t.csv").write_text("u,k\n" + "\n".join(",".join(row) for row in rows) + "\n", encoding="utf-8")
    (tmp_path / "t.toml").write_text(
        'version = 1\nsource = "t.csv"\nunit = "u"\n[limits]\ngroups = 1\nrows = 2\n[budget]\nepsilon = 9000000\n'
        '[columns]\nu = { type = "text", role = "identifier" }\nk = { type = "text", role = "private" }\n',
        encoding="utf-8",
    )
    with tacit.open(tmp_path / "t.toml", ledger=InMemory()) as table:
        text = "SELECT k, COUNT(*) AS n FROM t RIGHT JOIN UNNEST(['z', 'nobody', 'z']) AS k USING (k) GROUP BY k ORDER BY k"
        answer = table.sql(text, epsilon=10**6)
        assert answer["k"].values == ("nobody", "z")
        assert answer["n"].values == (0, 3)  # c with two rows of z (z is the only group listed), d with one
        assert answer.spent.epsilon(0) == Fraction(10**6)
        with pytest.raises(NotPrivate, match="δ"):
            table.sql("SELECT k, COUNT(*) AS n FROM t GROUP BY k", epsilon=1)
