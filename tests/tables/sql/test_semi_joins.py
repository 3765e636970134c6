# ruff: noqa: E501 (statements stay on one line)
"""IN (SELECT …) and EXISTS: rows of those who occur elsewhere, each once; refused where it is not the unit."""

from __future__ import annotations

import random
from pathlib import Path

import duckdb
import pytest

import tacit
from tacit.errors import NotPrivate, TacitError
from tacit.tables.session.table import Table


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place, chance = tmp_path_factory.mktemp("semi"), random.Random(3)
    visits = [f"u{chance.randint(0, 90)},{chance.choice(('Lund', 'Oslo'))},{chance.randint(0, 50)}" for _ in range(300)]
    orders = [f"u{chance.randint(40, 140)},{chance.randint(0, 9)}" for _ in range(200)]
    (place / "visits.csv").write_text("who,city,spend\n" + "\n".join(visits) + "\n", encoding="utf-8")
    (place / "orders.csv").write_text("buyer,price\n" + "\n".join(orders) + "\n", encoding="utf-8")
    (place / "visits.toml").write_text(
        'version = 1\nsource = "visits.csv"\nunit = "who"\n[limits]\ngroups = 2\nrows = 40\n[budget]\nepsilon = 9000000\n'
        'least = { epsilon = 1 }\n[columns]\nwho = { type = "text", role = "identifier" }\n'
        'city = { type = "text", role = "public", keys = ["Lund", "Oslo"] }\n'
        'spend = { type = "integer", role = "private", bounds = [0, 50] }\n'
        '[tables.orders]\nsource = "orders.csv"\nunit = "buyer"\n[tables.orders.columns]\n'
        'buyer = { type = "text", role = "identifier" }\nprice = { type = "integer", role = "private", bounds = [0, 9] }\n',
        encoding="utf-8",
    )
    return place


@pytest.fixture(scope="module")
def table(folder: Path) -> Table:
    return tacit.open(folder / "visits.toml", ledger=tacit.InMemory(), analyst="ada")


ASKED = [
    "SELECT COUNT(*) AS n FROM visits WHERE who IN (SELECT buyer FROM orders)",
    "SELECT COUNT(*) AS n FROM visits WHERE who NOT IN (SELECT buyer FROM orders)",
    "SELECT COUNT(*) AS n FROM visits WHERE NOT (who IN (SELECT buyer FROM orders WHERE price > 5))",
    "SELECT COUNT(DISTINCT who) AS n FROM visits WHERE who IN (SELECT who FROM visits WHERE spend > 45) AND spend < 10",
    "SELECT SUM(spend) AS n FROM visits WHERE who IN (SELECT who FROM visits GROUP BY who HAVING COUNT(*) >= 4)",
    "SELECT COUNT(*) AS n FROM visits AS v WHERE EXISTS (SELECT 1 FROM orders AS o WHERE o.buyer = v.who AND o.price > 7)",
    "SELECT COUNT(*) AS n FROM visits v WHERE NOT EXISTS (SELECT * FROM orders o WHERE v.who = o.buyer)",
    "SELECT COUNT(*) AS n FROM visits WHERE who IN (SELECT DISTINCT buyer FROM orders) AND who IN "
    "(SELECT who FROM visits WHERE city = 'Lund') AND city = 'Oslo'",
    "SELECT COUNT(*) AS n FROM visits WHERE who IN (SELECT who FROM visits GROUP BY who, city HAVING COUNT(*) > 2)",
    "SELECT COUNT(*) AS n FROM (SELECT who, spend FROM visits WHERE who IN (SELECT buyer FROM orders)) WHERE spend > 20",
    "SELECT COUNT(*) AS n FROM orders WHERE buyer IN (SELECT who FROM visits WHERE spend > 40)",
    "SELECT COUNT(*) AS n FROM visits v WHERE EXISTS (SELECT COUNT(*) FROM orders o WHERE o.buyer = v.who GROUP BY o.buyer HAVING COUNT(*) > 1)",
    "SELECT COUNT(*) AS n FROM visits v LEFT JOIN orders w ON v.who = w.buyer WHERE w.buyer IN (SELECT buyer FROM orders WHERE price > 8)",
    "SELECT COUNT(*) AS n FROM visits LEFT JOIN (SELECT buyer FROM orders) ON who = buyer WHERE who NOT IN (SELECT buyer FROM orders WHERE price > 8)",
    "SELECT COUNT(*) AS n FROM visits v LEFT JOIN orders w ON v.who = w.buyer WHERE v.who NOT IN (SELECT buyer FROM orders WHERE price > 8)",
    "SELECT COUNT(*) AS n FROM visits v LEFT JOIN orders w ON v.who = w.buyer WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.buyer = w.buyer AND o.price > 8)",
]


@pytest.mark.parametrize("sql", ASKED)
def test_rows_of_those_who_occur_are_counted_once(table: Table, folder: Path, sql: str) -> None:
    database = duckdb.connect()
    for name in ("visits", "orders"):
        database.execute(f"CREATE TABLE {name} AS SELECT * FROM read_csv('{folder / name}.csv')")
    ((expected,),) = database.execute(sql).fetchall()
    assert round(table.sql(sql, epsilon=400_000)["n"].value) == expected


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("SELECT COUNT(*) FROM visits WHERE city IN (SELECT city FROM visits WHERE spend > 40)", "group by who"),
        ("SELECT COUNT(*) FROM visits WHERE who IN (SELECT city FROM visits)", "group by who"),
        ("SELECT COUNT(*) FROM visits WHERE spend IN (SELECT price FROM orders)", "."),
        ("SELECT COUNT(*) FROM visits WHERE who IN (SELECT buyer FROM orders) OR spend > 3", "joined|AND"),
        ("SELECT COUNT(*) FROM visits WHERE (who, city) IN (SELECT who, city FROM visits)", "unit"),
        ("SELECT COUNT(*) FROM visits WHERE who IN (SELECT buyer FROM orders LIMIT 3)", "LIMIT"),
        ("SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM orders o WHERE o.price > v.spend)", "unit"),
        (
            "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM orders o WHERE o.buyer = v.who AND o.price > v.spend)",
            "unit",
        ),
        (
            "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT COUNT(*) FROM orders o WHERE o.buyer = v.who)",
            "always true",
        ),
        (
            "SELECT COUNT(*) FROM visits v WHERE NOT EXISTS (SELECT 1 + MAX(price) FROM orders o WHERE o.buyer = v.who)",
            "always true",
        ),
        (
            "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT COUNT(*) FROM orders o WHERE o.buyer = v.who GROUP BY ALL)",
            "always true",
        ),
        (
            "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT o.price FROM orders o WHERE o.buyer = v.who GROUP BY 1 HAVING COUNT(*) > 1)",
            "Name the columns",
        ),
        ("SELECT COUNT(*) FROM visits WHERE who IN (SELECT DISTINCT ON (price) buyer FROM orders)", "DISTINCT ON"),
        (
            "SELECT COUNT(*) FROM visits v LEFT JOIN orders w ON v.who = w.buyer WHERE w.buyer NOT IN (SELECT buyer FROM orders)",
            "NOT EXISTS",
        ),
        (
            "SELECT COUNT(*) FROM visits LEFT JOIN orders ON who = buyer WHERE NOT (Orders.buyer IN (SELECT buyer FROM orders))",
            "NOT EXISTS",
        ),
        (
            "SELECT COUNT(*) FROM (SELECT who FROM visits) LEFT JOIN orders ON who = buyer WHERE buyer NOT IN (SELECT buyer FROM orders)",
            "NOT EXISTS",
        ),
        ("SELECT COUNT(*) AS n WHERE who IN (SELECT buyer FROM orders)", "FROM"),
        ("SELECT COUNT(*) FROM visits WHERE spend > (SELECT AVG(spend) FROM visits)", "subquery outside of FROM"),
    ],
)
def test_anything_else_is_refused_for_nothing(table: Table, sql: str, says: str) -> None:
    before = table.remaining
    with pytest.raises(TacitError, match=says):
        table.sql(sql, epsilon=1)
    assert table.remaining == before


def test_no_row_of_a_unit_is_cut(folder: Path, tmp_path: Path) -> None:
    """A join of private tables would take 316 rows of each unit, or with eight conditions three."""
    lines = [*(f"u1,Lund,{i % 50}" for i in range(900)), "u2,Oslo,3"]
    (tmp_path / "visits.csv").write_text("who,city,spend\n" + "\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "orders.csv").write_text("buyer,price\nu1,3\nu1,3\n" + "u3,3\n" * 500, encoding="utf-8")
    policy = (folder / "visits.toml").read_text(encoding="utf-8").replace("rows = 40", "rows = 2000")
    (tmp_path / "visits.toml").write_text(policy, encoding="utf-8")
    table = tacit.open(tmp_path / "visits.toml", ledger=tacit.InMemory(), analyst="ada")
    eight = " AND ".join(f"who IN (SELECT buyer FROM orders WHERE price < {9 - i})" for i in range(4))
    eight += "".join(f" AND who NOT IN (SELECT buyer FROM orders WHERE price > {3 + i})" for i in range(4))
    for where, expected in [
        ("who IN (SELECT buyer FROM orders)", 900),
        ("who NOT IN (SELECT buyer FROM orders WHERE price > 5)", 901),
        ("who NOT IN (SELECT buyer FROM orders)", 1),
        (eight, 900),
    ]:
        answer = table.sql(f"SELECT COUNT(*) AS n FROM visits WHERE {where}", epsilon=400_000)
        assert round(answer["n"].value) == expected


def test_a_null_inside_is_nobody(folder: Path, tmp_path: Path) -> None:
    """NOT IN passes over rows of nobody; SQL would find nobody at all."""
    (tmp_path / "visits.csv").write_text("who,city,spend\nu1,Lund,3\nu2,Oslo,3\n,Oslo,3\n", encoding="utf-8")
    (tmp_path / "orders.csv").write_text("buyer,price\nu1,3\n,4\n", encoding="utf-8")
    (tmp_path / "visits.toml").write_text((folder / "visits.toml").read_text(encoding="utf-8"), encoding="utf-8")
    table = tacit.open(tmp_path / "visits.toml", ledger=tacit.InMemory(), analyst="ada")
    sql = "SELECT COUNT(*) AS n FROM visits WHERE who NOT IN (SELECT buyer FROM orders)"
    assert round(table.sql(sql, epsilon=400_000)["n"].value) == 1


def test_nobody_is_chosen_by_name(table: Table) -> None:
    with pytest.raises(NotPrivate):
        table.sql("SELECT COUNT(*) FROM visits WHERE who IN (SELECT who FROM visits WHERE who = 'u7')", epsilon=1)
