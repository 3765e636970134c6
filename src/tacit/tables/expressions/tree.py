"""Row-wise expressions: frozen values, one node per concept, nothing that is not on the allow-list of `operators`.

A query has two places for them: *rows* (leaves are `Column` and `Literal`) and *released values*, where the leaves are
`Key`, `Literal` and `query.Aggregate`.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

__all__ = ["Call", "Case", "Column", "Expression", "Grouping", "Key", "Literal", "Value"]

Value: TypeAlias = "int | float | str | bool | datetime.date | datetime.datetime | None"
"""What a literal or a released cell can be."""

Node = TypeVar("Node", bound="Expression")


class Expression:
    """Something with a value per row, or per released group."""

    __slots__ = ()

    def parts(self) -> tuple[Expression, ...]:
        """The expressions directly below."""
        return ()

    def measured(self) -> tuple[Expression, ...]:
        """What counts for its size: the parts, and the arguments of an aggregate."""
        return self.parts()

    def walk(self) -> Iterator[Expression]:
        """This expression and all below it, from left to right."""
        waiting: list[Expression] = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.parts())

    def nodes(self, kind: type[Node]) -> Iterator[Node]:
        """This expression and all below it, where they are of that kind."""
        return (node for node in self.walk() if isinstance(node, kind))

    def has(self, kind: type[Expression]) -> bool:
        """Whether a node of that kind occurs in it."""
        return next(self.nodes(kind), None) is not None

    def results(self) -> tuple[Expression, ...]:
        """What it chooses its value from; nothing if it does not choose."""
        return ()

    def with_parts(self, parts: tuple[Expression, ...]) -> Expression:
        """The same node over other parts, as many as it has."""
        return self

    def changed(self, kind: type[Node], change: Callable[[Node], Expression]) -> Expression:
        """The same with every node of that kind replaced, and what is below it; aggregates are not looked into."""
        if isinstance(self, kind):
            return change(self)
        return self.with_parts(tuple(part.changed(kind, change) for part in self.parts()))

    def over(self, change: Callable[[Column], Expression]) -> Expression:
        """The same of other columns, those of aggregates too."""
        return self.with_parts(tuple(part.over(change) for part in self.parts()))

    def operands(self, operator: str) -> tuple[Expression, ...]:
        """What the operator is applied to, if this is a call of it; otherwise the expression alone."""
        return (self,)

    @property
    def called(self) -> str:
        """The operator that is applied to its parts; empty if it is no call."""
        return ""

    @property
    def constant(self) -> Value:
        """The value of a constant; None of everything else, and of NULL."""
        return None

    @property
    def filtered(self) -> tuple[Expression, Expression] | None:
        """The condition and the value of what FILTER makes: CASE WHEN condition THEN value END; None else."""
        return None

    @property
    def is_literal(self) -> bool:
        """Whether it is a constant, NULL too."""
        return False

    @property
    def column_name(self) -> str | None:
        """The name of a column; None of everything else."""
        return None

    @property
    def bare_name(self) -> str | None:
        """The name of a column that was written without its table, and so may be that of an output; None else."""
        return None


@dataclass(frozen=True, slots=True)
class Column(Expression):
    """A column of the table, by the name the policy gives it."""

    name: str

    @property
    def column_name(self) -> str | None:
        return self.name

    @property
    def bare_name(self) -> str | None:
        return self.name

    def over(self, change: Callable[[Column], Expression]) -> Expression:
        return change(self)


@dataclass(frozen=True, slots=True, eq=False)
class Literal(Expression):
    """A constant that the analyst wrote; 1, 1.0 and TRUE are three different constants."""

    value: Value

    @property
    def constant(self) -> Value:
        return self.value

    @property
    def is_literal(self) -> bool:
        return True

    def _identity(self) -> tuple[type, object]:
        return type(self.value), repr(self.value) if isinstance(self.value, float) else self.value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())


@dataclass(frozen=True, slots=True)
class Key(Expression):
    """The i-th expression of GROUP BY, as released."""

    index: int


@dataclass(frozen=True, slots=True)
class Grouping(Expression):
    """1 in the rows of an answer that are not grouped by a key of GROUPING SETS, where it is null; 0 in the others."""

    key: Expression

    def parts(self) -> tuple[Expression, ...]:
        return (self.key,)

    def with_parts(self, parts: tuple[Expression, ...]) -> Expression:
        return Grouping(*parts)


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """An operator or function of the allow-list, applied; ``IN`` is ``Call("in", (x, a, b, …))``."""

    operator: str
    arguments: tuple[Expression, ...]

    @property
    def called(self) -> str:
        return self.operator

    def parts(self) -> tuple[Expression, ...]:
        return self.arguments

    def with_parts(self, parts: tuple[Expression, ...]) -> Expression:
        return Call(self.operator, parts)

    def changed(self, kind: type[Node], change: Callable[[Node], Expression]) -> Expression:
        """The same with every node of that kind replaced, and what is below it; aggregates are not looked into."""
        if isinstance(self, kind):
            return change(self)
        return self.with_parts(tuple(part.changed(kind, change) for part in self.parts()))

    def over(self, change: Callable[[Column], Expression]) -> Expression:
        """The same of other columns, those of aggregates too."""
        return self.with_parts(tuple(part.over(change) for part in self.parts()))

    def operands(self, operator: str) -> tuple[Expression, ...]:
        return self.arguments if self.operator == operator else (self,)


@dataclass(frozen=True, slots=True)
class Case(Expression):
    """CASE WHEN … THEN … ELSE … END."""

    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression = Literal(None)

    @property
    def filtered(self) -> tuple[Expression, Expression] | None:
        return self.branches[0] if len(self.branches) == 1 and self.otherwise == Literal(None) else None

    def results(self) -> tuple[Expression, ...]:
        return (*(value for _, value in self.branches), self.otherwise)

    def parts(self) -> tuple[Expression, ...]:
        return (*(part for branch in self.branches for part in branch), self.otherwise)

    def with_parts(self, parts: tuple[Expression, ...]) -> Expression:
        return Case(tuple(zip(parts[:-1:2], parts[1:-1:2], strict=True)), parts[-1])
