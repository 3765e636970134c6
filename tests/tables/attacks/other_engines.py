"""The rows of an attack's tables, as DuckDB reads them, in other engines: what holds there must hold here."""

from __future__ import annotations

import itertools
from typing import Any

import psycopg

from tacit.tables.engines.chain.terms import VIEW, identifier, other_view
from tacit.tables.engines.contract import Engine
from tacit.tables.engines.duckdb.engine import DuckDBEngine
from tacit.tables.engines.postgres.connection import QuietPostgres
from tacit.tables.engines.postgres.engine import PostgresEngine
from tacit.tables.engines.postgres.source import PostgresSource
from tacit.tables.engines.postgres.tables import TableRows, kinds_of
from tacit.tables.policy.policy import ColumnPolicy, Policy, Role
from tests.postgres import Server
from tests.tables.engines.postgres_rows import TYPES

__all__ = ["OnPostgres"]


class OnPostgres:
    """Makes engines on one database, a schema for each; the secret is that of DuckDB's engine."""

    def __init__(self, server: Server) -> None:
        self._url = server.new_database()
        self._numbers = itertools.count()

    def __call__(self, engine: DuckDBEngine, policy: Policy) -> Engine:
        url, schema = self._url, f"s{next(self._numbers)}"
        named = {VIEW: policy.columns, **{other_view(name): one.columns for name, one in policy.others.items()}}
        places = list[tuple[list[ColumnPolicy], str]]()
        with psycopg.connect(url) as database:
            database.execute(f"CREATE SCHEMA {schema}")
            for place, (view, columns) in enumerate(named.items()):
                shown = [one for one in columns.values() if one.role is not Role.FORBIDDEN]
                declared = ", ".join(f"{identifier(one.name)} {TYPES[one.kind]}" for one in shown)
                database.execute(f"CREATE TABLE {schema}.t{place} ({declared})")
                found = engine._connection.columns(f"SELECT * FROM {identifier(view)}")
                with database.cursor().copy(f"COPY {schema}.t{place} FROM STDIN") as copy:
                    for row in zip(*(found[one.name] for one in shown), strict=True):
                        copy.write_row([_plain(cell) for cell in row])
                places.append((shown, view))
        steps = [PostgresSource(f"{url}#{schema}.t{place}").step(*one) for place, one in enumerate(places)]
        others = {name: kinds_of(one.columns) for name, one in policy.others.items()}
        rows = TableRows(kinds_of(policy.columns), others, tuple(steps))
        made = PostgresEngine(QuietPostgres(psycopg.connect(url), engine._key), rows)
        engine.close()
        return made


def _plain(cell: Any) -> Any:
    """As psycopg writes it; no text has NUL there."""
    value = cell.item() if hasattr(cell, "item") else cell
    return None if isinstance(value, str) and "\0" in value else value
