"""DuckDB as a kind of engine. Its modules, and DuckDB itself, are loaded when they are needed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from tacit.tables.engines.backend import Contents, Guess, Survey, TableSources
from tacit.tables.engines.contract import BoundedQuery, Engine
from tacit.tables.engines.source import Source
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.policy import ColumnPolicy, OtherTable, Policy

if TYPE_CHECKING:
    from tacit.tables.engines.duckdb.sources.source import Source as DuckDBSource

__all__ = ["DUCKDB", "DuckDBBackend"]


@dataclass(frozen=True, slots=True)
class DuckDBBackend:
    """Files and frames, read by DuckDB in this process or in the one that draws."""

    name: ClassVar[str] = "duckdb"

    def reads(self, where: object) -> bool:
        return True

    def source(self, where: Any, options: Mapping[str, str] | None = None, name: str | None = None) -> Source:
        from tacit.tables.engines.duckdb.sources import open_source

        return open_source(where, options, name)

    def kinds(self, source: Source) -> Mapping[str, Kind]:
        return {name: _kind(said) for name, said in getattr(source, "types", {}).items()}

    def own_kinds(self, source: Source) -> Mapping[str, Kind]:
        said = getattr(source, "declared", getattr(source, "types", {}))
        return {name: _kind(one) for name, one in said.items()}

    def engine(self, table: TableSources, secret: str) -> Engine:
        from tacit.tables.engines.duckdb.connection import LockedDuckDB
        from tacit.tables.engines.duckdb.engine import DuckDBEngine

        others = {name: _own(one) for name, one in table.others.items()}
        locked = LockedDuckDB(_own(table.source), table.policy, table.policy.work, others=others)
        return DuckDBEngine(locked, secret, tuple(table.others))

    def explain(self, query: BoundedQuery, policy: Policy) -> str:
        from tacit.tables.engines.chain.bounding import statement
        from tacit.tables.engines.chain.relations import HIDDEN, Schema
        from tacit.tables.engines.duckdb.dialect import DIALECT

        others = {name: _kinds(one.columns) for name, one in policy.others.items()}
        return statement(query, Schema(_kinds(policy.columns), others, HIDDEN, DIALECT)).sql

    def notes(self, query: BoundedQuery, source: Source) -> tuple[str, ...]:
        return ()

    def contents(self, table: OtherTable, source: Source, policy: Policy) -> Contents:
        from tacit.tables.engines.duckdb.survey import contents_of

        return contents_of(table, _own(source), policy)

    def operators(self) -> Collection[str]:
        from tacit.tables.engines.duckdb.operators import FORMS

        return FORMS.keys()

    def refuse_other_name(self, source: Source) -> None:
        from tacit.tables.engines.duckdb.sources.frames import refuse_other_name

        refuse_other_name(_own(source))

    def refused(self) -> Mapping[str, str]:
        return {}

    def check_again(self, table: TableSources) -> None:
        """Files are looked at by their stamps."""

    @property
    def is_near(self) -> bool:
        return True

    def all_names(self, source: Source) -> tuple[str, ...]:
        in_rows = getattr(source, "names_in_rows", source.column_names)
        return cast("tuple[str, ...]", in_rows())

    def guess(self, where: Any, given: Mapping[str, str]) -> Guess:
        from tacit.tables.engines.duckdb.sources import format_of
        from tacit.tables.engines.duckdb.sources.sniffing import guessed

        is_csv = format_of(where, given) == "csv"
        return guessed(Path(where).expanduser(), given) if is_csv else Guess(given)

    def survey(self, source: Source, policy: Policy) -> AbstractContextManager[Survey]:
        from tacit.tables.engines.duckdb.survey import DuckDBSurvey

        return DuckDBSurvey(_own(source), policy)


DUCKDB = DuckDBBackend()


def _own(source: Source) -> DuckDBSource:
    """A source that this engine opened."""
    return cast("DuckDBSource", source)


def _kinds(columns: Mapping[str, ColumnPolicy]) -> dict[str, Kind]:
    return {one.name: one.kind for one in columns.values()}


def _kind(type_name: str) -> Kind:
    plain = type_name.partition("(")[0].upper()
    if plain.lstrip("U") in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT"):
        return Kind.INTEGER
    if plain in ("FLOAT", "DOUBLE", "DECIMAL", "HUGEINT", "UHUGEINT"):
        return Kind.REAL
    if plain in ("BOOLEAN", "DATE"):
        return Kind(plain.lower())
    return Kind.TIMESTAMP if plain.startswith("TIMESTAMP") else Kind.TEXT
