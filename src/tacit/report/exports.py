"""Released columns as frames and files; each noisy column ``n`` is followed by ``n_low`` and ``n_high``.

pandas, Polars and pyarrow are loaded here, on use, and an error says how to get them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from tacit.errors import MissingPackage
from tacit.report.columns import Column, interval_columns

__all__ = ["to_arrow", "to_csv", "to_dict", "to_pandas", "to_polars", "write_csv", "write_parquet"]


def to_dict(columns: Sequence[Column]) -> dict[str, list[Any]]:
    """Lists by column name.

    >>> to_dict([Column.of("n", [7], [3], [11], whole=True)])
    {'n': [7], 'n_low': [3], 'n_high': [11]}
    """
    return interval_columns(columns)


def to_pandas(columns: Sequence[Column]) -> Any:
    """A pandas DataFrame."""
    return _package("pandas").DataFrame(interval_columns(columns))


def to_polars(columns: Sequence[Column]) -> Any:
    """A Polars DataFrame."""
    return _package("polars").DataFrame(interval_columns(columns), strict=False)


def to_arrow(columns: Sequence[Column]) -> Any:
    """An Arrow table."""
    arrow = _package("pyarrow")
    made = interval_columns(columns)
    return arrow.Table.from_arrays([_arrow_array(arrow, values) for values in made.values()], names=list(made))


def to_csv(columns: Sequence[Column]) -> str:
    """CSV text with a header; unknown values are empty."""
    made = interval_columns(columns)
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(made)
    writer.writerows(zip(*made.values(), strict=True))
    return out.getvalue()


def write_csv(columns: Sequence[Column], path: Path) -> None:
    """Write `to_csv` to a file, in UTF-8."""
    path.write_text(to_csv(columns), encoding="utf-8", newline="")


def write_parquet(columns: Sequence[Column], path: Path) -> None:
    """Write the columns to a Parquet file."""
    table = to_arrow(columns)
    _package("pyarrow.parquet").write_table(table, path)


def _arrow_array(arrow: Any, values: list[Any]) -> Any:
    """An array; a column of whole numbers and fractions is one of reals, and one without any value is of reals too."""
    known = {type(value) for value in values if value is not None}
    if known <= {int, float} and known != {int}:
        return arrow.array([None if value is None else float(value) for value in values], type=arrow.float64())
    return arrow.array(values)


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise MissingPackage(name.partition(".")[0], extra="frames") from None
