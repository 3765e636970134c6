"""Tables of PostgreSQL with the columns of `random_rows`, filled anew as often as it takes; and the engine on them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import psycopg

from tacit.tables.engines.calls import called
from tacit.tables.engines.chain.bounding import statement
from tacit.tables.engines.chain.relations import Schema
from tacit.tables.engines.chain.terms import other_view
from tacit.tables.engines.contract import BoundedQuery
from tacit.tables.engines.postgres.connection import QuietPostgres
from tacit.tables.engines.postgres.dialect import DIALECT
from tacit.tables.engines.postgres.engine import PostgresEngine
from tacit.tables.engines.postgres.operators.texts import REFUSED
from tacit.tables.engines.postgres.source import PostgresSource
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Expression
from tacit.tables.policy.policy import ColumnPolicy, Role
from tests.postgres import Server
from tests.tables.engines import join_oracle, random_rows
from tests.tables.engines.join_oracle import PRIVATE, TABLES, is_other
from tests.tables.engines.random_rows import SCHEMA, quoted
from tests.tables.engines.sensitivity import SECRET

TYPES = {
    Kind.INTEGER: "bigint",
    Kind.REAL: "double precision",
    Kind.TEXT: "text",
    Kind.BOOLEAN: "boolean",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "timestamp",
}
BEYOND = {
    Kind.DATE: ["infinity", "-infinity", "10000-01-01", "0044-03-15 BC", "5874897-12-31"],
    Kind.TIMESTAMP: ["infinity", "-infinity", "10000-01-01", "294276-12-31 23:59:59.999999", "0044-03-15 01:00:00 BC"],
}
"""Times that PostgreSQL has and the calendar has not."""

COLUMNS = tuple(ColumnPolicy(name, kind, Role.PRIVATE) for name, kind in SCHEMA.items())
_SETS = ", ".join(f"{quoted(name)} {TYPES[kind]}" for name, kind in SCHEMA.items())


class PostgresRows:
    """A table of its own database; what the engine asks of rows."""

    names = ("held",)

    def __init__(self, server: Server) -> None:
        self.url = server.new_database()
        self.database = psycopg.connect(self.url, autocommit=True)
        for table in self.names:
            self.database.execute(f"CREATE TABLE {table} ({_SETS})")
        self.kinds: Mapping[str, Kind] = SCHEMA
        self.others: Mapping[str, Mapping[str, Kind]] = dict.fromkeys(self.names[1:], SCHEMA)
        self.steps = tuple(self._step(table) for table in self.names)

    def _step(self, table: str) -> str:
        source = PostgresSource(f"{self.url}#public.{table}")
        return source.step(COLUMNS) if table == "held" else source.step(COLUMNS, other_view(table))

    def fill(self, rows: list[dict[str, Any]], beyond: random.Random | None = None) -> None:
        self.put("held", rows)
        for name in ("d", "t") if beyond else ():
            odd = beyond.choice(BEYOND[SCHEMA[name]])  # type: ignore[union-attr]
            self.database.execute(f"UPDATE held SET {name} = '{odd}' WHERE {name} IS NULL")

    def put(self, table: str, rows: list[dict[str, Any]]) -> None:
        self.database.execute(f"TRUNCATE {table}")
        names = ", ".join(map(quoted, SCHEMA))
        with self.database.cursor().copy(f"COPY {table} ({names}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row([row[name] for name in SCHEMA])

    def connection(self) -> QuietPostgres:
        return QuietPostgres(psycopg.connect(self.url), SECRET)

    def engine(self) -> PostgresEngine:
        return PostgresEngine(self.connection(), self)

    def engine_text(self, query: BoundedQuery) -> str:
        """The statement of a query, as the engine runs it."""
        return statement(query, Schema(self.kinds, self.others, "", DIALECT, self.steps)).sql

    def close(self) -> None:
        """Kept: another test fills it anew."""

    def end(self) -> None:
        self.database.close()


class SeveralPostgresTables(PostgresRows):
    """The table and the other ones."""

    names = ("held", *TABLES)

    def __init__(self, server: Server) -> None:
        super().__init__(server)
        for table, rows in join_oracle.PUBLIC.items():
            self.put(table, rows)

    def fill(self, rows: list[dict[str, Any]], beyond: random.Random | None = None) -> None:
        super().fill([row for row in rows if not is_other(row)], beyond)
        self.put(PRIVATE, [row for row in rows if is_other(row)])


@contextmanager
def without_nul() -> Iterator[None]:
    """No text has NUL in it, which PostgreSQL cannot hold: not in rows, not in constants; nothing is asked that it
    refuses."""
    texts, patterns, public = random_rows.ODD[Kind.TEXT][:], random_rows.PATTERNS[:], dict(join_oracle.PUBLIC)
    random_rows.ODD[Kind.TEXT][:] = [one for one in texts if "\0" not in one]
    random_rows.PATTERNS[:] = [one for one in patterns if "\0" not in one]
    made = random_rows.Expressions.make
    random_rows.Expressions.make = _possible  # type: ignore[method-assign]
    for name, rows in public.items():
        join_oracle.PUBLIC[name] = [{key: _plain(value) for key, value in row.items()} for row in rows]
    try:
        yield
    finally:
        random_rows.ODD[Kind.TEXT][:], random_rows.PATTERNS[:] = texts, patterns
        random_rows.Expressions.make = made  # type: ignore[method-assign]
        join_oracle.PUBLIC.update(public)


def _possible(make: random_rows.Expressions, kind: Kind, depth: int) -> Expression:
    """An expression of operators that PostgreSQL has a form for."""
    while True:
        found = _made(make, kind, depth)
        if not REFUSED.keys() & set(called(found)):
            return found


_made = random_rows.Expressions.make


def _plain(value: Any) -> Any:
    return None if isinstance(value, str) and "\0" in value else value


__all__ = ["PostgresRows", "SeveralPostgresTables", "without_nul"]
