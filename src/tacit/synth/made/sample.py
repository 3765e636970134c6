"""Rows that were made up, as frames and files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tacit.errors import InvalidParameter
from tacit.report.columns import Column
from tacit.report.exports import to_arrow, to_pandas, to_polars, write_csv, write_parquet

__all__ = ["Sample"]


class Sample(Mapping[str, list[Any]]):
    """Columns of values by name; public, as the model they come from.

    >>> made = Sample({"plan": ["free", "pro"], "age": [31, None]})
    >>> made.rows, made["age"]
    (2, [31, None])
    """

    __slots__ = ("_columns",)

    def __init__(self, columns: Mapping[str, list[Any]]) -> None:
        self._columns = dict(columns)

    @property
    def rows(self) -> int:
        """How many."""
        return len(next(iter(self._columns.values())))

    def __getitem__(self, name: str) -> list[Any]:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def to_pandas(self) -> Any:
        """A pandas frame."""
        return to_pandas(self._released())

    def to_polars(self) -> Any:
        """A Polars frame."""
        return to_polars(self._released())

    def to_arrow(self) -> Any:
        """An Arrow table."""
        return to_arrow(self._released())

    def write(self, path: str | Path) -> None:
        """Write a file; what its name ends in says which: .csv or .parquet."""
        target = Path(path)
        if target.suffix == ".csv":
            write_csv(self._released(), target)
        elif target.suffix == ".parquet":
            write_parquet(self._released(), target)
        else:
            raise InvalidParameter("path", given=str(path), allowed="a name that ends in .csv or .parquet")

    def _released(self) -> list[Column]:
        return [Column(name, tuple(values)) for name, values in self._columns.items()]

    def __repr__(self) -> str:
        return f"<Sample: {self.rows:,} rows of {', '.join(self._columns)}>"
