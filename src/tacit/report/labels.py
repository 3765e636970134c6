"""What to call the rows of an answer in a picture."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.report.columns import Column, same_length
from tacit.report.numbers import cell

__all__ = ["row_labels"]


def row_labels(columns: Sequence[Column]) -> list[str]:
    """One label per row, made of the columns without noise; the row's number where there are none, "all" if alone.

    >>> row_labels([Column.of("city", ["Lund", None]), Column.of("n", [1, 2], [0, 1], [2, 3], whole=True)])
    ['Lund', 'NULL']
    >>> row_labels([Column.of("n", [1], [0], [2], whole=True)])
    ['all']
    """
    keys = [column for column in columns if not column.is_noisy]
    if not keys:
        rows = same_length(columns)
        return ["all"] if rows == 1 else [str(row + 1) for row in range(rows)]
    return [" · ".join(cell(column, row) for column in keys) for row in range(same_length(columns))]
