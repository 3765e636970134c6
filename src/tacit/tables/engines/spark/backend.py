"""Spark as a kind of engine. Its modules, and pyspark itself, are loaded when they are needed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from tacit.errors import PolicyError
from tacit.tables.engines.backend import Contents, Guess, Survey, TableSources
from tacit.tables.engines.contract import BoundedQuery, Engine
from tacit.tables.engines.source import Source, table_folder
from tacit.tables.engines.spark.address import is_address
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.policy import OtherTable, Policy

__all__ = ["SPARK", "SparkBackend"]


@dataclass(frozen=True, slots=True)
class SparkBackend:
    """Tables, Parquet folders and DataFrames of a cluster: the bounded aggregate runs in its partitions."""

    name: ClassVar[str] = "spark"

    def reads(self, where: object) -> bool:
        from tacit.tables.engines.spark.driver import is_frame_of_spark

        return is_address(where) or is_frame_of_spark(where)

    def source(self, where: Any, options: Mapping[str, str] | None = None, name: str | None = None) -> Source:
        from tacit.tables.engines.spark.driver import is_frame_of_spark
        from tacit.tables.engines.spark.source import SparkFolder, SparkFrame, SparkTable

        left = {option: value for option, value in (options or {}).items() if option != "engine"}
        if left:
            raise PolicyError(
                f"[reading] {next(iter(left))} says how a file is read by DuckDB, and these rows are read by Spark: "
                "leave it out. Nothing was spent."
            )
        if is_address(where):
            return SparkTable(where)
        if is_frame_of_spark(where):
            return SparkFrame(where, name)
        if isinstance(where, str | Path) and table_folder(Path(where)) is not None:
            return SparkFolder(Path(where))
        raise PolicyError(
            "The tables of one question are read by one engine, and this one is Spark: a table (spark:catalog.schema."
            "table), a folder of Parquet files, or a DataFrame. Nothing was spent."
        )

    def kinds(self, source: Source) -> Mapping[str, Kind]:
        from tacit.tables.engines.spark.tables import own
        from tacit.tables.engines.spark.text_casts import own_kind

        return {name: kind for name, said in own(source).types.items() if (kind := own_kind(said)) is not None}

    def own_kinds(self, source: Source) -> Mapping[str, Kind]:
        return self.kinds(source)

    def engine(self, table: TableSources, secret: str) -> Engine:
        from tacit.tables.engines.spark.connection import QuietSpark
        from tacit.tables.engines.spark.engine import SparkEngine
        from tacit.tables.engines.spark.tables import frames_of, rows_of

        return SparkEngine(QuietSpark(*frames_of(table), secret), rows_of(table))

    def explain(self, query: BoundedQuery, policy: Policy) -> str:
        from tacit.tables.engines.chain.bounding import statement
        from tacit.tables.engines.chain.relations import Schema
        from tacit.tables.engines.spark.dialect import DIALECT
        from tacit.tables.engines.spark.tables import kinds_of

        others = {name: kinds_of(one.columns) for name, one in policy.others.items()}
        return statement(query, Schema(kinds_of(policy.columns), others, "", DIALECT)).sql

    def notes(self, query: BoundedQuery, source: Source) -> tuple[str, ...]:
        from tacit.tables.engines.calls import last_bits

        return last_bits(query)

    def contents(self, table: OtherTable, source: Source, policy: Policy) -> Contents:
        from tacit.tables.engines.spark.survey import contents_of
        from tacit.tables.engines.spark.tables import own

        return contents_of(table, own(source), policy)

    def operators(self) -> Collection[str]:
        from tacit.tables.engines.spark.operators import FORMS

        return FORMS.keys()

    def refuse_other_name(self, source: Source) -> None:
        from tacit.tables.engines.frame_names import refuse_other_name_of
        from tacit.tables.engines.spark.source import SparkFrame

        assert isinstance(source, SparkFrame)
        refuse_other_name_of(source.frame, source.name)

    def refused(self) -> Mapping[str, str]:
        from tacit.tables.engines.spark.operators.texts import REFUSED

        return REFUSED

    def check_again(self, table: TableSources) -> None:
        """The schema may have changed, and what public tables hold: both are looked at, and nothing private."""
        table.source.check(tuple(table.policy.columns.values()))
        for name, one in table.policy.others.items():
            table.others[name].check(tuple(one.columns.values()))
            if one.is_public and self.contents(one, table.others[name], table.policy).stamp != one.contents:
                raise PolicyError(
                    f"The public table {name} has changed since it was opened, and answers are made and remembered for "
                    "what it held then. Open the table again: tacit.open(…). Nothing was spent."
                )

    @property
    def is_near(self) -> bool:
        return False

    def all_names(self, source: Source) -> tuple[str, ...]:
        return source.column_names()

    def guess(self, where: Any, given: Mapping[str, str]) -> Guess:
        return Guess(given)

    def survey(self, source: Source, policy: Policy) -> AbstractContextManager[Survey]:
        from tacit.tables.engines.spark.survey import SparkSurvey
        from tacit.tables.engines.spark.tables import own

        return SparkSurvey(own(source), policy)


SPARK = SparkBackend()
