"""The order that chooses groups is fair: every group, and every pair of groups, is kept equally often."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import duckdb
import pytest

from tacit.tables.engines.contract import BoundedQuery, Measure, One
from tacit.tables.engines.duckdb.engine import DuckDBEngine
from tacit.tables.expressions.tree import Column

UNITS, GROUPS, KEPT = 20_000, 12, 3


class Crossed:
    """Every unit is in every group; remembers which pairs were kept."""

    def __init__(self, unit: str) -> None:
        self.database = duckdb.connect()
        self.database.execute(
            f"CREATE VIEW rows AS SELECT {unit} AS who, 'g' || k AS city FROM range({UNITS}) t(i), range({GROUPS}) s(k)"
        )
        self.kept: list[Any] = []

    def columns(self, sql: str) -> dict[str, Any]:
        if "kept" in sql:
            chain = sql[: sql.rindex("\n)\n") + 3]
            city = "kept.k0" if "names" in sql else "listed.k0"
            source = "kept" if "names" in sql else "kept JOIN listed ON kept.g % 4294967296 = listed.g"
            self.kept = self.database.execute(f"{chain} SELECT unit, {city} FROM {source} ORDER BY 1").fetchall()
        return self.database.execute(sql).fetchnumpy()

    def close(self) -> None:
        self.database.close()


def chosen(unit: str, secret: str, listed: bool) -> dict[Any, set[str]]:
    held = Crossed(unit)
    public = tuple((f"g{k}",) for k in range(GROUPS)) if listed else None
    measures = (Measure(One(), 0, 1, False),)
    DuckDBEngine(held, secret).run(BoundedQuery(None, (Column("city"),), public, "who", KEPT, 1, measures))
    found: dict[Any, set[str]] = {}
    for who, city in held.kept:
        found.setdefault(who, set()).add(city)
    return found


def excess(found: dict[Any, set[str]], size: int) -> float:
    """The largest deviation, in standard errors, of how often a set of groups is kept."""
    share = {1: KEPT / GROUPS, 2: KEPT * (KEPT - 1) / (GROUPS * (GROUPS - 1))}[size]
    error = (UNITS * share * (1 - share)) ** 0.5
    worst = 0.0
    for some in combinations([f"g{k}" for k in range(GROUPS)], size):
        times = sum(kept.issuperset(some) for kept in found.values())
        worst = max(worst, abs(times - UNITS * share) / error)
    return worst


@pytest.mark.parametrize("unit", ["i", "i * 1000003", "CAST(i AS VARCHAR)"])
@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.thorough
def test_every_group_is_kept_equally_often(unit: str, listed: bool) -> None:
    found = chosen(unit, "5ec7e7", listed)
    assert len(found) == UNITS
    assert all(len(kept) == KEPT for kept in found.values())
    assert excess(found, 1) < 5.5
    assert excess(found, 2) < 5.5


def test_an_unfair_order_is_noticed() -> None:
    found = chosen("i", "5ec7e7", True)
    tilted = {who: kept if who % 20 else {"g0", "g1", "g2"} for who, kept in found.items()}
    assert excess(tilted, 1) > 5.5
    assert excess(tilted, 2) > 5.5
