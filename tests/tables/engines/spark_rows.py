"""Tables of Spark with the columns of `random_rows`, filled anew as often as it takes; and the engine on them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tacit.tables.engines.calls import called
from tacit.tables.engines.chain.bounding import statement
from tacit.tables.engines.chain.relations import Schema
from tacit.tables.engines.chain.terms import other_view
from tacit.tables.engines.contract import BoundedQuery
from tacit.tables.engines.spark.connection import QuietSpark
from tacit.tables.engines.spark.dialect import DIALECT
from tacit.tables.engines.spark.driver import beside
from tacit.tables.engines.spark.engine import SparkEngine
from tacit.tables.engines.spark.operators.texts import REFUSED
from tacit.tables.engines.spark.rows import rows_step
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Call, Expression
from tacit.tables.policy.policy import ColumnPolicy, Role
from tests.tables.engines import join_oracle, random_rows
from tests.tables.engines.join_oracle import PRIVATE, TABLES, is_other
from tests.tables.engines.random_rows import SCHEMA
from tests.tables.engines.row_oracle import kind_of
from tests.tables.engines.sensitivity import SECRET

TYPES = {
    Kind.INTEGER: "bigint",
    Kind.REAL: "double",
    Kind.TEXT: "string",
    Kind.BOOLEAN: "boolean",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "timestamp_ntz",
}
BEYOND = {
    "d": ["make_date(10000, 1, 1)", "make_date(-44, 3, 15)", "make_date(290000, 1, 1)"],
    "t": ["TIMESTAMP_NTZ '+10000-01-01 00:00:00'", "TIMESTAMP_NTZ '-0044-03-15 01:00:00'"],
}
"""Times that Spark has and the calendar has not."""
COLUMNS = tuple(ColumnPolicy(name, kind, Role.PRIVATE) for name, kind in SCHEMA.items())
TYPES_OF = {name: TYPES[kind] for name, kind in SCHEMA.items()}
_DECLARED = ", ".join(f"`{name}` {kind}" for name, kind in TYPES_OF.items())


class SparkRows:
    """Views of a session; what the engine asks of rows."""

    names: tuple[str, ...] = ("held",)

    def __init__(self, spark: Any, more: dict[str, str] | None = None) -> None:
        self.session = beside(spark, more)
        self.kinds: Mapping[str, Kind] = SCHEMA
        self.others: Mapping[str, Mapping[str, Kind]] = dict.fromkeys(self.names[1:], SCHEMA)
        held = rows_step("held", TYPES_OF, COLUMNS)
        self.steps = (held, *(rows_step(name, TYPES_OF, COLUMNS, other_view(name)) for name in self.names[1:]))

    def fill(self, rows: list[dict[str, Any]], beyond: random.Random | None = None) -> None:
        self.put("held", rows, beyond)

    def put(self, table: str, rows: list[dict[str, Any]], beyond: random.Random | None = None) -> None:
        cells = [tuple(row[name] for name in SCHEMA) for row in rows]
        frame = self.session.createDataFrame(cells, _DECLARED)
        if beyond:
            frame = _with(frame, beyond)
        frame.createOrReplaceTempView(table)

    def connection(self) -> QuietSpark:
        return QuietSpark(self.session, {}, SECRET)

    def engine(self) -> SparkEngine:
        return SparkEngine(self.connection(), self)

    def engine_text(self, query: BoundedQuery) -> str:
        """The statement of a query, as the engine runs it."""
        return statement(query, Schema(self.kinds, self.others, "", DIALECT, self.steps)).sql

    def close(self) -> None:
        """Kept: another test fills it anew."""


def _with(frame: Any, beyond: random.Random) -> Any:
    """Some unknown times as times beyond the calendar."""
    from pyspark.sql.functions import coalesce, expr

    for name, odd in BEYOND.items():
        frame = frame.withColumn(name, coalesce(frame[name], expr(beyond.choice(odd))))
    return frame


class SeveralSparkTables(SparkRows):
    """The table and the other ones."""

    names = ("held", *TABLES)

    def __init__(self, spark: Any, more: dict[str, str] | None = None) -> None:
        super().__init__(spark, more)
        for table, rows in join_oracle.PUBLIC.items():
            self.put(table, rows)

    def fill(self, rows: list[dict[str, Any]], beyond: random.Random | None = None) -> None:
        super().fill([row for row in rows if not is_other(row)], beyond)
        self.put(PRIVATE, [row for row in rows if is_other(row)])


@contextmanager
def without_refused() -> Iterator[None]:
    """Nothing is asked that Spark refuses: regular expressions, and reals as texts."""
    made = random_rows.Expressions.make
    random_rows.Expressions.make = _possible  # type: ignore[method-assign]
    try:
        yield
    finally:
        random_rows.Expressions.make = made  # type: ignore[method-assign]


def _possible(make: random_rows.Expressions, kind: Kind, depth: int) -> Expression:
    kinds = {name: one for one, names in make.columns.items() for name in names}
    while True:
        found = _made(make, kind, depth)
        if not REFUSED.keys() & set(called(found)) and not _writes_a_real(found, kinds):
            return found


def _writes_a_real(found: Expression, kinds: Mapping[str, Kind]) -> bool:
    """Whether its top does: what is below was made by the same."""
    return isinstance(found, Call) and found.operator == "to_text" and kind_of(found.arguments[0], kinds) is Kind.REAL


_made = random_rows.Expressions.make

__all__ = ["SeveralSparkTables", "SparkRows", "without_refused"]
