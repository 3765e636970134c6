"""About how many rows there are: declared, or bought with a small share of the budget; never counted for free."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tacit.errors import InvalidParameter
from tacit.learn.reading.rows import Rows
from tacit.learn.spending.spending import Spending

__all__ = ["SHARE_FOR_SIZE", "about_how_many", "read_expected_rows"]

SHARE_FOR_SIZE = Fraction(1, 50)


def read_expected_rows(expected: object) -> int | None:
    """The number that was declared, if one was."""
    if expected is None:
        return None
    if isinstance(expected, bool) or not isinstance(expected, int | np.integer) or not 1 <= expected <= 10**15:
        raise InvalidParameter("expected_rows", given=expected, allowed="about how many rows there are, at least 1")
    return int(expected)


def about_how_many(expected: object, rows: Rows, spending: Spending) -> int:
    """The declared number of rows, or a noisy count at a fiftieth of the budget; at least 1."""
    declared = read_expected_rows(expected)
    if declared is not None:
        return declared
    count = np.array([sum(chunk.size for chunk in rows.chunks())], dtype=np.int64)
    noisy = spending.release("number of rows", SHARE_FOR_SIZE, count, l1=rows.limit, l2_squared=rows.limit**2)
    return max(1, round(float(noisy[0])))
