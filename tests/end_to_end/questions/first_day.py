"""What analysts ask on their first day, 105 in SQL and 28 in Python: rebuilt from a description of such a day.

A table of people (each row is one, made up, with the columns of Adult) and one of visits (people with many each), with
texts as people type them. What is refused says why, and what its hint says to write is asked too.
"""

# ruff: noqa: E501

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tacit
from tacit import col
from tacit.tables.session.table import Table

__all__ = ["BUILT", "IN_SQL", "Asked", "Built", "open_tables"]

POLICY = """\
version = 1
source = "{name}.csv"
unit = "{unit}"
{limits}
[budget]
epsilon = 5000
least = {{ epsilon = 1e-3 }}
delta = 1e-3
question_delta = 1e-8
[columns]
"""
PEOPLE = """\
age = { type = "integer", role = "private", bounds = [17, 90] }
workclass = { type = "text", role = "private" }
education = { type = "text", role = "private" }
years = { type = "integer", role = "private", bounds = [1, 16] }
sex = { type = "text", role = "public", keys = ["Female", "Male"] }
gain = { type = "integer", role = "private", bounds = [0, 20000] }
loss = { type = "integer", role = "private", bounds = [0, 3000] }
hours = { type = "integer", role = "private", bounds = [0, 80] }
income = { type = "text", role = "public", keys = ["<=50K", ">50K"] }
"""
VISITS = """\
user_id = { type = "text", role = "identifier" }
day = { type = "date", role = "private" }
at = { type = "timestamp", role = "private" }
city = { type = "text", role = "private" }
plan = { type = "text", role = "public", keys = ["free", "pro"] }
spend = { type = "real", role = "private", bounds = [0, 100] }
code = { type = "text", role = "private" }
noted = { type = "text", role = "private" }
"""


def open_tables(folder: Path) -> dict[str, Table]:
    """Both tables, with ledgers that forget."""
    chance, made = random.Random(20), {}
    schools = ("HS-grad", "Bachelors", "Masters", "Some-college")
    people = [
        f"{chance.randint(17, 90)},{chance.choice(('Private', ' private', 'Local-gov', ''))},{chance.choice(schools)},{chance.randint(1, 16)},"
        f"{chance.choice(('Female', 'Male'))},{chance.choice((0, 0, 0, 5000))},{chance.choice((0, 0, 900))},{chance.randint(5, 80)},{chance.choice(('<=50K', '<=50K', '>50K'))}"
        for _ in range(900)
    ]
    visits = []
    for _ in range(1500):
        month, day, hour = chance.randint(1, 12), chance.randint(1, 28), chance.randint(0, 23)
        when = f"2026-{month:02}-{day:02}"
        city = chance.choice(("Lund", " lund", "LUND", "Oslo", "Gent (BE)"))
        visits.append(
            f"u{chance.randint(0, 400)},{when},{when} {hour:02}:30:00,{city},{chance.choice(('free', 'pro'))},{chance.randint(0, 100)},"
            f"{chance.choice(('AB', 'CD'))}-{chance.randint(100, 999)}-{chance.choice('xyz')},{day:02}/{month:02}/2026"
        )
    for name, unit, limits, head, columns, rows in (
        ("people", "row", "", "age,workclass,education,years,sex,gain,loss,hours,income", PEOPLE, people),
        (
            "visits",
            "user_id",
            "[limits]\ngroups = 4\nrows = 6",
            "user_id,day,at,city,plan,spend,code,noted",
            VISITS,
            visits,
        ),
    ):
        (folder / f"{name}.csv").write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
        policy = POLICY.format(name=name, unit=unit, limits=limits) + columns
        (folder / f"{name}.toml").write_text(policy, encoding="utf-8")
        made[name] = tacit.open(folder / f"{name}.toml", analyst="ada", ledger=tacit.InMemory())
    return made


@dataclass(frozen=True)
class Asked:
    """A statement; ``refused`` is the reason that must be given, and ``instead`` what its hint says to write."""

    sql: str
    refused: str = ""
    instead: str = ""
    is_whole: bool = False
    """Whether the hint has that statement word for word."""

    @property
    def table(self) -> str:
        return "visits" if "visits" in self.sql else "people"


MONTHLY = "WITH m AS (SELECT DATE_TRUNC('month', day) AS month, COUNT(*) AS n FROM visits GROUP BY 1)"
BY_SCHOOL = "SELECT education, COUNT(*) AS n, AVG(hours) AS h FROM people GROUP BY education"

IN_SQL = (
    # groups
    Asked("SELECT COUNT(*) FROM people"),
    Asked("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"),
    Asked("SELECT education, COUNT(*) AS n FROM people GROUP BY education ORDER BY n DESC"),
    Asked("SELECT sex, income, COUNT(*) AS n FROM people GROUP BY sex, income"),
    Asked("SELECT sex, AVG(age) AS age, AVG(hours) AS hours FROM people GROUP BY sex"),
    Asked("SELECT age // 10 * 10 AS decade, COUNT(*) AS n FROM people GROUP BY decade ORDER BY decade"),
    Asked("SELECT education, MEDIAN(hours) AS h FROM people GROUP BY education HAVING COUNT(*) > 50"),
    Asked(
        "SELECT CASE WHEN age < 30 THEN 'young' WHEN age < 60 THEN 'middle' ELSE 'old' END AS g, COUNT(*) AS n FROM people GROUP BY g"
    ),
    Asked("SELECT sex, income, COUNT(*) AS n FROM people GROUP BY ROLLUP (sex, income)"),
    Asked("SELECT MIN(age) AS youngest, MAX(age) AS oldest FROM people"),
    Asked("SELECT STDDEV(hours) AS s, VARIANCE(hours) AS v FROM people"),
    Asked("SELECT CORR(age, hours) AS r FROM people"),
    Asked("SELECT MODE(income) AS m FROM people"),
    Asked("SELECT APPROX_COUNT_DISTINCT(education) AS k FROM people"),
    Asked("SELECT COUNT(DISTINCT education) AS k FROM people"),
    Asked("SELECT WIDTH_BUCKET(hours, 0, 80, 8) AS bucket, COUNT(*) AS n FROM people GROUP BY 1"),
    Asked("SELECT HISTOGRAM(hours, 0, 20, 40, 60) AS h FROM people"),
    Asked("SELECT sex, HISTOGRAM(age, 20, 40, 60) AS h FROM people GROUP BY sex"),
    Asked("SELECT city, COUNT(DISTINCT user_id) AS people FROM visits GROUP BY city"),
    Asked("SELECT plan, SUM(spend) AS revenue, COUNT(*) AS n FROM visits GROUP BY plan"),
    # ratios and conditions
    Asked("SELECT AVG(income = '>50K') AS share FROM people"),
    Asked("SELECT education, AVG(income = '>50K') AS share FROM people GROUP BY education ORDER BY share DESC"),
    Asked("SELECT COUNT_IF(age >= 65) AS old FROM people"),
    Asked("SELECT COUNTIF(hours > 40) / COUNT(*) AS share FROM people"),
    Asked("SELECT SUM(CASE WHEN sex = 'Female' THEN 1 ELSE 0 END) * 100.0 / COUNT(*) AS percent FROM people"),
    Asked("SELECT COUNT(*) FILTER (WHERE income = '>50K') / COUNT(*) AS share FROM people"),
    Asked("SELECT SUM(gain) - SUM(loss) AS net FROM people"),
    Asked("SELECT SUM(gain) / NULLIF(SUM(hours), 0) AS per_hour FROM people"),
    Asked(
        "SELECT AVG(hours) FILTER (WHERE sex = 'Male') - AVG(hours) FILTER (WHERE sex = 'Female') AS gap FROM people"
    ),
    Asked("SELECT SUM(spend) / COUNT(DISTINCT user_id) AS each FROM visits"),
    Asked("SELECT plan, SUM(spend > 50) AS dear, AVG(spend > 50) AS share FROM visits GROUP BY plan"),
    Asked("SELECT IF(age > 40, 'old', 'young') AS g, COUNT(*) AS n FROM people GROUP BY 1"),
    # dates
    Asked("SELECT DATE_TRUNC('month', day) AS month, COUNT(*) AS n FROM visits GROUP BY 1 ORDER BY 1"),
    Asked("SELECT STRFTIME(day, '%Y-%m') AS month, COUNT(*) AS n FROM visits GROUP BY 1 ORDER BY 1"),
    Asked("SELECT FORMAT_DATE('%Y-%m', day) AS month, COUNT(*) AS n FROM visits GROUP BY 1"),
    Asked("SELECT DAYNAME(day) AS weekday, COUNT(*) AS n FROM visits GROUP BY weekday"),
    Asked("SELECT MONTHNAME(day) AS m, SUM(spend) AS s FROM visits GROUP BY m"),
    Asked("SELECT ISOWEEK(day) AS w, COUNT(*) AS n FROM visits GROUP BY w ORDER BY w LIMIT 10"),
    Asked(
        "SELECT EXTRACT(ISOYEAR FROM day) AS y, EXTRACT(ISOWEEK FROM day) AS w, COUNT(*) AS n FROM visits GROUP BY 1, 2"
    ),
    Asked("SELECT HOUR(at) AS h, COUNT(*) AS n FROM visits GROUP BY h"),
    Asked("SELECT HOUR(at AT TIME ZONE 'Europe/Copenhagen') AS h, COUNT(*) AS n FROM visits GROUP BY h"),
    Asked("SELECT MIN(day) AS first, MAX(day) AS last FROM visits"),
    Asked("SELECT plan, MEDIAN(day) AS middle FROM visits GROUP BY plan"),
    Asked("SELECT COUNT(*) AS n FROM visits WHERE day BETWEEN '2026-03-01' AND '2026-03-31'"),
    Asked("SELECT COUNT(*) AS n FROM visits WHERE day >= DATE '2026-12-31' - INTERVAL 90 DAY"),
    Asked("SELECT COUNT(*) AS n FROM visits WHERE DATE_DIFF('day', day, DATE '2026-12-31') < 30"),
    Asked(
        "SELECT CAST(STRPTIME(noted, '%d/%m/%Y') AS DATE) >= '2026-07-01' AS second_half, COUNT(*) AS n FROM visits GROUP BY 1"
    ),
    Asked("SELECT PARSE_DATE('%d/%m/%Y', noted) = day AS same, COUNT(*) AS n FROM visits GROUP BY 1"),
    Asked("SELECT QUARTER(day) AS q, SUM(spend) AS s FROM visits GROUP BY q"),
    Asked("SELECT ISODOW(day) >= 6 AS weekend, AVG(spend) AS s FROM visits GROUP BY 1"),
    # clean-up of texts
    Asked("SELECT LOWER(TRIM(city)) AS city, COUNT(*) AS n FROM visits GROUP BY 1"),
    Asked("SELECT REPLACE(city, ' (BE)', '') AS city, COUNT(*) AS n FROM visits GROUP BY 1"),
    Asked("SELECT SPLIT_PART(code, '-', 1) AS prefix, COUNT(*) AS n FROM visits GROUP BY prefix"),
    Asked("SELECT SPLIT_PART(code, '-', -1) AS suffix, COUNT(*) AS n FROM visits GROUP BY suffix"),
    Asked("SELECT REGEXP_EXTRACT(code, '^([A-Z]+)-', 1) AS prefix, COUNT(*) AS n FROM visits GROUP BY prefix"),
    Asked("SELECT COUNT(*) AS n FROM visits WHERE REGEXP_MATCHES(code, '^[A-Z]{2}-[0-9]{3}-[xyz]$')"),
    Asked("SELECT REGEXP_CONTAINS(city, '[Ll]und') AS lund, COUNT(*) AS n FROM visits GROUP BY 1"),
    Asked("SELECT COUNT(*) AS n FROM visits WHERE POSITION('(' IN city) > 0"),
    Asked("SELECT UPPER(LEFT(city, 2)) AS c, COUNT(*) AS n FROM visits GROUP BY 1"),
    Asked("SELECT RIGHT(code, 1) AS c, COUNT(*) AS n FROM visits GROUP BY 1"),
    Asked("SELECT CAST(SPLIT_PART(code, '-', 2) AS BIGINT) >= 500 AS high, COUNT(*) AS n FROM visits GROUP BY 1"),
    Asked("SELECT COALESCE(NULLIF(TRIM(workclass), ''), 'unknown') AS w, COUNT(*) AS n FROM people GROUP BY 1"),
    Asked("SELECT COUNT(*) AS n FROM people WHERE workclass ILIKE '%gov'"),
    Asked("SELECT LENGTH(city) AS l, COUNT(*) AS n FROM visits GROUP BY 1"),
    # cohorts
    Asked(
        "SELECT COUNT(DISTINCT user_id) AS n FROM visits WHERE user_id IN (SELECT user_id FROM visits WHERE plan = 'pro')"
    ),
    Asked(
        "SELECT COUNT(DISTINCT user_id) AS n FROM visits WHERE user_id NOT IN (SELECT user_id FROM visits WHERE plan = 'pro')"
    ),
    Asked(
        "SELECT plan, COUNT(*) AS n FROM visits v WHERE EXISTS (SELECT 1 FROM visits w WHERE w.user_id = v.user_id AND w.spend > 90) GROUP BY plan"
    ),
    Asked(
        "SELECT COUNT(*) AS n FROM visits WHERE user_id IN (SELECT user_id FROM visits GROUP BY user_id HAVING COUNT(*) >= 5)"
    ),
    Asked(
        "SELECT AVG(n, contribution_bounds_per_row => (0, 20)) AS visits_each FROM (SELECT user_id, COUNT(*) AS n FROM visits GROUP BY user_id)"
    ),
    Asked(
        "SELECT n, COUNT(*) AS people FROM (SELECT user_id, LEAST(COUNT(*), 6) AS n FROM visits GROUP BY user_id) GROUP BY n ORDER BY n"
    ),
    Asked(
        "SELECT MONTH(first) AS cohort, COUNT(*) AS people FROM (SELECT user_id, MIN(day) AS first FROM visits GROUP BY user_id) GROUP BY cohort"
    ),
    Asked("SELECT COUNT(DISTINCT user_id) FILTER (WHERE spend > 80) AS big FROM visits"),
    Asked(
        "SELECT total > 200 AS big, COUNT(*) AS people FROM (SELECT user_id, SUM(spend) AS total FROM visits GROUP BY user_id) GROUP BY 1"
    ),
    Asked("SELECT COUNT(*) AS pairs FROM visits a JOIN visits b ON a.user_id = b.user_id AND b.day > a.day"),
    # around an answer
    Asked(
        "SELECT sex, n, n * 100.0 / SUM(n) OVER () AS percent FROM (SELECT sex, COUNT(*) AS n FROM people GROUP BY sex)"
    ),
    Asked(
        "SELECT education, COUNT(*) AS n, COUNT(*) * 1.0 / SUM(COUNT(*)) OVER () AS share FROM people GROUP BY education"
    ),
    Asked(
        "SELECT education, RANK() OVER (ORDER BY COUNT(*) DESC) AS place, COUNT(*) AS n FROM people GROUP BY education"
    ),
    Asked(f"{MONTHLY} SELECT month, n, n - LAG(n) OVER (ORDER BY month) AS change FROM m"),
    Asked(f"{MONTHLY} SELECT month, n / LAG(n) OVER (ORDER BY month) - 1 AS growth FROM m"),
    Asked(
        f"{MONTHLY} SELECT month, AVG(n) OVER (ORDER BY month ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS moving FROM m"
    ),
    Asked(f"{MONTHLY} SELECT month, SUM(n) OVER (ORDER BY month) AS so_far FROM m"),
    Asked(f"{MONTHLY} SELECT * FROM m WHERE n > 100 ORDER BY n DESC LIMIT 3"),
    Asked(f"{MONTHLY} SELECT AVG(n) AS per_month, MAX(n) AS best FROM m"),
    Asked(f"SELECT * FROM ({BY_SCHOOL}) WHERE n > 100 ORDER BY h DESC"),
    Asked(f"SELECT education, h * n AS hours FROM ({BY_SCHOOL}) ORDER BY hours DESC LIMIT 2"),
    Asked(
        "SELECT sex, income, n, n / SUM(n) OVER (PARTITION BY sex) AS share FROM (SELECT sex, income, COUNT(*) AS n FROM people GROUP BY sex, income)"
    ),
    Asked(
        "SELECT city, n FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY city) QUALIFY ROW_NUMBER() OVER (ORDER BY n DESC) <= 2"
    ),
    Asked(
        "SELECT plan, SUM(n) AS n FROM (SELECT plan, city, COUNT(*) AS n FROM visits GROUP BY plan, city) GROUP BY plan"
    ),
    Asked(
        "SELECT DENSE_RANK() OVER (ORDER BY SUM(spend) DESC) AS place, plan, SUM(spend) AS s FROM visits GROUP BY plan"
    ),
    Asked(
        "WITH big AS (SELECT user_id, city, spend FROM visits WHERE spend > 20), g AS (SELECT city, COUNT(*) AS n FROM big GROUP BY city) SELECT city, n, NTILE(2) OVER (ORDER BY n) AS half FROM g"
    ),
    # refused, and what the hint says
    Asked(
        "SELECT * FROM people LIMIT 10",
        "rows are never shown",
        "SELECT COUNT(*) AS n, AVG(age) AS age, sex FROM people GROUP BY sex",
    ),
    Asked(
        "SELECT user_id, SUM(spend) AS s FROM visits GROUP BY user_id ORDER BY s DESC LIMIT 10",
        "names the people who are protected",
        "SELECT COUNT(DISTINCT user_id) AS n FROM visits",
        is_whole=True,
    ),
    Asked(
        "SELECT AVG(spend) FROM visits WHERE user_id = 'u1'",
        "names the people who are protected",
        "SELECT COUNT(DISTINCT user_id) AS n FROM visits",
        is_whole=True,
    ),
    Asked("SELECT DISTINCT city FROM visits", "Write GROUP BY", "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"),
    Asked("SELECT SUM(DISTINCT hours) FROM people", "of every row", "SELECT SUM(hours) AS s FROM people"),
    Asked(
        "SELECT age - AVG(age) OVER (PARTITION BY sex) AS d FROM people",
        "looks at single rows",
        "SELECT sex, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS place FROM people GROUP BY sex",
    ),
    Asked(
        "SELECT STRING_AGG(city, ', ') AS all_of_them FROM visits",
        "it shows what single rows hold",
        "SELECT city, COUNT(*) AS n FROM visits GROUP BY city",
        is_whole=True,
    ),
    Asked(
        "SELECT COUNT(*) FROM visits WHERE day > CURRENT_DATE - INTERVAL 30 DAY",
        "the question and the data alone",
        "SELECT COUNT(*) AS n FROM visits WHERE day > DATE '2026-12-31' - INTERVAL 30 DAY",
    ),
    Asked(
        "SELECT COUNT(*) FROM people WHERE hours > (SELECT AVG(hours) FROM people)",
        "write the condition itself",
        "SELECT COUNT(*) AS n FROM people WHERE hours > 40",
    ),
    Asked("DESCRIBE people", "tacit describe", "tacit describe people.toml"),
    Asked(
        "SELECT HISTOGRAM(hours) AS h FROM people",
        "public edges",
        "SELECT HISTOGRAM(hours, 0, 20, 40) AS h FROM people",
    ),
    Asked(
        "SELECT city FROM visits WHERE city ~ '^L'",
        "REGEXP_MATCHES",
        "SELECT COUNT(*) AS n FROM visits WHERE REGEXP_MATCHES(city, '^L')",
    ),
    Asked(
        "SELECT TO_CHAR(day, 'YYYY-MM') AS m, COUNT(*) AS n FROM visits GROUP BY 1",
        "STRFTIME(d, '%Y-%m')",
        "SELECT STRFTIME(day, '%Y-%m') AS m, COUNT(*) AS n FROM visits GROUP BY 1",
    ),
    Asked("SELECT MAX(at) AS last FROM visits", "AS DATE", "SELECT MAX(CAST(at AS DATE)) AS last FROM visits"),
    Asked(
        "SELECT a.city FROM visits a CROSS JOIN visits b",
        "FROM visits a JOIN visits b USING (user_id)",
        "SELECT a.city, COUNT(*) AS n FROM visits a JOIN visits b USING (user_id) GROUP BY a.city",
    ),
)


@dataclass(frozen=True)
class Built:
    """A question in Python, by its words; ``refused`` is the reason that must be given."""

    words: str
    build: Callable[[Table, Table], Any]
    refused: str = ""
    instead: Callable[[Table, Table], Any] | None = None


def _monthly(visits: Table) -> Any:
    return visits.group_by(month=col("day").date_trunc("month")).agg(n=tacit.count(), s=tacit.sum("spend"))


BUILT = (
    Built("how many", lambda people, visits: people.agg(n=tacit.count())),
    Built("by sex", lambda people, visits: people.group_by("sex").agg(n=tacit.count(), h=tacit.mean("hours"))),
    Built("of the old", lambda people, visits: people.where(col("age") > 60).agg(n=tacit.count())),
    Built("unknown work", lambda people, visits: people.where(col("workclass") == None).agg(n=tacit.count())),  # noqa: E711
    Built("share of the rich", lambda people, visits: people.agg(s=tacit.mean(col("income") == ">50K"))),
    Built(
        "share by filter", lambda people, visits: people.agg(s=tacit.count().filter(col("age") > 40) / tacit.count())
    ),
    Built("median by school", lambda people, visits: people.group_by("education").agg(m=tacit.median("hours"))),
    Built(
        "three largest",
        lambda people, visits: people.group_by("education").agg(n=tacit.count()).order_by(col("n").desc()).limit(3),
    ),
    Built(
        "only large ones", lambda people, visits: people.group_by("education").agg(n=tacit.count()).having("n > 100")
    ),
    Built(
        "where after agg",
        lambda people, visits: people.group_by("education").agg(n=tacit.count()).where(col("n") > 100),
    ),
    Built(
        "share of a total",
        lambda people, visits: (
            people.group_by("sex").agg(n=tacit.count()).with_columns(share=col("n") / tacit.sum("n").over())
        ),
    ),
    Built(
        "places",
        lambda people, visits: (
            people.group_by("education")
            .agg(n=tacit.count())
            .with_columns(r=tacit.rank().over(order_by=col("n").desc()))
            .order_by("r")
        ),
    ),
    Built(
        "change by month",
        lambda people, visits: _monthly(visits).with_columns(d=col("n") - tacit.lag("n").over(order_by="month")),
    ),
    Built(
        "moving average",
        lambda people, visits: _monthly(visits).with_columns(m=tacit.mean("n").over(order_by="month", rows=(-2, 0))),
    ),
    Built(
        "so far",
        lambda people, visits: _monthly(visits).with_columns(t=tacit.sum("s").over(order_by="month", rows=(None, 0))),
    ),
    Built("spend each", lambda people, visits: _monthly(visits).select("month", each=col("s") / col("n"))),
    Built("weekdays", lambda people, visits: visits.group_by(day=col("day").dayname()).agg(n=tacit.count())),
    Built(
        "months as text", lambda people, visits: visits.group_by(m=col("day").strftime("%Y-%m")).agg(n=tacit.count())
    ),
    Built(
        "cleaned cities",
        lambda people, visits: visits.group_by(c=col("city").trim().lower().replace(" (be)", "")).agg(n=tacit.count()),
    ),
    Built(
        "prefix of codes", lambda people, visits: visits.group_by(p=col("code").split_part("-", 1)).agg(n=tacit.count())
    ),
    Built(
        "codes that fit",
        lambda people, visits: visits.where(col("code").regexp_matches("^[A-Z]{2}-")).agg(n=tacit.count()),
    ),
    Built(
        "dates in texts",
        lambda people, visits: visits.where(col("noted").strptime("%d/%m/%Y") >= "2026-07-01").agg(n=tacit.count()),
    ),
    Built("first day", lambda people, visits: visits.agg(first=tacit.min("day"), last=tacit.max("day"))),
    Built(
        "per person",
        lambda people, visits: (
            visits.per("user_id").agg(total=tacit.sum("spend")).agg(m=tacit.mean("total", bounds=(0, 500)))
        ),
    ),
    Built("by hour", lambda people, visits: visits.group_by(h=col("at").hour()).agg(n=tacit.count()).order_by("h")),
    Built(
        "rows",
        lambda people, visits: people.agg(age=col("age")),
        'tacit.mean("age"), tacit.count("age")',
        lambda people, visits: people.agg(age=tacit.mean("age"), n=tacit.count("age")),
    ),
    Built(
        "count of a condition",
        lambda people, visits: people.agg(n=tacit.count(col("age") > 40) / tacit.count()),
        "tacit.count().filter(condition); what share of them: tacit.mean(condition)",
        lambda people, visits: people.agg(n=tacit.count().filter(col("age") > 40), s=tacit.mean(col("age") > 40)),
    ),
    Built(
        "a window over rows",
        lambda people, visits: people.agg(n=tacit.mean("age").over()),
        '.group_by("city").agg(n=tacit.count()).with_columns(place=tacit.rank().over(order_by="n"))',
        lambda people, visits: (
            visits.group_by("city").agg(n=tacit.count()).with_columns(place=tacit.rank().over(order_by="n"))
        ),
    ),
)
