"""The integers of a row in few numbers: grouping, hashing and sorting are then of those, which is half of the work.

Columns between public ends are digits of a number whose bases are how many integers each can be: what is packed says
all of the row, and equal rows alone are packed alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tacit.tables.engines.chain.dialect import Dialect
from tacit.tables.engines.rows import Coded, ends, narrowest

__all__ = ["Packed", "packed"]

_MOST = 2**62


@dataclass(frozen=True, slots=True)
class _Digit:
    """A column within a number: its name, its lowest integer, how many there are, and what comes after it."""

    name: str
    type_name: str
    low: int
    base: int
    stride: int

    def read(self, dialect: Dialect, number: str) -> str:
        """The column, from the number that it is packed in."""
        digit = f"{dialect.quotient(number, self.stride) if self.stride > 1 else number} % {self.base}"
        return f"CAST({digit} {_added(self.low)} AS {self.type_name}) AS {self.name}"


@dataclass(frozen=True, slots=True)
class Packed:
    """Columns of integers as ``numbers``, and how each is read again. A column too wide for it stays as it is."""

    numbers: tuple[tuple[str, tuple[_Digit, ...]], ...]

    @property
    def names(self) -> list[str]:
        """Of the numbers."""
        return [name for name, _ in self.numbers]

    def made(self, dialect: Dialect) -> list[str]:
        """The numbers, from the columns."""
        long = dialect.narrow["int64"]
        return [f"{_number(digits, long)} AS {name}" for name, digits in self.numbers]

    def read(self, dialect: Dialect) -> list[str]:
        """The columns, from the numbers, in order."""
        found = []
        for name, digits in self.numbers:
            whole = len(digits) == 1 and digits[0].base > _MOST
            found += [f"{name} AS {digits[0].name}"] if whole else [digit.read(dialect, name) for digit in digits]
        return found


def packed(columns: Sequence[Coded], names: Sequence[str], dialect: Dialect) -> Packed:
    """Columns in order, as many in each number as fit into 62 bits."""
    runs: list[list[tuple[str, str, int, int]]] = []
    room = 0
    for column, name in zip(columns, names, strict=True):
        low, high = ends(column)
        base = high - low + 1
        if base > room:
            runs.append([])
            room = _MOST
        room //= base
        runs[-1].append((name, dialect.narrow[narrowest(column).name], low, base))
    return Packed(tuple((f"p{at}", _digits(run)) for at, run in enumerate(runs)))


def _digits(run: Sequence[tuple[str, str, int, int]]) -> tuple[_Digit, ...]:
    found, stride = list[_Digit](), 1
    for name, type_name, low, base in reversed(run):
        found.insert(0, _Digit(name, type_name, low, base, stride))
        stride *= base
    return tuple(found)


def _number(digits: Sequence[_Digit], long: str) -> str:
    if digits[0].base > _MOST:
        return f"CAST({digits[0].name} AS {long})"
    made = ""
    for digit in digits:
        own = f"(CAST({digit.name} AS {long}) {_added(-digit.low)})"
        made = own if not made else f"({made} * {digit.base} + {own})"
    return made


def _added(number: int) -> str:
    return f"{'-' if number < 0 else '+'} {abs(number)}"
