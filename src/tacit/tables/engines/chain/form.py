"""What the form of an operator is given: its arguments as SQL, the kind of its result, its constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tacit.tables.engines.chain.dialect import Dialect
from tacit.tables.engines.chain.terms import Term
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Value

__all__ = ["Form", "Given"]


@dataclass(frozen=True, slots=True)
class Given:
    """One call of an operator that takes these arguments."""

    terms: Sequence[Term]
    kind: Kind
    """Of the result."""
    constants: Sequence[Value]
    """The value of each argument that is a constant, None of the others."""
    dialect: Dialect

    def sql(self, place: int = 0, kind: Kind | None = None) -> str:
        """An argument, widened to a kind: the result's unless it is said."""
        return self.dialect.as_kind(self.terms[place], kind or self.kind)

    def each(self, kind: Kind | None = None) -> list[str]:
        """All arguments, widened to a kind: the result's unless it is said."""
        return [self.dialect.as_kind(term, kind or self.kind) for term in self.terms]

    @property
    def nothing(self) -> str:
        """Null, of the kind of the result."""
        return f"CAST(NULL AS {self.dialect.types[self.kind]})"


Form = Callable[[Given], str]
"""SQL that keeps the promises of `terms`, if its arguments do: total, finite, in the calendar, no text too long."""
