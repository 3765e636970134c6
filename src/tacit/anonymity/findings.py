"""What a check found. Numbers about one table on one day: none of them is a guarantee."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.anonymity.classes import Unknown
from tacit.anonymity.limits import Limits

__all__ = ["NO_GUARANTEE", "BrokenClass", "Findings", "Risk", "SensitiveFindings"]

NO_GUARANTEE = (
    "This is no guarantee: what others know, or another release of the same people, can undo it. "
    "For a promise that holds whatever they know, ask through Tacit: tacit ask."
)


@dataclass(frozen=True, slots=True)
class Risk:
    """How likely a row is named by somebody who knows its quasi-identifiers and that it is in the table."""

    highest: float
    """1 / k."""
    average: float
    """The mean over rows of 1 / the size of their class."""
    above_a_fifth: int
    """Rows whose class has fewer than five."""


@dataclass(frozen=True, slots=True)
class SensitiveFindings:
    """The weakest class of one sensitive column, by each measure."""

    distinct_l: int
    entropy_l: float
    recursive_l: int
    """The greatest l for which all classes are recursively (c, l)-diverse; 0 if for none."""
    recursive_c: float
    equal_t: float
    ordered_t: float | None
    """None where the column is of texts, which have no order."""
    one_valued_rows: int
    """Rows whose class has one value only: knowing the class is knowing the value."""


@dataclass(frozen=True, slots=True)
class BrokenClass:
    """A class that breaks a limit."""

    values: tuple[object, ...]
    rows: int
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything that `check` measured."""

    rows: int
    quasi: tuple[str, ...]
    unknown: Unknown
    k: int
    classes: int
    largest_class: int
    unique_rows: int
    """Rows that nobody else could be mistaken for."""
    risk: Risk
    class_sizes: tuple[tuple[int, int], ...]
    """How many rows are in classes of which size: (size, rows), smallest first."""
    sensitive: dict[str, SensitiveFindings]
    presence: tuple[float, float] | None
    """The least and the greatest share of a class of the population that is in the table (δ-presence)."""
    limits: Limits
    broken: tuple[BrokenClass, ...]
    """The classes that break a limit, smallest first; not all of them if there are many."""
    broken_classes: int
    broken_rows: int

    @property
    def passes(self) -> bool:
        """Whether every class keeps the limits that were given."""
        return self.broken_classes == 0

    @property
    def discernibility(self) -> int:
        """The sum over rows of the size of their class."""
        return sum(size * rows for size, rows in self.class_sizes)

    @property
    def note(self) -> str:
        """What such numbers cannot say."""
        return NO_GUARANTEE
