"""How much may be computed of the rows that a statement makes of one: their number times what is done with each.

A join or a union may make many rows of one person's, and a statement may do much with each row; both together would be
a way to spend minutes on one person alone, if a condition arms it (docs/proofs/work.md).
"""

from __future__ import annotations

from collections.abc import Iterable

from tacit.errors import InvalidParameter
from tacit.tables.check.types import Words
from tacit.tables.expressions.operators import CASTS
from tacit.tables.expressions.tree import Call, Expression, Literal
from tacit.tables.query.limits import Sizes

__all__ = ["MOST_ROW_WORK", "admit_row_work", "aggregating", "weight"]

MOST_ROW_WORK = 5_000_000
"""Rows that become of one, times the weights of what is computed of each of them: a quarter of a second, about."""
_WEIGHTS = {
    "lower": 700,
    "upper": 700,
    "contains": 250,
    "trim": 200,
    "substring": 100,
    "length": 30,
    "concat": 30,
    "at_time_zone": 50,
    "timestamp_trunc": 50,
    **dict.fromkeys(CASTS, 150),
}
"""Of an operator, on the longest texts and the rows that are hardest for it, in steps of 50 ns; 1 of any other."""
_FEW, _MATCHED, _PER_CHARACTER, _SMALL_LETTERS = 8, 1_000, 4_000, 700
_SORTED, _ADDED, _GROUPED = 60, 20, 20
_SORTING = ("quantile", "mode", "top", "count_distinct")


def weight(node: Expression) -> int:
    """What a node is worth by itself.

    >>> from tacit.tables.expressions.tree import Column
    >>> [weight(Call("like", (Column("city"), Literal(pattern)))) for pattern in ("a%", "%a_b%", "%a_________b%")]
    [1, 3000, 52000]
    """
    if not isinstance(node, Call):
        return 1
    if node.operator in ("like", "ilike"):
        pattern = str(node.arguments[-1].value) if isinstance(node.arguments[-1], Literal) else "_"
        return _matching(pattern) + _SMALL_LETTERS * (node.operator == "ilike")
    return _WEIGHTS.get(node.operator, 1)


def _matching(pattern: str) -> int:
    """A pattern without wildcards inside is looked for as it is; one with a few _ between two % is an automaton of few
    states; with more of them, all places where it may begin have to be carried along for every character."""
    inside = pattern.strip("%")
    if any(piece.count("_") > _FEW for piece in inside.split("%")):
        return _PER_CHARACTER * len(pattern)
    if "_" in inside or "%" in inside:
        return _MATCHED * (3 if "_" in inside else 1)
    return _WEIGHTS["contains"] if pattern[:1] == pattern[-1:] == "%" else 1


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
