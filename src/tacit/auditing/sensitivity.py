"""Sensitivities by brute force: every small data set over a small domain, every neighbour of it, exact arithmetic.

A stated sensitivity that is too small is a broken promise. This finds the largest change there is, with the pair of
data sets that shows it; on a domain that contains the extremes it *is* the sensitivity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import chain, combinations, combinations_with_replacement, product
from typing import Any, TypeAlias

from tacit.errors import InvalidParameter
from tacit.privacy.neighbours import ADD_REMOVE, Neighbours, relation
from tacit.privacy.prices import times
from tacit.privacy.sensitivity import Norm, Sensitivity

Row: TypeAlias = object
Unit: TypeAlias = tuple[Row, ...]
Number: TypeAlias = int | float | Fraction | Decimal
Query: TypeAlias = Callable[[tuple[Row, ...]], Number | Sequence[Number]]


@dataclass(frozen=True, slots=True)
class Change:
    """The largest distance found between neighbours' answers (its exact square), and two data sets that show it."""

    square: Fraction
    norm: Norm
    neighbours: Neighbours
    before: tuple[Row, ...]
    after: tuple[Row, ...]

    def within(self, stated: Sensitivity) -> bool:
        """Whether a stated sensitivity, in the same norm and relation, is large enough for what was found."""
        if stated.norm is not self.norm or stated.neighbours is not self.neighbours:
            allowed = f"a sensitivity in {self.norm}, {self.neighbours.value}"
            raise InvalidParameter("stated", given=stated, allowed=allowed)
        return self.square <= stated.square


def largest_change(
    query: Query, units: Iterable[Unit], *, sizes: Iterable[int], norm: Norm, neighbours: Neighbours
) -> Change:
    """The largest change of ``query`` between neighbours, over all data sets made of ``units``.

    ``query`` takes the rows of a data set, in any order, and returns a number, a sequence of numbers or an array;
    floats and decimals are taken exactly as they are. ``sizes`` are the numbers of units in the data set (in the
    larger one of two, under add-remove).

    >>> found = largest_change(sum, rows_as_units([0, 1, 5]), sizes=[1, 2], norm=Norm.L1, neighbours=ADD_REMOVE)
    >>> found.square, found.before, found.after
    (Fraction(25, 1), (), (5,))
    """
    if not isinstance(norm, Norm):
        raise InvalidParameter("norm", given=norm, allowed="L1, L2 or LInf")
    possible = list(units)
    wanted = sorted({times(size, "sizes", least=1) for size in sizes})
    answers: dict[tuple[int, ...], tuple[Fraction, ...]] = {}
    best: Change | None = None
    for one, other in _neighbouring_pairs(len(possible), wanted, relation(neighbours)):
        square = _distance_squared(
            _answer(query, possible, one, answers), _answer(query, possible, other, answers), norm
        )
        if best is None or square > best.square:
            best = Change(square, norm, neighbours, _rows(possible, one), _rows(possible, other))
    if best is None:
        raise InvalidParameter(
            "sizes", given=wanted, allowed="sizes and units that give at least one pair of neighbours"
        )
    return best


def rows_as_units(rows: Iterable[Row]) -> list[Unit]:
    """Every row a unit of its own."""
    return [(row,) for row in rows]


def units_of_rows(values: Iterable[Row], *, groups: Iterable[object], rows: int, most_groups: int) -> list[Unit]:
    """Every unit with at most ``rows`` rows in each of at most ``most_groups`` groups; a row is (group, value).

    >>> len(units_of_rows([1, 2], groups="ab", rows=1, most_groups=1))
    5
    """
    listed, choices = list(values), list(groups)
    contents = [made for size in range(1, rows + 1) for made in combinations_with_replacement(listed, size)]
    found: list[Unit] = []
    for touched in range(most_groups + 1):
        for some in combinations(choices, touched):
            for filled in product(contents, repeat=touched):
                pairs = ([(group, value) for value in inside] for group, inside in zip(some, filled, strict=True))
                found.append(tuple(chain.from_iterable(pairs)))
    return found


def _neighbouring_pairs(
    kinds: int, sizes: Sequence[int], neighbours: Neighbours
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Data sets as sorted tuples of unit numbers: with and without one unit, or with one unit replaced."""
    for size in sizes:
        for rest in combinations_with_replacement(range(kinds), size - 1):
            larger = [tuple(sorted((*rest, unit))) for unit in range(kinds)]
            if neighbours is ADD_REMOVE:
                yield from ((rest, one) for one in larger)
            else:
                yield from combinations(larger, 2)


def _answer(
    query: Query, units: Sequence[Unit], chosen: tuple[int, ...], known: dict[tuple[int, ...], tuple[Fraction, ...]]
) -> tuple[Fraction, ...]:
    if chosen not in known:
        known[chosen] = _exact(query(_rows(units, chosen)))
    return known[chosen]


def _exact(answer: Any) -> tuple[Fraction, ...]:
    """The numbers of an answer, exactly; numpy's as Python holds them."""
    plain = answer.tolist() if hasattr(answer, "tolist") else answer
    numbers = plain if isinstance(plain, Sequence) else (plain,)
    try:
        if isinstance(plain, str):
            raise TypeError
        return tuple(Fraction(number) for number in numbers)
    except (TypeError, ValueError, OverflowError):
        allowed = "a query whose answers are finite numbers, or sequences of them"
        raise InvalidParameter("query", given=answer, allowed=allowed) from None


def _rows(units: Sequence[Unit], chosen: tuple[int, ...]) -> tuple[Row, ...]:
    return tuple(chain.from_iterable(units[number] for number in chosen))


def _distance_squared(one: tuple[Fraction, ...], other: tuple[Fraction, ...], norm: Norm) -> Fraction:
    if len(one) != len(other):
        allowed = "a query with the same number of answers on every data set"
        raise InvalidParameter("query", given=f"{len(one)} and {len(other)} answers", allowed=allowed)
    moves = [abs(a - b) for a, b in zip(one, other, strict=True)]
    if norm is Norm.L1:
        return sum(moves, start=Fraction(0)) ** 2
    if norm is Norm.L2:
        return sum((move * move for move in moves), start=Fraction(0))
    return max(moves, default=Fraction(0)) ** 2
