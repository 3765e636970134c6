"""A relation with one row per unit and combination of keys: what GROUP BY unit gives inside of a statement.

Its values are exact, and never leave the engine: every row is computed from the rows of one unit alone, so a statement
over the relation is bounded like one over the table. Proof: docs/proofs/per_unit.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Column, Expression
from tacit.tables.query.relations import Relation

__all__ = ["FACTS", "Fact", "PerUnit", "UnitKey", "fact_kind"]

FACTS = ("count_rows", "count", "count_distinct", "sum", "mean", "min", "max")
"""What can be computed of the rows of a unit. All are functions of the *set* of rows, whatever their order."""


@dataclass(frozen=True, slots=True)
class UnitKey:
    """A key of the relation: a name, and the expression over rows that it stands for. One of them is the unit."""

    name: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class Fact:
    """A value of the relation: a name, what is computed (one of `FACTS`), and of what."""

    name: str
    function: str
    argument: Expression | None = None


@dataclass(frozen=True, slots=True)
class PerUnit(Relation):
    """SELECT keys, facts FROM source WHERE where GROUP BY keys; ``source`` None is the table.

    Semantics: rows are those where ``where`` is true; null is a key like any other. count_rows counts rows, count those
    whose argument is known, count_distinct the different known values. min, max, sum and mean are over known values,
    and null if there are none. A sum of integers is exact, and null beyond 64 bits. Reals are added exactly: each is
    cut off after its 79th binary place, and one of 2⁷⁹ or more is unknown; whole parts and fractions are added as
    integers, each total is rounded to the nearest real, and the two are added. A mean is that sum divided by the count.
    """

    keys: tuple[UnitKey, ...]
    facts: tuple[Fact, ...] = ()
    where: Expression | None = None
    source: Relation | None = None

    def names(self) -> tuple[str, ...]:
        """The columns, in order."""
        return (*(key.name for key in self.keys), *(fact.name for fact in self.facts))

    def expressions(self) -> Iterator[Expression]:
        """Every expression in it, and in what it is computed from."""
        yield from (key.expression for key in self.keys)
        yield from (fact.argument for fact in self.facts if fact.argument is not None)
        if self.where is not None:
            yield self.where
        if self.source is not None:
            yield from self.source.expressions()

    def reduced(self, used: Iterable[Expression]) -> PerUnit:
        """Without the facts that none of the expressions reads; keys decide which rows there are, and stay."""
        names = {node.name.lower() for one in used for node in one.nodes(Column)}
        facts = tuple(fact for fact in self.facts if fact.name.lower() in names)
        if self.source is None:
            return replace(self, facts=facts)
        own = replace(self, facts=facts, source=None)
        return replace(own, source=self.source.reduced(own.expressions()))

    def below(self) -> tuple[Relation | None, ...]:
        return (self.source,)


def fact_kind(function: str, argument: Kind | None) -> Kind | None:
    """The kind of a fact of an argument of that kind; None if there is no such fact."""
    if function in ("count_rows", "count", "count_distinct"):
        return Kind.INTEGER
    if function in ("min", "max"):
        return argument
    if argument is None or not argument.is_number:
        return None
    return Kind.REAL if function == "mean" else argument
