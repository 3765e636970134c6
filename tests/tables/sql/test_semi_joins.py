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
        ("SELECT COUNT(*) FROM visits WHERE spend > (SELECT AVG(spend) FROM visits)", "subquery outside of FROM"),
    ],
)
def test_anything_else_is_refused_for_nothing(table: Table, sql: str, says: str) -> None:
    before = table.remaining
    with pytest.raises(TacitError, match=says):
        table.sql(sql, epsilon=1)
    assert table.remaining == before


def test_nobody_is_chosen_by_name(table: Table) -> None:
    with pytest.raises(NotPrivate):
        table.sql("SELECT COUNT(*) FROM visits WHERE who IN (SELECT who FROM visits WHERE who = 'u7')", epsilon=1)
