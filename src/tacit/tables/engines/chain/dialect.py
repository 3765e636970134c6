"""What an engine gives to the chain of steps: its own pieces of SQL for what engines write, or mean, differently.

The steps are in `bounding` and `chosen_rows`. Transpiling one engine's text into another's was tried and hides traps:
each piece is written, and tested, per engine.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from tacit.tables.engines.chain.constants import constant
from tacit.tables.engines.chain.terms import Term, indented
from tacit.tables.engines.contract import Quantised
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Value

if TYPE_CHECKING:
    from tacit.tables.engines.chain.form import Form

__all__ = ["Dialect", "Nullable"]

Nullable = Mapping[str, Kind | None]
"""Columns by their names: the kind of those that may be null, None of those that never are."""


class Dialect(ABC):
    """One engine's pieces of SQL."""

    types: Mapping[Kind, str]
    """The type of each kind."""
    narrow: Mapping[str, str]
    """The narrowest type that holds integers of each of NumPy's types."""
    forms: Mapping[str, Form]
    """The form of each operator."""
    fence: str = ""
    """What ends a SELECT whose expressions are to be evaluated once, however often they are named above it."""
    no_integers: str
    """The empty list of whole numbers."""
    in_place: bool = False
    """Whether all rows of a unit lie together and stay there: no step takes a row elsewhere to look something up."""

    # rows and steps

    def step(self, name: str, body: str, stored: bool = False) -> str:
        """A named step; ``stored`` is computed once."""
        return f"{name} AS {'' if stored else 'NOT '}MATERIALIZED (\n{indented(body)}\n)"

    def found(self, select: str, by: Sequence[str]) -> str:
        """The rows that later steps read, as one SELECT; ``by`` are the columns that they go together by."""
        return select + self.fence

    @abstractmethod
    def same(self, left: str, right: str, columns: Nullable) -> str:
        """The condition that two tables agree in columns, in which null equals null: one that can be hashed."""

    @abstractmethod
    def semi(self, left: str, right: str, condition: str, where: str = "") -> str:
        """What follows FROM: the rows of a table that have a partner in another."""

    @abstractmethod
    def anti(self, left: str, right: str, condition: str) -> str:
        """What follows FROM: the rows of a table that have none."""

    def first(self, columns: Sequence[str], source: str, by: Sequence[str], order: str, limit: int) -> str:
        """SELECT, of each of ``by``, the first ``limit`` rows in an order that is strict."""
        turn = f"row_number() OVER (PARTITION BY {', '.join(by)} ORDER BY {order}) AS turn"
        names = [one.rpartition(" AS ")[2] for one in columns]
        ordered = f"SELECT {', '.join(columns)}, {turn} FROM {source}"
        return f"SELECT {', '.join(names)}\nFROM ({ordered}) AS ordered\nWHERE turn <= {limit}"

    @abstractmethod
    def cuts(self, limit: int) -> str:
        """SELECT of each unit in ``ranked`` with more than ``limit`` places that which comes last of those."""

    def first_pairs(self, limit: int, ties: Sequence[str] = ()) -> str:
        """SELECT of the pairs in ``ranked`` the first ``limit`` of each unit where no cut is needed; or empty.

        Equal places are put in order by ``ties``, if there are any.
        """
        return ""

    @abstractmethod
    def collected(self, what: str, by: str) -> str:
        """The aggregate that makes a list of one column, in the order of another."""

    def number_of_row(self) -> str:
        """1, 2, … for the rows of each ``unit``, which come one after the other: where rows are kept in place."""
        return "row_number() OVER (PARTITION BY unit ORDER BY unit) AS number"

    @abstractmethod
    def ordinals(self, times: str) -> str:
        """1, 2, … up to a number, a row each."""

    @abstractmethod
    def quotient(self, number: str, by: int) -> str:
        """How many times a whole number goes into another; both from 0 on."""

    # constants, and values as they are come by

    def literal(self, value: Value) -> Term:
        """A constant. An integer beyond 64 bits, an infinity, NaN and a text too long are null, as if computed."""
        return constant(value, self.types, self.text, self.real)

    @abstractmethod
    def real(self, value: float) -> str:
        """A finite double, exactly."""

    @abstractmethod
    def text(self, text: str) -> str:
        """A text in quotes, on one line; null for what is none."""

    def bytes_of(self, text: str) -> str:
        """How many bytes a text has."""
        return f"octet_length({text})"

    @abstractmethod
    def secret(self, key: str, rest: str) -> str:
        """The text of the secret and what follows it."""

    @abstractmethod
    def column(self, sql: str, kind: Kind) -> str:
        """A column of rows, which keeps the promises of terms."""

    @abstractmethod
    def once(self, body: Callable[..., str], *arguments: str) -> str:
        """The SQL that ``body`` makes of its arguments, each of which is evaluated, and written, once if it is long."""

    @abstractmethod
    def cast(self, term: Term, kind: Kind) -> str:
        """The value as that kind, or null."""

    def as_kind(self, term: Term, kind: Kind) -> str:
        """The term widened to a kind: an integer to a real, a date to a timestamp, an untyped NULL to anything."""
        return term.sql if term.kind is kind else f"CAST({term.sql} AS {self.types[kind]})"

    # hashes

    @abstractmethod
    def written(self, sql: str, kind: Kind) -> str:
        """A known value as a text: a real by its 64 bits, all else as everywhere."""

    @abstractmethod
    def order_of(self, text: str) -> str:
        """What sorts as MD5 of a text does, its bytes read from the last to the first."""

    @abstractmethod
    def number_of(self, text: str) -> str:
        """The first 31 bits of that."""

    # whole numbers

    @abstractmethod
    def present(self, x: str) -> str:
        """1 or 0, of 64 bits: whether a value is known."""

    @abstractmethod
    def granules(self, value: Quantised, x: str, *, surely_whole: bool) -> str:
        """floor((clamp(x) - centre) / granule + 1/2) for a known x, of 64 bits; 0 where those do not hold it."""

    @abstractmethod
    def place(self, items: Sequence[str], x: str) -> str:
        """The first place of a known value in a list, of 64 bits, from 1 on; or 0."""

    @abstractmethod
    def unpacked(self, text: str, separator: str, kind: Kind) -> str:
        """The pieces of a text, a row each, as a kind."""

    def side_by_side(self, columns: Mapping[str, str]) -> str:
        """SELECT of columns that are each made of an `unpacked` text."""
        return "SELECT " + ", ".join(f"{sql} AS {name}" for name, sql in columns.items())

    @abstractmethod
    def summed(self, widest: int, column: str) -> str:
        """The sum of whole numbers up to ``widest``, exact however many rows there are."""

    @abstractmethod
    def total(self, sql: str, widest: int) -> tuple[str, str]:
        """The sum of whole numbers up to ``widest``, 0 of none, as quotient and remainder by 2⁶²."""

    @abstractmethod
    def fetched(self, sql: str, kind: Kind) -> str:
        """A key as a number or a text that is never null; times as days or microseconds since 1970."""

    # facts of a unit: each a function of the set of its rows

    def extreme(self, function: str, x: str, kind: Kind | None) -> str:
        """min or max; of a kind that has none in the engine, another way."""
        return f"{function}({x})"

    @abstractmethod
    def sum_of_integers(self, x: str) -> str:
        """The exact sum, null beyond 64 bits."""

    @abstractmethod
    def mean_of_integers(self, x: str) -> str:
        """The real nearest to the sum by how many there are."""

    @abstractmethod
    def sum_of_reals(self, x: str) -> str:
        """Whole parts and fractions, each added as integers: exact, and the same in every order."""

    @abstractmethod
    def mean_of_reals(self, x: str) -> str:
        """That by how many there are."""
