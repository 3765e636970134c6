"""GROUP BY with ROLLUP, CUBE and GROUPING SETS, as they are written: the sets of keys that they stand for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tacit.tables.expressions.tree import Expression
from tacit.tables.query.key_sets import MOST_NESTED, crossed, cube_of, few_sets, rollup_of, too_deep
from tacit.tables.sql.grammar import exp
from tacit.tables.sql.scope import only

__all__ = ["groupings"]

Keys = tuple[Expression, ...]
Read = Callable[[exp.Expression], Expression]


def groupings(nodes: Sequence[exp.Expression], read: Read) -> list[Keys]:
    """The sets of a GROUP BY: one of each of its terms, in every combination; a plain key is a set of one."""
    return crossed(_sets(node, read, 0) for node in nodes)


def _sets(node: exp.Expression, read: Read, depth: int) -> list[Keys]:
    if depth > MOST_NESTED:
        raise too_deep()
    if isinstance(node, exp.Rollup):
        return rollup_of(_parts(node, read))
    if isinstance(node, exp.Cube):
        return cube_of(_parts(node, read))
    if isinstance(node, exp.GroupingSets):
        only(node, "expressions")
        few_sets(len(node.expressions))
        return [keys for one in node.expressions for keys in _sets(one, read, depth + 1)]
    return [_keys(node, read)]


def _parts(node: exp.Rollup | exp.Cube, read: Read) -> list[Keys]:
    only(node, "expressions")
    few_sets(len(node.expressions))
    return [_keys(one, read) for one in node.expressions]


def _keys(node: exp.Expression, read: Read) -> Keys:
    """(a, b), (a), () or a."""
    if isinstance(node, exp.Paren):
        only(node, "this")
        return (read(node.this),)
    if isinstance(node, exp.Tuple):
        only(node, "expressions")
        return tuple(read(one) for one in node.expressions)
    return (read(node),)
