"""How large and how deep a query may be. Trees share parts, so they are measured without being walked twice.

All limits are public constants, and what exceeds one is refused before anything is paid (docs/proofs/work.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tacit.errors import InvalidParameter
from tacit.tables.expressions.texts import LONGEST_TEXT, fits
from tacit.tables.expressions.tree import Call, Expression, Literal
from tacit.tables.query.relations import MOST_LEVELS, Base, Listed, Relation, Stacked
from tacit.tables.query.tree import Aggregate

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

_ON_TEXTS = ("lower", "upper", "trim", "length", "substring", "starts_with", "contains", "to_text")


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
            parts = _parts_of(node)
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
                    self._weights[id(one)] for one in _parts_of(size.expression)
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
        if isinstance(node, Literal) and isinstance(node.value, str) and not fits(node.value):
            given, allowed = f"a text of {len(node.value)} characters", f"texts of at most {LONGEST_TEXT} bytes"
            raise InvalidParameter("constant", given=given, allowed=allowed)
        if isinstance(node, Call):
            _admit_arguments(node)
        return _Size(nodes, depth, steps, node)


def _parts_of(node: Expression) -> Sequence[Expression]:
    return node.arguments() if isinstance(node, Aggregate) else node.parts()


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
        if one is None or isinstance(one, Base | Listed):
            continue
        if level > MOST_LEVELS:
            given = f"subqueries that stand in each other more than {MOST_LEVELS} deep"
            raise InvalidParameter("FROM", given=given, allowed=f"at most {MOST_LEVELS}", hint=_SMALLER)
        below = [part.source for part in one.parts] if isinstance(one, Stacked) else one.below()
        waiting += [(part, level + 1) for part in below]
        if len(waiting) > MOST_NODES:
            raise _too_large()


_SMALLER = "Ask several smaller questions."


def _admit_arguments(call: Call) -> None:
    count = len(call.arguments)
    if call.operator == "in":
        if count > MOST_LISTED + 1:
            raise InvalidParameter("IN", given=f"{count - 1} values", allowed=f"at most {MOST_LISTED}", hint=_SMALLER)
    elif count > MOST_JOINED:
        name = call.operator.upper()
        raise InvalidParameter(name, given=f"{count} parts", allowed=f"at most {MOST_JOINED}", hint=_SMALLER)


def _own_steps(node: Expression) -> int:
    if not isinstance(node, Call):
        return 0
    if node.operator == "concat":
        return 10
    if node.operator in ("like", "ilike"):
        pattern = node.arguments[-1].value if isinstance(node.arguments[-1], Literal) else ""
        return 1 + len(str(pattern)) // 20
    return int(node.operator in _ON_TEXTS)


def _admit(nodes: int, steps: int) -> None:
    if nodes > MOST_NODES:
        raise _too_large()
    if steps > MOST_TEXT_STEPS:
        allowed = f"at most {MOST_TEXT_STEPS}; || counts ten, LIKE one for every 20 characters of its pattern"
        raise InvalidParameter("steps on texts", given="more than that", allowed=allowed, hint=_SMALLER)


def _too_large() -> InvalidParameter:
    allowed = f"at most {MOST_NODES} constants, columns and operators"
    return InvalidParameter("query", given="more than that", allowed=allowed, hint=_SMALLER)
