"""Sources whose columns have types already: Parquet, tables in a DuckDB file, frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tacit.errors import PolicyError
from tacit.tables.engines.duckdb.sources.source import VIEW, missing_column, quoted_name, view_statement, visible
from tacit.tables.engines.duckdb.text_casts import can_cast, from_type
from tacit.tables.policy.policy import ColumnPolicy

__all__ = ["check_types", "view_of"]


def check_types(columns: Sequence[ColumnPolicy], types: Mapping[str, str], where: str) -> None:
    """Raise `PolicyError` for a declared column that is missing, or of a type that cannot be read as its kind."""
    for column in visible(columns):
        if column.name not in types:
            raise missing_column(column.name, tuple(types), where)
        if not can_cast(types[column.name], column.kind):
            raise PolicyError(
                f"The policy says that {column.name!r} is {column.kind}, and in {where} it is {types[column.name]}, "
                'which cannot be read as that; type = "text" always can. Nothing was spent.'
            )


def view_of(scan: str, columns: Sequence[ColumnPolicy], types: Mapping[str, str], view: str = VIEW) -> str:
    """The statement that makes the view over a table expression."""
    shown = [
        f"{from_type(quoted_name(one.name), types[one.name], one.kind)} AS {quoted_name(one.name)}"
        for one in visible(columns)
    ]
    return view_statement(shown, scan, view)
