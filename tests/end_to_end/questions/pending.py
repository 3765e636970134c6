"""Questions whose feature is still being built: they will be answered, and are refused today.

A question that begins to be answered must leave this list: a test sees to it. Then run
`python -m tests.end_to_end.questions.page`, which writes docs/reference/questions.md anew.
"""

from __future__ import annotations

__all__ = ["PENDING"]

PENDING = frozenset(
    (
        # quantiles, extremes, modes, distinct values, products
        "Median age",
        "Median age by sex",
        "The ninth decile of hours",
        "Quartiles of age, in standard SQL",
        "The percentile as Google writes it",
        "Youngest and oldest",
        "The commonest marital status",
        "How many countries are there?",
        "Do age and hours go together?",
        "Covariance of education and hours",
        "Median spend per city",
        "In how many cities are we?",
        "The geometric mean of spend",
        # several groupings at once
        "Totals by sex, by income, and in all",
        "Two ways of grouping at once",
        "Cities with their total",
        # subqueries, sub-aggregates, joins, unions
        "A common table expression",
        "A subquery that stays with rows",
        "What does a typical customer spend in all?",
        "Customers by number of visits",
        "Visits per country, by a list of mine",
        "Two kinds of visit in one column",
    )
)
"""By their words."""
