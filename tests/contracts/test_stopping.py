"""What runs on any engine is stopped from another thread, whenever that comes; and says meanwhile how far it is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tacit.tables.engines.duckdb.connection import LockedDuckDB
from tacit.tables.engines.duckdb.sources import open_source
from tacit.tables.engines.failure import EngineFailed, Running
from tacit.tables.engines.registry import ENGINES
from tests.tables.engines.postgres_rows import PostgresRows
from tests.tables.engines.spark_rows import SparkRows
from tests.tables.small import columns, policy, written

RUNS = [pytest.param(name, marks=[pytest.mark.engines] if name == "spark" else []) for name in ENGINES]
DAYS = {
    "duckdb": "SELECT sum(sqrt(a.range * b.range)) AS s FROM range(10000000) AS a, range(10000000) AS b",
    "postgres": "SELECT sum(sqrt(a * b)) AS s FROM generate_series(1, 1e7) AS a, generate_series(1, 1e7) AS b",
    "spark": "SELECT sum(sqrt(a.id * b.id)) AS s FROM range(10000000) AS a, range(100000) AS b",
}
"""What no machine finishes while a test waits."""
SOON = 60.0
"""Seconds until a test gives up; it takes a fraction of one."""


@pytest.fixture(params=RUNS)
def busy(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Any, str]]:
    """A connection of each engine, and a statement that would take it days."""
    name = request.param
    with _connection(name, request.getfixturevalue, tmp_path) as connection:
        yield connection, DAYS[name]


@contextmanager
def _connection(name: str, fixture: Callable[[str], Any], folder: Path) -> Iterator[Any]:
    if name == "duckdb":
        written(folder, b"a\n1\n", "rows.csv")
        with LockedDuckDB(open_source(folder / "rows.csv"), policy(columns(a="integer"))) as locked:
            yield locked
        return
    if name == "spark":
        yield SparkRows(fixture("spark")).connection()
        return
    held = PostgresRows(fixture("postgres_servers")[18])
    made = held.connection()
    try:
        yield made
    finally:
        made.close()
        held.end()


def _stopped(connection: Any, act: Callable[[], Any], wait: Callable[[], None]) -> float:
    """Seconds from the wish to stop to the end of what runs in another thread, which must fail without words."""
    ended: list[BaseException] = []
    began = threading.Event()

    def run() -> None:
        began.set()
        try:
            act()
        except BaseException as error:
            ended.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    began.wait()
    wait()
    asked = time.monotonic()
    connection.interrupt()
    thread.join(SOON)
    assert not thread.is_alive()
    assert [type(one) for one in ended] == [EngineFailed]
    assert ended[0].__context__ is None
    return time.monotonic() - asked


@pytest.mark.parametrize("after", [0.0, 0.05, 0.5])
def test_it_is_stopped_whenever_that_comes(
    busy: tuple[Any, str], after: float, record_property: Callable[[str, object], None]
) -> None:
    """Also while the engine plans, between two jobs, and before it has begun."""
    connection, days = busy
    record_property("seconds", _stopped(connection, lambda: connection.columns(days), lambda: time.sleep(after)))
    with pytest.raises(EngineFailed):
        connection.columns("SELECT 1 AS one")


def test_rows_that_are_read_are_stopped(busy: tuple[Any, str]) -> None:
    connection, days = busy
    kinds = [np.dtype(np.int64)]
    _stopped(connection, lambda: list(connection.batches(days, kinds)), lambda: time.sleep(0.1))


def test_how_far_it_is_is_a_share_or_nothing(busy: tuple[Any, str]) -> None:
    connection, days = busy
    seen: list[float | None] = []

    def watch() -> None:
        for _ in range(10):
            seen.append(connection.progress())
            time.sleep(0.02)

    assert connection.progress() is None
    _stopped(connection, lambda: connection.columns(days), watch)
    assert all(one is None or 0 <= one < 1 for one in seen)
    assert connection.progress() is None


# the one place that stops all of them


def test_an_engine_that_forgets_is_told_again() -> None:
    """As Spark forgets it between two jobs, and DuckDB before a statement has begun."""
    told: list[int] = []
    over = threading.Event()

    def forgetful() -> None:
        told.append(1)
        if len(told) == 3:
            over.set()

    running = Running(forgetful)

    def run() -> None:
        with running.statement():
            over.wait(SOON)

    thread = threading.Thread(target=run)
    thread.start()
    while running.is_over:
        time.sleep(0.001)
    running.stop()
    thread.join(SOON)
    assert len(told) == 3


def test_nothing_begins_after_it_was_stopped_and_nobody_is_told() -> None:
    told: list[int] = []
    running = Running(lambda: told.append(1))
    with running.statement():
        pass
    running.stop()
    with pytest.raises(EngineFailed), running.statement():
        raise AssertionError("began")
    assert not told
