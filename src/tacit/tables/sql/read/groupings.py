"""GROUP BY with ROLLUP, CUBE and GROUPING SETS, as they are written: the sets of keys that they stand for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tacit.tables.expressions.tree import Expression
from tacit.tables.query.key_sets import MOST_NESTED, crossed, cube_of, few_sets, rollup_of, too_deep
from tacit.tables.sql.grammar import exp
from tacit.tables.sql.scope import only

__all__ = ["SETS", "groupings"]

SETS = (exp.Rollup, exp.Cube, exp.GroupingSets, exp.Tuple, exp.Paren)
"""Terms of GROUP BY that may stand for something else than one key."""

Keys = tuple[Expression, ...]
Read = Callable[[exp.Expression], Expression]


def groupings(nodes: Sequence[exp.Expression], read: Read) -> list[Keys]:
    """The sets of a GROUP BY: one of each of its terms, in every combination; a plain key is a set of one."""
    return crossed(_sets(node, read, 0) for node in nodes)


def _sets(node: exp.Expression, read: Read, depth: int) -> list[Keys]:
    if depth > MOST_NESTED:
        raise too_deep()
    made = _MADE.get(type(node))
    if made is None:
        return [_keys(node, read)]
    only(node, "expressions")
    few_sets(len(node.expressions))
    return made(node.expressions, read, depth)


def _all(nodes: Sequence[exp.Expression], read: Read, depth: int) -> list[Keys]:
    return [keys for one in nodes for keys in _sets(one, read, depth + 1)]


_MADE: dict[type[exp.Expression], Callable[[Sequence[exp.Expression], Read, int], list[Keys]]] = {
    exp.Rollup: lambda nodes, read, _: rollup_of([_keys(one, read) for one in nodes]),
    exp.Cube: lambda nodes, read, _: cube_of([_keys(one, read) for one in nodes]),
    exp.GroupingSets: _all,
}


def _keys(node: exp.Expression, read: Read) -> Keys:
    """(a, b), (a), () or a."""
    inside = {exp.Paren: "this", exp.Tuple: "expressions"}.get(type(node))
    if inside is None:
        return (read(node),)
    only(node, inside)
    return tuple(read(one) for one in (node.expressions if inside == "expressions" else [node.this]))
