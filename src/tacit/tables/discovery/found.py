"""What was discovered: released figures, and the line of the policy that they suggest."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tacit.privacy.prices import text
from tacit.tables.expressions.tree import Value
from tacit.tables.release.answer import Answer

__all__ = ["FoundBounds", "FoundKeys", "FoundLimit"]


@dataclass(frozen=True, slots=True, repr=False)
class FoundBounds:
    """Between which public steps the values of a column lie, for all bins that hold more units than noise explains.

    ``low`` or ``high`` is None where nothing was found, or where values lie beyond the grid.
    """

    column: str
    low: Fraction | None
    high: Fraction | None
    toml: str
    """The column's line in the policy, with these bounds; empty if there are none."""
    answer: Answer

    def __repr__(self) -> str:
        if not self.toml:
            return (
                f"{self.column}: no bounds were found; the price or the table is too small, or values lie off the grid"
            )
        return self.toml

    @property
    def bounds(self) -> tuple[str, str] | None:
        """Both ends as exact text, for ``bounds=``."""
        return None if self.low is None or self.high is None else (text(self.low), text(self.high))


@dataclass(frozen=True, slots=True, repr=False)
class FoundKeys:
    """Values of a column that enough units have; a list for ``keys=``. That they were found is now public."""

    column: str
    keys: tuple[Value, ...]
    toml: str
    """The column's line in the policy, with these keys as public ones."""
    answer: Answer

    def __repr__(self) -> str:
        return self.toml if self.keys else f"{self.column}: no keys were found; the price or the table is too small"


@dataclass(frozen=True, slots=True, repr=False)
class FoundLimit:
    """How often units occur, and the smallest limit that leaves at most a stated share of units cut."""

    name: str
    limit: int | None
    """None: no number of units stood out of the noise."""
    answer: Answer

    @property
    def toml(self) -> str:
        """The line of [limits] in the policy; empty if none is suggested."""
        return "" if self.limit is None else f"{self.name} = {self.limit}"

    def __repr__(self) -> str:
        return self.toml or f"{self.name}: no limit stood out of the noise"
