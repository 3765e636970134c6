"""Statements of every kind, and tables that differ in one person who is everywhere and holds the worst there is."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import tacit
from tacit.tables.session.table import Table

__all__ = ["NODES", "WORST", "open_worst"]

POLICY = """\
version = 1
source = "visits.csv"
unit = "who"
[limits]
groups = 2
rows = 2
[budget]
epsilon = 1000
least = { epsilon = 1e-300 }
delta = 1e-2
question_delta = 1e-6
[columns]
who = { type = "text", role = "identifier" }
city = { type = "text", role = "private" }
plan = { type = "text", role = "public", keys = ["free", "pro", "gone"] }
spend = { type = "real", role = "private", bounds = [0, 10] }
age = { type = "integer", role = "private", bounds = [1, 5] }
at = { type = "timestamp", role = "private" }

[public.regions]
source = "regions.csv"
columns = { city = { type = "text" }, region = { type = "text" } }

[tables.orders]
source = "orders.csv"
unit = "buyer"
[tables.orders.columns]
buyer = { type = "text", role = "identifier" }
city = { type = "text", role = "private" }
price = { type = "real", role = "private", bounds = [0, 10] }
"""
_PLANS = ("free", "pro", "gone")
_OTHERS = [
    f"u{at % 6},{('Lund', 'Oslo')[at % 2]},{_PLANS[at % 3]},{at % 11},{1 + at % 5},2026-03-0{1 + at % 9} 05:00:00"
    for at in range(17)
]
_ORDERS = [f"u{at % 7},{('Lund', 'Oslo')[at % 2]},{at % 10}" for at in range(12)]
_AT = "2026-03-01 23:30:00"
WORST = {
    "at one end": [f"z,{city},{plan},1e30,99,{_AT}" for city in ("Lund", "Oslo", "Porto") for plan in _PLANS * 4],
    "at the other": [f"z,{city},{plan},-1e30,-99,{_AT}" for city in ("Lund", "Oslo", "Porto") for plan in _PLANS * 4],
    "all over": [
        f"z,{city},{plan},{spend},{1 + spend % 5},2026-03-1{spend} 12:00:00"
        for city in ("Lund", "Lund", "Porto")
        for plan in _PLANS
        for spend in range(10)
    ],
}
"""What the one person holds more than everybody else: many rows in every group, with values as far out as they get."""


_BOUGHT = [f"z,{city},{price}" for city in ("Lund", "Rome") for price in ("1e30", "0")] * 3
_REGIONS = ["Lund,south"] * 5 + ["Lund,north", "Oslo,north", "Porto,west", "Porto,south"]


def open_worst(
    folder: Path,
    person: str | None,
    budget: str = "epsilon",
    rows: list[str] | None = None,
    bought: list[str] = _BOUGHT,
) -> Table:
    """A table without the person, or with; its ledger keeps sums of ε or of ρ."""
    place = folder / f"{person} {budget}"
    place.mkdir()
    own = [] if person is None else WORST[person] if rows is None else rows
    texts = {
        "visits.csv": ["who,city,plan,spend,age,at", *_OTHERS, *own],
        "orders.csv": ["buyer,city,price", *_ORDERS, *(bought if person else [])],
        "regions.csv": ["city,region", *_REGIONS],
    }
    for name, lines in texts.items():
        (place / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    (place / "visits.toml").write_text(POLICY.replace("epsilon", budget), encoding="utf-8")
    table = tacit.open(place / "visits.toml", ledger=tacit.InMemory(), analyst="eve")
    engine: Any = table._engine_now()
    engine._key = "one key"  # the same rows are chosen in all tables
    engine._connection.columns = cache(engine._connection.columns)  # the rows stay what they are
    return table


_UNION = "(SELECT plan, spend AS x FROM visits UNION ALL SELECT 'pro', price FROM orders)"
_BY_CITY = "FROM visits GROUP BY who, city)"
_DP = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS"
NODES: dict[str, list[str]] = {
    "counts and sums": [
        "SELECT plan, COUNT(*) AS n FROM visits GROUP BY plan",
        "SELECT plan, SUM(spend) AS s, COUNT(DISTINCT who) AS u FROM visits GROUP BY plan",
        "SELECT city, COUNT(*) AS n FROM visits GROUP BY city",
        "SELECT COUNT(spend) AS n FROM visits",
    ],
    "counts that decide on keys": [
        "SELECT city, COUNT(DISTINCT who) AS u FROM visits GROUP BY city",
        "SELECT city, COUNT(*) AS n, COUNT(DISTINCT who) AS u, COUNT(spend) AS m FROM visits GROUP BY city",
    ],
    "keys by votes": [
        "SELECT city, SUM(spend) AS s FROM visits GROUP BY city",
        "SELECT city, AVG(age) AS a, COUNT(*) AS n FROM visits GROUP BY city",
    ],
    "quantiles": [
        "SELECT plan, MEDIAN(spend) AS m FROM visits GROUP BY plan",
        "SELECT plan, PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY age) AS q, MAX(age) AS m FROM visits GROUP BY plan",
        "SELECT city, MIN(age) AS m FROM visits GROUP BY city",
        "SELECT APPROX_QUANTILES(age, 4) AS q FROM visits",
        "SELECT plan, QUANTILE(spend, 0.9, interval_share => 0.25) AS q FROM visits GROUP BY plan",
    ],
    "MODE and TOP_K": [
        "SELECT city, MODE(plan) AS m FROM visits GROUP BY city",
        "SELECT age > 3 AS old, TOP_K(plan, 2) AS t, COUNT(*) AS n FROM visits GROUP BY 1",
        "SELECT MODE(spend > 5) AS m FROM visits",
    ],
    "distinct values": [
        "SELECT plan, COUNT(DISTINCT spend) AS n FROM visits GROUP BY plan",
        "SELECT plan, COUNT(DISTINCT at) AS n FROM visits GROUP BY plan",
        "SELECT city, COUNT(DISTINCT age) AS n, COUNT(DISTINCT spend) FILTER (WHERE age > 2) AS m FROM visits "
        "GROUP BY city",
    ],
    "covariances": [
        "SELECT plan, COVAR_POP(spend, age) AS c FROM visits GROUP BY plan",
        "SELECT plan, CORR(spend, age) AS r FROM visits GROUP BY plan",
        "SELECT COVAR_SAMP(spend, age) AS c FROM visits",
    ],
    "geometric mean": [
        "SELECT plan, GEOMEAN(age) AS g FROM visits GROUP BY plan",
        "SELECT plan, GEOMEAN(spend, contribution_bounds_per_row => (1, 9)) AS g FROM visits GROUP BY plan",
    ],
    "ratios": [
        "SELECT plan, SUM(spend) / SUM(age) AS r FROM visits GROUP BY plan",
        "SELECT plan, SUM(spend) / COUNT(*) AS r, AVG(age) - MEDIAN(age) AS d FROM visits GROUP BY plan",
    ],
    "means and variances": [
        "SELECT plan, AVG(spend) AS m FROM visits GROUP BY plan",
        "SELECT plan, VAR_SAMP(age) AS v FROM visits GROUP BY plan",
        "SELECT STDDEV_POP(spend) AS v, VAR_POP(age) AS w, STDDEV_SAMP(age) AS s FROM visits",
    ],
    "statistics of one column": [
        "SELECT plan, COUNT(*) AS n, AVG(spend) AS m FROM visits GROUP BY plan",
        "SELECT plan, COUNT(age) AS n, SUM(age) AS s, AVG(age) AS m FROM visits GROUP BY plan",
        "SELECT plan, COUNT(*) AS n, SUM(age) AS s, AVG(age) AS m, VAR_SAMP(age) AS v FROM visits GROUP BY plan",
        "SELECT plan, COUNT(*) AS n, AVG(IF(spend > 3, age, NULL), contribution_bounds_per_row => (1, 5)) AS m, "
        "SUM(spend) AS t, STDDEV_POP(spend) AS d FROM visits GROUP BY plan",
        "SELECT city, COUNT(*) AS n, AVG(spend) AS m FROM visits GROUP BY city",
    ],
    "subqueries": [
        "WITH grown AS (SELECT plan AS p, spend * 3 AS x, age FROM visits WHERE age > 1) "
        "SELECT p, SUM(x) AS s FROM grown WHERE x < 40 GROUP BY p",
        "SELECT p, AVG(x) AS s FROM (SELECT UPPER(plan) AS p, LEAST(spend, 5) AS x FROM (SELECT * FROM visits)) "
        "GROUP BY p",
    ],
    "rows per unit": [
        "SELECT SUM(t, contribution_bounds_per_row => (0, 50)) AS s FROM "
        "(SELECT who, SUM(spend) AS t FROM visits GROUP BY who)",
        "SELECT plan, AVG(m) AS a, MEDIAN(n, contribution_bounds_per_row => (0, 9)) AS k FROM "
        "(SELECT who, plan, MAX(age) AS m, COUNT(*) AS n FROM visits GROUP BY who, plan) GROUP BY plan",
        f"SELECT COUNT(*) AS c, SUM(s) AS t FROM (SELECT who, city, MIN(spend) AS s {_BY_CITY}",
        f"SELECT n > 3 AS many, COUNT(*) AS c FROM (SELECT who, city, COUNT(*) AS n {_BY_CITY} GROUP BY 1",
    ],
    "joins to public tables": [
        "SELECT region, COUNT(*) AS n FROM visits JOIN regions USING (city) GROUP BY region",
        "SELECT r.region, SUM(v.spend) AS s FROM visits v LEFT JOIN regions r ON v.city = r.city OR v.age > 3 "
        "GROUP BY r.region",
        "SELECT plan, MEDIAN(age) AS m FROM visits JOIN regions USING (city) GROUP BY plan",
        "SELECT c.k, SUM(spend) AS s FROM visits v JOIN (VALUES ('Lund', 1), ('Lund', 2), ('Porto', 3)) AS c(city, k) "
        "ON v.city = c.city GROUP BY c.k",
    ],
    "joins on the unit": [
        "SELECT plan, SUM(o.price) AS s FROM visits v JOIN orders o ON v.who = o.buyer GROUP BY plan",
        "SELECT plan, COUNT(*) AS n FROM visits v LEFT JOIN orders o ON o.buyer = v.who AND o.price > v.spend "
        "GROUP BY plan",
        "SELECT v.plan, COUNT(DISTINCT w.spend) AS n FROM visits v JOIN visits w ON v.who = w.who GROUP BY v.plan",
    ],
    "UNION ALL": [
        f"SELECT plan, SUM(x) AS s FROM {_UNION} GROUP BY plan",
        f"SELECT plan, COUNT(*) AS n, MAX(x) AS m FROM {_UNION} GROUP BY plan",
        "SELECT city, COUNT(*) AS n FROM (SELECT city FROM visits UNION ALL SELECT city FROM orders) GROUP BY city",
    ],
    "sets of keys": [
        "SELECT plan, age > 3 AS old, COUNT(*) AS n FROM visits GROUP BY CUBE (plan, old)",
        "SELECT plan, SUM(spend) AS s, AVG(age) AS a, MEDIAN(age) AS m FROM visits GROUP BY ROLLUP (plan)",
        "SELECT plan, age > 3 AS old, COUNT(DISTINCT who) AS u FROM visits GROUP BY GROUPING SETS ((plan), (old), ())",
    ],
    "semi-joins": [
        "SELECT plan, COUNT(*) AS n FROM visits WHERE who IN (SELECT buyer FROM orders WHERE price > 5) GROUP BY plan",
        "SELECT plan, SUM(spend) AS s FROM visits WHERE who NOT IN (SELECT who FROM visits WHERE age < 0) "
        "GROUP BY plan",
        "SELECT plan, COUNT(*) AS n FROM visits v WHERE EXISTS (SELECT 1 FROM orders o "
        "WHERE o.buyer = v.who) GROUP BY plan",
        "SELECT COUNT(DISTINCT who) AS u FROM visits WHERE who IN "
        "(SELECT who FROM visits GROUP BY who HAVING COUNT(*) > 3)",
    ],
    "functions of texts and times": [
        "SELECT DAYNAME(at) AS d, COUNT(*) AS n FROM visits GROUP BY d",
        "SELECT plan, SUM(STRPOS(city, 'o')) AS s, COUNT(REGEXP_EXTRACT(city, '^(.)', 1)) AS n FROM visits "
        "GROUP BY plan",
        "SELECT plan, SUM(spend) AS s FROM visits WHERE REGEXP_MATCHES(city, '^[LP].*[do]$') GROUP BY plan",
        "SELECT REPLACE(plan, 'e', 'ee') AS p, SUM(SECOND(at)) AS s FROM visits "
        "WHERE STRFTIME(at, '%Y-%m') = '2026-03' "
        "AND STRPTIME(SPLIT_PART(CAST(at AS VARCHAR), ' ', 1), '%Y-%m-%d') IS NOT NULL "
        "GROUP BY p",
    ],
    "conditions and days": [
        "SELECT plan, SUM(spend > 5) AS s, COUNT_IF(age > 2) AS c FROM visits GROUP BY plan",
        "SELECT plan, AVG(spend > 5) AS a FROM visits GROUP BY plan",
        "SELECT plan, MAX(CAST(at AS DATE)) AS m FROM visits GROUP BY plan",
        "SELECT plan, APPROX_COUNT_DISTINCT(age) AS k FROM visits GROUP BY plan",
        "SELECT plan, HISTOGRAM(age, 1, 3, 5) AS h FROM visits GROUP BY plan",
    ],
    "time zones": [
        "SELECT HOUR(at AT TIME ZONE 'Asia/Kolkata') AS h, COUNT(*) AS n FROM visits GROUP BY h",
        "SELECT plan, SUM(spend) AS s FROM visits "
        "WHERE DATE_TRUNC('day', at AT TIME ZONE 'Asia/Tokyo') = DATE '2026-03-02' GROUP BY plan",
    ],
    "options": [
        f"{_DP}(max_groups_contributed=1) plan, COUNT(*) AS n FROM visits GROUP BY plan",
        f"{_DP}(max_rows_contributed=1) plan, SUM(spend) AS s FROM visits GROUP BY plan",
        "SELECT plan, SUM(spend, contribution_bounds_per_group => (-1, 3)) AS s FROM visits GROUP BY plan",
        "SELECT plan, COUNT(*, contribution_bounds_per_group => (0, 1)) AS n FROM visits GROUP BY plan",
        "SELECT plan, AVG(spend, contribution_bounds_per_row => (2, 4)) AS a FROM visits "
        "RIGHT JOIN UNNEST(['pro', 'none']) AS plan USING (plan) GROUP BY plan",
        f"{_DP}(min_privacy_units_per_group=4) city, COUNT(*) AS n FROM visits GROUP BY city",
    ],
}
"""Statements by what is new in them."""
