"""How a grouped question is measured: several statistics of a column by one release; keys by a count that is released.

COUNT(x), SUM, AVG, VAR and STDDEV of a column are read from the same parts: each then has the noise of all their shares
together. Where a question only counts, what it releases also decides which private keys are shown. Either is done where
no statistic gets more noise by it and no group has to be larger to be shown, compared at the price as it would be
shared. All of it follows from the question, the policy and the price. Proofs: docs/proofs/blends.md,
docs/proofs/released_counts.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

from tacit.errors import TacitError
from tacit.tables.estimators.base import Setting, Weighted
from tacit.tables.estimators.blends import of_column, width
from tacit.tables.estimators.noise import spread
from tacit.tables.estimators.quantising import centred, centred_for_squares
from tacit.tables.estimators.registry import ESTIMATORS
from tacit.tables.expressions.tree import Expression
from tacit.tables.plan.demands import Demand, Statement, Taken, deciding, retaken
from tacit.tables.plan.joint import Joint, share_apart
from tacit.tables.plan.near import Sizes
from tacit.tables.plan.price import Need, Price, near_deviations

__all__ = ["Forms", "Sharing", "formed"]

_OF_ROWS, _OF_KNOWN = "count_rows", "count"
_OF_SQUARES = ("variance", "variance_pop", "stddev", "stddev_pop")
_OF_VALUES = ("sum", "mean", *_OF_SQUARES)
_MOST_COLUMNS = 8
"""So many columns are looked at: each takes some prices to compare."""
_SAME = 1e-9
_TOLD_APART = 2.0**53

Takings = tuple[Taken, ...]
Bounds = tuple[Fraction, Fraction] | None
Spreads = list[tuple[float, ...]]
Sharing = Callable[[Price, Sequence[Need], Sequence[Fraction]], Joint]
"""How a price becomes the mechanisms of several grouped questions."""


def formed(
    statement: Statement, price: Price, share: Fraction = Fraction(1), sharing: Sharing = share_apart
) -> Statement:
    """The statement as it is measured at its share of a price; ways are compared as ``sharing`` prices them."""
    return Forms(statement).at(price, share, sharing)


class Forms:
    """The ways in which a statement can be measured: each is made once, and compared at any price."""

    def __init__(self, statement: Statement) -> None:
        self.statement = statement
        self._demands = [_Forms(one) for one in statement.demands]

    def at(self, price: Price, share: Fraction = Fraction(1), sharing: Sharing = share_apart) -> Statement:
        """As it is measured at its share of a price."""
        demands = tuple(one.at(price, share * one.first.demand.weight, sharing) for one in self._demands)
        return replace(self.statement, demands=demands)


class _Forms:
    """Of one grouped question."""

    def __init__(self, demand: Demand) -> None:
        apart = demand.level is None
        self.first = _Way(demand)
        self._families = list(_families(demand.taken))[:_MOST_COLUMNS] if apart else []
        self._decided = [_Way(one) for one in deciding(demand)] if apart else []
        self._known: dict[tuple[int, int], list[_Way]] = {}

    def at(self, price: Price, share: Fraction, sharing: Sharing) -> Demand:
        found = self.first
        if not self._families and not self._decided:
            return found.demand
        own = price if share == 1 else price.scaled(share).with_leak(price.dlt * share)
        try:
            for at in range(len(self._families)):
                found = _best(self._ways(found, at), _Prices(own, sharing), self.first)
            if self._decided:  # counts alone, of which no two are of one column
                found = _best([found, *self._decided], _Prices(own, sharing), self.first)
        except TacitError:  # a price that buys nothing: it is refused where it is charged
            return found.demand
        return found.demand

    def _ways(self, found: _Way, at: int) -> list[_Way]:
        """The way found so far, and those in which one family more is measured together."""
        place = id(found), at  # what is kept here does not move
        if place not in self._known:
            demand = found.demand
            made = [_Way(retaken(demand, taken)) for taken in _ways(demand.taken, self._families[at])]
            self._known[place] = [found, *made]
        return self._known[place]


class _Way:
    """A way to measure a grouped question, and what noise of each measure comes to in each of its aggregates."""

    def __init__(self, demand: Demand) -> None:
        self.demand = demand

    @cached_property
    def sizes(self) -> Sizes:
        """Of its measures."""
        return Sizes.of(self.demand.need.shares.measures, self.demand.need.groups)

    @cached_property
    def _factors(self) -> list[tuple[list[int], tuple[float, ...]]]:
        """Of every aggregate that gets noise: the places of its measures, and what noise of each comes to."""
        places = {one: at for at, one in enumerate(self.demand.need.shares.measures)}
        return [
            (
                [places[part.measure] for part in one.parts],
                ESTIMATORS[one.aggregate.estimator].factors(one.aggregate, one.setting),
            )
            for one in self.demand.taken
            if one.choice is None
        ]

    def spreads(self, deviations: Sequence[float]) -> Spreads:
        """Of every aggregate that gets noise, by the standard deviations of its measures."""
        return [tuple(deviations[at] * factor for at in places for factor in own) for places, own in self._factors]


class _Prices:
    """What ways come to at one price: by closed forms if these say it of all of them, else as they would be shared."""

    def __init__(self, price: Price, sharing: Sharing) -> None:
        self._price, self._sharing = price, sharing

    def spreads(self, ways: Sequence[_Way]) -> list[Spreads]:
        """One list for each way; small where groups may be small and noise is small."""
        near = list[Spreads]()
        for way in ways:
            deviations = near_deviations(self._price, way.demand.need, way.sizes)
            if deviations is None:
                return [self._exact(one) for one in ways]
            near.append(way.spreads(deviations))
        return near

    def _exact(self, way: _Way) -> Spreads:
        made = self._sharing(self._price, [way.demand.need], [Fraction(1)]).splits[0]
        found: Spreads = [] if made.keys is None else [(_least_named(way.demand, float(made.keys.threshold)),)]
        return found + way.spreads([spread(one) for one in made.mechanisms.values()])


def _families(taken: Takings) -> Iterator[list[int]]:
    """Which aggregates are of the same column, by their places; the first family has all rows as well."""
    members = dict[tuple[Expression, Bounds, Setting], list[int]]()
    for at, one in enumerate(taken):
        own = one.aggregate
        if own.estimator in _OF_VALUES and own.group_bounds is None and own.argument is not None:
            members.setdefault((own.argument, own.bounds, one.setting), []).append(at)
    every = [at for at, one in enumerate(taken) if _is_plain(one, _OF_ROWS)]
    for (argument, _, _), places in members.items():
        known = [at for at, one in enumerate(taken) if _is_plain(one, _OF_KNOWN) and one.aggregate.argument == argument]
        family = sorted([*places, *known, *every])
        every = []
        if len({taken[at].parts for at in family}) > 1:
            yield family


def _is_plain(one: Taken, estimator: str) -> bool:
    return one.aggregate.estimator == estimator and one.aggregate.group_bounds is None


def _best(ways: Sequence[_Way], prices: _Prices, first: _Way) -> _Way:
    """The best of the ways in which nothing gets more noise than at first; without a better one the first of them."""
    most, *told = prices.spreads([first, *ways])
    best, least = ways[0], _score(told[0])
    for tried, found in zip(ways[1:], told[1:], strict=True):
        if _no_more(found, most) and _score(found) < least - _SAME:
            best, least = tried, _score(found)
    return best


def _ways(taken: Takings, family: Sequence[int]) -> Iterator[Takings]:
    """One release for all of it; with all rows as a part of their own; or without the number of all rows."""
    rows = [at for at in family if taken[at].aggregate.estimator == _OF_ROWS]
    if rows:
        yield from _joined(taken, family, rows=True)
        yield from _joined(taken, family, rows=True, total=True)
    few = [at for at in family if at not in rows]
    if len({taken[at].parts for at in few}) > 1:
        yield from _joined(taken, few)


def _joined(taken: Takings, family: Sequence[int], *, rows: bool = False, total: bool = False) -> Iterator[Takings]:
    values = [taken[at] for at in family if taken[at].aggregate.estimator in _OF_VALUES]
    squares = any(one.aggregate.estimator in _OF_SQUARES for one in values)
    of, setting = values[0].aggregate, values[0].setting
    row = centred(of, setting)
    if not width(row) or (squares and centred_for_squares(of, setting) != row):
        return
    blend, reading = of_column(of, row, setting, squares=squares, rows=rows, total=total)
    made = list(taken)
    for at in family:
        own = replace(taken[at].setting, reading=reading)
        made[at] = replace(taken[at], setting=own, parts=(Weighted(blend, Fraction(1)),))
    yield tuple(made)


def _least_named(demand: Demand, threshold: float) -> float:
    """No threshold at all for a released count that is compared with more than a float tells from its neighbours."""
    return math.inf if demand.need.shares.decides is not None and threshold > _TOLD_APART else threshold


def _no_more(found: Spreads, first: Spreads) -> bool:
    pairs = (
        (one, other) for own, others in zip(found, first, strict=True) for one, other in zip(own, others, strict=True)
    )
    return all(one <= other * (1 + _SAME) for one, other in pairs)


def _score(spreads: Spreads) -> float:
    """Each aggregate counts the same."""
    return math.fsum(math.log(max(one, 1e-300)) / len(own) for own in spreads for one in own)
