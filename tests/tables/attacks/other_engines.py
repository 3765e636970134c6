"""The rows of an attack's tables, as DuckDB reads them, in other engines: what holds there must hold here.

A place takes a folder that `neighbours` or `made_up` wrote, and gives the same policy about tables of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import duckdb
import psycopg

from tacit.tables.engines.backend import TableSources
from tacit.tables.engines.chain.terms import VIEW, identifier, other_view
from tacit.tables.engines.contract import Engine
from tacit.tables.engines.duckdb.backend import DUCKDB
from tacit.tables.engines.duckdb.connection import LockedDuckDB
from tacit.tables.engines.duckdb.sources import open_source
from tacit.tables.engines.duckdb.terms import TYPES as DUCKDB_TYPES
from tacit.tables.engines.registry import ENGINES
from tacit.tables.policy.file import address, read
from tacit.tables.policy.policy import ColumnPolicy, Policy, Role
from tacit.tables.policy.writer import write
from tacit.tables.session.open_others import open_others
from tests.postgres import Server
from tests.tables.engines.postgres_rows import TYPES

__all__ = ["OnPostgres", "OnSpark", "Place"]


class Place(Protocol):
    """Where tables can be put that are asked about."""

    name: str

    def moved(self, path: Path) -> Path:
        """The policy file about the same rows at this place."""

    def engine(self, path: Path, secret: str) -> Engine:
        """On the tables of a policy file of this place, with rows chosen by a secret of the test's."""


@dataclass(frozen=True, slots=True)
class _Held:
    """The rows of one table, of the columns that may be asked about."""

    columns: tuple[ColumnPolicy, ...]
    rows: tuple[tuple[Any, ...], ...]


def _held(path: Path) -> Iterator[tuple[str, _Held]]:
    """Of each table of a policy, by its name; that of the policy itself has none."""
    policy = read(path)
    source = open_source(address(policy, path), policy.options, policy.table)
    others = open_others(policy, path.parent, DUCKDB)
    locked = LockedDuckDB(source, policy, threads=1, others=others)
    tables = {"": policy.columns, **{name: one.columns for name, one in policy.others.items()}}
    for name, columns in tables.items():
        shown = tuple(one for one in columns.values() if one.role is not Role.FORBIDDEN)
        found = locked.columns(f"SELECT * FROM {identifier(other_view(name) if name else VIEW)}")
        yield name, _Held(shown, tuple(zip(*(map(_plain, found[one.name]) for one in shown), strict=True)))
    locked.close()


def _plain(cell: Any) -> Any:
    return cell.item() if hasattr(cell, "item") else cell


def _rewritten(path: Path, sources: Mapping[str, str], options: Mapping[str, str], name: str) -> Path:
    policy = read(path)
    others = {
        other: replace(table, source=sources[other], options=options, contents="")
        for other, table in policy.others.items()
    }
    made = path.with_name(f"{name}-{path.name}")
    made.write_text(write(replace(policy, source=sources[""], options=options, others=others)), encoding="utf-8")
    return made


def _opened(backend: str, path: Path, secret: str) -> Engine:
    policy: Policy = read(path)
    engine = ENGINES[backend]
    source = engine.source(address(policy, path), policy.options, policy.table)
    return engine.engine(TableSources(source, policy, open_others(policy, path.parent, engine)), secret)


class OnPostgres:
    """A schema of one database for each policy."""

    name = "postgres"

    def __init__(self, server: Server) -> None:
        self._url = server.new_database()
        self._numbers = itertools.count()

    def moved(self, path: Path) -> Path:
        schema = f"s{next(self._numbers)}"
        sources = dict[str, str]()
        with psycopg.connect(self._url) as database:
            database.execute(f"CREATE SCHEMA {schema}")
            for name, held in _held(path):
                table = f"{schema}.{name or 'visits'}"
                declared = ", ".join(f"{identifier(one.name)} {TYPES[one.kind]}" for one in held.columns)
                database.execute(f"CREATE TABLE {table} ({declared})")
                with database.cursor().copy(f"COPY {table} FROM STDIN") as copy:
                    for row in held.rows:
                        copy.write_row([_without_nul(cell) for cell in row])
                sources[name] = f"{self._url}#{table}"
        return _rewritten(path, sources, {}, self.name)

    def engine(self, path: Path, secret: str) -> Engine:
        return _opened(self.name, path, secret)


def _without_nul(cell: Any) -> Any:
    """No text has NUL there."""
    return None if isinstance(cell, str) and "\0" in cell else cell


class OnSpark:
    """Folders of Parquet files beside the policy, read by the session that there is."""

    name = "spark"

    def moved(self, path: Path) -> Path:
        sources = dict[str, str]()
        for name, held in _held(path):
            folder = path.parent / f"{name or 'visits'}-files"
            folder.mkdir()
            with duckdb.connect() as made:
                declared = ", ".join(f"{identifier(one.name)} {DUCKDB_TYPES[one.kind]}" for one in held.columns)
                made.execute(f"CREATE TABLE held ({declared})")
                marks = ", ".join("?" * len(held.columns))
                for row in held.rows:
                    made.execute(f"INSERT INTO held VALUES ({marks})", list(row))
                made.execute(f"COPY held TO '{folder}/0.parquet'")
            sources[name] = folder.name
        return _rewritten(path, sources, {"engine": "spark"}, self.name)

    def engine(self, path: Path, secret: str) -> Engine:
        return _opened(self.name, path, secret)
