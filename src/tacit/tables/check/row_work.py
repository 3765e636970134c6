"""How much may be computed of the rows that a statement makes of one: their number times what is done with each.

A join or a union may make many rows of one person's, and a statement may do much with each row; both together would be
a way to spend minutes on one person alone, if a condition arms it (docs/proofs/work.md).
"""

from __future__ import annotations

from collections.abc import Iterable

from tacit.errors import InvalidParameter
from tacit.tables.check.types import Words
from tacit.tables.expressions.tree import Expression
from tacit.tables.query.limits import Sizes

__all__ = ["MOST_ROW_WORK", "STEP", "admit_row_work", "aggregating"]

MOST_ROW_WORK = 50_000_000
"""Rows that become of one, times the constants, columns and operators of what is computed of each of them."""
STEP = 100
"""So many of these a step on texts is worth."""
_SORTED, _ADDED, _GROUPED = 200, 30, 50
_SORTING = ("quantile", "mode", "top", "count_distinct")


def aggregating(functions: Iterable[str], sets: int = 1) -> int:
    """What aggregates are worth for each row, besides their arguments, with so many sets of keys.

    >>> aggregating(["sum", "quantile"]), aggregating(["count_rows"], sets=64)
    (280, 3230)
    """
    return sum(_SORTED if one in _SORTING else _ADDED for one in functions) + _GROUPED * sets


def admit_row_work(rows: int, expressions: Iterable[Expression | None], besides: int = 0) -> None:
    """Refuse to compute these of so many rows that become of one; nothing is refused where rows stay one."""
    if rows == 1:
        return
    sizes = Sizes()
    work = besides + sum(sizes.work(one, STEP) for one in expressions if one is not None)
    if rows * work > MOST_ROW_WORK:
        raise InvalidParameter(
            "JOIN",
            given=Words(f"{rows} rows made of one × {work}"),
            allowed=f"at most {MOST_ROW_WORK} constants, columns and operators; a step on texts is worth {STEP}",
            hint="Compute it in a subquery, below the join; or ask several smaller questions.",
        )
