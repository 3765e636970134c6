"""The rows of a question on PostgreSQL: the steps that read its tables, all of one database, with total columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from tacit.errors import PolicyError
from tacit.tables.engines.backend import TableSources
from tacit.tables.engines.chain.terms import other_view
from tacit.tables.engines.postgres.source import PostgresSource
from tacit.tables.engines.source import Source
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.policy import ColumnPolicy, Role

__all__ = ["TableRows", "kinds_of", "own", "rows_of"]


@dataclass(frozen=True, slots=True)
class TableRows:
    """See `engine.Rows`."""

    kinds: Mapping[str, Kind]
    others: Mapping[str, Mapping[str, Kind]]
    steps: tuple[str, ...]


def rows_of(table: TableSources) -> TableRows:
    """Of a table and the other ones of its policy."""
    source, policy = own(table.source), table.policy
    steps = [source.step(tuple(policy.columns.values()))]
    for name, one in table.others.items():
        other = own(one)
        if (other.described.cluster, other.described.database) != (source.described.cluster, source.described.database):
            raise PolicyError(f"{name} is in another database: a question reads tables of one. Nothing was spent.")
        steps.append(other.step(tuple(policy.others[name].columns.values()), other_view(name)))
    others = {name: kinds_of(one.columns) for name, one in policy.others.items()}
    return TableRows(kinds_of(policy.columns), others, tuple(steps))


def kinds_of(columns: Mapping[str, ColumnPolicy]) -> dict[str, Kind]:
    """Of the columns that may be asked about."""
    return {one.name: one.kind for one in columns.values() if one.role is not Role.FORBIDDEN}


def own(source: Source) -> PostgresSource:
    """A source that this engine opened."""
    return cast("PostgresSource", source)
