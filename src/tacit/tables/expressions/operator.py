"""What one operator is: all that is said about it, in one entry. Engines have a form of it under the same name.

Each is total: where a value cannot be computed (division by zero, overflow, a bad cast, a root of a negative number)
the result is null for that row alone, and null arguments give null unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tacit.tables.expressions.intervals import EVERYTHING, Range, Rule
from tacit.tables.expressions.kinds import Kind, Kinds
from tacit.tables.expressions.tree import Expression, Value
from tacit.tables.expressions.values import Compute

__all__ = [
    "ALL",
    "FIRST",
    "NUMBERS",
    "REST",
    "TIMES",
    "Arguments",
    "Constants",
    "Find",
    "Method",
    "Operator",
    "Places",
    "always",
    "constants_of",
    "only",
]

Arguments = tuple[Expression, ...]
Find = Callable[[Expression], "Range | None"]
"""The public range of an argument; None if it is always null."""
Constants = Sequence[Value]
"""The values of arguments, None where one is no constant."""

NUMBERS = (Kind.INTEGER, Kind.REAL)
TIMES = (Kind.DATE, Kind.TIMESTAMP)


def always(value: int) -> Callable[[Constants], int]:
    """The same whatever the constants are."""
    return lambda _: value


@dataclass(frozen=True, slots=True)
class Places:
    """Of arguments: from one place on, up to another."""

    first: int
    end: int | None = None

    def of(self, arguments: Arguments) -> Arguments:
        """The arguments at these places."""
        return arguments[self.first : self.end]

    def changed(self, arguments: Arguments, change: Callable[[Arguments], Arguments]) -> Arguments:
        """All arguments, those at these places changed."""
        made = list(arguments)
        made[self.first : self.end] = change(self.of(arguments))
        return tuple(made)


NOWHERE, FIRST, REST, ALL = Places(0, 0), Places(0, 1), Places(1), Places(0)


@dataclass(frozen=True, slots=True)
class Method:
    """How Python writes an operator: as a method of its first argument; ``says`` is what help shows."""

    name: str
    says: str
    given: tuple[str, ...] = ()
    """The names of its further arguments."""
    perhaps: tuple[str, ...] = ()
    """Of those that can be left out."""
    rest: str = ""
    """Of as many as there are."""


@dataclass(frozen=True, slots=True)
class Operator:
    """One entry of the table."""

    name: str
    """In `Call`, and of the form that each engine has for it."""
    takes: str
    """In words, for errors."""
    gives: Callable[[Kinds], Kind | None]
    """The kind of its result, from those of its arguments; None if it does not take them."""
    compute: Compute
    """Its meaning on released values."""
    interval: Rule | None = None
    """Where its result lies, from where its arguments do."""
    range: Callable[[Arguments, Find], Range | None] | None = None
    """The public range of its result, if that does not follow from `interval`."""
    values: Callable[[Constants], Sequence[int] | Sequence[str]] | None = None
    """All that it can give, in order, if its constants alone say so."""
    shows_all: bool = False
    """Whether groups by it are all of these, even where its arguments could give fewer."""
    is_condition: bool = False
    """Whether it is true or false, of whatever."""
    counts_truth: bool = False
    """Whether it makes 1 of true and 0 of false."""
    null: Callable[[Iterable[bool]], bool] | None = None
    """Whether it can be null, from whether its arguments can; see `can_be_null`."""
    sql: tuple[str, ...] = ()
    """Its names as a function; the first is how it is written."""
    google: tuple[str, ...] = ()
    """Names that it has in Google's SQL alone."""
    sign: str = ""
    """What stands between its arguments, if it is no function."""
    is_part: bool = False
    """Whether EXTRACT can take it out of a time."""
    python: Method | None = None
    """How Python writes it, if it is a method like any other."""
    literals: Places = NOWHERE
    """The arguments that must be constants."""
    unit_first: bool = False
    """Whether the first argument is a unit of time."""
    problem: Callable[[Constants], str] = lambda _: ""
    """Which constants it takes, in words, if these are others."""
    alike: Places = NOWHERE
    """The arguments that have one kind together: texts among dates are read as dates."""
    steps: Callable[[Constants], int] = lambda _: 0
    """How many steps on texts it takes."""
    weight: Callable[[Constants], int] = lambda _: 1
    """What it takes an engine at worst, on the longest texts and the hardest rows, in steps of 50 ns."""
    uses_zones: bool = False
    """Whether it reads tables of time zones, of which an engine has its own."""

    def range_of(self, arguments: Arguments, find: Find) -> Range | None:
        """The public range of its result; ``find`` gives those of its arguments. None if it is always null."""
        if self.range is not None:
            return self.range(arguments, find)
        if self.values is not None:
            listed = self.values(constants_of(arguments))
            return Range(Fraction(listed[0]), Fraction(listed[-1]))
        if self.interval is None:
            return EVERYTHING
        below = [find(part) for part in arguments]
        found: Range | None = None if None in below else self.interval(*below)
        return found

    def can_be_null(self, arguments: Iterable[bool]) -> bool:
        """Whether its result can be null, from whether its arguments can: conditions only with one of them."""
        if self.null is not None:
            return self.null(arguments)
        return any(arguments) if self.is_condition or self.values is not None else True


def only(*allowed: Kind, gives: Kind, least: int, most: int | None = None) -> Callable[[Kinds], Kind | None]:
    """The rule of an operator that takes these kinds, in any mixture, and gives one."""

    def rule(kinds: Kinds) -> Kind | None:
        fits = least <= len(kinds) <= (least if most is None else most)
        return gives if fits and all(kind is None or kind in allowed for kind in kinds) else None

    return rule


def constants_of(arguments: Iterable[Expression]) -> list[Value]:
    """The value of each argument that is a constant, None of the others."""
    return [part.constant for part in arguments]
