"""Valid statements, and ways of spoiling them: tokens mutated, attacks spliced in, nesting, odd characters."""

# ruff: noqa: E501

from __future__ import annotations

import random
import re
from collections.abc import Iterator

VALID = [
    "SELECT City, COUNT(*) AS n, AVG(spend) AS spend FROM visits GROUP BY City",
    "SELECT COUNT(*) FROM visits",
    "SELECT COUNT(DISTINCT user_id) AS people, SUM(age) FROM visits WHERE age > 40 AND City = 'Oslo'",
    "SELECT age // 10 AS decade, COUNT(*) FILTER (WHERE active) FROM visits GROUP BY decade ORDER BY 2 DESC LIMIT 5",
    "SELECT width_bucket(age, 0, 100, 10) AS b, COUNT(*) FROM visits WHERE region LIKE 'A%' GROUP BY 1 HAVING COUNT(*) > 10",
    "SELECT EXTRACT(YEAR FROM day) AS y, VARIANCE(balance), STDDEV(age) FROM visits WHERE day >= DATE '2024-01-01' GROUP BY y",
    "SELECT date_trunc('month', seen) AS m, SUM(spend) / COUNT(*) AS r FROM visits GROUP BY ALL ORDER BY m NULLS FIRST",
    "SELECT CASE WHEN age < 18 THEN 'young' WHEN age < 65 THEN 'grown' ELSE 'old' END AS c, AVG(age) FROM visits GROUP BY c",
    "SELECT SUM(CAST(active AS BIGINT)) AS a FROM visits WHERE region IN ('a', 'b', 'c') AND score IS NOT NULL",
    "SELECT level, SUM(score, contribution_bounds_per_row => (0, 10)) AS s FROM visits GROUP BY level OFFSET 1",
    "SELECT upper(City) AS u, AVG(abs(balance) * 2 + 1) FROM visits WHERE NOT (age BETWEEN 10 AND 20) GROUP BY upper(City)",
    "SELECT COUNT(*) AS n FROM visits WHERE seen < day + INTERVAL 3 MONTH AND COALESCE(score, 0) / 2 >= 1.5e0",
    "SELECT SUM(LEAST(GREATEST(score, 0), 100)) AS s FROM visits WHERE ROUND(score, 2) <> 0.5 AND SUBSTRING(region, 1, 2) = 'ab'",
    "SELECT active, region IS NULL AS unknown, COUNT(region) FROM visits GROUP BY active, region IS NULL ORDER BY COUNT(region)",
    "WITH adults AS (SELECT * FROM visits WHERE age >= 18) SELECT City, COUNT(*) FROM adults GROUP BY City",
    "SELECT decade, AVG(s) FROM (SELECT age // 10 AS decade, spend + 1 AS s, user_id FROM visits WHERE active) AS v GROUP BY decade",
    "SELECT AVG(t, contribution_bounds_per_row => (0, 99)) AS m FROM (SELECT user_id, SUM(score) AS t FROM visits WHERE active GROUP BY user_id)",
    "SELECT City, COUNT(*) FROM (SELECT user_id, City, MAX(age) AS a, COUNT(*) AS n FROM visits GROUP BY user_id, City HAVING n > 2) WHERE a > 30 GROUP BY City",
    "SELECT COUNT(DISTINCT user_id) FILTER (WHERE age > 40 AND active) AS older FROM visits",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5, delta=1e-9, privacy_unit_column=user_id) region, COUNT(*) AS n FROM visits GROUP BY region",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed=1, min_privacy_units_per_group=20) region, SUM(age) FROM visits GROUP BY region",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=.1, max_rows_contributed=1) COUNT(*, contribution_bounds_per_group => (0, 1)) FROM visits",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(group_selection_strategy=PUBLIC_GROUPS) k, COUNT(*) FROM visits v RIGHT OUTER JOIN UNNEST(['a', 'b']) AS k ON v.region = k GROUP BY k",
    "SELECT level, age, AVG(spend) FROM visits RIGHT JOIN UNNEST([1, 2, -3]) AS age USING (age) WHERE City = 'Oslo' GROUP BY level, age",
    "SELECT country, COUNT(*) AS n, AVG(spend) FROM visits JOIN towns ON visits.City = towns.City WHERE age > 3 GROUP BY country ORDER BY country",
    "SELECT t.country, SUM(t.size) FROM visits AS v LEFT JOIN towns AS t USING (City) WHERE v.active OR t.size IS NULL GROUP BY t.country HAVING SUM(t.size) > 3",
    "SELECT k, COUNT(*) FROM visits JOIN (VALUES ('Oslo', 1), ('Rome', -2)) AS c(City, k) ON c.City = visits.City AND k > age GROUP BY k",
    "SELECT COUNT(*), COUNT(DISTINCT v.user_id), AVG(o.price) FROM visits v JOIN orders o ON v.user_id = o.buyer AND o.City = v.City",
    "SELECT v.City, COUNT(*) FROM visits v LEFT JOIN orders o ON o.buyer = v.user_id LEFT JOIN towns t ON t.City = o.City WHERE t.size > 3 GROUP BY v.City",
    "SELECT COUNT(*) FROM visits a JOIN visits b ON a.user_id = b.user_id AND a.age < b.age",
    "SELECT City, AVG(x) FROM (SELECT City, spend AS x FROM visits WHERE active UNION ALL SELECT City, price FROM orders) AS u GROUP BY City",
    "WITH u AS (SELECT user_id AS w, age FROM visits UNION ALL SELECT buyer, 1 FROM orders) SELECT COUNT(DISTINCT w), SUM(age) FROM u WHERE age > 3",
    "SELECT AVG(n, contribution_bounds_per_row => (0, 9)) FROM (SELECT o.buyer, COUNT(*) AS n FROM orders o JOIN towns t ON o.City = t.City GROUP BY o.buyer)",
    "SELECT AVG(p.s, contribution_bounds_per_row => (0, 9)) FROM visits v JOIN (SELECT buyer AS b, SUM(price) AS s FROM orders GROUP BY buyer) p ON p.b = v.user_id",
]

ATTACKS = [
    "; DROP TABLE visits", "; COPY visits TO '/tmp/tacit-attack.csv'", " UNION ALL SELECT user_id, 1 FROM visits", "--", "/*", "*/",
    "' OR '1'='1", "\" OR \"1\"=\"1", "1; ATTACH '/tmp/x.db'", "(SELECT secret FROM visits LIMIT 1)", "read_csv('/etc/passwd')",
    "pragma_table_info('visits')", "getenv('HOME')", "current_setting('threads')", "secret", "user_id", "*", "visits.*",
    "ORDER BY random()", "random()", "1/(age-42)", "CAST('x' AS INTEGER)", "regexp_matches(region, '(a+)+$')", "MAX(age)",
    "string_agg(region, ',')", "SUM(age) OVER ()", "QUALIFY 1=1", "LIMIT (SELECT 1)", "TABLESAMPLE 1%", "main.visits", "'/etc/passwd'",
    "x'00'", "E'\\x00'", "$1", "?", ":a", "{{ a }}", "[1, 2]", "{'a': 1}", "a -> b", "::INT[]", "1e999", "9" * 50, "1_000", "0x1F",
    "\0", "\u202e", "\ufeff", "\u00a0", "ｓｅｌｅｃｔ", "“Oslo”", "’", "\ud800", "🙂", "é", "İ", "\x1a", "\\", "`", "``", "$$a$$",
    "EXCEPT", "WITH x AS (SELECT 1)", "INTO OUTFILE '/tmp/x'", "PIVOT", "GROUPING SETS ((City))", "ROLLUP (City)", "LATERAL",
    "CROSS JOIN visits", "USING SAMPLE 10", "COLLATE NOCASE", "AT TIME ZONE 'UTC'", "ESCAPE '!'", "IS DISTINCT FROM 3", "EXISTS",
    "SUM(COUNT(*))", "COUNT(*) FILTER", "CASE", "END", "WHEN", "NULL", "TRUE", "-", "- -", "NOT NOT", "((((", "))))", "=>", "||", "^",
    "INTERVAL '1 year 2 months'", "DATE '2024-99-99'", "TIMESTAMP 'x'", "CURRENT_DATE", "now()", "TRY_CAST(age AS JSON)", "DISTINCT",
    "WITH DIFFERENTIAL_PRIVACY", "OPTIONS(epsilon=1e20)", "WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=9)", ", epsilon=9", "epsilon=NULL",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=9)", "privacy_unit_column=age", "max_groups_contributed=NULL", "max_groups_contributed=99",
    "group_selection_strategy=LAPLACE_THRESHOLD", "RIGHT JOIN UNNEST(['x']) AS City USING (City)", "UNNEST([user_id])", "USING (user_id)", "[secret]",
    "RIGHT JOIN (SELECT DISTINCT secret FROM visits) USING (secret)", "RIGHT JOIN UNNEST(['u1']) AS user_id USING (user_id)", "RIGHT JOIN UNNEST([1,",
    "JOIN orders o ON TRUE", "JOIN orders USING (City)", "LEFT JOIN towns t ON t.City = user_id", "UNION ALL SELECT City FROM towns", "UNION", "ON TRUE",
    "v.user_id = o.City", "o.buyer = o.buyer", "OR TRUE", "RIGHT", "FULL OUTER", "NATURAL", "orders", "towns", "buyer", "o.card", "t.*", "JOIN orders ON card = secret",
    "JOIN (SELECT City, COUNT(*) AS n FROM orders GROUP BY City) z USING (City)", "JOIN (VALUES (user_id)) AS z(a) ON a = 1", "JOIN (VALUES (1, 2)) AS z(a) ON a = 1",
    "contribution_bounds_per_group => (0, 99)", "еpsilon=9", "OPTIONS()", "epsilon=٣", "delta=1", "max_rows_contributed=0", "(1, 2)",
    "contribution_bounds_per_row => (0, 1e400)", "contribution_bounds_per_row => (1/0, 1)", "FOR UPDATE", "FETCH FIRST 1 ROWS ONLY",
]  # fmt: skip

TOKEN = re.compile(r"'(?:[^']|'')*'|\w+|\s+|[^\w\s]")
VOCABULARY = sorted({token for text in VALID for token in TOKEN.findall(text) if not token.isspace()})


def mutated(chance: random.Random) -> str:
    """One statement, spoilt in one way or, rarely, several."""
    text = chance.choice(VALID)
    for _ in range(chance.choice((0, 1, 1, 1, 1, 2, 3))):
        text = chance.choice(MUTATIONS)(text, chance)
    return text


def statements(seed: int, count: int) -> Iterator[str]:
    """So many, always the same for a seed."""
    chance = random.Random(seed)
    for _ in range(count):
        yield mutated(chance)


def _tokens(text: str) -> list[str]:
    return TOKEN.findall(text) or [" "]


def _drop(text: str, chance: random.Random) -> str:
    tokens = _tokens(text)
    del tokens[chance.randrange(len(tokens))]
    return "".join(tokens)


def _swap_word(text: str, chance: random.Random) -> str:
    """A token replaced by another of the same sort: what most often stays valid."""
    tokens = _tokens(text)
    place = chance.randrange(len(tokens))
    sort = _sort(tokens[place])
    tokens[place] = chance.choice([word for word in VOCABULARY if _sort(word) == sort] or [tokens[place]])
    return "".join(tokens)


def _sort(token: str) -> str:
    if token.isspace():
        return "space"
    if token[0] == "'":
        return "text"
    if token.isdigit():
        return "number"
    return "word" if token[0].isalpha() else "sign"


def _number(text: str, chance: random.Random) -> str:
    values = ["0", "1", "-1", "7.5", "1e10", "1e400", "99999999999999999999", "0.1", ".5", "1e-300", "2147483648"]
    numbers = list(re.finditer(r"\b\d+\b", text))
    if not numbers:
        return text
    chosen = chance.choice(numbers)
    return text[: chosen.start()] + chance.choice(values) + text[chosen.end() :]


def _case(text: str, chance: random.Random) -> str:
    return "".join(sign.upper() if chance.random() < 0.5 else sign.lower() for sign in text)


def _comment(text: str, chance: random.Random) -> str:
    tokens = _tokens(text)
    spaces = [place for place, token in enumerate(tokens) if token.isspace()]
    comment = chance.choice(["/* ; DROP TABLE x */", " -- hi\n", "\t\n", "/**/", " /* ' */ ", "/*+ hint */"])
    tokens[chance.choice(spaces or [0])] = f" {comment} "
    return "".join(tokens)


def _nest(text: str, chance: random.Random) -> str:
    tokens = _tokens(text)
    names = [
        place for place, token in enumerate(tokens) if token in ("age", "spend", "score", "region", "City", "balance")
    ]
    if not names:
        return text
    place = chance.choice(names)
    depth = chance.choice((1, 2, 5, 30, 49, 60, 500))
    left, right = chance.choice((("(", ")"), ("abs(", ")"), ("-(", ")"), ("(1 + ", ")"), ("coalesce(", ", NULL)")))
    tokens[place] = left * depth + tokens[place] + right * depth
    return "".join(tokens)


def _splice(text: str, chance: random.Random) -> str:
    tokens = _tokens(text)
    place = chance.randrange(len(tokens) + 1)
    attack = chance.choice(ATTACKS)
    return "".join([*tokens[:place], " ", attack, " ", *tokens[place:]])


def _instead(text: str, chance: random.Random) -> str:
    tokens = _tokens(text)
    tokens[chance.randrange(len(tokens))] = f" {chance.choice(ATTACKS)} "
    return "".join(tokens)


def _double(text: str, chance: random.Random) -> str:
    tokens = _tokens(text)
    start = chance.randrange(len(tokens))
    end = min(len(tokens), start + chance.randrange(1, 8))
    return "".join([*tokens[:end], *tokens[start:end], *tokens[end:]])


def _letter(text: str, chance: random.Random) -> str:
    place = chance.randrange(max(len(text), 1))
    return text[:place] + chance.choice("abc0'\"`();,*%\\\0é\u0301 \n") + text[place + chance.randrange(2) :]


def _condition(text: str, chance: random.Random) -> str:
    more = chance.choice(["age > 3", "City <> 'x'", "day > '2024-01-01'", "NOT active", "score IS NULL", "1 = 1"])
    if " WHERE " in text:
        return text.replace(" WHERE ", f" WHERE {more} {chance.choice(('AND', 'OR'))} ", 1)
    return text.replace(" FROM visits", f" FROM visits WHERE {more}", 1)


MUTATIONS = [
    _drop, _swap_word, _swap_word, _swap_word, _number, _number, _case, _case, _comment, _comment, _nest, _splice, _instead,
    _double, _letter, _condition, _condition, _condition,
]  # fmt: skip
