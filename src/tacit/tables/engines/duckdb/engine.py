"""The engine on DuckDB: a bounded query becomes one statement over the view ``rows``, whose integers come back."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tacit.errors import PolicyError
from tacit.tables.engines.contract import Asked, BoundedQuery, Cells, Integers, Tallies
from tacit.tables.engines.duckdb.bounding import Statement, statement
from tacit.tables.engines.duckdb.chosen_rows import rows_statement
from tacit.tables.engines.duckdb.relations import Schema
from tacit.tables.engines.duckdb.sources.source import VIEW, other_view
from tacit.tables.engines.duckdb.terms import TYPES, identifier
from tacit.tables.engines.rows import BoundedRows, narrowest
from tacit.tables.engines.spool import Batch, ChosenRows
from tacit.tables.engines.sums import Sums
from tacit.tables.engines.work import Work
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Value

__all__ = ["Connection", "DuckDBEngine"]

_KINDS = {name: kind for kind, name in TYPES.items()}
_EPOCH = datetime.datetime(1970, 1, 1)
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
        """Stop what runs."""

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
        return Integers(
            keys=_keys(plan, found),
            units=np.asarray(found["units"], dtype=np.int64),
            measures=tuple(_measured(one, i, found) for i, one in enumerate(query.measures)),
        )

    def read(self, asked: BoundedRows) -> ChosenRows:
        """The chosen rows, streamed from the engine to a private folder."""
        return ChosenRows(asked, self._batches(asked))

    def _batches(self, asked: BoundedRows) -> Iterator[Batch]:
        sql = rows_statement(asked, Schema(self._schema(VIEW), self._schemas(), self._key), self._key)
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
        return statement(query, self._schema(VIEW), key, self._schemas())

    def _schemas(self) -> dict[str, Mapping[str, Kind]]:
        return {name: self._schema(other_view(name)) for name in self._others}

    def interrupt(self) -> None:
        self._connection.interrupt()

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


def _keys(plan: Statement, found: Columns) -> tuple[list[Value], ...]:
    """The keys of each group: those listed, as they were listed; or those found."""
    if plan.listed is not None:
        rows = [plan.listed[g] for g in found["g"].tolist()]
        return tuple([row[i] for row in rows] for i in range(len(plan.key_kinds)))
    return tuple(_values(found[f"k{i}"], found[f"k{i}_null"], kind) for i, kind in enumerate(plan.key_kinds))


def _values(column: npt.NDArray[Any], null: npt.NDArray[Any], kind: Kind) -> list[Value]:
    make = _MAKERS[kind]
    return [None if missing else make(one) for one, missing in zip(column.tolist(), null.tolist(), strict=True)]


_MAKERS: dict[Kind, Callable[[Any], Value]] = {
    Kind.INTEGER: int,
    Kind.REAL: float,
    Kind.TEXT: str,
    Kind.BOOLEAN: bool,
    Kind.DATE: lambda days: (_EPOCH + datetime.timedelta(days=days)).date(),
    Kind.TIMESTAMP: lambda moment: _EPOCH + datetime.timedelta(microseconds=moment),
}


def _measured(measure: Asked, i: int, found: Columns) -> Sums | Tallies:
    if isinstance(measure, Cells):
        parts = zip(found[f"m{i}_cells"], found[f"m{i}_counts"], strict=True)
        return Tallies.joined([(_int64(cells), _int64(counts)) for cells, counts in parts])
    return Sums.of_pieces(found[f"m{i}_high"], found[f"m{i}_low"])


def _int64(values: Any) -> npt.NDArray[np.int64]:
    return np.asarray(values, dtype=np.int64)
