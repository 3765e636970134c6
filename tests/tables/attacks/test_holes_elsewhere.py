"""The planted faults of `test_planted_holes` on PostgreSQL and Spark: the same checks see each of them there.

Faults of what comes before and after the engine are the same functions; those of the engine itself have a form for
each. On Spark, where a question takes seconds, all of them are run by `make attacks`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.ledger.payments import Payments
from tacit.tables.engines.chain import bounding as chain_bounding
from tacit.tables.engines.chain import values as chain_values
from tacit.tables.engines.chain.operators.truth import joined
from tacit.tables.engines.postgres.connection import QuietPostgres
from tacit.tables.engines.postgres.operators import FORMS as ON_POSTGRES
from tacit.tables.engines.spark.connection import QuietSpark
from tacit.tables.engines.spark.operators import FORMS as ON_SPARK
from tacit.work.here import Here
from tests.postgres import Servers
from tests.tables.attacks import test_planted_holes as planted
from tests.tables.attacks.neighbours import write_pair
from tests.tables.attacks.other_engines import OnPostgres, OnSpark, Place
from tests.tables.attacks.test_planted_holes import HOLES, Check, Fault, Tables


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """What faults of an engine are planted in."""

    place: Place
    forms: dict[str, Any]
    connection: type[Any]


@pytest.fixture(
    scope="module", params=["postgres", pytest.param("spark", marks=[pytest.mark.engines, pytest.mark.attacks])]
)
def elsewhere(request: pytest.FixtureRequest) -> Elsewhere:
    if request.param == "spark":
        request.getfixturevalue("spark")
        return Elsewhere(OnSpark(), ON_SPARK, QuietSpark)
    servers: Servers = request.getfixturevalue("postgres_servers")
    return Elsewhere(OnPostgres(servers[18]), ON_POSTGRES, QuietPostgres)


def opened(folder: Path, place: Place) -> Tables:
    """The two tables of `neighbours`, at another place."""
    one, other = (tacit.open(place.moved(path), ledger=tacit.InMemory(), analyst="eve") for path in write_pair(folder))
    return one, other


# the faults of an engine, wherever it is


def unguarded(patch: pytest.MonkeyPatch, there: Elsewhere) -> None:
    for sign in ("+", "-", "*"):
        patch.setitem(there.forms, sign, joined(sign))


def words_passed_on(patch: pytest.MonkeyPatch, there: Elsewhere) -> None:
    unguarded(patch, there)
    _speaking(patch, there)

    def drawn(self: Payments, draw: Callable[[Any], bytes], receipt: Any) -> bytes:
        try:
            return draw(receipt)
        except Exception as error:
            raise tacit.errors.AnswerLost(f"no answer: {error}") from error

    patch.setattr(Payments, "_drawn", drawn)


def errors_let_through(patch: pytest.MonkeyPatch, there: Elsewhere) -> None:
    unguarded(patch, there)
    _speaking(patch, there)
    patch.setattr(Payments, "_drawn", lambda self, draw, receipt: draw(receipt))


def rows_not_clamped(patch: pytest.MonkeyPatch, there: Elsewhere) -> None:
    read = "coalesce(CAST(greatest(least({x}, 1000000), -1000000) AS BIGINT), 0)"
    patch.setattr(chain_values, "_quantised", lambda dialect, value, x: read.format(x=x))
    patch.setattr(chain_bounding, "clamped", lambda sql, measure: sql)


def nameless_rows_kept(patch: pytest.MonkeyPatch, there: Elsewhere) -> None:
    right = there.connection.columns
    unit = re.compile(r"rows\.[\"`]user_id[\"`] IS NOT NULL")
    patch.setattr(there.connection, "columns", lambda self, sql: right(self, unit.sub("TRUE", sql)))


def _speaking(patch: pytest.MonkeyPatch, there: Elsewhere) -> None:
    """What an engine says leaves it, and the worker that it runs in."""

    def on_postgres(self: Any, sql: str) -> Any:
        with self._transaction() as cursor:
            cursor.execute(sql, self._parameters(sql), binary=True)
            names = [one.name for one in cursor.description]
            return dict(zip(names, map(list, zip(*cursor.fetchall(), strict=True)), strict=True))

    def on_spark(self: Any, sql: str) -> Any:
        with planted_silence():
            rows = self._session.sql(sql).collect()
        return {name: [row[name] for row in rows] for name in rows[0].__fields__}

    patch.setattr(there.connection, "columns", on_postgres if there.connection is QuietPostgres else on_spark)
    patch.setattr(Here, "run", lambda self, ready, secret, given: ready(self._open(secret), given))


@contextmanager
def planted_silence() -> Any:
    """Spark's logger prints to the streams of the test."""
    from tacit.tables.engines.spark.driver import quietly

    with quietly():
        yield


OF_THE_ENGINE: dict[Fault, Callable[[pytest.MonkeyPatch, Elsewhere], None]] = {
    planted.try_removed: unguarded,
    planted.engines_words_passed_on: words_passed_on,
    planted.errors_let_through: errors_let_through,
    planted.rows_not_clamped: rows_not_clamped,
    planted.nameless_rows_kept: nameless_rows_kept,
}
"""In the place of those for DuckDB."""
LOOKS_BY_HAND = planted.price_of_rows
"""Asks DuckDB's view itself: what is free is the same for every engine."""
FOUND = [hole for hole in HOLES if hole[0] is not LOOKS_BY_HAND]
ENGINES_OWN = [hole for hole in FOUND if hole[0] in OF_THE_ENGINE or hole[0] is planted.one_group_too_many]
REST = [hole for hole in FOUND if hole not in ENGINES_OWN]


def names(holes: list[tuple[Fault, Check, str]]) -> list[str]:
    return [hole[0].__name__ for hole in holes]


@pytest.mark.parametrize("hole", ENGINES_OWN, ids=names(ENGINES_OWN))
@pytest.mark.thorough
def test_a_planted_hole_of_the_engine_is_seen(
    elsewhere: Elsewhere, hole: tuple[Fault, Check, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert seen(elsewhere, hole, tmp_path, monkeypatch)


@pytest.mark.parametrize("hole", REST, ids=names(REST))
@pytest.mark.attacks
def test_a_planted_hole_around_the_engine_is_seen(
    elsewhere: Elsewhere, hole: tuple[Fault, Check, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert seen(elsewhere, hole, tmp_path, monkeypatch)


def seen(there: Elsewhere, hole: tuple[Fault, Check, str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    fault, check, sql = hole
    with monkeypatch.context() as patch:
        if fault in OF_THE_ENGINE:
            OF_THE_ENGINE[fault](patch, there)
        else:
            fault(patch)
        tables = opened(folder, there.place)
        try:
            return check(tables, sql)
        finally:
            for table in tables:
                table.close()


@pytest.mark.thorough
def test_without_a_fault_nothing_is_found(elsewhere: Elsewhere, tmp_path: Path) -> None:
    tables = opened(tmp_path, elsewhere.place)
    for _, check, sql in ENGINES_OWN if elsewhere.place.name == "spark" else FOUND:
        assert (check.__name__, check(tables, sql)) == (check.__name__, "")
    for table in tables:
        table.close()
