"""Counts of rows and units, against counting by hand: filtered, bounded, with null units."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

import tacit
from tacit.ledger import InMemory
from tacit.tables.session.table import Table

ROWS = 3


@pytest.fixture
def visits(tmp_path: Path) -> tuple[Table, list[tuple[str, str, str]]]:
    chance = random.Random(5)
    rows = [
        (chance.choice(["", *map(str, range(60))]), chance.choice("ab"), chance.choice(["", "1", "5", "9", "x"]))
        for _ in range(400)
    ]
    (tmp_path / "t.csv").write_text("u,k,v\n" + "".join(f"{','.join(row)}\n" for row in rows), encoding="utf-8")
    (tmp_path / "t.toml").write_text(
        f'version = 1\nsource = "t.csv"\nunit = "u"\n[limits]\ngroups = 2\nrows = {ROWS}\n[budget]\nepsilon = 1e9\n'
        '[columns]\nu = { type = "text", role = "identifier" }\nv = { type = "integer", role = "private" }\n'
        'k = { type = "text", role = "public", keys = ["a", "b"] }\n',
        encoding="utf-8",
    )
    return tacit.open(tmp_path / "t.toml", ledger=InMemory()), rows


def asked(table: Table, aggregate: str) -> dict[object, object]:
    """The count for each key; at this price the noise is zero, all but surely."""
    answer = table.sql(f"SELECT k, {aggregate} AS n FROM t GROUP BY k", epsilon="1e7")
    return dict(zip(answer["k"].values, answer["n"].values, strict=True))


def test_units_with_a_row_that_counts(visits: tuple[Table, list[tuple[str, str, str]]]) -> None:
    table, rows = visits
    for key in "ab":
        here = [(unit, value) for unit, at, value in rows if unit and at == key]
        over = {unit for unit, value in here if value in ("5", "9")}
        known = {unit for unit, value in here if value in ("1", "5", "9")}
        assert 0 < len(over) < len(known) < len({unit for unit, _ in here})
        assert asked(table, "COUNT(DISTINCT u)")[key] == len({unit for unit, _ in here})
        assert asked(table, "COUNT(DISTINCT u) FILTER (WHERE v > 4)")[key] == len(over)
        assert asked(table, "COUNT(DISTINCT u) FILTER (WHERE v IS NOT NULL)")[key] == len(known)
        assert asked(table, "COUNT_UNITS() FILTER (WHERE v > 4)")[key] == len(over)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 2), (1, 2), (2, 3), (0, 3)])
def test_rows_within_bounds(visits: tuple[Table, list[tuple[str, str, str]]], low: int, high: int) -> None:
    table, rows = visits
    bounds = f"contribution_bounds_per_group => ({low}, {high})"
    for key in "ab":
        each = Counter(unit for unit, at, _ in rows if unit and at == key)
        assert asked(table, f"COUNT(*, {bounds})")[key] == sum(min(max(n, low), high) for n in each.values())
        known = Counter(dict.fromkeys(each, 0))
        known.update(unit for unit, at, value in rows if unit and at == key and value in ("1", "5", "9"))
        assert asked(table, f"COUNT(v, {bounds})")[key] == sum(min(max(n, low), high) for n in known.values())
