"""GROUP BY with ROLLUP, CUBE and GROUPING SETS: the sets of keys that they stand for."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from tacit.tables.expressions import Expression
from tacit.tables.grouping import MOST_SETS
from tacit.tables.sql.grammar import exp
from tacit.tables.sql.refusals import NotUnderstood
from tacit.tables.sql.scope import only

__all__ = ["groupings"]

Keys = tuple[Expression, ...]
Read = Callable[[exp.Expression], Expression]


def groupings(nodes: Sequence[exp.Expression], read: Read) -> list[Keys]:
    """The sets of a GROUP BY: one of each of its terms, in every combination; a plain key is a set of one."""
    found: list[Keys] = [()]
    for node in nodes:
        found = [before + keys for before in found for keys in _sets(node, read, 0)]
        _few(len(found))
    return found


def _sets(node: exp.Expression, read: Read, depth: int) -> list[Keys]:
    if depth > 2:
        raise NotUnderstood("GROUPING SETS", "is nested too deep", "Write the sets one beside the other.")
    if isinstance(node, exp.Rollup):
        parts = _parts(node, read)
        return [tuple(itertools.chain(*parts[:size])) for size in range(len(parts), -1, -1)]
    if isinstance(node, exp.Cube):
        parts = _parts(node, read)
        _few(2 ** len(parts))
        kept = itertools.product((True, False), repeat=len(parts))
        return [tuple(itertools.chain(*itertools.compress(parts, chosen))) for chosen in kept]
    if isinstance(node, exp.GroupingSets):
        only(node, "expressions")
        _few(len(node.expressions))
        return [keys for one in node.expressions for keys in _sets(one, read, depth + 1)]
    return [_keys(node, read)]


def _parts(node: exp.Rollup | exp.Cube, read: Read) -> list[Keys]:
    only(node, "expressions")
    _few(len(node.expressions))
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


def _few(count: int) -> None:
    if count > MOST_SETS:
        hint = "Each is paid for: name those that you need, GROUPING SETS ((a, b), (a), ())."
        raise NotUnderstood("GROUP BY", f"would make more than {MOST_SETS} sets of keys", hint)
