"""The engine on DuckDB: a bounded query becomes one statement over the view ``rows``, whose integers come back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tacit.errors import PolicyError
from tacit.tables.engines.chain.bounding import Statement, statement
from tacit.tables.engines.chain.chosen_rows import rows_statement
from tacit.tables.engines.chain.fetching import integers
from tacit.tables.engines.chain.relations import Schema
from tacit.tables.engines.chain.terms import identifier, other_view
from tacit.tables.engines.contract import BoundedQuery, Integers
from tacit.tables.engines.duckdb.dialect import DIALECT
from tacit.tables.engines.duckdb.sources.source import VIEW
from tacit.tables.engines.duckdb.terms import TYPES
from tacit.tables.engines.rows import BoundedRows, narrowest
from tacit.tables.engines.spool import Batch, ChosenRows
from tacit.tables.engines.work import Work
from tacit.tables.expressions.kinds import Kind

__all__ = ["Connection", "DuckDBEngine"]

_KINDS = {name: kind for kind, name in TYPES.items()}
_HIDDEN = "‹secret›"

Columns = Mapping[str, npt.NDArray[Any]]


class Connection(Protocol):
    """A connection with a view ``rows`` of the declared columns; `duckdb_connection.LockedDuckDB` is one."""

    def columns(self, sql: str) -> Columns:
        """The result of a statement, a column a name."""

    def batches(self, sql: str, kinds: Sequence[np.dtype[Any]]) -> Iterator[list[npt.NDArray[Any]]]:
        """The result of a statement whose columns are integers of these types, some rows at a time."""

    def work(self, sql: str) -> Work:
        """What a statement takes, counted by the engine."""

    def interrupt(self) -> None:
        """Stop what runs, and begin nothing more."""

    def progress(self) -> float | None:
        """How much of what runs is done."""

    def close(self) -> None:
        """Let go of the source."""


class DuckDBEngine:
    """Runs bounded queries on DuckDB; ``key`` is the secret of the hash that chooses rows, ``others`` are tables."""

    def __init__(self, connection: Connection, key: str, others: Sequence[str] = ()) -> None:
        self._connection = connection
        self._key = key
        self._others = others
        self._kinds: dict[str, dict[str, Kind]] = {}

    def run(self, query: BoundedQuery) -> Integers:
        """The integers, of a statement whose errors do not depend on rows."""
        plan = self._statement(query, self._key)
        found = self._connection.columns(plan.sql)
        return integers(plan, query, found)

    def read(self, asked: BoundedRows) -> ChosenRows:
        """The chosen rows, streamed from the engine to a private folder."""
        return ChosenRows(asked, self._batches(asked))

    def _batches(self, asked: BoundedRows) -> Iterator[Batch]:
        sql = rows_statement(asked, self._known(self._key))
        kinds = [narrowest(column) for column in asked.columns]
        if asked.unit is None:
            for columns in self._connection.batches(sql, kinds):
                yield columns, None
            return
        for numbers, *columns in self._connection.batches(sql, [np.dtype(np.int64), *kinds]):
            yield columns, numbers

    def work(self, query: BoundedQuery) -> Work:
        """What the statement takes, counted; it is run for that. As private as the integers."""
        return self._connection.work(self._statement(query, self._key).sql)

    def explain(self, query: BoundedQuery) -> str:
        """The statement, with the secret hidden."""
        return self._statement(query, _HIDDEN).sql

    def _statement(self, query: BoundedQuery, key: str) -> Statement:
        return statement(query, self._known(key))

    def _known(self, key: str) -> Schema:
        others = {name: self._schema(other_view(name)) for name in self._others}
        return Schema(self._schema(VIEW), others, key, DIALECT)

    def interrupt(self) -> None:
        self._connection.interrupt()

    def progress(self) -> float | None:
        return self._connection.progress()

    def close(self) -> None:
        self._connection.close()

    def __repr__(self) -> str:
        return "DuckDBEngine()"

    def _schema(self, view: str) -> Mapping[str, Kind]:
        """The kinds of a view's columns, from its declaration alone."""
        if view not in self._kinds:
            described = f"SELECT column_name, column_type FROM (DESCRIBE {identifier(view)})"
            found = self._connection.columns(described)
            types = dict(zip(map(str, found["column_name"]), map(str, found["column_type"]), strict=True))
            if odd := sorted(set(types.values()) - set(_KINDS)):
                raise PolicyError(f"the view of the source has columns of the types {', '.join(odd)}")
            self._kinds[view] = {name: _KINDS[type_name] for name, type_name in types.items()}
        return self._kinds[view]
