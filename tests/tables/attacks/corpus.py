"""Statements that are fine, and pieces that are not: what the mutations start from."""

# ruff: noqa: E501

from __future__ import annotations

__all__ = ["COLUMN_NAMES", "CONDITIONS", "FUNCTIONS", "INJECTIONS", "NUMBERS", "STATEMENTS", "TEXTS"]

STATEMENTS = tuple(
    line.strip()
    for line in """
    SELECT COUNT(*) FROM visits
    SELECT COUNT(*) AS n FROM visits WHERE age > 40
    SELECT COUNT(age) FROM visits
    SELECT COUNT(DISTINCT user_id) FROM visits
    SELECT COUNT(DISTINCT user_id) AS people, COUNT(*) AS rows FROM visits GROUP BY plan
    SELECT SUM(spend) AS s FROM visits
    SELECT AVG(spend) AS m FROM visits WHERE spend IS NOT NULL
    SELECT VARIANCE(age), STDDEV(age), VAR_POP(age), STDDEV_POP(age) FROM visits
    SELECT COUNT(DISTINCT city) AS n, COUNT(DISTINCT spend) AS m, COUNT(DISTINCT points % 7) FROM visits
    SELECT plan, COUNT(DISTINCT age) FILTER (WHERE active) AS n FROM visits GROUP BY plan
    SELECT MEDIAN(age), MIN(spend), MAX(age), QUANTILE(spend, 0.9) FROM visits
    SELECT city, PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY age DESC) AS q FROM visits GROUP BY city
    SELECT plan, APPROX_QUANTILES(spend, 4)[OFFSET(3)] AS q FROM visits GROUP BY plan HAVING q > 3
    SELECT MEDIAN(points, contribution_bounds_per_row => (-9, 9)) AS m FROM visits
    SELECT COVAR_POP(age, spend), COVAR_SAMP(spend, age * 2), CORR(age, spend) FROM visits
    SELECT plan, CORR(age, points, contribution_bounds_of_second => (0, 10)) AS r FROM visits GROUP BY plan
    SELECT MODE(plan) AS m, MODE(active) AS a, MODE() WITHIN GROUP (ORDER BY age > 40) AS b FROM visits
    SELECT GEOMEAN(age + 1) AS g, GEOMEAN(spend, contribution_bounds_per_row => (1, 200)) AS h FROM visits
    SELECT city, COUNT(*) AS n FROM visits GROUP BY city
    SELECT city, COUNT(*) AS n, AVG(spend) AS m FROM visits GROUP BY city ORDER BY n DESC LIMIT 3
    SELECT plan, SUM(spend) FROM visits GROUP BY plan HAVING SUM(spend) > 100
    SELECT plan, COUNT(*) FROM visits GROUP BY plan ORDER BY 2 DESC, 1 LIMIT 1 OFFSET 1
    SELECT city, plan, COUNT(*) FROM visits GROUP BY city, plan
    SELECT YEAR(day) AS y, COUNT(*) FROM visits GROUP BY y
    SELECT DATE_TRUNC('month', day) AS month, COUNT(*) FROM visits GROUP BY 1 ORDER BY 1
    SELECT EXTRACT(MONTH FROM moment) AS m, AVG(age) FROM visits GROUP BY 1
    SELECT WIDTH_BUCKET(age, 0, 100, 10) AS decade, COUNT(*) FROM visits GROUP BY 1
    SELECT age // 10 AS decade, COUNT(*) FROM visits GROUP BY age // 10
    SELECT CASE WHEN age < 30 THEN 'young' WHEN age < 60 THEN 'middle' END AS c, COUNT(*) FROM visits GROUP BY 1
    SELECT COUNT(*) FROM visits WHERE city LIKE 'A%' AND plan IN ('free', 'pro')
    SELECT COUNT(*) FROM visits WHERE city NOT LIKE '%r_en' OR city IS NULL
    SELECT COUNT(*) FROM visits WHERE 1 / (age - 42) > 0
    SELECT COUNT(*) FROM visits WHERE CAST(city AS BIGINT) = 1
    SELECT COUNT(*) FROM visits WHERE points + 9223372036854775807 > 0
    SELECT COUNT(*) FROM visits WHERE points * points * points <> 7
    SELECT COUNT(*) FROM visits WHERE -points = 9223372036854775807
    SELECT COUNT(*) FROM visits WHERE ABS(points) < 10
    SELECT COUNT(*) FROM visits WHERE points % (age - 42) = 0
    SELECT COUNT(*) FROM visits WHERE points // (age - 42) = 0
    SELECT COUNT(*) FROM visits WHERE spend * 10 > 1e308 OR EXP(spend) > 3 OR LN(spend) < 1 OR SQRT(spend) > 2
    SELECT COUNT(*) FROM visits WHERE POWER(spend, age) > 100
    SELECT COUNT(*) FROM visits WHERE day + INTERVAL '1' DAY > DATE '2026-01-01'
    SELECT COUNT(*) FROM visits WHERE DATE_ADD('year', 8000, day) > day
    SELECT COUNT(*) FROM visits WHERE DATE_DIFF('second', moment, day) > 5
    SELECT COUNT(*) FROM visits WHERE moment BETWEEN TIMESTAMP '2026-01-01 00:00:00' AND TIMESTAMP '2027-01-01 00:00:00'
    SELECT COUNT(*) FROM visits WHERE SUBSTRING(city, 1, 3) = 'Aar' AND LENGTH(TRIM(city)) > 2
    SELECT COUNT(*) FROM visits WHERE LOWER(city) = 'aarhus' OR UPPER(city) = 'AARHUS' OR CONCAT(city, plan) = 'x'
    SELECT UPPER(plan) AS p, COUNT(*) FROM visits GROUP BY UPPER(plan)
    SELECT SUM(spend) / COUNT(*) AS ratio FROM visits
    SELECT SUM(spend) / SUM(age) AS ratio, 100 * AVG(age) FROM visits GROUP BY plan
    SELECT SUM(age * 2 + 1) FROM visits
    SELECT SUM(LEAST(GREATEST(spend, 0), 50)) FROM visits
    SELECT SUM(CASE WHEN active THEN spend ELSE 0 END) FROM visits
    SELECT COUNT(*) FILTER (WHERE active) AS on_, SUM(spend) FILTER (WHERE age > 30) AS s FROM visits
    SELECT SUM(points, contribution_bounds_per_row => (0, 10)) FROM visits
    SELECT SUM(spend, contribution_bounds_per_group => (0, 100)) FROM visits GROUP BY plan
    SELECT AVG(ROUND(spend, 1)), SUM(FLOOR(spend)), SUM(CEIL(spend)), SUM(SIGN(spend)) FROM visits
    SELECT COALESCE(city, 'none') AS c, COUNT(*) FROM visits GROUP BY 1
    SELECT active, COUNT(*) FROM visits GROUP BY active
    SELECT NULLIF(plan, 'pro') AS p, COUNT(*) FROM visits GROUP BY 1
    SELECT plan, COUNT(*) AS n, GROUPING(plan) AS g FROM visits GROUP BY ROLLUP (plan) HAVING n > 1 OR g = 1
    SELECT plan, age > 40 AS old, SUM(spend) AS s, AVG(age) AS a FROM visits GROUP BY CUBE (plan, old) ORDER BY s LIMIT 9
    SELECT city, plan, COUNT(DISTINCT user_id) AS u FROM visits GROUP BY GROUPING SETS ((city, plan), (city), ())
    SELECT EXTRACT(HOUR FROM moment AT TIME ZONE 'Asia/Kolkata') AS h, COUNT(*) FROM visits GROUP BY 1
    SELECT COUNT(*) FROM visits WHERE DATE_TRUNC('day', moment AT TIME ZONE 'Pacific/Apia') > DATE '9999-12-30'
    SELECT TOP_K(plan, 2) AS top, APPROX_TOP_COUNT(age > 40, 1)[OFFSET(0)] AS old FROM visits
    SELECT plan, APPROX_QUANTILES(spend, 2) AS q FROM visits GROUP BY plan HAVING q_1 > 3
    SELECT "select", COUNT(*) FROM visits GROUP BY "select"
    SELECT SUM("select") AS "from", AVG("select") AS "a b" FROM visits AS v WHERE v.age > 3
    SELECT city || '-' || plan AS both_, COUNT(*) FROM visits GROUP BY 1
    SELECT day, COUNT(*) FROM visits GROUP BY day
    SELECT moment, COUNT(*) FROM visits GROUP BY moment
    SELECT points, COUNT(*) FROM visits GROUP BY points
    SELECT spend, COUNT(*) FROM visits GROUP BY spend
    SELECT city FROM visits GROUP BY city
    SELECT plan, AVG(age) AS a FROM visits WHERE NOT active GROUP BY plan HAVING AVG(age) > 10 ORDER BY a
    SELECT DATE_TRUNC('week', moment) AS w, SUM(age) FROM visits GROUP BY 1
    SELECT CAST(spend AS BIGINT) AS s, COUNT(*) FROM visits GROUP BY 1
    SELECT CAST(day AS VARCHAR) AS d, COUNT(*) FROM visits GROUP BY 1
    WITH grown AS (SELECT * FROM visits WHERE age >= 18) SELECT city, COUNT(*) FROM grown GROUP BY city
    SELECT p, SUM(s) FROM (SELECT UPPER(plan) AS p, LEAST(spend, 50) AS s FROM (SELECT * FROM visits WHERE active)) GROUP BY p
    SELECT AVG(t, contribution_bounds_per_row => (0, 99)) AS m FROM (SELECT user_id, SUM(spend) AS t FROM visits GROUP BY user_id)
    SELECT n > 2 AS many, COUNT(*) FROM (SELECT user_id, COUNT(*) AS n, SUM(points) AS p FROM visits GROUP BY user_id) WHERE p > 0 GROUP BY 1
    SELECT plan, AVG(a) FROM (SELECT user_id, plan, MAX(age) AS a FROM visits GROUP BY user_id, plan) GROUP BY plan
    SELECT region, COUNT(*) AS n FROM visits JOIN regions USING (city) GROUP BY region
    SELECT r.region, SUM(v.spend) AS s, AVG(r.people) FROM visits v LEFT JOIN regions r ON v.city = r.city AND r.people > v.points GROUP BY r.region
    SELECT v.city, COUNT(*) FROM visits v JOIN regions r ON LENGTH(v.city) = LENGTH(r.city) OR v.age = r.people GROUP BY v.city
    SELECT COUNT(*) FROM visits v JOIN regions r ON 1 / (v.age - r.people) > 0 AND v.points + v.points <> r.people
    SELECT c.k, COUNT(*) FROM visits JOIN (VALUES ('Aarhus', 1), ('Porto', 2.5), (NULL, 3)) AS c(city, k) ON visits.city = c.city GROUP BY c.k
    SELECT COUNT(*) AS n, SUM(o.price) FROM visits v JOIN orders o ON v.user_id = o.buyer AND v.points < o.points
    SELECT plan, COUNT(o.price) FROM visits LEFT JOIN orders o ON o.buyer = visits.user_id AND o.points * visits.points > 0 GROUP BY plan
    SELECT COUNT(*) FROM visits v JOIN visits w ON v.user_id = w.user_id AND v.age < w.age WHERE v.points + w.points > 3
    SELECT city, SUM(price), COUNT(DISTINCT buyer) FROM orders GROUP BY city
    SELECT city, COUNT(*) FROM (SELECT city, points FROM visits UNION ALL SELECT city, points + 1 FROM orders) WHERE points > 0 GROUP BY city
    SELECT kind, AVG(x) FROM (SELECT 'visit' AS kind, spend AS x FROM visits UNION ALL SELECT 'order', price FROM orders) GROUP BY kind
    SELECT AVG(t.s, contribution_bounds_per_row => (0, 99)) FROM visits v JOIN (SELECT buyer AS b, SUM(points) AS s FROM orders GROUP BY buyer) t ON t.b = v.user_id
    SELECT plan, n, n / SUM(n) OVER () AS share FROM (SELECT plan, COUNT(*) AS n FROM visits GROUP BY plan) AS a WHERE n > 3 ORDER BY n DESC LIMIT 2
    SELECT plan, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS place, LAG(COUNT(*)) OVER (ORDER BY plan) AS b FROM visits GROUP BY plan QUALIFY place < 3
    WITH a AS (SELECT MONTH(day) AS m, SUM(spend) AS s FROM visits GROUP BY 1) SELECT m, AVG(s) OVER (ORDER BY m ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS moving FROM a
    SELECT SUM(n) AS total, MAX(n) AS most FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY city) AS a
    SELECT COUNT(*) FROM visits WHERE user_id IN (SELECT buyer FROM orders WHERE price > 3) AND user_id NOT IN (SELECT user_id FROM visits WHERE age < 9)
    SELECT DAYNAME(day) AS d, COUNT_IF(active) AS n, AVG(active) AS a, MIN(day) AS first FROM visits WHERE ISOWEEK(day) < 40 GROUP BY 1
    SELECT SPLIT_PART(REPLACE(city, 'a', 'b'), 'b', 1) AS c, COUNT(*) FROM visits WHERE REGEXP_MATCHES(city, '^A') OR POSITION('r' IN city) > 2 GROUP BY 1
    SELECT STRFTIME(day, '%Y-%m') AS m, APPROX_COUNT_DISTINCT(city) AS n FROM visits WHERE STRPTIME(city, '%d/%m/%Y') IS NULL GROUP BY 1
    SELECT HISTOGRAM(age, 0, 20, 40) AS h FROM visits
    SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed=2, min_privacy_units_per_group=3) city, COUNT(*) FROM visits GROUP BY city
    SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed=1, privacy_unit_column=user_id) plan, SUM(spend, contribution_bounds_per_group => (0, 50)) FROM visits GROUP BY plan
    SELECT plan, COUNT(*, contribution_bounds_per_group => (0, 1)) FROM visits RIGHT JOIN UNNEST(['pro', 'none']) AS plan USING (plan) GROUP BY plan
    """.splitlines()
    if line.strip()
)

CONDITIONS = (
    "age > 40",
    "1/(age-42) > 0",
    "points + points > 0",
    "spend * 1e308 > 0",
    "city LIKE '%'",
    "city ILIKE 'a\\_%'",
    "CONTAINS(city, plan)",
    "STARTS_WITH(city, 'C')",
    "DATE_ADD('year', 9999, day) > day",
    "DATE_ADD('second', points, moment) > moment",
    "DATE_DIFF('minute', day, moment) % (age - 42) = 1",
    "CAST(city AS DATE) IS NULL",
    "CAST(points AS TIMESTAMP) IS NULL",
    "CAST(CAST(spend AS VARCHAR) AS BIGINT) > 1",
    "LN(spend - 42) < 1",
    "SQRT(points) > 1",
    "ROUND(spend, 400) = spend",
    "ROUND(points) = points",
    "POWER(points, points) > 1",
    "EXP(points) > 1",
    "-points > 0",
    "active = (age > 3)",
    "day IS NULL",
    "moment = day",
    "SUBSTRING(city, -5, 99999999999) = ''",
    "age IN (1, 2, NULL)",
    "spend BETWEEN age AND points",
    "NULL",
    "NULLIF(points, 0) % -1 = 0",
    "CASE WHEN age = 42 THEN 1/0 ELSE 1 END = 1",
    "LENGTH(city) > 1000",
    "user_id = 'canaryUnit77'",
    "notes LIKE 'canary%'",
    "WIDTH_BUCKET(spend, 0, 0, 5) = 1",
    "WIDTH_BUCKET(spend, 0, 1e-300, 5) = 1",
    "ISODOW(day) = 7",
    "WEEK(moment) = 53",
    "ABS(points) > 0",
    "LEAST(points, spend) > GREATEST(age, 2)",
)

NUMBERS = (
    "0",
    "-1",
    "42",
    "1e308",
    "1e309",
    "1e-400",
    "5e-324",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "170141183460469231731687303715884105728",
    "9" * 400,
    "0." + "0" * 300 + "1",
    "1e999999999",
    "0x1F",
    "1_000",
    "1.",
    ".5",
    "NaN",
    "Infinity",
    "NULL",
    "TRUE",
    "1e18",
    "2147483648",
    "1e4932",
)

TEXTS = (
    "''",
    "'A%'",
    "'%_\\'",
    "'O''Hara'",
    "'\\'",
    "'canary'",
    "'2026-01-01'",
    "'0000-00-00'",
    "'infinity'",
    "'" + "x" * 3000 + "'",
    "'\u0430arhus'",
    "E'\\x00'",
    "$$dollar$$",
    "N'x'",
    "x'ff'",
    "DATE '9999-12-31'",
    "DATE '0001-01-01'",
    "TIMESTAMP '9999-12-31 23:59:59.999999'",
    "DATE 'today'",
    "INTERVAL '1' DAY",
    "INTERVAL '99999999999' YEAR",
    "'[[:alpha:]]*'",
    "'(a+)+$'",
)

COLUMN_NAMES = (
    "age",
    "spend",
    "city",
    "plan",
    "points",
    "active",
    "day",
    "moment",
    '"select"',
    "user_id",
    "notes",
    "nope",
    "visits.age",
    "rows",
    "rowid",
    "*",
    "AGE",
    '"Age"',
    "\u0441ity",  # a Cyrillic letter
    "ag\u0435",
    "filename",
    "unit",
    "k0",
    "v0",
    "g",
)

_NAMES = """
    COUNT SUM AVG VARIANCE STDDEV VAR_POP MIN MAX MEDIAN ABS SIGN FLOOR
    CEIL ROUND LN LOG10 LOG2 EXP SQRT POWER LEAST GREATEST COALESCE NULLIF
    LOWER UPPER TRIM LENGTH SUBSTRING CONCAT YEAR MONTH WEEK DAY ISODOW HOUR
    DATE_TRUNC DATE_ADD DATE_DIFF WIDTH_BUCKET STRING_AGG LIST FIRST ANY_VALUE MODE
    REGEXP_MATCHES REGEXP_REPLACE STRFTIME
    RANDOM NOW GETENV CURRENT_SETTING READ_TEXT READ_CSV GLOB ERROR SLEEP REPEAT PRINTF HASH
    MD5 ENCODE UNNEST GENERATE_SERIES RANGE LIST_TRANSFORM STRUCT_PACK ROW_NUMBER LAG EXISTS TRY CAST
"""
FUNCTIONS = tuple(_NAMES.split())

INJECTIONS = (
    "; DROP TABLE visits",
    "; SELECT * FROM visits",
    ";;",
    "-- ",
    "/* */",
    "/* unfinished",
    "*/",
    "'",
    '"',
    "`",
    "''",
    "\\",
    "\0",
    "\ud800",
    "\u200b",
    "\u202e",
    "\ufeff",
    "\xa0",
    "\r\n",
    "#",
    "//",
    " UNION ALL SELECT notes, 1 FROM visits",
    " UNION SELECT content FROM read_text('{canary}')",
    "; COPY visits TO '{folder}/stolen.csv'",
    "; COPY (SELECT 1) TO '{folder}/stolen.parquet' (FORMAT parquet)",
    "; ATTACH '{folder}/stolen.db'",
    "; INSTALL httpfs",
    "; LOAD httpfs",
    "; SET lock_configuration = false",
    "; PRAGMA enable_profiling",
    "; EXPORT DATABASE '{folder}/stolen'",
    "; CREATE VIEW v AS SELECT * FROM visits",
    "; CREATE TABLE t AS SELECT * FROM read_csv('{canary}')",
    "; CALL pragma_version()",
    " FROM read_csv('{canary}')",
    " FROM read_text('{canary}')",
    " FROM '{canary}'",
    ' FROM "{canary}"',
    " FROM glob('/etc/*')",
    " FROM duckdb_settings()",
    " FROM duckdb_secrets()",
    " FROM information_schema.tables",
    " FROM pragma_table_info('rows')",
    " FROM rows",
    " FROM sqlite_master",
    ", LATERAL (SELECT notes) t",
    " JOIN visits b ON TRUE",
    " JOIN orders o ON TRUE",
    " JOIN orders USING (city)",
    " LEFT JOIN orders o ON o.buyer = user_id OR TRUE",
    " JOIN regions r ON r.city = user_id",
    " RIGHT JOIN orders o ON o.buyer = user_id",
    " UNION ALL SELECT city FROM regions",
    " JOIN (SELECT DISTINCT city FROM orders) d ON TRUE",
    " JOIN orders o ON o.card = notes",
    " JOIN regions ON EXISTS (SELECT 1 FROM orders)",
    ", visits b",
    " CROSS JOIN (VALUES (1)) t(x)",
    ", getenv('HOME')",
    ", current_setting('temp_directory')",
    ", (SELECT MAX(age) FROM visits)",
    ", {{'a': age}}",
    ", [age, spend]",
    ", age[1]",
    ", COUNT(*) OVER ()",
    ", MAX(spend)",
    ", STRING_AGG(city, ',')",
    ", COLUMNS('.*')",
    ", * EXCLUDE (age)",
    ", #1",
    ", $1",
    ", ?",
    ", :x",
    ", @@version",
    " QUALIFY ROW_NUMBER() OVER () = 1",
    " TABLESAMPLE 10%",
    " USING SAMPLE 1",
    " WINDOW w AS (PARTITION BY city)",
    " FOR UPDATE",
    " LIMIT ALL",
    " LIMIT 10%",
    " LIMIT (SELECT 1)",
    " FETCH FIRST 1 ROWS ONLY",
    " GROUP BY ALL",
    " GROUP BY ROLLUP (city)",
    " GROUP BY GROUPING SETS ((city), ())",
    " GROUP BY ()",
    " ORDER BY ALL",
    " ORDER BY random()",
    " ORDER BY 99",
    " WHERE 1=1 OR ''=''",
    " HAVING 1=1",
    " HAVING notes = 'x'",
    "::BIGINT",
    "::INTEGER[]",
    " COLLATE NOCASE",
    " IS DISTINCT FROM NULL",
    " ~ '(a+)+$'",
    " SIMILAR TO 'a'",
    " GLOB '*'",
    " LIKE city",
    " ESCAPE '!'",
    " -> 'a'",
    " AT TIME ZONE 'UTC'",
    "{{% raw %}}",
    "{{{{ x }}}}",
    "WITH t AS (SELECT 1) ",
    "EXPLAIN ANALYZE ",
    "DESCRIBE ",
    "SUMMARIZE ",
    "FROM visits ",
    "PIVOT visits ON city USING COUNT(*)",
    " WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1e20)",
    " WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1e20, privacy_unit_column=notes, max_groups_contributed=NULL)",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1e20) ",
    " RIGHT JOIN UNNEST([notes]) AS city USING (city)",
    " RIGHT OUTER JOIN UNNEST(['Lund', 'Nowhere']) AS city USING (city)",
    " RIGHT JOIN (SELECT DISTINCT notes FROM visits) USING (notes)",
)
