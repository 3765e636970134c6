"""What befalls a server after a payment: one constant error, the payment stands, and nobody is told why."""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

import tacit
from tacit.errors import AnswerLost
from tacit.tables.engines.postgres.connection import QuietPostgres
from tests.postgres import Server, Servers

ROWS = "SELECT i % 300 AS user_id, (ARRAY['Bonn', 'Rome'])[1 + i % 2] AS city, 'Ana ' || i AS name"
COUNT = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
SLOW = 30.0


@pytest.fixture(scope="module")
def server(postgres_servers: Servers) -> Server:
    return postgres_servers.another(16)


@pytest.fixture
def address(server: Server) -> str:
    """Of a table whose rows take a while."""
    if server._process is None:
        server.start()
    made = server.new_database()
    with psycopg.connect(made, autocommit=True) as database:
        database.execute(f"CREATE TABLE visits AS {ROWS} FROM generate_series(1, 2000) AS i")
    return made


@pytest.fixture
def asked(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tacit.Table]:
    monkeypatch.setenv("TACIT_LEDGERS", str(tmp_path / "books"))
    plain = QuietPostgres.columns
    slow = f"(SELECT pg_sleep({SLOW})) AS slow, "
    monkeypatch.setattr(
        QuietPostgres, "columns", lambda self, sql: plain(self, f"SELECT * FROM {slow}({sql}) AS found")
    )
    with tacit.open(
        f"{address}#visits",
        unit="user_id",
        budget=tacit.PureDP(100),
        keys={"city": ["Bonn", "Rome"]},
        groups=2,
        rows=3,
    ) as table:
        yield table


def _when_it_runs(address: str, act: Callable[[psycopg.Connection[Any], int], None]) -> threading.Thread:
    """Do that to the backend which runs the question."""

    def run() -> None:
        with psycopg.connect(address.rpartition("/")[0] + "/postgres", autocommit=True) as database:
            while True:
                found = database.execute(
                    "SELECT pid FROM pg_stat_activity WHERE application_name = 'tacit' AND query LIKE '%pg_sleep%'"
                ).fetchall()
                if found:
                    break
                time.sleep(0.01)
            act(database, found[0][0])

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def _must_cost_the_answer(
    table: tacit.Table, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> AnswerLost:
    with caplog.at_level(logging.DEBUG), pytest.raises(AnswerLost) as caught:
        table.sql(COUNT, epsilon=10)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert table.remaining == tacit.ApproxDP(90, 0)
    said = "".join(capfd.readouterr()) + caplog.text + str(caught.value)
    for word in ("terminat", "cancel", "timeout", "server closed", "SSL", "psycopg", "Ana ", "pg_sleep", "SELECT"):
        assert word not in said, word
    return caught.value


def _cut(database: psycopg.Connection[Any], pid: int) -> None:
    database.execute("SELECT pg_terminate_backend(%s)", (pid,))


def _cancelled(database: psycopg.Connection[Any], pid: int) -> None:
    database.execute("SELECT pg_cancel_backend(%s)", (pid,))


@pytest.mark.parametrize("fault", [_cut, _cancelled], ids=["a connection that is cut", "a statement that is cancelled"])
def test_it_costs_the_answer(
    asked: tacit.Table,
    address: str,
    fault: Any,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    doing = _when_it_runs(address, fault)
    _must_cost_the_answer(asked, capfd, caplog)
    doing.join()


def test_a_server_that_is_killed_costs_the_answer(
    asked: tacit.Table,
    server: Server,
    address: str,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    doing = _when_it_runs(address, lambda database, pid: server.stop(signal.SIGQUIT))
    _must_cost_the_answer(asked, capfd, caplog)
    doing.join()
    server.start()


def test_the_time_limit_costs_the_answer_and_ends_it_on_the_server(
    address: str,
    asked: tacit.Table,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Whatever ran is gone from the server as well."""
    asked._access._worker = None
    object.__setattr__(asked._access.policy.work, "seconds", 0.5)
    _must_cost_the_answer(asked, capfd, caplog)
    with psycopg.connect(address, autocommit=True) as database:
        for _ in range(500):
            (left,) = database.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid() "
                "AND application_name = 'tacit'"
            ).fetchone() or (1,)
            if not left:
                break
            time.sleep(0.01)
        assert left == 0


def test_all_of_them_say_the_same(
    asked: tacit.Table, address: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    doing = _when_it_runs(address, _cut)
    told = _must_cost_the_answer(asked, capfd, caplog)
    doing.join()
    with pytest.raises(AnswerLost) as again:
        asked.sql(COUNT, epsilon=10)  # asked again, it is still lost, and nothing is paid
    assert again.value.code == told.code
    assert asked.remaining == tacit.ApproxDP(90, 0)
