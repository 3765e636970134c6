"""The step of a statement that reads a view: every column that may be asked about, total."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tacit.tables.engines.chain.terms import VIEW, identifier
from tacit.tables.engines.spark.text_casts import from_type
from tacit.tables.policy.policy import ColumnPolicy, Role

__all__ = ["rows_step", "visible"]


def visible(columns: Sequence[ColumnPolicy]) -> list[ColumnPolicy]:
    """Those that may be asked about."""
    return [column for column in columns if column.role is not Role.FORBIDDEN]


def rows_step(view: str, types: Mapping[str, str], columns: Sequence[ColumnPolicy], name: str = VIEW) -> str:
    """The named step with the rows of a view whose columns have these types."""
    shown = [
        f"{from_type(f't.{identifier(one.name)}', types[one.name], one.kind)} AS {identifier(one.name)}"
        for one in visible(columns)
    ]
    return f"{identifier(name)} AS (SELECT {', '.join(shown) or 'NULL AS nothing'} FROM {identifier(view)} AS t)"
