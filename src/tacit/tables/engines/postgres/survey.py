"""Facts about rows that an owner is told while writing a policy, and what public tables hold, by PostgreSQL."""

from __future__ import annotations

from dataclasses import replace

from tacit.tables.engines.backend import Contents, TableSources
from tacit.tables.engines.chain.survey import TypedSurvey, contents
from tacit.tables.engines.chain.terms import Term
from tacit.tables.engines.postgres.connection import QuietPostgres
from tacit.tables.engines.postgres.dialect import DIALECT
from tacit.tables.engines.postgres.driver import connected
from tacit.tables.engines.postgres.operators.casts import cast
from tacit.tables.engines.postgres.source import PostgresSource
from tacit.tables.engines.postgres.tables import rows_of
from tacit.tables.engines.postgres.text_casts import own_kind
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.policy import OtherTable, Policy

__all__ = ["PostgresSurvey", "contents_of"]


class PostgresSurvey(TypedSurvey):
    """As PostgreSQL counts."""

    def __init__(self, source: PostgresSource, policy: Policy) -> None:
        kinds = {name: own_kind(type_name) for name, type_name in source.types.items()}
        steps = rows_of(TableSources(source, replace(policy, others={}), {})).steps
        super().__init__(DIALECT, kinds, steps, QuietPostgres(connected(source.address), ""))

    def quantile(self, column: str, share: float) -> str:
        number = cast(Term(f"rows.{column}", Kind.TEXT), Kind.REAL)
        return f"percentile_cont({share}) WITHIN GROUP (ORDER BY {number})"

    def text(self, column: str, kind: Kind) -> str:
        return f"{column}::text"

    def joined(self, texts: str) -> str:
        return f"coalesce(string_agg({texts}, '' ORDER BY {texts} COLLATE \"C\"), '')"


def contents_of(table: OtherTable, source: PostgresSource, policy: Policy) -> Contents:
    """What a public table holds."""
    public = replace(policy, columns=table.columns, others={})
    return contents(table, lambda: PostgresSurvey(source, public))
