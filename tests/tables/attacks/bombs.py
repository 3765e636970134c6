"""Statements that try to make an engine, a planner or a parser work without end, most of them for one person's row.

A bomb is armed by a condition that is true of one person at most (`ARMED`), so that time, memory or an error would
tell whether that person is in the data. About the tables of `hostile.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

__all__ = ["ARMED", "Bomb", "bombs"]

ARMED = (
    "points = 9223372036854775807",
    "age > 119 AND spend > 100",
    "LENGTH(city) > 250",
    "points < -9000000000000000000",
    "spend IS NULL AND age IS NULL",
)


@dataclass(frozen=True, slots=True)
class Bomb:
    """A statement, and what it tries to exhaust."""

    kind: str
    sql: str


def bombs() -> Iterator[Bomb]:
    """All of them, the same each time."""
    for kind, made in _KINDS.items():
        for sql in made():
            yield Bomb(kind, sql)


def _texts() -> Iterator[str]:
    """Texts that grow, level by level, in subqueries row-wise and per unit."""
    for armed in ARMED:
        for copies in (2, 8, 64):
            for levels in (1, 3, 6, 12):
                grown = " || ".join(["s"] * copies)
                inner = f"SELECT user_id, CASE WHEN {armed} THEN city ELSE '' END AS s FROM visits"
                for _ in range(levels):
                    inner = f"SELECT user_id, {grown} AS s FROM ({inner})"
                yield f"SELECT COUNT(*) FROM ({inner}) WHERE LENGTH(s) > 9"
        for levels in (1, 2, 4):
            inner = (
                f"SELECT user_id, MAX(CASE WHEN {armed} THEN LENGTH(city) ELSE 0 END) AS n FROM visits GROUP BY user_id"
            )
            wide = " || ".join(["CAST(n AS VARCHAR)"] * 60)
            for _ in range(levels):
                inner = f"SELECT user_id, MAX(LENGTH({wide})) AS n FROM ({inner}) GROUP BY user_id"
            yield f"SELECT AVG(n, contribution_bounds_per_row => (0, 9)) FROM ({inner})"
        concat = f"CONCAT({', '.join(['city'] * 200)})"
        for outer in ("UPPER", "LOWER", "TRIM", "LENGTH"):
            yield f"SELECT COUNT({outer}(CASE WHEN {armed} THEN {concat} END)) FROM visits"
        yield f"SELECT {concat} AS k, COUNT(*) FROM visits WHERE {armed} GROUP BY 1"


def _patterns() -> Iterator[str]:
    """LIKE that backtracks."""
    tails = ("b", "%b", "_b", "", "\\%")
    for armed in ARMED[:3]:
        for count in (3, 10, 30, 200):
            for piece in ("%_", "%a", "%_%", "_%", "%a%a"):
                pattern = piece * count + tails[count % len(tails)]
                word = "NOT LIKE" if count == 10 else "ILIKE" if count == 30 else "LIKE"
                yield f"SELECT COUNT(*) FROM visits WHERE CASE WHEN {armed} THEN city {word} '{pattern}' ELSE FALSE END"
    for size in (1000, 5000, 20_000):
        yield f"SELECT COUNT(*) FROM visits WHERE city LIKE '{'%x' * size}'"
        yield f"SELECT COUNT(*) FROM visits WHERE CONTAINS(city, '{'x' * size}')"
        yield f"SELECT COUNT(*) FROM visits WHERE city || city || city LIKE '%{'_' * size}%'"
    for armed in ARMED[:2]:
        for expression in (
            "(?:a|b|ab)+c",
            "a[ab]{190}c",
            "(?:a.+){30}c",
            ".{200}x",
            "(a|b)+(a|b)+(a|b)+c",
            "[^x]{200}y",
        ):
            yield f"SELECT COUNT(*) FROM visits WHERE CASE WHEN {armed} THEN REGEXP_MATCHES(city, '{expression}') END"
            found = f"REGEXP_EXTRACT(city, '{expression}')"
            yield f"SELECT COUNT(*) FROM visits WHERE CASE WHEN {armed} THEN {found} END = 'x'"
        grown = "REPLACE(" * 8 + "city" + ", 'a', 'aaaaaaaa')" * 8
        yield f"SELECT COUNT(CASE WHEN {armed} THEN {grown} END) FROM visits"
        yield f"SELECT COUNT(CASE WHEN {armed} THEN REPLACE(city, 'a', '{'b' * 4000}') END) FROM visits"
    many = " OR ".join(f"city LIKE '%{'_%' * 20}{at}'" for at in range(200))
    yield f"SELECT COUNT(*) FROM visits WHERE {many}"


def _fan_out() -> Iterator[str]:
    """One person's row becomes many."""
    for armed in ARMED:
        for rows in (10, 300, 3000):
            listed = ", ".join(f"({at})" for at in range(rows))
            for times in (1, 2, 3):
                joins = " ".join(
                    f"JOIN (VALUES {listed}) AS c{at}(x) ON visits.age >= 0 OR c{at}.x >= 0" for at in range(times)
                )
                yield f"SELECT COUNT(*) FROM visits {joins} WHERE {armed}"
        for times in (1, 3, 5, 9):
            joins = " ".join(f"JOIN regions r{at} ON TRUE" for at in range(times))
            yield f"SELECT COUNT(*) FROM visits {joins} WHERE {armed}"
        for times in (1, 2, 4, 7):
            joins = " ".join(f"JOIN visits w{at} ON visits.user_id = w{at}.user_id" for at in range(times))
            yield f"SELECT COUNT(*) FROM visits {joins} WHERE visits.{armed.replace(' AND ', ' AND visits.')}"
            orders = " ".join(f"JOIN orders o{at} ON visits.user_id = o{at}.buyer" for at in range(times))
            yield f"SELECT COUNT(*) FROM visits {orders}"


def _nested() -> Iterator[str]:
    """Trees that are deep."""
    for depth in (20, 90, 150, 1000, 5000):
        yield f"SELECT COUNT(*) FROM visits WHERE {'(' * depth}age > 3{')' * depth}"
        yield f"SELECT COUNT(*) FROM visits WHERE {'NOT (' * depth}age > 3{')' * depth}"
        yield f"SELECT SUM({'ABS(' * depth}age{')' * depth}) FROM visits"
        yield f"SELECT SUM({' + '.join(['age'] * depth)}) FROM visits"
        yield f"SELECT COUNT(*) FROM visits WHERE {' OR '.join(['age > 3'] * depth)}"
        yield f"SELECT COUNT(*) FROM visits WHERE city = {' || '.join(['plan'] * depth)}"
        cases = "CASE WHEN age > 3 THEN 1 ELSE " * depth + "0" + " END" * depth
        yield f"SELECT SUM({cases}, contribution_bounds_per_row => (0, 1)) FROM visits"
        yield f"SELECT COUNT(*) FROM {'(SELECT * FROM ' * depth}visits{')' * depth}"
        yield "SELECT COUNT(*) FROM visits WHERE " + "CASE WHEN " * depth + "active" + " THEN TRUE END" * depth
        yield f"SELECT {'-' * depth}COUNT(*) FROM visits"
        yield f"SELECT COUNT(*) FROM visits HAVING {' AND '.join(['COUNT(*) > 1'] * depth)}"
    for depth in (2, 4, 8, 30):
        inner = "SELECT user_id, SUM(spend) AS t FROM visits GROUP BY user_id"
        for _ in range(depth):
            inner = f"SELECT user_id, SUM(t) AS t FROM ({inner}) GROUP BY user_id"
        yield f"SELECT AVG(t, contribution_bounds_per_row => (0, 9)) FROM ({inner})"
        named = ", ".join(f"w{at} AS (SELECT * FROM {'visits' if not at else f'w{at - 1}'})" for at in range(depth))
        yield f"WITH {named} SELECT COUNT(*) FROM w{depth - 1}"


def _doubled() -> Iterator[str]:
    """Expressions that double with every subquery, short as they are written."""
    for levels in (3, 8, 14, 20, 30, 60):
        for grown in ("x + x", "x * x", "x - x + x", "CASE WHEN x > 0 THEN x ELSE -x END", "LEAST(x, x, x, x)"):
            inner = "SELECT spend AS x FROM visits"
            for _ in range(levels):
                inner = f"SELECT {grown} AS x FROM ({inner})"
            yield f"SELECT SUM(x, contribution_bounds_per_row => (0, 9)) FROM ({inner})"


def _wide() -> Iterator[str]:
    """Many outputs, of every kind."""
    bounds = "contribution_bounds_per_row"
    for count in (50, 200, 1000, 4000):
        for one in (
            "COUNT(*) FILTER (WHERE age > {at})",
            "SUM(age + {at}, " + bounds + " => (0, {at}))",
            "MEDIAN(spend, " + bounds + " => (0, {at}))",
            "COUNT(DISTINCT points % {at})",
            "AVG(spend, " + bounds + " => (0, {at}))",
            "CORR(age, spend + {at}, " + bounds + " => (0, 9), contribution_bounds_of_second => (0, {at}))",
            "VARIANCE(age, " + bounds + " => (0, {at}))",
            "COUNT(*) + {at}",
        ):
            outputs = ", ".join(f"{one.format(at=at)} AS c{at}" for at in range(1, count + 1))
            yield f"SELECT {outputs} FROM visits"
            if count <= 200:
                yield f"SELECT city, {outputs} FROM visits GROUP BY city"


def _lists() -> Iterator[str]:
    """Long lists."""
    for size in (100, 1000, 5000, 20_000):
        numbers, texts = ", ".join(map(str, range(size))), ", ".join(f"'t{at}'" for at in range(size))
        yield f"SELECT COUNT(*) FROM visits WHERE points IN ({numbers})"
        yield f"SELECT COUNT(*) FROM visits WHERE city IN ({texts})"
        yield f"SELECT COUNT(*) FROM visits WHERE NOT (city IN ({texts}) AND points IN ({numbers}))"
        yield f"SELECT plan, COUNT(*) FROM visits RIGHT JOIN UNNEST([{texts}]) AS plan USING (plan) GROUP BY plan"
        yield f"SELECT LEAST({numbers}) AS k, COUNT(*) FROM visits GROUP BY age"
        yield f"SELECT COUNT(COALESCE({', '.join(['city'] * size)})) FROM visits"
        arms = " ".join(f"WHEN points = {at} THEN 't{at}'" for at in range(size))
        yield f"SELECT CASE {arms} END AS k, COUNT(*) FROM visits GROUP BY 1"
        rows = ", ".join(f"('t{at}', {at})" for at in range(size))
        yield f"SELECT COUNT(*) FROM visits v JOIN (VALUES {rows}) AS c(city, n) ON v.city = c.city"


def _groups() -> Iterator[str]:
    """Many groups, and many sets of them."""
    for keys in (2, 4, 6, 7, 9, 20):
        flags = ", ".join(f"(age > {at})" for at in range(keys))
        for aggregate in ("COUNT(*)", "SUM(spend)", "COUNT(*), SUM(spend), AVG(age)", "MEDIAN(spend)"):
            yield f"SELECT {aggregate} FROM visits GROUP BY CUBE ({flags})"
            yield f"SELECT {aggregate} FROM visits GROUP BY ROLLUP ({flags})"
            yield f"SELECT {aggregate} FROM visits GROUP BY {flags.replace('(', '').replace(')', '')}"
        yield f"SELECT COUNT(*) FROM visits GROUP BY CUBE (city, {flags})"
    for buckets in (10, 1000, 100_000):
        for times in (1, 2, 3):
            keys = ", ".join(f"WIDTH_BUCKET(spend + {at}, 0, 100, {buckets})" for at in range(times))
            yield f"SELECT COUNT(*) FROM visits GROUP BY {keys}"
            apart = ", ".join(f"(WIDTH_BUCKET(spend + {at}, 0, 100, {buckets}))" for at in range(times))
            yield f"SELECT SUM(spend) FROM visits GROUP BY ROLLUP ({apart})"
    for key in ("points", "moment", "spend", "fine", "points * points", "city || plan || city", "day, moment, points"):
        yield f"SELECT {key}, COUNT(*) FROM visits GROUP BY {key}"


def _constants() -> Iterator[str]:
    """Numbers that are long, or become so."""
    for digits in (20, 40, 300, 4000, 100_000):
        yield f"SELECT COUNT(*) FROM visits WHERE points < {'9' * digits}"
        yield f"SELECT SUM(spend * {'9' * digits}, contribution_bounds_per_row => (0, 1)) FROM visits"
        yield f"SELECT COUNT(*) FROM visits WHERE spend < 0.{'0' * digits}1"
        yield f"SELECT SUM(spend, contribution_bounds_per_row => (0, {'9' * digits})) FROM visits"
        yield f"SELECT COUNT(*) * {'9' * digits} FROM visits"
        yield f"SELECT COUNT(*) AS {'n' * digits} FROM visits"
        yield f"SELECT COUNT(*) FROM visits WHERE city = '{'x' * digits}'"
    for power in ("400", "1e308", "-1e308", "9223372036854775807"):
        yield f"SELECT POWER(COUNT(*), {power}) FROM visits"
        yield f"SELECT COUNT(*) FROM visits WHERE POWER(spend, {power}) > 0"
        yield f"SELECT POWER(POWER(10, {power}), {power}) + COUNT(*) FROM visits"
    for exponent in ("1e999999999", "1e-999999999", "1e4932", "1e309"):
        yield f"SELECT COUNT(*) FROM visits WHERE spend > {exponent}"
        yield f"SELECT SUM(spend, contribution_bounds_per_row => (0, {exponent})) FROM visits"
    for high in ("1e6", "1e12", "4e16"):
        yield f"SELECT MEDIAN(spend, contribution_bounds_per_row => (0, {high})) FROM visits"
        yield f"SELECT APPROX_QUANTILES(spend, 100, contribution_bounds_per_row => (0, {high})) FROM visits"
        yield f"SELECT COUNT(DISTINCT spend), MAX(spend, contribution_bounds_per_row => (0, {high})) FROM visits"


def _times() -> Iterator[str]:
    """Moments, taken through many zones."""
    zones = ("Europe/Copenhagen", "Asia/Kolkata", "Pacific/Apia", "America/St_Johns", "Australia/Lord_Howe")
    for count in (1, 5, 20, 60, 200):
        moment = "moment"
        for at in range(count):
            moment = f"({moment} AT TIME ZONE '{zones[at % 5]}')"
        yield f"SELECT COUNT(*) FROM visits WHERE {moment} > TIMESTAMP '9999-12-31 00:00:00'"
        added = "moment"
        for at in range(count):
            added = f"DATE_ADD('hour', {999 * at}, {added})"
        yield f"SELECT COUNT(*) FROM visits WHERE {added} > moment"
        truncated = "moment"
        for at in range(count):
            truncated = f"DATE_TRUNC('{('hour', 'day', 'week')[at % 3]}', {truncated})"
        yield f"SELECT {truncated} AS k, COUNT(*) FROM visits GROUP BY 1"
        parts = ", ".join(
            f"EXTRACT(HOUR FROM moment AT TIME ZONE '{zones[at % 5]}') + {at}" for at in range(min(count, 8))
        )
        yield f"SELECT COUNT(*) FROM visits GROUP BY {parts}"


def _unions() -> Iterator[str]:
    """Many parts."""
    for parts in (2, 10, 60, 300, 2000):
        for each in ("SELECT city, points FROM visits", "SELECT city, points FROM orders"):
            every = " UNION ALL ".join([each] * parts)
            yield f"SELECT COUNT(*) FROM ({every})"
            yield f"SELECT city, SUM(points, contribution_bounds_per_row => (0, 9)) FROM ({every}) GROUP BY city"
        deep = "SELECT city FROM visits"
        for _ in range(min(parts, 300)):
            deep = f"SELECT city FROM ({deep} UNION ALL SELECT city FROM orders)"
        yield f"SELECT COUNT(*) FROM ({deep})"


def _crossed() -> Iterator[str]:
    """Rows that multiply, and much work on each of them: more of both than either rule alone would stop."""
    for at, (rows, (aggregate, tail)) in enumerate(product(_multiplied(), _WORKED)):
        inner = rows.replace("ARMED", ARMED[at % len(ARMED)])
        for count in (1, 6, 40):
            outputs = ", ".join(
                f"{aggregate.replace('NO', str(number))} AS c{number}" for number in range(10, count + 10)
            )
            yield f"SELECT {outputs} FROM " + tail.replace("ROWS", f"({inner})")


def _multiplied() -> Iterator[str]:
    """Rows of whoever is armed, many times; with the columns that `_WORKED` takes."""
    for sizes in ((10,), (1000,), (100, 100), (10, 10, 10, 10, 10)):
        yield _repeated(sizes)
    for parts, size in ((2, 3000), (7, 1000)):
        yield " UNION ALL ".join([_repeated((size,))] * parts)
    joins = {
        "visits": ("JOIN visits w ON v.user_id = w.user_id", "JOIN visits u ON v.user_id = u.user_id"),
        "orders": ("JOIN orders o ON v.user_id = o.buyer", "JOIN regions r ON TRUE", "JOIN regions s ON TRUE"),
    }
    for each in joins.values():
        yield f"SELECT {_TAKEN} FROM visits v {' '.join(each)}"


def _repeated(sizes: tuple[int, ...]) -> str:
    """A row as often as the product of the sizes, by lists that it is joined with."""
    lists = (", ".join(f"({number})" for number in range(size)) for size in sizes)
    joined = " ".join(f"JOIN (VALUES {rows}) AS l{at}(x) ON l{at}.x >= 0" for at, rows in enumerate(lists))
    armed = "SELECT user_id, city, plan, age, spend, points, moment FROM visits WHERE ARMED"
    return f"SELECT {_TAKEN} FROM ({armed}) AS v {joined}"


_TAKEN = "v.user_id, v.city, v.plan, v.age, v.spend, v.points, v.moment"
_WORKED = (
    ("COUNT(*) FILTER (WHERE city LIKE '%NO%_a%_b%_c%_%NO')", "ROWS"),
    ("COUNT(*) FILTER (WHERE POWER(age + NO, 0.5) > EXP(LN(spend + NO)))", "ROWS"),
    ("MEDIAN(spend + NO, contribution_bounds_per_row => (0, 99))", "ROWS"),
    ("COUNT(DISTINCT city || plan || 'NO')", "ROWS"),
    ("COUNT(*) FILTER (WHERE city || city || city || 'NO' = UPPER(plan || city))", "ROWS"),
    ("AVG(spend * NO, contribution_bounds_per_row => (0, NO))", "ROWS GROUP BY CUBE (plan, (age > 30))"),
    ("COUNT(*) FILTER (WHERE moment AT TIME ZONE 'Asia/Kolkata' > TIMESTAMP '20NO-01-01 00:00:00')", "ROWS"),
    ("COUNT(*) FILTER (WHERE CAST(CAST(spend + NO AS VARCHAR) AS DOUBLE) > age)", "ROWS"),
    (
        "SUM(n + NO, contribution_bounds_per_row => (0, 9))",
        "(SELECT user_id, COUNT(*) AS n, MAX(city) AS c, SUM(spend) AS t FROM ROWS GROUP BY user_id)",
    ),
    ("SUM(points + NO, contribution_bounds_per_row => (0, 9))", "ROWS GROUP BY WIDTH_BUCKET(spend, 0, 100, 1000)"),
)


_KINDS = {
    "crossed": _crossed,
    "texts": _texts,
    "patterns": _patterns,
    "fan-out": _fan_out,
    "nesting": _nested,
    "doubling": _doubled,
    "wide": _wide,
    "lists": _lists,
    "groups": _groups,
    "constants": _constants,
    "times": _times,
    "unions": _unions,
}
