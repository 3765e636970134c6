"""An engine that runs SQL: a bounded query becomes one statement, whose integers come back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from tacit.tables.engines.chain.bounding import statement
from tacit.tables.engines.chain.chosen_rows import rows_statement
from tacit.tables.engines.chain.dialect import Dialect
from tacit.tables.engines.chain.fetching import integers
from tacit.tables.engines.chain.relations import HIDDEN, Schema
from tacit.tables.engines.contract import BoundedQuery, Integers
from tacit.tables.engines.rows import BoundedRows, narrowest
from tacit.tables.engines.spool import Batch, ChosenRows
from tacit.tables.engines.work import Work
from tacit.tables.expressions.kinds import Kind

__all__ = ["Batches", "ChainEngine", "Connection", "Rows"]

Batches = Iterator[list[npt.NDArray[Any]]]
"""Some rows at a time, an array a column."""


class Connection(Protocol):
    """What runs statements; each engine's `connection` has one."""

    def columns(self, sql: str) -> Mapping[str, Any]:
        """The result of a statement, a list or an array for each column's name."""

    def batches(self, sql: str, kinds: Sequence[np.dtype[Any]]) -> Batches:
        """The result of a statement whose columns are integers of these types, some rows at a time."""

    def work(self, sql: str) -> Work:
        """What a statement takes, counted by the engine."""

    def interrupt(self) -> None:
        """Stop what runs, and begin nothing more."""

    def progress(self) -> float | None:
        """How much of what runs is done."""

    def close(self) -> None:
        """Let go of the source."""


class Rows(Protocol):
    """The rows of all tables: their kinds, and the steps that read them."""

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """Of the table's columns."""

    @property
    def others(self) -> Mapping[str, Mapping[str, Kind]]:
        """Of the columns of the other tables."""

    @property
    def steps(self) -> tuple[str, ...]:
        """What reads them."""


class ChainEngine:
    """Runs bounded queries in a dialect; ``key`` is the secret of the hash that chooses rows.

    Where the connection has it, and statements name it only, there is none here.
    """

    dialect: ClassVar[Dialect]

    def __init__(self, connection: Connection, rows: Rows, key: str = "") -> None:
        self._connection, self._rows, self._key = connection, rows, key

    @cached_property
    def _schema(self) -> Schema:
        rows = self._rows
        return Schema(rows.kinds, rows.others, self._key, self.dialect, rows.steps)

    def run(self, query: BoundedQuery) -> Integers:
        """The integers, of a statement whose errors do not depend on rows."""
        plan = statement(query, self._schema)
        found = self._connection.columns(plan.sql)
        return integers(plan, query, found)

    def read(self, asked: BoundedRows) -> ChosenRows:
        """The chosen rows, streamed from the engine to a private folder."""
        return ChosenRows(asked, self._batches(asked))

    def _batches(self, asked: BoundedRows) -> Iterator[Batch]:
        sql = rows_statement(asked, self._schema)
        kinds = [narrowest(column) for column in asked.columns]
        if asked.unit is None:
            for columns in self._connection.batches(sql, kinds):
                yield columns, None
            return
        yield from self.numbered(self._connection.batches(sql, [np.dtype(np.int64), *kinds]))

    def numbered(self, batches: Batches) -> Iterator[Batch]:
        """Rows with the numbers of their units, which are the first column."""
        for numbers, *columns in batches:
            yield columns, numbers

    def work(self, query: BoundedQuery) -> Work:
        """What the statement takes, counted; it is run for that. As private as the integers."""
        return self._connection.work(statement(query, self._schema).sql)

    def explain(self, query: BoundedQuery) -> str:
        """The statement, with the secret hidden if it is in it."""
        return statement(query, replace(self._schema, key=HIDDEN)).sql

    def interrupt(self) -> None:
        self._connection.interrupt()

    def progress(self) -> float | None:
        return self._connection.progress()

    def close(self) -> None:
        self._connection.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"
