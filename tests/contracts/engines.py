"""How each registered engine is given rows: a table that can be filled anew, and the engine on it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from tacit.tables.engines.contract import Engine
from tacit.tables.engines.duckdb.engine import DuckDBEngine
from tests.tables.engines.join_oracle import TABLES, SeveralTables
from tests.tables.engines.random_rows import Rows
from tests.tables.engines.sensitivity import SECRET


class Filled(Protocol):
    """A table that an engine reads; `SCHEMA` of random_rows says its columns."""

    def fill(self, rows: list[dict[str, Any]], beyond: random.Random | None = None) -> None:
        """Put these rows in the place of those before; with ``beyond``, some unknown times lie beyond the calendar."""

    def close(self) -> None:
        """Let go of it."""


class Given(Protocol):
    """One engine's tables: by itself, and with another private table and public ones beside it."""

    one: Callable[[], Filled]
    several: Callable[[], Filled]

    def engine(self, table: Any) -> Engine:
        """The engine on a table, rows chosen by `SECRET`."""


class _DuckDB:
    one = Rows
    several = SeveralTables

    def engine(self, table: Any) -> Engine:
        return DuckDBEngine(table, SECRET, TABLES if isinstance(table, SeveralTables) else ())


GIVEN: Mapping[str, Given] = {"duckdb": _DuckDB()}
