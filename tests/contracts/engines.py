"""How each registered engine is given rows: a table that can be filled anew, and the engine on it."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from tacit.tables.engines.backend import Backend
from tacit.tables.engines.contract import Engine
from tacit.tables.engines.duckdb.engine import DuckDBEngine
from tacit.tables.engines.registry import ENGINES
from tests.postgres import VERSIONS, Server, Servers
from tests.tables.engines.join_oracle import TABLES, SeveralTables
from tests.tables.engines.postgres_rows import PostgresRows, SeveralPostgresTables, without_nul
from tests.tables.engines.random_rows import Rows
from tests.tables.engines.sensitivity import SECRET
from tests.tables.engines.spark_rows import SeveralSparkTables, SparkRows, without_refused


class Filled(Protocol):
    """A table that an engine reads; `SCHEMA` of random_rows says its columns."""

    def fill(self, rows: list[dict[str, Any]], beyond: random.Random | None = None) -> None:
        """Put these rows in the place of those before; with ``beyond``, some unknown times lie beyond the calendar."""

    def close(self) -> None:
        """Let go of it."""


class Given(Protocol):
    """One engine's tables: by itself, and with another private table and public ones beside it."""

    backend: Backend

    def one(self) -> Filled:
        """By itself."""

    def several(self) -> Filled:
        """With the other tables."""

    def engine(self, table: Any) -> Engine:
        """The engine on a table, rows chosen by `SECRET`."""


class _DuckDB:
    backend = ENGINES["duckdb"]
    one = Rows
    several = SeveralTables

    def engine(self, table: Any) -> Engine:
        return DuckDBEngine(table, SECRET, TABLES if isinstance(table, SeveralTables) else ())


class _Postgres:
    """Two databases of one server, used by one test after the other."""

    backend = ENGINES["postgres"]

    def __init__(self, server: Server) -> None:
        self._server = server
        self._engines: dict[int, Engine] = {}

    @functools.cached_property
    def _one(self) -> PostgresRows:
        return PostgresRows(self._server)

    @functools.cached_property
    def _several(self) -> PostgresRows:
        return SeveralPostgresTables(self._server)

    def one(self) -> PostgresRows:
        return self._one

    def several(self) -> PostgresRows:
        return self._several

    def engine(self, table: Any) -> Engine:
        if id(table) not in self._engines:
            self._engines[id(table)] = table.engine()
        return self._engines[id(table)]

    def end(self) -> None:
        for engine in self._engines.values():
            engine.close()
        for name in ("_one", "_several"):
            if name in self.__dict__:
                self.__dict__[name].end()


class _Spark:
    """Views of one cluster's sessions, used by one test after the other."""

    backend = ENGINES["spark"]

    def __init__(self, session: Any, more: dict[str, str] | None = None) -> None:
        self._session = session
        self._more = more
        self._engines: dict[int, Engine] = {}

    @functools.cached_property
    def _one(self) -> SparkRows:
        return SparkRows(self._session, self._more)

    @functools.cached_property
    def _several(self) -> SparkRows:
        return SeveralSparkTables(self._session, self._more)

    def one(self) -> SparkRows:
        return self._one

    def several(self) -> SparkRows:
        return self._several

    def engine(self, table: Any) -> Engine:
        if id(table) not in self._engines:
            self._engines[id(table)] = table.engine()
        return self._engines[id(table)]


class Kept:
    """What was begun on servers, until all tests are over."""

    def __init__(self, servers: Servers) -> None:
        self._servers = servers
        self._begun: dict[int, _Postgres] = {}
        self._on_spark: dict[str, _Spark] = {}

    def __getitem__(self, version: int) -> _Postgres:
        if version not in self._begun:
            self._begun[version] = _Postgres(self._servers[version])
        return self._begun[version]

    def on_spark(self, session: Any, more: dict[str, str] | None = None) -> _Spark:
        """On a cluster, with settings besides."""
        return self._on_spark.setdefault(str(more), _Spark(session, more))

    def end(self) -> None:
        for one in self._begun.values():
            one.end()


RUNS = ("duckdb", *(f"postgres {version}" for version in VERSIONS), "spark")
"""Every registered engine, and of PostgreSQL every version that `make test` has; Spark is in `make engines` alone."""


@contextmanager
def given(run: str, kept: Callable[[], Kept], spark: Callable[[], Any]) -> Iterator[Given]:
    """The tables of an engine; those of PostgreSQL without NUL, which its texts cannot have."""
    if run == "duckdb":
        yield _DuckDB()
        return
    if run == "spark":
        with without_refused():
            yield kept().on_spark(spark())
        return
    with without_nul():
        yield kept()[int(run.split()[1])]
