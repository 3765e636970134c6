"""The rows of a question on Spark: the views of its tables in one session of ours, and the steps that read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from tacit.errors import PolicyError
from tacit.tables.engines.backend import TableSources
from tacit.tables.engines.chain.terms import VIEW, other_view
from tacit.tables.engines.source import Source
from tacit.tables.engines.spark.driver import beside, quietly
from tacit.tables.engines.spark.rows import rows_step
from tacit.tables.engines.spark.source import SparkSource
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.policy import ColumnPolicy, Role

__all__ = ["TableRows", "frames_of", "kinds_of", "own", "rows_of"]

_VIEW = "tacit_rows_{}"


@dataclass(frozen=True, slots=True)
class TableRows:
    """See `engine.Rows`."""

    kinds: Mapping[str, Kind]
    others: Mapping[str, Mapping[str, Kind]]
    steps: tuple[str, ...]


def rows_of(table: TableSources) -> TableRows:
    """Of a table and the other ones of its policy."""
    source, policy = own(table.source), table.policy
    steps = [rows_step(_VIEW.format(0), source.types, tuple(policy.columns.values()), VIEW)]
    for place, (name, one) in enumerate(table.others.items(), 1):
        columns = tuple(policy.others[name].columns.values())
        steps.append(rows_step(_VIEW.format(place), own(one).types, columns, other_view(name)))
    others = {name: kinds_of(one.columns) for name, one in policy.others.items()}
    return TableRows(kinds_of(policy.columns), others, tuple(steps))


def frames_of(table: TableSources) -> tuple[Any, dict[str, Any]]:
    """A session of ours, and in it the frame of each view that those steps read."""
    user = own(table.source).user_session
    for name, one in table.others.items():
        if own(one).user_session is not user:
            raise PolicyError(f"{name} is in another session of Spark: a question reads tables of one.")
    session = beside(user)
    with quietly():
        all_of_them = (table.source, *table.others.values())
        return session, {_VIEW.format(place): own(one).frame_in(session) for place, one in enumerate(all_of_them)}


def kinds_of(columns: Mapping[str, ColumnPolicy]) -> dict[str, Kind]:
    """Of the columns that may be asked about."""
    return {one.name: one.kind for one in columns.values() if one.role is not Role.FORBIDDEN}


def own(source: Source) -> SparkSource:
    """A source that this engine opened."""
    return cast("SparkSource", source)
