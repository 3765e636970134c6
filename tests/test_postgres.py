"""The servers that other tests use: they start, are apart from each other, and a kill is seen."""

from __future__ import annotations

import signal

import psycopg
import pytest

from tests.postgres import Server, Servers, missing


def test_a_server_answers_and_is_the_version_it_says(postgres: Server) -> None:
    with psycopg.connect(postgres.new_database()) as connection:
        found = connection.execute("SELECT current_setting('server_version_num')::int / 10000, 'ß' < 'z'").fetchone()
    assert found == (postgres.version, False)


def test_databases_are_apart(postgres: Server) -> None:
    first, second = postgres.new_database(), postgres.new_database()
    with psycopg.connect(first) as connection:
        connection.execute("CREATE TABLE t (a int)")
    with psycopg.connect(second) as connection, pytest.raises(psycopg.errors.UndefinedTable):
        connection.execute("SELECT * FROM t")


def test_a_crash_ends_connections_and_what_was_kept_is_there_after(postgres_servers: Servers) -> None:
    server = postgres_servers.another(18)
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute("CREATE TABLE kept (a int)")
        server.stop(signal.SIGQUIT)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    server.start()
    with psycopg.connect(server.url()) as connection:
        assert connection.execute("SELECT count(*) FROM kept").fetchone() == (0,)
    server.stop()


def test_what_is_missing_is_a_failure_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="not here"):
        missing("it is not here")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="not here"):
        missing("it is not here")
