"""What owners are told of rows, and what public tables hold, is the same on every engine: what Python counts."""

from __future__ import annotations

import datetime
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

from tacit.privacy.guarantees.pure import PureDP
from tacit.tables.engines.backend import Backend, Contents, Survey
from tacit.tables.engines.registry import ENGINES
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.policy import ColumnPolicy, OtherTable, Policy, Role, Terms
from tests.postgres import Servers

KINDS = {
    "who": Kind.INTEGER,
    "city": Kind.TEXT,
    "spend": Kind.REAL,
    "day": Kind.DATE,
    "moment": Kind.TIMESTAMP,
    "new": Kind.BOOLEAN,
}
TYPES = ("BIGINT", "VARCHAR", "DOUBLE PRECISION", "DATE", "TIMESTAMP", "BOOLEAN")
CITIES = ("Bonn", "Łódź", "it's", None)
FIRST = datetime.datetime(2024, 2, 28, 23, 30)
WIDE = 2**53
ROWS: list[tuple[Any, ...]] = [
    (
        None if i == 7 else WIDE + i % 20,
        CITIES[i % 4],
        None if i % 10 == 3 else i / 4,
        (FIRST + datetime.timedelta(days=i % 5)).date(),
        FIRST + datetime.timedelta(minutes=i),
        None if i % 6 == 0 else i % 2 == 0,
    )
    for i in range(101)
]


class Place:
    """Where an engine finds the rows."""

    def __init__(self, backend: Backend, where: str) -> None:
        self.backend, self.where = backend, where
        self.options = {"engine": "spark"} if backend is ENGINES["spark"] else {}

    def source(self) -> Any:
        return self.backend.source(self.where, self.options, "visits")

    def policy(self, **columns: ColumnPolicy) -> Policy:
        every = {name: ColumnPolicy(name, kind, Role.PRIVATE) for name, kind in KINDS.items()} | columns
        return Policy("visits", self.where, "who", every, Terms(PureDP(1)), options=self.options)

    def survey(self, **columns: ColumnPolicy) -> AbstractContextManager[Survey]:
        return self.backend.survey(self.source(), self.policy(**columns))

    def contents(self) -> Contents:
        columns = {name: ColumnPolicy(name, kind, Role.PUBLIC) for name, kind in KINDS.items()}
        other = OtherTable("visits", self.where, columns, options=self.options)
        return self.backend.contents(other, self.source(), self.policy())


def parquet(folder: Path, rows: list[tuple[Any, ...]]) -> str:
    target = folder / "visits.parquet"
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE visits ({', '.join(map(' '.join, zip(KINDS, TYPES, strict=True)))})")
        database.executemany(f"INSERT INTO visits VALUES ({', '.join('?' * len(KINDS))})", rows)
        database.execute(f"COPY visits TO '{target}' (FORMAT parquet)")
    return str(target)


class Made:
    """Places of one engine, with these rows or others."""

    def __init__(self, name: str, folder: Path, request: pytest.FixtureRequest) -> None:
        self.name, self._folder, self._request, self._places = name, folder, request, 0

    def __call__(self, rows: list[tuple[Any, ...]] = ROWS) -> Place:
        self._places += 1
        if self.name == "postgres":
            servers: Servers = self._request.getfixturevalue("postgres_servers")
            url = servers[18].new_database()
            with psycopg.connect(url, autocommit=True) as database:
                database.execute(f"CREATE TABLE visits ({', '.join(map(' '.join, zip(KINDS, TYPES, strict=True)))})")
                with database.cursor() as cursor:
                    cursor.executemany(f"INSERT INTO visits VALUES ({', '.join(['%s'] * len(KINDS))})", rows)
            return Place(ENGINES["postgres"], f"{url}#public.visits")
        folder = self._folder / str(self._places)
        folder.mkdir()
        found = parquet(folder, rows)
        return Place(ENGINES[self.name], str(folder) if self.name == "spark" else found)


@pytest.fixture(params=["duckdb", "postgres", pytest.param("spark", marks=pytest.mark.engines)])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Made:
    if request.param == "spark":
        request.getfixturevalue("spark")
    return Made(request.param, tmp_path, request)


def known(name: str) -> list[Any]:
    place = list(KINDS).index(name)
    return [row[place] for row in ROWS if row[place] is not None]


def test_rows_kinds_and_cells(made: Made) -> None:
    """Columns are looked at as texts, whatever they are, as a draft does."""
    with made().survey(**{name: ColumnPolicy(name, Kind.TEXT, Role.PRIVATE) for name in KINDS}) as survey:
        assert survey.rows() == len(ROWS)
        assert survey.present(list(KINDS)) == {name: len(known(name)) for name in KINDS}
        found = survey.kinds(list(KINDS), {})
        assert found.kinds == KINDS
        spread = survey.spread(found, exact=True)
    assert {name: one.empty for name, one in spread.items()} == {name: len(ROWS) - len(known(name)) for name in KINDS}
    assert {name: one.different for name, one in spread.items()} == {name: len(set(known(name))) for name in KINDS}
    low, high = spread["spend"].ends or (0, 0)
    ordered, last = sorted(known("spend")), len(known("spend")) - 1
    assert ordered[int(last * 0.01)] <= low <= ordered[int(last * 0.01) + 1]
    assert ordered[int(last * 0.99)] <= high <= ordered[int(last * 0.99) + 1]
    assert spread["city"].ends is None


def test_what_lies_outside_of_bounds_and_keys(made: Made) -> None:
    """Whole numbers beyond 2⁵³ too, where a bound is no double."""
    columns = {
        "who": ColumnPolicy("who", Kind.INTEGER, Role.PRIVATE, bounds=(WIDE + 3, WIDE + 17)),
        "city": ColumnPolicy("city", Kind.TEXT, Role.PUBLIC, keys=("Bonn", "it's", None)),
        "spend": ColumnPolicy("spend", Kind.REAL, Role.PRIVATE, bounds=(1, 20)),
    }
    with made().survey(**columns) as survey:
        found = survey.quality(list(columns.values()), {name: len(known(name)) for name in columns})
    assert {name: one.empty for name, one in found.items()} == {name: len(ROWS) - len(known(name)) for name in columns}
    assert {one.unreadable for one in found.values()} == {0}
    assert found["who"].outside == sum(not WIDE + 3 <= one <= WIDE + 17 for one in known("who"))
    assert found["city"].outside == known("city").count("Łódź")
    assert found["spend"].outside == sum(not 1 <= one <= 20 for one in known("spend"))


def test_units(made: Made) -> None:
    with made().survey() as survey:
        found = survey.unit("who")
    assert found is not None
    each = sorted(known("who").count(one) for one in set(known("who")))
    assert (found.units, found.half, found.top) == (len(each), each[(len(each) - 1) // 2], each[-1])
    assert dict(found.kept)[2] == pytest.approx(sum(min(one, 2) for one in each) / sum(each))


def test_no_units(made: Made) -> None:
    with made([(None, *row[1:]) for row in ROWS]).survey() as survey:
        assert survey.unit("who") is None


def test_contents_of_a_public_table(made: Made) -> None:
    found = made().contents()
    assert found.size == len(ROWS)
    for name, one in found.columns.items():
        assert one.values is not None
        assert [value for value in one.values if value is not None] == sorted(set(known(name)))
        assert (None in one.values) == (len(known(name)) < len(ROWS))
        assert (one.low, one.high) == (min(known(name)), max(known(name)))
        assert one.repeats == max(map(known(name).count, set(known(name))))


def test_the_stamp_changes_with_any_row_and_with_no_order(made: Made) -> None:
    stamp = made().contents().stamp
    assert made(ROWS[::-1]).contents().stamp == stamp
    for at in range(len(KINDS)):
        changed = [*ROWS[:-1], tuple(None if place == at else one for place, one in enumerate(ROWS[-1]))]
        assert made(changed).contents().stamp != stamp
