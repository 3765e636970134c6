"""How much may be computed of the rows that a statement makes of one: their number times what is done with each.

A join or a union may make many rows of one person's, and a statement may do much with each row; both together would be
a way to spend minutes on one person alone, if a condition arms it (docs/proofs/work.md).
"""

from __future__ import annotations

from collections.abc import Iterable

from tacit.errors import InvalidParameter
from tacit.tables.check.types import Words
from tacit.tables.expressions.operator import constants_of
from tacit.tables.expressions.operators import OPERATORS
from tacit.tables.expressions.tree import Expression
from tacit.tables.query.limits import Sizes

__all__ = ["MOST_ROW_WORK", "admit_row_work", "aggregating", "weight"]

MOST_ROW_WORK = 5_000_000
"""Rows that become of one, times the weights of what is computed of each of them: a quarter of a second, about."""
_SORTED, _ADDED, _GROUPED = 60, 20, 20
_SORTING = ("quantile", "mode", "top", "count_distinct")


def weight(node: Expression) -> int:
    """What a node is worth by itself: 1, unless its operator says more.

    >>> from tacit.tables.expressions.tree import Call, Column, Literal
    >>> [weight(Call("like", (Column("city"), Literal(pattern)))) for pattern in ("a%", "%a_b%", "%a_________b%")]
    [1, 3500, 52000]
    """
    operator = OPERATORS.get(node.called)
    return 1 if operator is None else operator.weight(constants_of(node.parts()))


def aggregating(functions: Iterable[str], sets: int = 1) -> int:
    """What aggregates are worth for each row, besides their arguments, with so many sets of keys.

    >>> aggregating(["sum", "quantile"]), aggregating(["count_rows"], sets=64)
    (100, 1300)
    """
    return sum(_SORTED if one in _SORTING else _ADDED for one in functions) + _GROUPED * sets


def admit_row_work(rows: int, expressions: Iterable[Expression | None], besides: int = 0) -> None:
    """Refuse to compute these of so many rows that become of one."""
    sizes = Sizes()
    work = besides + sum(sizes.work(one, weight) for one in expressions if one is not None)
    if rows * work > MOST_ROW_WORK:
        made = f"{rows} rows made of one × {work}" if rows > 1 else f"{work} for each row"
        raise InvalidParameter(
            "work",
            given=Words(made),
            allowed=f"at most {MOST_ROW_WORK} steps; an operator is one, LIKE with many _ 4 000 for each character",
            hint="Compute it in a subquery, below the join, or with shorter patterns; or ask several smaller questions."
            if rows > 1
            else "Write shorter patterns, or ask several smaller questions.",
        )
