"""Forty questions on the demo's table: people with many visits each."""

# ruff: noqa: E501

from __future__ import annotations

from tacit.cli.story import demo_table
from tests.end_to_end.questions.asking import Question

__all__ = ["POLICY", "QUESTIONS"]

POLICY = demo_table.POLICY.replace("epsilon = 3\n", "epsilon = 100\n").replace(
    "delta = 1e-8\n", "delta = 1e-6\nquestion_delta = 1e-8\n"
)
"""The demo's, with a budget for forty questions."""

QUESTIONS = (
    Question("How many visits?", "SELECT COUNT(*) AS visits FROM visits"),
    Question("How many customers?", "SELECT COUNT(DISTINCT user_id) AS customers FROM visits"),
    Question(
        "Visits and customers per city",
        "SELECT city, COUNT(*) AS visits, COUNT(DISTINCT user_id) AS customers FROM visits GROUP BY city",
    ),
    Question("Visits per customer", "SELECT COUNT(*) / COUNT(DISTINCT user_id) AS visits_each FROM visits"),
    Question(
        "Average spend per city", "SELECT city, AVG(spend) AS spend FROM visits GROUP BY city ORDER BY spend DESC"
    ),
    Question("Revenue", "SELECT SUM(spend) AS revenue FROM visits"),
    Question(
        "Revenue per customer, each up to 300",
        "SELECT SUM(spend, contribution_bounds_per_group => (0, 300)) / COUNT(DISTINCT user_id) AS each FROM visits",
    ),
    Question(
        "Visits per month", "SELECT MONTH(day) AS month, COUNT(*) AS visits FROM visits GROUP BY month ORDER BY month"
    ),
    Question(
        "Visits per month, as dates",
        "SELECT DATE_TRUNC('month', day) AS month, COUNT(*) AS visits FROM visits GROUP BY 1 ORDER BY 1",
    ),
    Question(
        "Revenue per quarter",
        "SELECT EXTRACT(QUARTER FROM day) AS quarter, SUM(spend) AS revenue FROM visits GROUP BY quarter",
    ),
    Question(
        "Weekdays against weekends",
        "SELECT ISODOW(day) >= 6 AS weekend, COUNT(*) AS visits, AVG(spend) AS spend FROM visits GROUP BY 1",
    ),
    Question(
        "Visits by weekday",
        "SELECT ISODOW(day) AS weekday, COUNT(*) AS visits FROM visits GROUP BY weekday ORDER BY weekday",
    ),
    Question("The first half of the year", "SELECT COUNT(*) AS visits FROM visits WHERE day < DATE '2026-07-01'"),
    Question(
        "The month after a campaign",
        "SELECT COUNT(*) AS visits FROM visits WHERE day BETWEEN '2026-03-01' AND DATE '2026-03-01' + INTERVAL 1 MONTH",
    ),
    Question(
        "Growth from the first to the second quarter",
        "SELECT COUNT(*) FILTER (WHERE QUARTER(day) = 2) / COUNT(*) FILTER (WHERE QUARTER(day) = 1) - 1 AS growth FROM visits",
    ),
    Question(
        "Customers who ever spent more than 80",
        "SELECT COUNT(DISTINCT user_id) FILTER (WHERE spend > 80) AS big_spenders, COUNT(DISTINCT user_id) AS customers FROM visits",
    ),
    Question(
        "Spend in bands",
        "SELECT CASE WHEN spend < 20 THEN 'low' WHEN spend < 50 THEN 'middle' WHEN spend >= 50 THEN 'high' ELSE 'unknown' END AS band, COUNT(*) AS visits FROM visits GROUP BY band",
    ),
    Question(
        "A histogram of spend",
        "SELECT WIDTH_BUCKET(spend, 0, 100, 20) AS bucket, COUNT(*) AS visits FROM visits GROUP BY bucket ORDER BY bucket",
    ),
    Question(
        "How much spend varies between cities",
        "SELECT city, STDDEV(spend) AS spread FROM visits GROUP BY city HAVING COUNT(*) > 500",
    ),
    Question(
        "The three cities with most revenue",
        "SELECT city, SUM(spend) AS revenue FROM visits GROUP BY city ORDER BY revenue DESC LIMIT 3",
    ),
    Question(
        "Cities with more than 300 visits, not the largest",
        "SELECT city, COUNT(*) AS n FROM visits GROUP BY city HAVING n > 300 ORDER BY n DESC LIMIT 5 OFFSET 1",
    ),
    Question(
        "City names in lower case, without the unknown",
        "SELECT LOWER(city) AS city, COUNT(*) AS n FROM visits WHERE city IS NOT NULL GROUP BY LOWER(city)",
    ),
    Question("Visits where the amount was not written down", "SELECT COUNT(*) - COUNT(spend) AS unknown FROM visits"),
    Question(
        "Google's syntax, as in its documentation",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.2, delta=1e-8, max_groups_contributed=2, privacy_unit_column=user_id) city, SUM(spend, contribution_bounds_per_group => (0, 100)) AS revenue FROM visits GROUP BY city",
    ),
    Question(
        "Google's syntax with a bounded count",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.2, delta=1e-8) city, COUNT(*, contribution_bounds_per_group => (0, 2)) AS n FROM visits GROUP BY city",
    ),
    Question(
        "Cities that I know exist",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.2, group_selection_strategy=PUBLIC_GROUPS) city, COUNT(*) AS n FROM visits RIGHT OUTER JOIN UNNEST(['Gent', 'Lund', 'Porto']) AS city USING (city) GROUP BY city",
    ),
    Question("Median spend per city", "SELECT city, MEDIAN(spend) AS spend FROM visits GROUP BY city"),
    Question(
        "What does a typical customer spend in all?",
        "SELECT AVG(total, contribution_bounds_per_row => (0, 500)) AS spend FROM (SELECT user_id, SUM(spend) AS total FROM visits GROUP BY user_id)",
    ),
    Question(
        "Customers by number of visits",
        "SELECT n, COUNT(*) AS customers FROM (SELECT user_id, LEAST(COUNT(*), 5) AS n FROM visits GROUP BY user_id) GROUP BY n ORDER BY n",
    ),
    Question("In how many cities are we?", "SELECT COUNT(DISTINCT city) AS cities FROM visits"),
    Question(
        "Visits per country, by a list of mine",
        "SELECT c.country, COUNT(*) AS visits FROM visits JOIN (VALUES ('Aarhus', 'Denmark'), ('Bergen', 'Norway'), ('Gent', 'Belgium')) AS c(city, country) ON visits.city = c.city GROUP BY c.country",
    ),
    Question(
        "Two kinds of visit in one column",
        "SELECT kind, COUNT(*) AS n FROM (SELECT 'cheap' AS kind FROM visits WHERE spend < 20 UNION ALL SELECT 'dear' AS kind FROM visits WHERE spend >= 20) GROUP BY kind",
    ),
    Question("Cities with their total", "SELECT city, COUNT(*) AS n FROM visits GROUP BY ROLLUP (city)"),
    Question("The geometric mean of spend, of 1 at least", "SELECT GEOMEAN(GREATEST(spend, 1)) AS spend FROM visits"),
    Question(
        "My best customers",
        "SELECT user_id, SUM(spend) AS total FROM visits GROUP BY user_id ORDER BY total DESC LIMIT 10",
        refused="names the people who are protected",
    ),
    Question(
        "What did customer u000001 spend?",
        "SELECT SUM(spend) AS total FROM visits WHERE user_id = 'u000001'",
        refused="names the people who are protected",
    ),
    Question(
        "A running total",
        "SELECT day, SUM(spend) OVER (ORDER BY day) AS so_far FROM visits",
        refused="it looks at single rows",
    ),
    Question(
        "The last thirty days",
        "SELECT COUNT(*) AS visits FROM visits WHERE day > CURRENT_DATE - INTERVAL 30 DAY",
        refused="must depend on the question and the data alone",
    ),
    Question(
        "Without noise, as Google's documentation shows it",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1e20, delta=1e-8) city, COUNT(*) AS n FROM visits GROUP BY city",
        refused="nothing was spent",
    ),
    Question(
        "Protect visits instead of people",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.2, privacy_unit_column=day) COUNT(*) AS n FROM visits",
        refused="the policy protects one user_id",
    ),
)
