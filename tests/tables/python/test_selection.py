"""What SQL says of several tables, rows per unit, sets of keys and options, Python says too: the same trees."""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import pytest

import tacit
from tacit import InvalidParameter, NotPrivate, col
from tacit.errors import TacitError
from tacit.tables.python.selection import Selection
from tacit.tables.query.refusals import NotUnderstood
from tacit.tables.query.to_sql import to_sql
from tacit.tables.query.tree import Query
from tacit.tables.sql.parse import parse

TABLES = {
    "visits": ("user_id", "City", "age", "spend", "day", "seen", "x.y"),
    "regions": ("city", "region", "people"),
    "purchases": ("customer", "city", "amount", "paid"),
    "archive": ("who", "City", "age"),
}
VISITS: Selection[Query] = Selection("visits", lambda query: query, TABLES)
REGIONS, PURCHASES, ARCHIVE = (VISITS.of_table(name) for name in ("regions", "purchases", "archive"))
COUNT = tacit.count()
PER_USER = VISITS.per("user_id").agg(total=tacit.sum("spend"))

SHAPES: list[tuple[Query, str]] = [
    # joins
    (VISITS.join("regions", on="city").group_by("region").agg(n=COUNT),
     "SELECT region, COUNT(*) AS n FROM visits JOIN regions USING (city) GROUP BY region"),
    (VISITS.join("regions", on="city", how="left").group_by("regions.region").agg(n=COUNT),
     "SELECT regions.region, COUNT(*) AS n FROM visits LEFT JOIN regions USING (city) GROUP BY 1"),
    (VISITS.join("purchases", left_on="user_id", right_on="customer").agg(COUNT, s=tacit.sum("amount")),
     "SELECT COUNT(*), SUM(amount) AS s FROM visits JOIN purchases ON user_id = customer"),
    (VISITS.join("purchases", on=(col("user_id") == col("customer")) & (col("visits.city") == col("purchases.city")))
     .where(col("purchases.city") != "Rome").group_by("visits.city").agg(n=COUNT, s=tacit.sum("amount")),
     """SELECT visits.city, COUNT(*) AS n, SUM(amount) AS s FROM visits JOIN purchases ON user_id = customer
        AND visits.city = purchases.city WHERE purchases.city <> 'Rome' GROUP BY visits.city"""),
    (VISITS.join("purchases", left_on=["user_id", "city"], right_on=["customer", "city"]).agg(n=COUNT),
     "SELECT COUNT(*) AS n FROM visits JOIN purchases ON user_id = customer AND visits.city = purchases.city"),
    (VISITS.join("regions", on="city").join("purchases", left_on="user_id", right_on="customer", name="p", how="left")
     .where("p.city = 'Rome' OR region IS NULL").agg(n=COUNT, p=tacit.mean("regions.people")),
     """SELECT COUNT(*) AS n, AVG(people) AS p FROM visits JOIN regions USING (city) LEFT JOIN purchases AS p
        ON user_id = customer WHERE p.city = 'Rome' OR region IS NULL"""),
    (VISITS.where(col("AGE") > 3).join("regions", on="city").where("region = 'north'").agg(n=COUNT),
     "SELECT COUNT(*) AS n FROM visits JOIN regions USING (city) WHERE age > 3 AND region = 'north'"),
    (VISITS.join("regions", on="city").where("people > 3").join("purchases", left_on="user_id", right_on="customer",
     how="left").where(col("paid")).agg(n=COUNT),
     """SELECT COUNT(*) AS n FROM visits JOIN regions USING (city) LEFT JOIN purchases ON user_id = customer
        WHERE people > 3 AND paid"""),
    (VISITS.join(REGIONS.where("people > 10"), on="city").group_by("region").agg(n=COUNT),
     """SELECT region, COUNT(*) AS n FROM visits JOIN (SELECT * FROM regions WHERE people > 10) AS r USING (city)
        GROUP BY region"""),
    (VISITS.with_columns(decade=col("age") // 10).join("regions", on="city").group_by("decade").agg(n=COUNT),
     """SELECT decade, COUNT(*) AS n FROM (SELECT *, age // 10 AS decade FROM visits) AS v JOIN regions USING (city)
        GROUP BY decade"""),
    (VISITS.join({"city": ["Lund", "Gent"], "country": ["Sweden", None]}, on="city").group_by("country").agg(n=COUNT),
     """SELECT country, COUNT(*) AS n FROM visits JOIN (VALUES ('Lund', 'Sweden'), ('Gent', NULL)) AS c(city, country)
        USING (city) GROUP BY country"""),
    (VISITS.join({"from": [0, 18], "until": [18, 99]}, on=(col("age") >= col("from")) & (col("age") < col("t.until")),
                 name="t").group_by("t.from").agg(n=COUNT),
     """SELECT "from", COUNT(*) AS n FROM visits JOIN (VALUES (0, 18), (18, 99)) AS t("from", until)
        ON age >= t."from" AND age < t.until GROUP BY t."from" """),
    (VISITS.join("visits", left_on="user_id", right_on="user_id", name="v").where(col("v.age") < col("visits.age"))
     .agg(n=COUNT), "SELECT COUNT(*) AS n FROM visits JOIN visits AS v ON visits.user_id = v.user_id "
     "WHERE v.age < visits.age"),
    (VISITS.join("regions", on=["city", col("age") < col("people")]).agg(n=COUNT),
     "SELECT COUNT(*) AS n FROM visits JOIN regions ON visits.city = regions.city AND age < people"),
    (VISITS.join("regions", on="city").with_columns(big=col("people") > 5).group_by("big", "city").agg(n=COUNT),
     """SELECT big, city, COUNT(*) AS n FROM (SELECT visits.city, people > 5 AS big FROM visits JOIN regions USING (city))
        GROUP BY big, city"""),
    # unions
    (VISITS.select("age", who="user_id").union(ARCHIVE.select("who", "age")).agg(p=tacit.count_distinct("who")),
     """SELECT COUNT(DISTINCT who) AS p FROM (SELECT age, user_id AS who FROM visits
        UNION ALL SELECT age, who FROM archive)"""),
    (VISITS.select("city").union(PURCHASES.select("city")).union(ARCHIVE.select("city")).group_by("city").agg(n=COUNT),
     """SELECT city, COUNT(*) AS n FROM (SELECT city FROM visits UNION ALL SELECT city FROM purchases
        UNION ALL SELECT city FROM archive) GROUP BY city"""),
    (VISITS.select(u="user_id").union(PURCHASES.where("paid").select(u="customer")).join(PER_USER, left_on="u",
     right_on="user_id").agg(m=tacit.mean("total", bounds=(0, 9))),
     """SELECT AVG(total, contribution_bounds_per_row => (0, 9)) AS m
        FROM (SELECT user_id AS u FROM visits UNION ALL SELECT customer FROM purchases WHERE paid) AS s
        JOIN (SELECT user_id, SUM(spend) AS total FROM visits GROUP BY user_id) AS t ON u = user_id"""),
    (VISITS.union("visits").agg(n=COUNT),
     "SELECT COUNT(*) AS n FROM (SELECT * FROM visits UNION ALL SELECT * FROM visits)"),
    (VISITS.where("age < 40").select(kind=tacit.lit("young"), half=tacit.lit(0.5)).union(
     ARCHIVE.select(half=tacit.lit(1.5), kind=tacit.lit("old"))).group_by("kind").agg(n=COUNT, h=tacit.sum("half")),
     """SELECT kind, COUNT(*) AS n, SUM(half) AS h FROM (SELECT 'young' AS kind, 0.5 AS half FROM visits WHERE age < 40
        UNION ALL SELECT 'old', 1.5 FROM archive) GROUP BY kind"""),
    # rows per unit
    (PER_USER.agg(m=tacit.mean("total", bounds=(0, 500))),
     """SELECT AVG(total, contribution_bounds_per_row => (0, 500)) AS m
        FROM (SELECT user_id, SUM(spend) AS total FROM visits GROUP BY user_id)"""),
    (VISITS.where("age > 3").per("user_id", "city", month=col("day").month())
     .agg(n=tacit.count(), share=tacit.sum("spend") / tacit.count("spend"), most=tacit.max("age"), d=tacit.count_distinct("day"))
     .where((col("n") > 2) & (col("most") < 50)).group_by("city", "month")
     .agg(n=COUNT, s=tacit.median("share", bounds=(0, 9)), d=tacit.sum("d", bounds=(0, 9))),
     """SELECT city, month, COUNT(*) AS n, MEDIAN(share, contribution_bounds_per_row => (0, 9)) AS s,
        SUM(d, contribution_bounds_per_row => (0, 9)) AS d FROM (SELECT user_id, city, MONTH(day) AS month, COUNT(*) AS n,
        SUM(spend) / COUNT(spend) AS share, MAX(age) AS most, COUNT(DISTINCT day) AS d FROM visits WHERE age > 3
        GROUP BY user_id, city, MONTH(day) HAVING COUNT(*) > 2 AND MAX(age) < 50) GROUP BY city, month"""),
    (VISITS.per("user_id").agg(old=tacit.count().filter(col("age") > 60), low=tacit.min("age")).agg(
        s=tacit.sum("old", bounds=(0, 3)).filter(col("low") > 1)),
     """SELECT SUM(old, contribution_bounds_per_row => (0, 3)) FILTER (WHERE low > 1) AS s FROM (SELECT user_id,
        COUNT(*) FILTER (WHERE age > 60) AS old, MIN(age) AS low FROM visits GROUP BY user_id)"""),
    (VISITS.per("user_id", "day").agg(n=tacit.count()).per("user_id").agg(most=tacit.max("n")).agg(
        m=tacit.mean("most", bounds=(0, 5))),
     """SELECT AVG(most, contribution_bounds_per_row => (0, 5)) AS m FROM (SELECT user_id, MAX(n) AS most FROM
        (SELECT user_id, day, COUNT(*) AS n FROM visits GROUP BY user_id, day) GROUP BY user_id)"""),
    (VISITS.join(PER_USER, on="user_id").group_by(rich=col("total") > 100).agg(n=COUNT),
     """SELECT total > 100 AS rich, COUNT(*) AS n FROM visits JOIN (SELECT user_id, SUM(spend) AS total FROM visits
        GROUP BY user_id) AS t USING (user_id) GROUP BY rich"""),
    (VISITS.join("regions", on="city").per("user_id", "region").agg(total=tacit.sum("visits.spend"), n=tacit.count())
     .group_by("region").agg(m=tacit.mean("total", bounds=(0, 5))),
     """SELECT region, AVG(total, contribution_bounds_per_row => (0, 5)) AS m FROM (SELECT user_id, region, SUM(spend)
        AS total, COUNT(*) AS n FROM visits JOIN regions USING (city) GROUP BY user_id, region) GROUP BY region"""),
    (PURCHASES.per("customer").agg(n=tacit.count()).agg(m=tacit.mean("n", bounds=(0, 5))),
     """SELECT AVG(n, contribution_bounds_per_row => (0, 5)) AS m
        FROM (SELECT customer, COUNT(*) AS n FROM purchases GROUP BY customer)"""),
    # row-wise subqueries
    (PURCHASES.where("amount > 3").agg(n=COUNT), "SELECT COUNT(*) AS n FROM purchases WHERE amount > 3"),
    (VISITS.with_columns(decade=col("age") // 10).where(col("decade") > 3).with_columns(twice=col("decade") * 2)
     .group_by("decade").having("n > 3").order_by("decade").agg(n=COUNT, s=tacit.sum("twice", bounds=(0, 24))),
     """WITH a AS (SELECT *, age // 10 AS decade FROM visits), b AS (SELECT *, decade * 2 AS twice FROM a WHERE decade > 3)
        SELECT decade, COUNT(*) AS n, SUM(twice, contribution_bounds_per_row => (0, 24)) AS s FROM b GROUP BY decade
        HAVING n > 3 ORDER BY decade"""),
    (VISITS.with_columns(age=col("age").clip(0, 99)).with_columns((col("age") + 1).alias("next")).agg(m=tacit.mean("next")),
     "SELECT AVG(LEAST(GREATEST(age, 0), 99) + 1) AS m FROM visits"),
    (VISITS.select(a="age", b=col("spend") * 2).select("b").agg(m=tacit.mean("b")),
     "SELECT AVG(b) AS m FROM (SELECT b FROM (SELECT age AS a, spend * 2 AS b FROM visits))"),
    # sets of keys
    (VISITS.group_by(tacit.rollup("city", (col("age") // 10).alias("decade"))).agg(n=COUNT),
     "SELECT city, age // 10 AS decade, COUNT(*) AS n FROM visits GROUP BY ROLLUP (city, age // 10)"),
    (VISITS.group_by("city", tacit.cube("age", ["day", "spend"])).agg(n=COUNT, g=col("age").grouping()),
     """SELECT city, age, day, spend, COUNT(*) AS n, GROUPING(age) AS g FROM visits
        GROUP BY city, CUBE (age, (day, spend))"""),
    (VISITS.group_by(tacit.grouping_sets(["city", "age"], "city", tacit.rollup("day"))).having("n > 1").agg(n=COUNT),
     """SELECT city, age, day, COUNT(*) AS n FROM visits
        GROUP BY GROUPING SETS ((city, age), city, ROLLUP (day)) HAVING n > 1"""),
    (VISITS.join("regions", on="city").group_by(tacit.rollup("region", "city")).agg(n=COUNT),
     "SELECT region, city, COUNT(*) AS n FROM visits JOIN regions USING (city) GROUP BY ROLLUP (region, city)"),
    # statistics
    (VISITS.agg(tacit.quantiles("age", 4), tacit.top_k("city", 2), q=tacit.quantiles("age", 2, bounds=(0, 9), interval_share=0.5),
                t=tacit.top_k("city", 2).filter(col("age") > 3), p=tacit.quantiles("age", 100)[90]),
     """SELECT APPROX_QUANTILES(age, 4), TOP_K(city, 2), APPROX_QUANTILES(age, 2, contribution_bounds_per_row => (0, 9), interval_share => 0.5)
        AS q, TOP_K(CASE WHEN age > 3 THEN city END, 2) AS t, APPROX_QUANTILES(age, 100)[OFFSET(90)] AS p FROM visits"""),
    (VISITS.agg(tacit.variance_pop("age"), tacit.stddev_pop("age"), COUNT, tacit.mean(col("age") * 2),
                c=tacit.covariance_pop("age", "spend", other_bounds=(0, 1)), k=tacit.count("age", group_bounds=(0, 1)),
                g=tacit.geometric_mean("age", bounds=(1, 3)), m=tacit.mean("age", group_bounds=(0, 3))),
     """SELECT VAR_POP(age), STDDEV_POP(age), COUNT(*), AVG(age * 2), COVAR_POP(age, spend,
        contribution_bounds_of_second => (0, 1)) AS c, COUNT(age, contribution_bounds_per_group => (0, 1)) AS k,
        GEOMEAN(age, contribution_bounds_per_row => (1, 3)) AS g, AVG(age, contribution_bounds_per_group => (0, 3)) AS m
        FROM visits"""),
    (VISITS.agg(m=tacit.mean(tacit.least(col("age"), col("spend"), 3)), c=COUNT.alias("other")),
     "SELECT AVG(LEAST(age, spend, 3)) AS m, COUNT(*) AS c FROM visits"),
    (VISITS.where(col("seen").at_time_zone("UTC").at_time_zone("Asia/Kolkata").date_trunc("hour").hour() > 3).agg(n=COUNT),
     """SELECT COUNT(*) AS n FROM visits
        WHERE HOUR(DATE_TRUNC('hour', seen AT TIME ZONE 'UTC' AT TIME ZONE 'Asia/Kolkata')) > 3"""),
    (VISITS.group_by(t=col("seen").at_time_zone("UTC").date_trunc("day", "Asia/Kolkata"), u=col("seen").date_trunc("day", "UTC"))
     .agg(n=COUNT),
     """SELECT TIMESTAMP_TRUNC(seen AT TIME ZONE 'UTC', DAY, 'Asia/Kolkata') AS t, TIMESTAMP_TRUNC(seen, DAY, 'UTC') AS u,
        COUNT(*) AS n FROM visits GROUP BY t, u"""),
    (VISITS.where(col("city").like(col("City")) | col("age").isin([col("spend"), 1])).agg(n=COUNT),
     "SELECT COUNT(*) AS n FROM visits WHERE city LIKE City OR age IN (spend, 1)"),
    (VISITS.where(col("x.y") > col("visits.age")).group_by("x.y", "visits.city").agg(n=COUNT),
     'SELECT "x.y", city, COUNT(*) AS n FROM visits WHERE "x.y" > visits.age GROUP BY 1, 2'),
    # options
    (VISITS.group_by("city").public_groups(city=["Lund", "Gent", "Lund"]).options(max_groups_contributed=2, epsilon=0.5)
     .agg(n=COUNT),
     """SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed = 2, epsilon = 0.5) city, COUNT(*) AS n FROM visits
        RIGHT OUTER JOIN UNNEST(['Lund', 'Gent']) AS city USING (city) GROUP BY city"""),
    (VISITS.group_by("city").options(delta=1e-6, max_rows_contributed=3, min_privacy_units_per_group=5,
     group_selection_strategy="laplace_threshold", privacy_unit_column="user_id").agg(n=COUNT),
     """SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(delta = 0.000001, max_rows_contributed = 3, privacy_unit_column = user_id,
        min_privacy_units_per_group = 5, group_selection_strategy = LAPLACE_THRESHOLD) city, COUNT(*) AS n FROM visits
        GROUP BY city"""),
    # released values of a join
    (VISITS.join("regions", on="city").group_by("region").having("n > 3 AND regions.region <> 'x'").having(COUNT < 9)
     .order_by(col("n").desc(), "region").limit(3).agg(n=COUNT, s=tacit.sum("people") / COUNT),
     """SELECT region, COUNT(*) AS n, SUM(people) / COUNT(*) AS s FROM visits JOIN regions USING (city) GROUP BY region
        HAVING (n > 3 AND regions.region <> 'x') AND (COUNT(*) < 9) ORDER BY n DESC, region LIMIT 3"""),
]  # fmt: skip


@pytest.mark.parametrize(("built", "sql"), SHAPES, ids=[" ".join(sql.split())[:60] for _, sql in SHAPES])
def test_the_tree_is_the_one_that_sql_builds(built: Query, sql: str) -> None:
    assert to_sql(built) == to_sql(parse(sql, "visits", TABLES))
    assert built == parse(sql, "visits", TABLES)
    assert parse(to_sql(built), "visits", TABLES) == built


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: VISITS.join("regions", on="city", how="right").agg(n=COUNT),
     "SELECT COUNT(*) AS n FROM visits RIGHT JOIN regions USING (city)"),
    (lambda: VISITS.join("regions", on="city", how="outer").agg(n=COUNT),
     "SELECT COUNT(*) AS n FROM visits FULL OUTER JOIN regions USING (city)"),
    (lambda: VISITS.join("regions", on="city", how="cross").agg(n=COUNT),
     "SELECT COUNT(*) AS n FROM visits CROSS JOIN regions"),
    (lambda: VISITS.join("regions", on="city", how="semi").agg(n=COUNT),
     "SELECT COUNT(*) AS n FROM visits SEMI JOIN regions USING (city)"),
    (lambda: VISITS.join("regions", on="city", how="anti").agg(n=COUNT),
     "SELECT COUNT(*) AS n FROM visits ANTI JOIN regions USING (city)"),
    (lambda: VISITS.join("regions").agg(n=COUNT), "SELECT COUNT(*) AS n FROM visits, regions"),
    (lambda: VISITS.join("secrets", on="city").agg(n=COUNT), "SELECT COUNT(*) AS n FROM visits JOIN secrets USING (city)"),
    (lambda: VISITS.of_table("secrets").agg(n=COUNT), "SELECT COUNT(*) AS n FROM secrets"),
    (lambda: VISITS.join("regions", on="town").agg(n=COUNT), "SELECT COUNT(*) AS n FROM visits JOIN regions USING (town)"),
    (lambda: VISITS.join("visits", on="user_id").agg(n=COUNT),
     "SELECT COUNT(*) AS n FROM visits JOIN visits USING (user_id)"),
    (lambda: VISITS.join("purchases", left_on="user_id", right_on="customer").group_by("city").agg(n=COUNT),
     "SELECT city, COUNT(*) AS n FROM visits JOIN purchases ON user_id = customer GROUP BY city"),
    (lambda: VISITS.join("purchases", left_on="user_id", right_on="customer").where("purchases.town = 3").agg(n=COUNT),
     "SELECT COUNT(*) AS n FROM visits JOIN purchases ON user_id = customer WHERE purchases.town = 3"),
    (lambda: VISITS.join("purchases", left_on="user_id", right_on="customer").where(col("purchases.town") == 3).agg(n=COUNT),
     "SELECT COUNT(*) AS n FROM visits JOIN purchases ON user_id = customer WHERE purchases.town = 3"),
    (lambda: VISITS.join("regions", on="city").where(col("town") == 3).agg(n=COUNT),
     "SELECT COUNT(*) AS n FROM visits JOIN regions USING (city) WHERE town = 3"),
    (lambda: VISITS.select("age").where("city = 'x'").agg(n=COUNT),
     "SELECT COUNT(*) AS n FROM (SELECT age FROM visits) WHERE city = 'x'"),
    (lambda: VISITS.select("age").agg(n=tacit.sum("spend")), "SELECT SUM(spend) AS n FROM (SELECT age FROM visits)"),
    (lambda: VISITS.with_columns(n=tacit.count()).agg(n=COUNT),
     "SELECT COUNT(*) AS n FROM (SELECT *, COUNT(*) AS n FROM visits)"),
    (lambda: VISITS.where(tacit.count() > 3).agg(n=COUNT), "SELECT COUNT(*) AS n FROM visits WHERE COUNT(*) > 3"),
    (lambda: VISITS.join("regions", on=tacit.count() > 3).agg(n=COUNT),
     "SELECT COUNT(*) AS n FROM visits JOIN regions ON COUNT(*) > 3"),
    (lambda: VISITS.group_by(tacit.count()).agg(n=COUNT), "SELECT COUNT(*) AS n FROM visits GROUP BY COUNT(*)"),
    (lambda: VISITS.per("user_id").agg(m=tacit.median("age")).agg(n=COUNT),
     "SELECT COUNT(*) AS n FROM (SELECT user_id, MEDIAN(age) AS m FROM visits GROUP BY user_id)"),
    (lambda: VISITS.per("user_id").agg(m=tacit.sum("age", bounds=(0, 1))).agg(n=COUNT),
     "SELECT COUNT(*) AS n FROM (SELECT user_id, SUM(age, contribution_bounds_per_row => (0, 1)) AS m FROM visits GROUP BY 1)"),
    (lambda: VISITS.per("user_id").agg(m=tacit.max("age", interval_share=0)).agg(n=COUNT),
     "SELECT COUNT(*) AS n FROM (SELECT user_id, MAX(age, interval_share => 0) AS m FROM visits GROUP BY 1)"),
    (lambda: VISITS.per("user_id").agg(m=col("age")).agg(n=COUNT),
     "SELECT COUNT(*) AS n FROM (SELECT user_id, age AS m FROM visits GROUP BY user_id)"),
    (lambda: VISITS.per("user_id").agg(user_id=tacit.count()).agg(n=COUNT),
     "SELECT COUNT(*) AS n FROM (SELECT user_id, COUNT(*) AS user_id FROM visits GROUP BY 1)"),
    (lambda: VISITS.group_by(tacit.cube(*"abcdefg")).agg(n=COUNT), "SELECT COUNT(*) FROM visits GROUP BY CUBE (a,b,c,d,e,f,g)"),
    (lambda: VISITS.group_by(tacit.grouping_sets("city", "city")).agg(n=COUNT),
     "SELECT city, COUNT(*) AS n FROM visits GROUP BY GROUPING SETS ((city), (city))"),
    (lambda: VISITS.join("regions", on="city").group_by("city").public_groups(city=["x"]).agg(n=COUNT),
     "SELECT v.city, COUNT(*) AS n FROM (SELECT * FROM visits JOIN regions USING (city)) AS v "
     "RIGHT OUTER JOIN UNNEST(['x']) AS city USING (city) GROUP BY city"),
    (lambda: VISITS.agg(g=tacit.geometric_mean("age", bounds=(0, 3))),
     "SELECT GEOMEAN(age, contribution_bounds_per_row => (0, 3)) AS g FROM visits"),
]  # fmt: skip


@pytest.mark.parametrize(("use", "sql"), REFUSED, ids=[sql[:60] for _, sql in REFUSED])
def test_what_sql_refuses_is_refused_with_the_same_words(use: Callable[[], Any], sql: str) -> None:
    with pytest.raises(TacitError) as of_sql:
        parse(sql, "visits", TABLES)
    with pytest.raises(TacitError) as of_python:
        use()
    assert type(of_python.value) is type(of_sql.value)
    assert _said(of_python.value) == _said(of_sql.value)


def _said(error: TacitError) -> object:
    """What is wrong; what to write instead may be Python or SQL."""
    return (error.given, error.allowed) if isinstance(error, NotUnderstood) else str(error)


ENDINGS = [
    "UNION SELECT 3", "UNION ALL SELECT age FROM visits", "USING SAMPLE 10 ROWS", "TABLESAMPLE (10 ROWS)", "QUALIFY age > 1",
    "WINDOW w AS ()", "FOR UPDATE", "GROUP BY city", "ORDER BY age", "LIMIT 1", "OFFSET 1", "FETCH FIRST 1 ROWS ONLY",
    "; SELECT 1", "JOIN regions USING (city)", ", regions", "AND age > (SELECT 1)", "INTO other",
]  # fmt: skip
UNWRITABLE = ["two\nlines", "a\rb", "a\u2028b", "nul\0", "\ud800"]
"""Names that the engine would have refused, or found changed, after the payment."""


@pytest.mark.parametrize(
    ("use", "says"),
    [
        (lambda: VISITS.join(3, on="city"), "public="),
        (lambda: VISITS.join("regions", on=3), "names of columns"),
        (lambda: VISITS.join("regions", on=[]), "names of columns"),
        (lambda: VISITS.join("regions", left_on="city"), "as many names"),
        (lambda: VISITS.join("regions", on="city", left_on="city", right_on="city"), "as many names"),
        (lambda: VISITS.join("regions", left_on="city", right_on="town"), "is no column of that side"),
        (lambda: VISITS.join("regions", on="city", how="sideways"), "SIDEWAYS JOIN"),
        (lambda: VISITS.join({"city": ["a"], "k": [1, 2]}, on="city"), "lists of one length"),
        (lambda: VISITS.join({}, on="city"), "lists of one length"),
        (lambda: VISITS.join(VISITS.group_by("city"), on="city"), "before it"),
        (lambda: VISITS.join(Selection("other", lambda one: one), on="city"), "a selection of other"),
        (lambda: VISITS.group_by("city").join("regions", on="city"), r"Write \.join\(…\) before it"),
        (lambda: VISITS.join("visits", on="user_id"), 'name="other"'),
        (lambda: VISITS.join("regions"), 'on="city"'),
        (lambda: VISITS.union("purchases"), "the same names of columns"),
        (lambda: VISITS.select(), "at least one"),
        (lambda: VISITS.select(col("age") + 1), "Give it one"),
        (lambda: VISITS.select("age", AGE="spend"), "two columns"),
        (lambda: VISITS.with_columns(one=1), "lit"),
        (lambda: VISITS.per("user_id", col("age") + 1), "Give it one"),
        (lambda: VISITS.per("user_id").agg(tacit.count()), "Give it one"),
        (lambda: VISITS.group_by(tacit.rollup()), "no keys"),
        (lambda: VISITS.group_by(tacit.rollup("city", 3)), "keys, or lists of keys"),
        (lambda: VISITS.group_by(tacit.rollup("city", [["age"]])), "keys, or lists of keys"),
        (lambda: VISITS.group_by(3), "a name, or an expression"),
        (lambda: VISITS.public_groups(city="Lund"), "a list of values"),
        (lambda: VISITS.public_groups(city=["a"]).public_groups(CITY=["b"]), "one list for each column"),
        (lambda: VISITS.options(group_selection_strategy="best"), "PUBLIC_GROUPS"),
        (lambda: VISITS.options(max_groups_contributed=0), "max_groups_contributed"),
        (lambda: VISITS.agg(q=tacit.quantiles("age", 200)), "at most 100"),
        (lambda: tacit.quantiles("age", 4)[5], "0 to 4"),
        (lambda: tacit.top_k("city", 3)[3], "0 to 2"),
        (lambda: tacit.top_k("city", 0), "k"),
        (lambda: tacit.count().alias(""), "a name"),
        (lambda: VISITS.join(Selection("visits", lambda one: one, VISITS.tables), on="user_id"), "the same open table"),
        (lambda: VISITS.where("age > 1").of_table("regions"), "before all of them"),
        (lambda: VISITS.where("age" == 40), r'col\("age"\) == 40'),
        (lambda: VISITS.where(None), "a condition of columns"),
        (lambda: VISITS.group_by("city").having("n" == 3), r'col\("age"\) == 40'),
        (lambda: tacit.count().filter("age" == 40), r'col\("age"\) == 40'),
        (lambda: tacit.count().filter("age > 40"), r'col\("age"\) == 40'),
        (lambda: VISITS.options(privacy_unit_column=5), "the name of a column"),
        (lambda: VISITS.join("regions", on="city", how=["left"]), "inner"),
        (lambda: VISITS.join("regions", on="city", name=5), "visible text"),
        (lambda: VISITS.join({"city": "Lund"}, on="city"), "a list of values, in order"),
        (lambda: VISITS.join({"city": {"Lund", "Gent"}}, on="city"), "a list of values, in order"),
        (lambda: VISITS.join({"city": 5}, on="city"), "a list of values, in order"),
        (lambda: VISITS.join({5: ["Lund"]}, left_on="city", right_on="x"), "visible text"),
        *((lambda name=name: VISITS.per("user_id").agg(**{name: tacit.max("age")}).agg(tacit.count(name)), "visible text") for name in UNWRITABLE),
        *((lambda name=name: VISITS.join({name: ["Lund"]}, left_on="city", right_on=name), "visible text") for name in UNWRITABLE),
        *((lambda name=name: VISITS.agg(**{name: tacit.count()}), "visible text") for name in UNWRITABLE),
        *((lambda text=text: VISITS.where(f"age > 1 {text}"), ".") for text in ENDINGS),
        *((lambda text=text: VISITS.having(f"n > 1 {text}"), ".") for text in ENDINGS),
        *((lambda text=text: VISITS.join("regions", on="city").where(f"age > 1 {text}"), ".") for text in ENDINGS),
    ],
)  # fmt: skip
def test_what_makes_no_sense_in_python_says_what_to_write(use: Callable[[], Any], says: str) -> None:
    with pytest.raises((InvalidParameter, NotPrivate), match=says):
        use()


def test_columns_that_double_at_each_step_are_refused_at_once() -> None:
    with pytest.raises(InvalidParameter, match="at most"):
        reduce(lambda rows, _: rows.with_columns(age=col("age") + col("age")), range(60), VISITS)


def test_too_many_tables_are_refused() -> None:
    def once_more(rows: Selection[Query], at: int) -> Selection[Query]:
        return rows.join("regions", left_on="visits.city", right_on="city", name=f"r{at}")

    with pytest.raises(InvalidParameter, match="more than 16 tables"):
        reduce(once_more, range(20), VISITS)


@pytest.mark.parametrize(
    "step",
    [
        lambda rows: rows.per("user_id").agg(age=tacit.max("age")),
        lambda rows: rows.per("user_id").agg(age=tacit.max("age")).union(VISITS.select("user_id", "age")),
        lambda rows: (
            VISITS.select("user_id").join(rows.select("user_id", "age"), on="user_id").select("user_id", "age")
        ),
        lambda rows: (
            rows.select("user_id", "age")
            .join(VISITS.per("user_id").agg(n=COUNT), on="user_id")
            .select("user_id", "age")
        ),
    ],
)
def test_what_is_too_deep_for_sql_is_refused_and_all_else_reads_back(
    step: Callable[[Selection[Query]], Selection[Query]],
) -> None:
    rows, refused = VISITS, ""
    for _ in range(12):
        try:
            rows = step(rows)
            built = rows.agg(n=tacit.sum("age"))
        except NotUnderstood as refusal:
            refused = str(refusal)
            break
        assert parse(to_sql(built), "visits", TABLES) == built
    assert "more than" in refused
