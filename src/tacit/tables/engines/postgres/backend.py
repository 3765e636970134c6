"""PostgreSQL as a kind of engine. Its modules, and psycopg itself, are loaded when they are needed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ClassVar

from tacit.errors import PolicyError
from tacit.tables.engines.backend import Contents, Guess, Survey, TableSources
from tacit.tables.engines.contract import BoundedQuery, Engine
from tacit.tables.engines.postgres.address import is_address
from tacit.tables.engines.source import Source
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.policy import OtherTable, Policy

__all__ = ["POSTGRES", "PostgresBackend"]


@dataclass(frozen=True, slots=True)
class PostgresBackend:
    """Tables of a database server: the bounded aggregate runs there."""

    name: ClassVar[str] = "postgres"

    def reads(self, where: object) -> bool:
        return is_address(where)

    def source(self, where: Any, options: Mapping[str, str] | None = None, name: str | None = None) -> Source:
        from tacit.tables.engines.postgres.source import PostgresSource

        if not is_address(where):
            raise PolicyError(
                "The tables of one question are read by one engine, and this one is in PostgreSQL: load the other into "
                "the same database, postgresql://host/database#schema.table. Nothing was spent."
            )
        if options:
            raise PolicyError(
                f"[reading] {next(iter(options))} says how a file is read, and this is a table of PostgreSQL: leave it "
                "out. Nothing was spent."
            )
        return PostgresSource(where)

    def kinds(self, source: Source) -> Mapping[str, Kind]:
        from tacit.tables.engines.postgres.tables import own
        from tacit.tables.engines.postgres.text_casts import own_kind

        return {name: kind for name, said in own(source).types.items() if (kind := own_kind(said)) is not None}

    def own_kinds(self, source: Source) -> Mapping[str, Kind]:
        return self.kinds(source)

    def engine(self, table: TableSources, secret: str) -> Engine:
        from tacit.tables.engines.postgres.connection import QuietPostgres
        from tacit.tables.engines.postgres.driver import connected
        from tacit.tables.engines.postgres.engine import PostgresEngine
        from tacit.tables.engines.postgres.tables import own, rows_of

        connection = connected(own(table.source).address)
        return PostgresEngine(QuietPostgres(connection, secret, table.policy.work.seconds), rows_of(table))

    def explain(self, query: BoundedQuery, policy: Policy) -> str:
        from tacit.tables.engines.chain.bounding import statement
        from tacit.tables.engines.chain.relations import Schema
        from tacit.tables.engines.postgres.dialect import DIALECT
        from tacit.tables.engines.postgres.tables import kinds_of

        others = {name: kinds_of(one.columns) for name, one in policy.others.items()}
        return statement(query, Schema(kinds_of(policy.columns), others, "", DIALECT)).sql

    def notes(self, query: BoundedQuery, source: Source) -> tuple[str, ...]:
        from tacit.tables.engines.calls import last_bits
        from tacit.tables.engines.postgres.catalog import TESTED
        from tacit.tables.engines.postgres.tables import own

        version = own(source).described.version
        untested = (f"PostgreSQL {version} is accepted, and not tested: {', '.join(map(str, TESTED))} are",)
        return (*last_bits(query), *(() if version in TESTED else untested))

    def contents(self, table: OtherTable, source: Source, policy: Policy) -> Contents:
        from tacit.tables.engines.postgres.survey import contents_of
        from tacit.tables.engines.postgres.tables import own

        return contents_of(table, own(source), policy)

    def operators(self) -> Collection[str]:
        from tacit.tables.engines.postgres.operators import FORMS

        return FORMS.keys()

    def refuse_other_name(self, source: Source) -> None:
        """Rows are never in memory."""

    def refused(self) -> Mapping[str, str]:
        from tacit.tables.engines.postgres.operators.texts import REFUSED

        return REFUSED

    def check_again(self, table: TableSources) -> None:
        """The schema may have changed, and what public tables hold: both are looked at, and nothing private."""
        from tacit.tables.engines.postgres.tables import rows_of

        table.source.check(tuple(table.policy.columns.values()))
        for name, one in table.policy.others.items():
            table.others[name].check(tuple(one.columns.values()))
            if one.is_public and self.contents(one, table.others[name], table.policy).stamp != one.contents:
                raise PolicyError(
                    f"The public table {name} has changed since it was opened, and answers are made and remembered for "
                    "what it held then. Open the table again: tacit.open(…). Nothing was spent."
                )
        rows_of(table)

    @property
    def is_near(self) -> bool:
        return False

    def all_names(self, source: Source) -> tuple[str, ...]:
        return source.column_names()

    def guess(self, where: Any, given: Mapping[str, str]) -> Guess:
        return Guess(given)

    def survey(self, source: Source, policy: Policy) -> AbstractContextManager[Survey]:
        from tacit.tables.engines.postgres.survey import PostgresSurvey
        from tacit.tables.engines.postgres.tables import own

        return PostgresSurvey(own(source), policy)


POSTGRES = PostgresBackend()
