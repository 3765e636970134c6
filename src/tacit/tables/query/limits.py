"""How large and how deep a query may be. Trees share parts, so they are measured without being walked twice.

All limits are public constants, and what exceeds one is refused before anything is paid (docs/proofs/work.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tacit.errors import InvalidParameter
from tacit.tables.expressions.kinds import is_text
from tacit.tables.expressions.operator import constants_of
from tacit.tables.expressions.operators import OPERATORS
from tacit.tables.expressions.texts import LONGEST_TEXT, fits
from tacit.tables.expressions.tree import Expression
from tacit.tables.query.relations import MOST_LEVELS, Relation

__all__ = [
    "MOST_DEEP",
    "MOST_GROUPED",
    "MOST_JOINED",
    "MOST_LISTED",
    "MOST_NODES",
    "MOST_OUTPUTS",
    "MOST_TEXT_STEPS",
    "Sizes",
    "admit_relation",
    "admit_width",
]

MOST_DEEP = 100
"""How deep an expression may be nested; conditions joined by AND or OR count once."""
MOST_NODES = 50_000
"""How many constants, columns and operators a whole query may have."""
MOST_TEXT_STEPS = 500
"""How many steps on texts a query may have: `||` counts ten, LIKE one for every 20 characters of its pattern."""
MOST_LISTED = 10_000
"""How many values IN may list."""
MOST_JOINED = 2_000
"""How many conditions AND and OR may join, and how many arguments anything else may have."""
MOST_OUTPUTS = 1_000
"""How many columns an answer may have."""
MOST_GROUPED = 32
"""How many keys GROUP BY may have."""


@dataclass(frozen=True, slots=True)
class _Size:
    """Of an expression, counted as a tree; which is kept, so that its id stays its own."""

    nodes: int
    depth: int
    steps: int
    expression: Expression


class Sizes:
    """Measures expressions, each shared part once; refuses what is too deep or, in total, too large."""

    def __init__(self) -> None:
        self._known: dict[int, _Size] = {}
        self._weights: dict[int, int] = {}
        self._nodes = self._steps = 0

    def of(self, expression: Expression) -> tuple[int, int]:
        """Nodes, counted as a tree, and depth; raises beyond the limits."""
        waiting = [expression]
        while waiting:
            node = waiting[-1]
            if id(node) in self._known:
                waiting.pop()
                continue
            parts = node.measured()
            unknown = [part for part in parts if id(part) not in self._known]
            if unknown:
                waiting.extend(unknown)
                if len(waiting) > 4 * MOST_NODES:
                    raise _too_large()
                continue
            waiting.pop()
            self._known[id(node)] = self._measured(node, [self._known[id(part)] for part in parts])
        found = self._known[id(expression)]
        return found.nodes, found.depth

    def work(self, expression: Expression, weigh: Callable[[Expression], int]) -> int:
        """The weights of all nodes, counted as a tree."""
        self.of(expression)
        for key, size in self._known.items():  # what a node is made of stands before it
            if key not in self._weights:
                self._weights[key] = weigh(size.expression) + sum(
                    self._weights[id(one)] for one in size.expression.measured()
                )
        return self._weights[id(expression)]

    def admit(self, expression: Expression) -> None:
        """Count the expression as a part of the query."""
        self.of(expression)
        found = self._known[id(expression)]
        self._nodes += found.nodes
        self._steps += found.steps
        _admit(self._nodes, self._steps)

    def _measured(self, node: Expression, parts: Sequence[_Size]) -> _Size:
        nodes = 1 + sum(part.nodes for part in parts)
        steps = _own_steps(node) + sum(part.steps for part in parts)
        depth = 1 + max((part.depth for part in parts), default=0)
        _admit(nodes, steps)
        if depth > MOST_DEEP:
            given = f"an expression nested more than {MOST_DEEP} deep"
            allowed = f"at most {MOST_DEEP}; conditions joined by AND or OR count once"
            raise InvalidParameter("query", given=given, allowed=allowed)
        if is_text(node.constant) and not fits(str(node.constant)):
            given, allowed = f"a text of {len(str(node.constant))} characters", f"texts of at most {LONGEST_TEXT} bytes"
            raise InvalidParameter("constant", given=given, allowed=allowed)
        if node.called:
            _admit_arguments(node.called, len(node.parts()))
        return _Size(nodes, depth, steps, node)


def admit_width(outputs: int, keys: int) -> None:
    """Refuse an answer of too many columns, or groups by too many keys."""
    if outputs > MOST_OUTPUTS:
        raise InvalidParameter("SELECT", given=f"{outputs} columns", allowed=f"at most {MOST_OUTPUTS}", hint=_SMALLER)
    if keys > MOST_GROUPED:
        raise InvalidParameter("GROUP BY", given=f"{keys} keys", allowed=f"at most {MOST_GROUPED}", hint=_SMALLER)


def admit_relation(relation: Relation | None) -> None:
    """Refuse subqueries that stand in each other too deep; before anything walks down into them."""
    waiting = [(relation, 1)]
    while waiting:
        one, level = waiting.pop()
        if one is None or not one.is_subquery:
            continue
        if level > MOST_LEVELS:
            given = f"subqueries that stand in each other more than {MOST_LEVELS} deep"
            raise InvalidParameter("FROM", given=given, allowed=f"at most {MOST_LEVELS}", hint=_SMALLER)
        waiting += [(part, level + 1) for part in one.inside()]
        if len(waiting) > MOST_NODES:
            raise _too_large()


_SMALLER = "Ask several smaller questions."


def _admit_arguments(operator: str, count: int) -> None:
    if operator == "in":
        if count > MOST_LISTED + 1:
            raise InvalidParameter("IN", given=f"{count - 1} values", allowed=f"at most {MOST_LISTED}", hint=_SMALLER)
    elif count > MOST_JOINED:
        raise InvalidParameter(
            operator.upper(), given=f"{count} parts", allowed=f"at most {MOST_JOINED}", hint=_SMALLER
        )


def _own_steps(node: Expression) -> int:
    operator = OPERATORS.get(node.called)
    return 0 if operator is None else operator.steps(constants_of(node.parts()))


def _admit(nodes: int, steps: int) -> None:
    if nodes > MOST_NODES:
        raise _too_large()
    if steps > MOST_TEXT_STEPS:
        allowed = f"at most {MOST_TEXT_STEPS}; || counts ten, LIKE one for every 20 characters of its pattern"
        raise InvalidParameter("steps on texts", given="more than that", allowed=allowed, hint=_SMALLER)


def _too_large() -> InvalidParameter:
    allowed = f"at most {MOST_NODES} constants, columns and operators"
    return InvalidParameter("query", given="more than that", allowed=allowed, hint=_SMALLER)
