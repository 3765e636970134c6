"""Google's clause: what it says is read, in whatever way it is written, and nothing else gets in."""

# ruff: noqa: E501

from __future__ import annotations

from fractions import Fraction

import pytest

from tacit.errors import InvalidParameter, NotPrivate, TacitError
from tacit.tables.query.options import NO_OPTIONS, Options, Selecting
from tacit.tables.query.rows import Rows
from tacit.tables.query.to_sql import to_sql
from tacit.tables.sql.parse import parse, parse_condition, parse_released, states_price

TENTH = Fraction(1, 10)
ROWS = Rows(frozenset({"visits"}))


def options(written: str, rest: str = "COUNT(*) AS n FROM visits") -> Options:
    return parse(f"SELECT WITH DIFFERENTIAL_PRIVACY {written} {rest}", "visits").options


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("", NO_OPTIONS),
        ("OPTIONS()", NO_OPTIONS),
        ("OPTIONS(epsilon=0.1)", Options(epsilon=TENTH)),
        ("options ( EPSILON = .1 )", Options(epsilon=TENTH)),
        ("OPTIONS(epsilon=1e-1)", Options(epsilon=TENTH)),
        ("OPTIONS(epsilon=10E-2)", Options(epsilon=TENTH)),
        ("OPTIONS(epsilon=3.)", Options(epsilon=Fraction(3))),
        ("OPTIONS(delta=1e-10, epsilon=0.1)", Options(epsilon=TENTH, delta=Fraction(1, 10**10))),
        ("OPTIONS(delta=0, epsilon=0.1)", Options(epsilon=TENTH, delta=Fraction(0))),
        ("OPTIONS(privacy_unit_column=user_id)", Options(unit="user_id")),
        ("OPTIONS(privacy_unit_column=visits.user_id)", Options(unit="user_id")),
        ('OPTIONS(privacy_unit_column="user_id")', Options(unit="user_id")),
        ("OPTIONS(privacy_unit_column=`user_id`)", Options(unit="user_id")),
        ("OPTIONS(max_groups_contributed=2, max_rows_contributed=6)", Options(groups=2, rows=6)),
        ("OPTIONS(group_selection_strategy=PUBLIC_GROUPS)", Options(selecting=Selecting.PUBLIC)),
        ("OPTIONS(group_selection_strategy=laplace_threshold)", Options(selecting=Selecting.THRESHOLD)),
        ("OPTIONS(min_privacy_units_per_group=50)", Options(least_units=50)),
        ("OPTIONS(epsilon /* = 9 */ = -- 9\n 0.1)", Options(epsilon=TENTH)),
        ("/* OPTIONS(epsilon=9) */", NO_OPTIONS),
        ("OPTIONS(epsilon=0.1) -- WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=9)\n", Options(epsilon=TENTH)),
    ],
)
def test_what_the_clause_says_is_read(written: str, meant: Options) -> None:
    assert options(written) == meant
    again = to_sql(parse(f"SELECT WITH DIFFERENTIAL_PRIVACY {written} COUNT(*) AS n FROM visits", "visits"))
    assert parse(again, "visits").options == meant


@pytest.mark.parametrize(
    ("written", "error", "says"),
    [
        ("OPTIONS(epsilon=0.1, epsilon=0.1)", InvalidParameter, "twice"),
        ("OPTIONS(epsilon=0.1, EPSILON=9)", InvalidParameter, "twice"),
        ("OPTIONS(epsilon=0)", InvalidParameter, "above 0"),
        ("OPTIONS(epsilon=-1)", InvalidParameter, "above 0"),
        ("OPTIONS(epsilon=- 1)", InvalidParameter, "above 0"),
        ("OPTIONS(epsilon=+1)", InvalidParameter, "number"),
        ("OPTIONS(epsilon=. 5)", InvalidParameter, "number"),
        ("OPTIONS(epsilon='1')", InvalidParameter, "number"),
        ('OPTIONS(epsilon="1")', InvalidParameter, "number"),
        ("OPTIONS(epsilon=NaN)", InvalidParameter, "number"),
        ("OPTIONS(epsilon=CAST('nan' AS DOUBLE))", InvalidParameter, "names and constants"),
        ("OPTIONS(epsilon=inf)", InvalidParameter, "number"),
        ("OPTIONS(epsilon=TRUE)", InvalidParameter, "number"),
        ("OPTIONS(epsilon=NULL)", NotPrivate, "nothing is promised"),
        ("OPTIONS(epsilon=1+1)", InvalidParameter, "number"),
        ("OPTIONS(epsilon=1/0)", InvalidParameter, "number"),
        ("OPTIONS(epsilon=(1))", InvalidParameter, "constants"),
        ("OPTIONS(epsilon=(SELECT 1))", InvalidParameter, "constants"),
        ("OPTIONS(epsilon=age)", InvalidParameter, "number"),
        ("OPTIONS(epsilon=@e)", InvalidParameter, "number"),
        ("OPTIONS(epsilon=?)", InvalidParameter, "number"),
        ("OPTIONS(epsilon=1_000)", InvalidParameter, "number"),
        ("OPTIONS(epsilon=0x1F)", InvalidParameter, "number"),
        ("OPTIONS(epsilon=٣)", InvalidParameter, "number"),
        ("OPTIONS(epsilon=１)", InvalidParameter, "number"),
        ("OPTIONS(epsilon=1e999)", InvalidParameter, "finite"),
        ("OPTIONS(epsilon=1e99999999999)", InvalidParameter, "number"),
        (f"OPTIONS(epsilon={'9' * 500})", InvalidParameter, "number"),
        ("OPTIONS(epsilon)", InvalidParameter, "name = value"),
        ("OPTIONS(epsilon=)", InvalidParameter, "name = value"),
        ("OPTIONS(=1)", InvalidParameter, "name = value"),
        ("OPTIONS(epsilon=>1)", InvalidParameter, "name = value"),
        ("OPTIONS(epsilon:=1)", InvalidParameter, "name = value"),
        ("OPTIONS('epsilon'=1)", InvalidParameter, "name = value"),
        ("OPTIONS(epsilon=1,)", InvalidParameter, "empty place"),
        ("OPTIONS(,epsilon=1)", InvalidParameter, "empty place"),
        ("OPTIONS(epsilon=1 delta=1)", InvalidParameter, "number"),
        ("OPTIONS(epsilon=1; delta=0)", InvalidParameter, "number"),
        ("OPTIONS(delta=1)", InvalidParameter, "not including, 1"),
        ("OPTIONS(delta=2)", InvalidParameter, "not including, 1"),
        ("OPTIONS(delta=-0.1)", InvalidParameter, "number"),
        ("OPTIONS(max_groups_contributed=0)", InvalidParameter, "from 1 on"),
        ("OPTIONS(max_groups_contributed=1.0)", InvalidParameter, "from 1 on"),
        ("OPTIONS(max_groups_contributed=1e2)", InvalidParameter, "from 1 on"),
        ("OPTIONS(max_groups_contributed=NULL)", NotPrivate, "nothing is promised"),
        ("OPTIONS(max_rows_contributed=NULL)", NotPrivate, "nothing is promised"),
        ("OPTIONS(max_rows_contributed=99999999999999999999)", InvalidParameter, "from 1 on"),
        ("OPTIONS(min_privacy_units_per_group=0)", InvalidParameter, "from 1 on"),
        ("OPTIONS(privacy_unit_column='user_id')", InvalidParameter, "name of a column"),
        ("OPTIONS(privacy_unit_column=1)", InvalidParameter, "name of a column"),
        ("OPTIONS(privacy_unit_column=a.b.c)", InvalidParameter, "table and a column"),
        ("OPTIONS(privacy_unit_column=other.user_id)", InvalidParameter, "visits"),
        ("OPTIONS(privacy_unit_column=user_id.)", InvalidParameter, "name of a column"),
        ("OPTIONS(privacy_unit_column=user_id || 'x')", InvalidParameter, "name of a column"),
        ("OPTIONS(group_selection_strategy='PUBLIC_GROUPS')", InvalidParameter, "LAPLACE_THRESHOLD or PUBLIC_GROUPS"),
        ("OPTIONS(group_selection_strategy=NONE)", InvalidParameter, "LAPLACE_THRESHOLD or PUBLIC_GROUPS"),
        ("OPTIONS(group_selection_strategy=NULL)", InvalidParameter, "LAPLACE_THRESHOLD or PUBLIC_GROUPS"),
        ("OPTIONS(kappa=2)", InvalidParameter, "max_groups_contributed"),
        ("OPTIONS(k_threshold=2)", InvalidParameter, "epsilon and delta"),
        ("OPTIONS(noise=0)", InvalidParameter, "The options are: epsilon"),
        ("OPTIONS(еpsilon=9)", InvalidParameter, "The options are: epsilon"),
        ("OPTIONS(epsilon\u200b=9)", InvalidParameter, "option"),
        ("OPTIONS epsilon=1", InvalidParameter, "brackets"),
        ("OPTIONS[epsilon=1]", InvalidParameter, "brackets"),
        ("OPTIONS(epsilon=1", InvalidParameter, "OPTIONS"),
        ("OPTIONS(epsilon=1) OPTIONS(epsilon=2)", InvalidParameter, "cannot be read|not understood"),
        ("OPTIONS(epsilon=1) WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=2)", InvalidParameter, "cannot be read"),
    ],
)  # fmt: skip
def test_what_the_clause_cannot_say(written: str, error: type[TacitError], says: str) -> None:
    with pytest.raises(error, match=says):
        options(written)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM visits WHERE age IN (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=9) age FROM visits)",
        "SELECT COUNT(*) FROM (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=9) age FROM visits)",
        "SELECT COUNT(*) FROM visits UNION ALL SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=9) COUNT(*) FROM visits",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) COUNT(*) FROM visits UNION ALL "
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=9) COUNT(*) FROM visits",
        "WITH x AS (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=9) age FROM visits) SELECT COUNT(*) FROM x",
        "SELECT COUNT(*) FROM visits WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=9)",
        "SELECT WITH ANONYMIZATION OPTIONS(epsilon=9) COUNT(*) FROM visits",
        "SELECT DISTINCT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=9) COUNT(*) FROM visits",
        "SELECT (WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=9)) COUNT(*) FROM visits",
        'SELECT WITH "DIFFERENTIAL_PRIVACY" OPTIONS(epsilon=9) COUNT(*) FROM visits',
        "SELECT WITH 'DIFFERENTIAL_PRIVACY' OPTIONS(epsilon=9) COUNT(*) FROM visits",
        "SELECT WITH AGGREGATION_THRESHOLD OPTIONS(threshold=1) COUNT(*) FROM visits",
    ],
)
def test_the_clause_stands_behind_the_outermost_select_only(text: str) -> None:
    with pytest.raises((InvalidParameter, NotPrivate)):
        parse(text, "visits")


def test_words_of_the_clause_in_texts_and_names_are_none() -> None:
    text = "SELECT COUNT(*) AS n FROM visits WHERE City = 'SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=9)'"
    assert parse(text, "visits").options == NO_OPTIONS
    text = 'SELECT COUNT(*) AS "WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=9)" FROM visits'
    assert parse(text, "visits").options == NO_OPTIONS


def test_fragments_of_statements_have_no_clause() -> None:
    clause = "WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=9)"
    for text in (f"age > 3 {clause}", f"SELECT {clause} age", f"age > (SELECT {clause} 1)"):
        with pytest.raises((InvalidParameter, NotPrivate)):
            parse_condition(text, "visits", ROWS)
        with pytest.raises((InvalidParameter, NotPrivate)):
            parse_released(text, "visits", ROWS)


def test_a_statement_says_whether_it_has_a_price() -> None:
    assert states_price("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) COUNT(*) FROM visits")
    assert not states_price("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(delta=0.1) COUNT(*) FROM visits")
    assert not states_price("SELECT COUNT(*) FROM visits")
