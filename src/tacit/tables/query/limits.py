"""How large and how deep a query may be. Trees share parts, so they are measured without being walked twice."""

from __future__ import annotations

from tacit.errors import InvalidParameter
from tacit.tables.expressions.tree import Expression
from tacit.tables.query.tree import Aggregate, Query

__all__ = ["MOST_DEEP", "MOST_NODES", "Sizes", "admit_query"]

MOST_DEEP = 100
"""How deep an expression may be nested; conditions joined by AND or OR count once."""
MOST_NODES = 50_000
"""How many constants, columns and operators a whole query may have."""


class Sizes:
    """Measures expressions, each shared part once; refuses what is too deep or, in total, too large."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, int, Expression]] = {}  # the expression is kept, so that its id stays its own
        self._total = 0

    def of(self, expression: Expression) -> tuple[int, int]:
        """Nodes, counted as a tree, and depth; raises beyond the limits."""
        waiting = [expression]
        while waiting:
            node = waiting[-1]
            if id(node) in self._known:
                waiting.pop()
                continue
            parts = node.parts()
            if isinstance(node, Aggregate):
                parts = node.arguments()
            unknown = [part for part in parts if id(part) not in self._known]
            if unknown:
                waiting.extend(unknown)
                if len(waiting) > 4 * MOST_NODES:
                    raise _too_large()
                continue
            waiting.pop()
            nodes = 1 + sum(self._known[id(part)][0] for part in parts)
            depth = 1 + max((self._known[id(part)][1] for part in parts), default=0)
            if nodes > MOST_NODES:
                raise _too_large()
            if depth > MOST_DEEP:
                given = f"an expression nested more than {MOST_DEEP} deep"
                allowed = f"at most {MOST_DEEP}; conditions joined by AND or OR count once"
                raise InvalidParameter("query", given=given, allowed=allowed)
            self._known[id(node)] = (nodes, depth, node)
        return self._known[id(expression)][:2]

    def admit(self, expression: Expression) -> None:
        """Count the expression as a part of the query."""
        self._total += self.of(expression)[0]
        if self._total > MOST_NODES:
            raise _too_large()


def admit_query(query: Query) -> None:
    """Refuse a query beyond the limits."""
    sizes = Sizes()
    for output in query.outputs:
        sizes.admit(output.expression)
    for term in query.order:
        sizes.admit(term.expression)
    for expression in (query.where, query.having, *query.keys):
        if expression is not None:
            sizes.admit(expression)


def _too_large() -> InvalidParameter:
    allowed = f"at most {MOST_NODES} constants, columns and operators"
    return InvalidParameter("query", given="more than that", allowed=allowed, hint="Ask several smaller questions.")
