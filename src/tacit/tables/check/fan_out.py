"""How many rows a join can make of one, from what is public: lists, public tables, and which columns are equated.

A statement in which one private row could become more than `MOST_MATCHES` is refused. Where a join multiplies rows at
all, a unit has at most so many rows in each private member that no more than `MOST_MATCHED` come out of it
(docs/proofs/joins.md).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from tacit.errors import InvalidParameter
from tacit.tables.check.types import Words
from tacit.tables.expressions.tree import Column, Expression
from tacit.tables.query.relations import Join

__all__ = ["MOST_LINES", "MOST_MATCHED", "MOST_MATCHES", "Side", "joined_size", "rows_of_one", "rows_per_unit"]

MOST_MATCHES = 10_000
"""How many rows of public tables and lists together one private row may match."""
MOST_MATCHED = 100_000
"""How many rows a join may make of the rows of one unit."""
MOST_LINES = 1_000_000
"""How many rows public tables and lists, joined with each other, may come to."""


@dataclass(frozen=True, slots=True)
class Side:
    """A member of a join: whether it is private, how it is joined, on what; if public, how many rows it has."""

    private: bool
    join: Join
    conditions: tuple[Expression, ...]
    size: int
    repeats: Mapping[str, int]
    """By the name of a column in the join: how many rows have the same value there, at most."""
    once: bool = False
    """Whether no unit has more than one row: joined on the unit, it makes at most one of each row."""


def rows_per_unit(sides: Sequence[Side], places: Mapping[str, int]) -> int | None:
    """How many rows of a unit each private member may have; None where a join multiplies nothing.

    ``places`` says of which member each column of the join is. Refuses what multiplies too much.
    """
    private = [place for place, one in enumerate(sides) if one.private]
    matches = _matches(sides, places, private)
    if matches > MOST_MATCHES:
        raise InvalidParameter(
            "JOIN",
            given=Words(f"up to {matches} rows for one row of a private table"),
            allowed=f"at most {MOST_MATCHES}",
            hint="Join on a column that is equal, in which values of the list or public table stand seldom.",
        )
    many = _many(sides)
    if matches == 1 and many <= 1:
        return None
    most = 1
    while (most + 1) ** max(many, 1) * matches <= MOST_MATCHED:
        most += 1
    return most


def rows_of_one(sides: Sequence[Side], places: Mapping[str, int], most: int, below: int) -> int:
    """How many rows a join makes of one, at most, that became ``below`` in all its private members together.

    In each combination that it is in, there are at most ``most`` rows of its unit in every other private member, and
    one where it has one at most: a row there makes none of its own, it chooses among those of the others.
    """
    private = [place for place, one in enumerate(sides) if one.private]
    others = prod([most] * (_many(sides) - 1))
    return min(below, most) * others * _matches(sides, places, private)


def joined_size(sides: Sequence[Side], places: Mapping[str, int]) -> int:
    """How many rows public members joined with each other have, at most; refuses too many."""
    size = sides[0].size * _matches(sides, places, [0])
    if size > MOST_LINES:
        given = Words(f"up to {size} rows of lists and public tables joined with each other")
        raise InvalidParameter("JOIN", given=given, allowed=f"at most {MOST_LINES}")
    return size


def _many(sides: Sequence[Side]) -> int:
    """In how many private members a unit can have several rows."""
    return sum(one.private and not one.once for one in sides)


def _matches(sides: Sequence[Side], places: Mapping[str, int], known: Sequence[int]) -> int:
    """How many combinations of rows of all other members go with one of the known ones: member by member, each with
    the values of those before it, the most constrained first."""
    found, settled = list[int](), set(known)
    rest = set(range(len(sides))) - settled
    while rest:
        reaches = {place: _reach(place, sides, places, settled) for place in rest}
        place = min(rest, key=lambda one: (reaches[one], one))
        found.append(reaches[place])
        settled.add(place)
        rest.remove(place)
    return prod(found)


def _reach(place: int, sides: Sequence[Side], places: Mapping[str, int], settled: Collection[int]) -> int:
    """How many rows of a member can match, if those of the settled members are given; nulls are a row too."""
    own = sides[place]
    found = own.size
    for at, other in enumerate(sides):
        if at != place and Join.LEFT in (own.join, other.join):
            continue  # what is right of LEFT JOIN is matched by its own condition, before any later one
        for condition in other.conditions:
            if condition.called == "=" and len(condition.parts()) == 2:
                left, right = condition.parts()
                for column, value in ((left, right), (right, left)):
                    found = min(found, _repeats(column, value, place, own, places, settled))
    return max(found, 1)


def _repeats(
    column: Expression, value: Expression, place: int, own: Side, places: Mapping[str, int], settled: Collection[int]
) -> int:
    """How many rows of the member have a given value in a column that equals one of settled members."""
    name = column.column_name
    if name is None or places.get(name) != place:
        return own.size
    if any(places.get(node.name) not in settled for node in value.nodes(Column)):
        return own.size
    return own.repeats.get(name, own.size)
