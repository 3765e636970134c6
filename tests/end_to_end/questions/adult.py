"""Sixty questions on Adult: one row is one person."""

# ruff: noqa: E501

from __future__ import annotations

from tests.end_to_end.questions.asking import Question

__all__ = ["POLICY", "QUESTIONS"]

POLICY = """\
version = 1
source = "adult.csv"
table = "adult"
unit = "row"
population = 30000

[reading]
header = false
null = "?"

[budget]
epsilon = 100
least = { epsilon = 1e-300 }
delta = 1e-6
question_delta = 1e-9

[columns]
age = { type = "integer", role = "private", bounds = [17, 90] }
workclass = { type = "text", role = "private" }
weight = { type = "integer", role = "private", bounds = [0, 500000] }
education = { type = "text", role = "private" }
education_years = { type = "integer", role = "private", bounds = [1, 16] }
marital_status = { type = "text", role = "public", keys = ["Divorced", "Married-AF-spouse", "Married-civ-spouse", "Married-spouse-absent", "Never-married", "Separated", "Widowed"] }
occupation = { type = "text", role = "private" }
relationship = { type = "text", role = "private" }
race = { type = "text", role = "private" }
sex = { type = "text", role = "public", keys = ["Female", "Male"] }
capital_gain = { type = "integer", role = "private", bounds = [0, 20000] }
capital_loss = { type = "integer", role = "private", bounds = [0, 3000] }
hours = { type = "integer", role = "private", bounds = [0, 80] }
country = { type = "text", role = "private" }
income = { type = "text", role = "public", keys = ["<=50K", ">50K"] }
"""

QUESTIONS = (
    Question("How many people are there?", "SELECT COUNT(*) AS n FROM adult"),
    Question("How many are 40 or older?", "SELECT COUNT(*) AS n FROM adult WHERE age >= 40"),
    Question(
        "How many women earn more than 50K?", "SELECT COUNT(*) AS n FROM adult WHERE sex = 'Female' AND income = '>50K'"
    ),
    Question("How many did not say where they work?", "SELECT COUNT(*) AS n FROM adult WHERE workclass IS NULL"),
    Question(
        "How many answered the question about work?", "SELECT COUNT(workclass) AS known, COUNT(*) AS n FROM adult"
    ),
    Question("How many people per education?", "SELECT education, COUNT(*) AS n FROM adult GROUP BY education"),
    Question(
        "The five commonest occupations",
        "SELECT occupation, COUNT(*) AS n FROM adult WHERE occupation IS NOT NULL GROUP BY occupation ORDER BY n DESC LIMIT 5",
    ),
    Question("Income by sex", "SELECT sex, income, COUNT(*) AS n FROM adult GROUP BY sex, income ORDER BY sex, income"),
    Question(
        "What share earns more than 50K?",
        "SELECT COUNT(*) FILTER (WHERE income = '>50K') * 100.0 / COUNT(*) AS percent FROM adult",
    ),
    Question(
        "What share earns more than 50K, by education?",
        "SELECT education, COUNT(*) FILTER (WHERE income = '>50K') / COUNT(*) AS share FROM adult GROUP BY education ORDER BY share DESC",
    ),
    Question("Average age", "SELECT AVG(age) AS age FROM adult"),
    Question(
        "Average age and hours by sex", "SELECT sex, AVG(age) AS age, AVG(hours) AS hours FROM adult GROUP BY sex"
    ),
    Question("Average hours of private employees", "SELECT AVG(hours) AS hours FROM adult WHERE workclass = 'Private'"),
    Question("How much do ages vary?", "SELECT STDDEV(age) AS spread, VARIANCE(age) AS variance FROM adult"),
    Question(
        "The spread of hours by income",
        "SELECT income, AVG(hours) AS hours, STDDEV_POP(hours) AS spread FROM adult GROUP BY income",
    ),
    Question("Total capital gains", "SELECT SUM(capital_gain) AS gains FROM adult"),
    Question("Net capital income", "SELECT SUM(capital_gain - capital_loss) AS net FROM adult"),
    Question(
        "Gains of those who have any",
        "SELECT AVG(capital_gain) AS gain, COUNT(*) AS n FROM adult WHERE capital_gain > 0",
    ),
    Question(
        "A histogram of ages in decades",
        "SELECT age // 10 * 10 AS decade, COUNT(*) AS n FROM adult GROUP BY decade ORDER BY decade",
    ),
    Question(
        "A histogram of hours in ten buckets",
        "SELECT WIDTH_BUCKET(hours, 0, 100, 10) AS bucket, COUNT(*) AS n FROM adult GROUP BY 1 ORDER BY 1",
    ),
    Question(
        "Age groups",
        "SELECT CASE WHEN age < 30 THEN 'young' WHEN age < 60 THEN 'middle' ELSE 'old' END AS age_group, COUNT(*) AS n, AVG(hours) AS hours FROM adult GROUP BY age_group",
    ),
    Question(
        "Full time or part time, by sex",
        "SELECT sex, hours >= 35 AS full_time, COUNT(*) AS n FROM adult GROUP BY sex, hours >= 35",
    ),
    Question(
        "Married or not",
        "SELECT marital_status LIKE 'Married%' AS married, COUNT(*) AS n, AVG(age) AS age FROM adult GROUP BY 1",
    ),
    Question(
        "Native country, known to be abroad",
        "SELECT country, COUNT(*) AS n FROM adult WHERE country <> 'United-States' GROUP BY country HAVING COUNT(*) > 100 ORDER BY n DESC",
    ),
    Question(
        "Occupations with long hours",
        "SELECT occupation, AVG(hours) AS hours FROM adult GROUP BY occupation HAVING AVG(hours) > 42 ORDER BY hours DESC",
    ),
    Question(
        "Education and sex, large groups only",
        "SELECT education, sex, COUNT(*) AS n FROM adult GROUP BY education, sex HAVING n > 500",
    ),
    Question(
        "People with a doctorate or a master's",
        "SELECT education, COUNT(*) AS n, AVG(age) AS age FROM adult WHERE education IN ('Masters', 'Doctorate') GROUP BY education",
    ),
    Question(
        "Between 25 and 34",
        "SELECT COUNT(*) AS n, AVG(education_years) AS years FROM adult WHERE age BETWEEN 25 AND 34",
    ),
    Question("Mean of a weighted sum", "SELECT AVG(2 * education_years + hours / 10) AS score FROM adult"),
    Question("Ratio of gains to losses", "SELECT SUM(capital_gain) / SUM(capital_loss) AS ratio FROM adult"),
    Question("Gains per hour of work", "SELECT SUM(capital_gain) / SUM(hours) AS per_hour FROM adult WHERE hours > 0"),
    Question(
        "Difference of the average hours of both sexes",
        "SELECT AVG(hours) FILTER (WHERE sex = 'Male') - AVG(hours) FILTER (WHERE sex = 'Female') AS gap FROM adult",
    ),
    Question(
        "Government employees by level",
        "SELECT SUBSTRING(workclass, 1, 5) AS employer, COUNT(*) AS n FROM adult WHERE CONTAINS(workclass, 'gov') GROUP BY 1",
    ),
    Question(
        "Upper-case labels",
        "SELECT UPPER(relationship) AS relationship, COUNT(*) AS n FROM adult GROUP BY UPPER(relationship)",
    ),
    Question(
        "Unknown work, by age",
        "SELECT COALESCE(workclass, 'unknown') AS workclass, COUNT(*) AS n, AVG(age) AS age FROM adult GROUP BY COALESCE(workclass, 'unknown')",
    ),
    Question(
        "Gains on a logarithmic scale",
        "SELECT AVG(LN(capital_gain + 1), contribution_bounds_per_row => (0, 10)) AS log_gain FROM adult",
    ),
    Question("Hours capped at 60", "SELECT AVG(LEAST(hours, 60)) AS hours FROM adult"),
    Question(
        "A public list of countries",
        "SELECT country, COUNT(*) AS n FROM adult RIGHT JOIN UNNEST(['Mexico', 'Canada', 'Atlantis']) AS country USING (country) GROUP BY country",
    ),
    Question(
        "Google's syntax, for a count", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.2) COUNT(*) AS n FROM adult"
    ),
    Question(
        "Google's syntax, by education",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.2, delta=1e-9, max_groups_contributed=1) education, AVG(age, contribution_bounds_per_group => (17, 90)) AS age FROM adult GROUP BY education",
    ),
    Question(
        "Google's syntax with a least group size",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.2, delta=1e-9, min_privacy_units_per_group=200) country, COUNT(*) AS n FROM adult GROUP BY country",
    ),
    Question(
        "Google's syntax with public groups",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.2, group_selection_strategy=PUBLIC_GROUPS) sex, COUNT(*) AS n FROM adult GROUP BY sex",
    ),
    Question("Median age", "SELECT MEDIAN(age) AS age FROM adult"),
    Question("Median age by sex", "SELECT sex, MEDIAN(age) AS age FROM adult GROUP BY sex"),
    Question("The ninth decile of hours", "SELECT QUANTILE_CONT(hours, 0.9) AS hours FROM adult"),
    Question(
        "Quartiles of age, in standard SQL",
        "SELECT PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY age) AS lower_quartile, PERCENTILE_CONT(0.75) WITHIN GROUP (ORDER BY age) AS upper_quartile FROM adult",
    ),
    Question(
        "The percentile as Google writes it",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.2) PERCENTILE_CONT(age, 0.5, contribution_bounds_per_row => (17, 90)) AS age FROM adult",
    ),
    Question("Youngest and oldest", "SELECT MIN(age) AS youngest, MAX(age) AS oldest FROM adult"),
    Question("The commonest marital status", "SELECT MODE(marital_status) AS status FROM adult"),
    Question("How many countries are there?", "SELECT COUNT(DISTINCT country) AS countries FROM adult"),
    Question("Do age and hours go together?", "SELECT CORR(age, hours) AS correlation FROM adult"),
    Question("Covariance of education and hours", "SELECT COVAR_SAMP(education_years, hours) AS covariance FROM adult"),
    Question(
        "Totals by sex, by income, and in all",
        "SELECT sex, income, COUNT(*) AS n FROM adult GROUP BY ROLLUP (sex, income)",
    ),
    Question(
        "Two ways of grouping at once",
        "SELECT sex, income, COUNT(*) AS n FROM adult GROUP BY GROUPING SETS ((sex), (income))",
    ),
    Question(
        "A common table expression",
        "WITH workers AS (SELECT age, hours, sex FROM adult WHERE hours > 0) SELECT sex, AVG(hours) AS hours FROM workers GROUP BY sex",
    ),
    Question(
        "A subquery that stays with rows",
        "SELECT decade, COUNT(*) AS n FROM (SELECT age // 10 AS decade FROM adult WHERE sex = 'Male') GROUP BY decade",
    ),
    Question("Show me ten rows", "SELECT * FROM adult LIMIT 10", refused="rows are never shown"),
    Question(
        "Ages of the rich", "SELECT age, occupation FROM adult WHERE income = '>50K'", refused="would show single rows"
    ),
    Question(
        "All occupations in one text",
        "SELECT STRING_AGG(occupation, ', ') AS all_of_them FROM adult",
        refused="it shows what single rows hold",
    ),
    Question(
        "Each person against the average of their group",
        "SELECT age - AVG(age) OVER (PARTITION BY education) AS deviation FROM adult",
        refused="it looks at single rows",
    ),
)
