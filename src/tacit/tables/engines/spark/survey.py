"""Facts about rows that an owner is told while writing a policy, and what public tables hold, by Spark."""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import Any

from tacit.tables.engines.backend import Contents, TableSources
from tacit.tables.engines.chain.survey import TypedSurvey, contents
from tacit.tables.engines.spark.connection import QuietSpark
from tacit.tables.engines.spark.dialect import DIALECT
from tacit.tables.engines.spark.source import SparkSource
from tacit.tables.engines.spark.tables import frames_of, rows_of
from tacit.tables.engines.spark.text_casts import can_cast, own_kind
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.policy import OtherTable, Policy

__all__ = ["SparkSurvey", "contents_of"]

_EPOCH = datetime.datetime(1970, 1, 1)


class SparkSurvey(TypedSurvey):
    """As Spark counts."""

    def __init__(self, source: SparkSource, policy: Policy) -> None:
        kinds = {name: own_kind(type_name) for name, type_name in source.types.items()}
        columns = {
            name: replace(one, kind=_readable(one.kind, source.types[name])) for name, one in policy.columns.items()
        }
        table = TableSources(source, replace(policy, columns=columns, others={}), {})
        super().__init__(DIALECT, kinds, rows_of(table).steps, QuietSpark(*frames_of(table), ""))

    def quantile(self, column: str, share: float) -> str:
        return f"percentile(try_cast({column} AS DOUBLE), {share})"

    def text(self, column: str, kind: Kind) -> str:
        return DIALECT.written(column, kind)

    def joined(self, texts: str) -> str:
        return f"array_join(array_sort(collect_list({texts})), '')"

    def fetched(self, sql: str, kind: Kind) -> str:
        """Times as whole numbers: Python's own would go through the zone of this machine."""
        return {Kind.DATE: f"unix_date({sql})", Kind.TIMESTAMP: f"unix_micros({sql})"}.get(kind, sql)

    def value(self, found: Any, kind: Kind) -> Any:
        if found is None or not kind.is_time:
            return found
        if kind is Kind.DATE:
            return (_EPOCH + datetime.timedelta(days=found)).date()
        return _EPOCH + datetime.timedelta(microseconds=found)


def _readable(kind: Kind, type_name: str) -> Kind:
    """A real is counted as itself, where others are counted as texts: Spark's digits of it are not ours."""
    return kind if can_cast(type_name, kind) else own_kind(type_name) or kind


def contents_of(table: OtherTable, source: SparkSource, policy: Policy) -> Contents:
    """What a public table holds."""
    public = replace(policy, columns=table.columns, others={})
    return contents(table, lambda: SparkSurvey(source, public))
