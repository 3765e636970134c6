"""Private discovery: what a policy needs to know of the data, bought at a stated price like any other answer.

Bounds of a column, keys of a column, how many rows and groups a unit has. Proofs: docs/proofs/discovery.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import prod
from typing import Protocol

import numpy as np

from tacit.errors import InvalidParameter, NotPrivate
from tacit.privacy import Guarantee
from tacit.privacy.prices import price as exact_price
from tacit.privacy.prices import text
from tacit.report.columns import Column as Released
from tacit.tables.check.check import Checked
from tacit.tables.check.names import Names
from tacit.tables.check.public_values import domain
from tacit.tables.discovery.found import FoundBounds, FoundKeys, FoundLimit
from tacit.tables.discovery.grids import POWERS, Bin, bin_expression, bins_of
from tacit.tables.discovery.histogram import AnsweringBins, AnsweringTogether, Histogram, together
from tacit.tables.discovery.inside import Inside
from tacit.tables.discovery.limits import FoundLimits, best_limits
from tacit.tables.engines.access import Access, Draw
from tacit.tables.engines.contract import BoundedQuery, Integers, Measure, One
from tacit.tables.engines.sums import Sums
from tacit.tables.expressions.tree import Column, Key, Value
from tacit.tables.plan.price import Price, read_price
from tacit.tables.policy.policy import ColumnPolicy, Role
from tacit.tables.policy.writer import column_line
from tacit.tables.query.canonical import make_query
from tacit.tables.query.to_sql import name_to_sql
from tacit.tables.query.tree import Query
from tacit.tables.release.answer import Answer
from tacit.tables.release.batch_answers import Answers

__all__ = ["Discovery"]

_GROUPS = POWERS[:6]
"""Of groups of a unit: 1, 2, 4, … 32; each costs two passes."""


class Asked(Protocol):
    """A question, as the session makes it."""

    @property
    def _checked(self) -> Checked: ...

    def ask(
        self,
        *,
        epsilon: object = None,
        delta: object = None,
        rho: object = None,
        price: Guarantee | None = None,
        fresh: bool = False,
    ) -> Answer:
        """Pay and get the answer."""

    def answering(self, *, price: Guarantee | None = None) -> Draw:
        """The draw at a price, to be paid for."""


class Discovery:
    """What can be discovered about a table. Made by `Table.discover`."""

    def __init__(self, access: Access, question: Callable[[Query], Asked]) -> None:
        self._access = access
        self._question = question

    def __repr__(self) -> str:
        """What can be bought."""
        return f"Discovery({self._access.policy.table!r}: bounds, keys, limits, rows_per_unit, groups_per_unit)"

    def bounds(
        self,
        column: str,
        *,
        epsilon: object = None,
        rho: object = None,
        price: Guarantee | None = None,
        fresh: bool = False,
    ) -> FoundBounds:
        """The steps of the grid 1, 2, 5, 10, … between which a column's values lie.

        Each unit counts with one bin. Bins are found if they hold more units than noise explains: a bin without units
        is taken for found in one of a thousand discoveries at most; rare values beyond the bounds may be missed.
        """
        declared = self._column(column)
        asked = self._of_bounds(declared)
        bins = bins_of(declared.kind)
        return _bounds(declared, bins, asked.ask(self._access, self._price(epsilon, rho, price), fresh=fresh))

    def bounds_inside(self, column: str, price: Guarantee) -> Inside[FoundBounds]:
        """The same, to be drawn by a package that pays for it together with more; free."""
        declared = self._column(column)
        return Inside(
            self.answering("bounds", [column], price=price), partial(_bounds, declared, bins_of(declared.kind))
        )

    def keys(
        self,
        column: str,
        *,
        epsilon: object = None,
        delta: object = None,
        rho: object = None,
        price: Guarantee | None = None,
        fresh: bool = False,
    ) -> FoundKeys:
        """The values of a column that enough units have, by private selection: a list for ``keys=``."""
        declared, asked = self._selected(column)
        return _keys(declared, asked.ask(epsilon=epsilon, delta=delta, rho=rho, price=price, fresh=fresh))

    def keys_inside(self, column: str, price: Guarantee) -> Inside[FoundKeys]:
        """The same, to be drawn by a package that pays for it together with more; free."""
        declared, asked = self._selected(column)
        return Inside(asked.answering(price=price), partial(_keys, declared))

    def rows_per_unit(
        self,
        *by: str,
        epsilon: object = None,
        rho: object = None,
        price: Guarantee | None = None,
        share: object = "0.05",
        fresh: bool = False,
    ) -> FoundLimit:
        """How many rows units have; with keys, in one of their groups. Suggests ``rows`` for [limits].

        The suggestion is the smallest power of two that at most a ``share`` of units exceed.
        """
        asked, part = self._of_rows(by), _part(share)
        return _limit("rows", POWERS, asked.ask(self._access, self._price(epsilon, rho, price), fresh=fresh), part)

    def groups_per_unit(
        self,
        *by: str,
        epsilon: object = None,
        rho: object = None,
        price: Guarantee | None = None,
        share: object = "0.05",
        fresh: bool = False,
    ) -> FoundLimit:
        """In how many groups by these keys units occur. Suggests ``groups`` for [limits]."""
        asked, part = self._of_groups(by), _part(share)
        return _limit("groups", _GROUPS, asked.ask(self._access, self._price(epsilon, rho, price), fresh=fresh), part)

    def limits(
        self,
        *by: str,
        epsilon: object = None,
        rho: object = None,
        price: Guarantee | None = None,
        asking: object = None,
        fresh: bool = False,
    ) -> FoundLimits:
        """What limits cut, and which lose least for counts by these keys at the price of ``asking``.

        One payment: half of it buys rows per unit and group, half groups per unit; without keys, all of it rows. Shares
        are estimates from bins. ``asking`` is in the ledger's flavour, the price itself unless given.
        """
        paid = self._price(epsilon, rho, price)
        flavour = self._access.policy.terms.flavour
        whole = flavour.amount(paid.with_leak(Fraction(0))).main
        wanted = whole if asking is None else exact_price(asking, "asking")
        if wanted <= 0:
            raise InvalidParameter("asking", given=asking, allowed="a price above 0")
        drawn = self._of_limits(by, paid)
        claim = self._access.paid(drawn.plan.question, drawn.plan.cost, drawn, fresh=fresh)
        assert claim.answer is not None
        rows, *more = Answers.read(claim.answer, claim.receipt)
        groups = more[0] if more else None
        lists = [domain(one, self._access.policy) for one in self._keys(by)]
        cells = prod(len(one) for one in lists if one is not None) if all(one is not None for one in lists) else None
        said = f"{flavour.symbol} {text(wanted)}"
        is_rho = flavour.name == "rho"
        return best_limits(rows, groups, float(wanted), is_rho=is_rho, cells=cells, asking=said)

    def answering(
        self,
        what: str,
        columns: Sequence[str],
        *,
        epsilon: object = None,
        rho: object = None,
        price: Guarantee | None = None,
    ) -> AnsweringBins | AnsweringTogether:
        """The draw of "bounds", "rows", "groups" or "limits" of columns at a price, to be paid for."""
        paid = self._price(epsilon, rho, price)
        if what == "limits":
            return self._of_limits(columns, paid)
        made = {"bounds": self._of_the_column, "rows": self._of_rows, "groups": self._of_groups}
        if what not in made:
            raise InvalidParameter("what", given=what, allowed=f"one of {', '.join(made)}, limits")
        asked = made[what](columns)
        return AnsweringBins(asked, asked.plan(self._access.policy, paid))

    # parts

    def _selected(self, column: str) -> tuple[ColumnPolicy, Asked]:
        """A column whose keys are private, and the question which they are."""
        declared = self._column(column)
        if domain(Column(declared.name), self._access.policy) is not None:
            allowed = "a column whose keys are private: the keys of this one are public already"
            raise InvalidParameter("column", given=column, allowed=allowed)
        return declared, self._question(
            make_query(self._access.policy.table, [(None, Key(0))], keys=[Column(declared.name)])
        )

    def _of_the_column(self, columns: Sequence[str]) -> Histogram:
        if len(columns) != 1:
            raise InvalidParameter("columns", given=list(columns), allowed="one column, to find bounds of")
        return self._of_bounds(self._column(columns[0]))

    def _of_bounds(self, declared: ColumnPolicy) -> Histogram:
        if not declared.kind.is_number:
            raise InvalidParameter(declared.name, given=declared.kind.value, allowed="a column of numbers")
        bins, at = bins_of(declared.kind), Column(declared.name)
        query = BoundedQuery(
            None,
            (bin_expression(at, declared.kind),),
            tuple((number,) for number in range(len(bins))),
            self._access.policy.unit.column,
            1,
            1,
            (Measure(One(), 0, 1, chosen=False),),
        )
        return Histogram(
            f"DISCOVER BOUNDS OF {name_to_sql(declared.name)} IN {name_to_sql(self._access.policy.table)}",
            (_ends("from", [one.low for one in bins]), _ends("to", [one.high for one in bins])),
            (query,),
            partial(_in_bins, len(bins)),
            ("Each unit counts in one bin: one of those that its values lie in, chosen by a keyed hash.",),
            ("bounds", (declared.name,)),
        )

    def _of_rows(self, by: Sequence[str]) -> Histogram:
        keys = self._keys(by)
        measures = dict.fromkeys(_up_to(top) for power in POWERS for top in (power, power + 1))
        query = replace(self._grouped(keys, 1), measures=tuple(measures))
        counts = partial(_by_rows, tuple(one.high for one in measures))
        where = f" GROUPED BY {', '.join(name_to_sql(key.name) for key in keys)}" if keys else ""
        return self._occurrences("rows", where, POWERS, (query,), counts, keys)

    def _of_limits(self, by: Sequence[str], paid: Price) -> AnsweringTogether:
        asked = [self._of_rows(by), *([self._of_groups(by)] if by else [])]
        grouped = f" GROUPED BY {', '.join(name_to_sql(one.name) for one in self._keys(by))}" if by else ""
        question = f"DISCOVER LIMITS OF {name_to_sql(self._access.policy.table)}{grouped}"
        return together(question, asked, self._access.policy, paid)

    def _of_groups(self, by: Sequence[str]) -> Histogram:
        if not by:
            raise InvalidParameter("keys", given=None, allowed='the columns that group, as in groups_per_unit("city")')
        keys = self._keys(by)
        limits = tuple(dict.fromkeys(top for power in _GROUPS for top in (power, power + 1)))
        counts = partial(_by_groups, limits)
        passes = tuple(self._grouped(keys, top) for top in limits)
        where = f" BY {', '.join(name_to_sql(key.name) for key in keys)}"
        return self._occurrences("groups", where, _GROUPS, passes, counts, keys)

    def _column(self, name: str) -> ColumnPolicy:
        found = Names(self._access.policy).in_place(name, "discovery")
        return self._access.policy.columns[found.name]

    def _price(self, epsilon: object, rho: object, price: Guarantee | None) -> Price:
        return read_price(self._access.policy, epsilon=epsilon, delta=0, rho=rho, price=price)

    def _keys(self, by: Sequence[str]) -> tuple[Column, ...]:
        if self._access.policy.unit.column is None:
            raise NotPrivate("Each row is a unit here, so there is nothing to limit: every unit has one row.")
        return tuple(Column(self._column(one).name) for one in by)

    def _grouped(self, keys: tuple[Column, ...], groups: int) -> BoundedQuery:
        """All groups of all units, at most so many of each; nothing of single groups is ever released."""
        listed = None if keys else ((),)
        return BoundedQuery(None, keys, listed, self._access.policy.unit.column, groups, 1, ())

    def _occurrences(
        self,
        what: str,
        where: str,
        powers: Sequence[int],
        passes: tuple[BoundedQuery, ...],
        counts: Callable[[Sequence[Integers]], Sums],
        keys: Sequence[Column],
    ) -> Histogram:
        lows = [1, *(power + 1 for power in powers)]
        highs: list[int | None] = [*powers, None]
        names = (Released("from", tuple(lows), whole=True), Released("to", tuple(highs), whole=True))
        question = f"DISCOVER {what.upper()} PER UNIT OF {name_to_sql(self._access.policy.table)}{where}"
        said = what, tuple(key.name for key in keys)
        return Histogram(question, names, passes, counts, ("Each unit counts in one bin.",), said)


def _plain(found: Integers) -> list[Sums]:
    """Measures that are one integer per group: no cells are asked for here."""
    return [one for one in found.measures if isinstance(one, Sums)]


def _up_to(most: int) -> Measure:
    """Σ over units of min(rows, most)."""
    return Measure(One(), 0, most, chosen=False)


def _in_bins(bins: int, found: Sequence[Integers]) -> Sums:
    return _placed(found[0], bins)


def _by_rows(highs: Sequence[int], found: Sequence[Integers]) -> Sums:
    """Units by their number of rows, from sums of min(rows, high) over units."""
    total = {high: sum(values) for high, values in zip(highs, _plain(found[0]), strict=True)}
    return _differences(total[1], [total[power + 1] - total[power] for power in POWERS])


def _by_groups(limits: Sequence[int], found: Sequence[Integers]) -> Sums:
    """Units by their number of groups, from counts with at most so many groups of each."""
    pairs = {top: int(one.units.sum()) for top, one in zip(limits, found, strict=True)}
    return _differences(pairs[1], [pairs[power + 1] - pairs[power] for power in _GROUPS])


def _differences(all_units: int, beyond: Sequence[int]) -> Sums:
    """Units per bin from the number of units beyond each step."""
    steps = [all_units, *beyond, 0]
    return Sums.of(first - second for first, second in pairwise(steps))


def _placed(found: Integers, bins: int) -> Sums:
    at = np.array(found.keys[0], dtype=np.intp)
    return _plain(found)[0].placed(at, bins)


def _ends(name: str, ends: Sequence[Fraction | None]) -> Released:
    return Released(name, tuple(None if end is None else float(end) for end in ends))


def _bounds(declared: ColumnPolicy, bins: tuple[Bin, ...], answer: Answer) -> FoundBounds:
    found = [one for one, shown in zip(bins, answer["found"].values, strict=True) if shown]
    low, high = (found[0].low, found[-1].high) if found else (None, None)
    if low is None or high is None:
        return FoundBounds(declared.name, low, high, "", answer)
    line = column_line(replace(declared, bounds=(low, high)))
    return FoundBounds(declared.name, low, high, line, answer)


def _keys(declared: ColumnPolicy, answer: Answer) -> FoundKeys:
    keys: tuple[Value, ...] = tuple(answer[declared.name].values)
    return FoundKeys(declared.name, keys, column_line(replace(declared, role=Role.PUBLIC, keys=keys)), answer)


def _part(share: object) -> Fraction:
    part = exact_price(share, "share")
    if not 0 < part < 1:
        raise InvalidParameter("share", given=share, allowed="a share of units between 0 and 1")
    return part


def _limit(name: str, powers: Sequence[int], answer: Answer, part: Fraction) -> FoundLimit:
    """The smallest power that at most a share of the units exceed, by the released numbers."""
    units, shown = answer["units"].values, answer["found"].values
    kept = [count if seen and isinstance(count, int) else 0 for count, seen in zip(units, shown, strict=True)]
    whole = sum(kept)
    fits = (power for at, power in enumerate(powers) if sum(kept[at + 1 :]) <= part * whole)
    return FoundLimit(name, next(fits, None) if whole else None, answer)
