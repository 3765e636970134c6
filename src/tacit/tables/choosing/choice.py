"""Choices: what is selected from a group's cells instead of noised; a rank (quantiles), or the fullest cell (mode).

A unit is in at most p groups, so each group's choice gets a p-th of the price; within a group a unit moves at most
``rows`` rows. Proof: docs/proofs/choices.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.selection.exponential import Exponential
from tacit.mechanisms.selection.permute_and_flip import PermuteAndFlip
from tacit.mechanisms.selection.selecting import SelectionMechanism
from tacit.mechanisms.shared.base import bits_from
from tacit.mechanisms.shared.estimate import BETA
from tacit.noise.entropy import BitSource
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.tables.choosing.extremes import ExtremeDraw
from tacit.tables.choosing.ranks import RankDraw, WidthDraw
from tacit.tables.choosing.spans import SpanDraw
from tacit.tables.engines.contract import Category, Cells, Quantised, Tallies

__all__ = ["Choice", "ChoiceMechanism", "FullestCell", "ListedMechanism", "Ranked", "of_groups"]

Places = npt.NDArray[np.int64]

_HALF = Fraction(1, 2)
_QUARTER = Fraction(1, 4)
_BEYOND = Fraction(1, 20)
"""How often a minimum or maximum may be drawn from beyond the rows, by the bound."""


class ChoiceMechanism(Protocol):
    """Chooses for every group of a statement, at one price for all of them."""

    @property
    def guarantee(self) -> Guarantee:
        """What is promised about all groups together."""

    @property
    def name(self) -> str:
        """The mechanism, for plans and reports."""

    @property
    def scale(self) -> float:
        """Rows per e-fold of probability."""

    @property
    def reach(self) -> str:
        """How far one unit moves a score, for reports."""

    def accuracy(self, beta: Fraction) -> float:
        """How many rows the choice is off in one group, but for a probability β."""

    def release(self, tallies: Tallies, beta: Fraction, *, entropy: BitSource | None = None) -> Places:
        """What was chosen, one line per group."""

    def explain(self) -> str:
        """One sentence for a plan."""


class Choice(Protocol):
    """A choice to be priced: which cells, and how."""

    @property
    def cells(self) -> Cells:
        """What the engine counts."""

    def mechanism(self, price: PureDP | ZCDP, groups: int) -> ChoiceMechanism:
        """The mechanism for groups of which a unit is in at most so many."""


def of_groups(price: PureDP | ZCDP, share: Fraction, groups: int) -> PureDP | ZCDP:
    """What one group gets of a share of a price, if a unit is in at most so many groups."""
    return price.scaled(share / groups)


@dataclass(frozen=True, slots=True)
class Ranked:
    """The cell at a rank: q of the rows lie below it. 0 is the minimum, 1 the maximum."""

    cells: Cells
    level: Fraction
    rows: int
    for_interval: Fraction | None = None
    """What of the price goes into the interval, if they are chosen one after the other; None: both at once.

    At 0 the interval is the whole range between the bounds.
    """
    beta: Fraction = BETA
    """How often the interval may miss, where several hold together less often than one alone."""

    def mechanism(self, price: PureDP | ZCDP, groups: int) -> RankedMechanism:
        return RankedMechanism(self, price, groups)


@dataclass(frozen=True, slots=True)
class RankedMechanism:
    """A value and an interval around it, per group: chosen at once, or first the value and then how wide it is.

    The minimum has no lower end, nor the maximum an upper one: those are the bounds. So they are where no interval was
    paid for.
    """

    choice: Ranked
    guarantee: PureDP | ZCDP
    groups: int

    @property
    def name(self) -> str:
        return f"{'exponential mechanism' if self.span else (self.extreme or self.value).name} on ranks"

    @property
    def points(self) -> int:
        value = self.choice.cells.value
        assert isinstance(value, Quantised)
        return value.highest

    @property
    def furthest(self) -> Fraction:
        """How many ranks a unit moves in a group."""
        return max(self.choice.level, 1 - self.choice.level) * self.choice.rows

    @property
    def for_interval(self) -> Fraction:
        """What of the price goes into the interval, where it is chosen after the value."""
        return _QUARTER if self.choice.for_interval is None else self.choice.for_interval

    @property
    def whole(self) -> PureDP | ZCDP:
        """The price of one group."""
        return of_groups(self.guarantee, Fraction(1), self.groups)

    @property
    def span(self) -> SpanDraw | None:
        """The choice of a quantile and its interval at once, if they are: at ε, where shares of a price cost most."""
        alone = isinstance(self.guarantee, ZCDP) or self.choice.for_interval is not None
        if alone or not 0 < self.choice.level < 1:
            return None
        made = SpanDraw.at(self.whole, self.choice.level, self.choice.rows, self.points)
        return made if made.fits() else None

    @property
    def extreme(self) -> ExtremeDraw | None:
        """The choice of a minimum or maximum and where its interval ends at once, if they are."""
        if self.choice.for_interval is not None or 0 < self.choice.level < 1:
            return None
        return ExtremeDraw.at(self.whole, self.furthest, self.points)

    @property
    def value(self) -> RankDraw:
        """The choice of the value."""
        price = of_groups(self.guarantee, 1 - self.for_interval, self.groups)
        return RankDraw.at(price, self.furthest, self.points)

    @property
    def width(self) -> WidthDraw | None:
        """The choice of the interval's width, if it is paid for."""
        if not self.for_interval:
            return None
        price = of_groups(self.guarantee, self.for_interval, self.groups)
        return WidthDraw.at(price, self.furthest, self.points)

    @property
    def scale(self) -> float:
        return float(1 / (self.span or self.extreme or self.value).factor)

    @property
    def reach(self) -> str:
        return f"{self.furthest} ranks in each of {self.groups} groups"

    @property
    def inside(self) -> int:
        """How many ranks inside a minimum or maximum aims, so that few draws fall beyond the rows: there, all is alike.

        At least one, also where the draw is never off: every cell up to the first row has the first row's rank.
        """
        if self.extreme is not None:
            return self.extreme.inside(min(_BEYOND, self.choice.beta))
        return int(self.value.off(_BEYOND)) + 1

    def accuracy(self, beta: Fraction) -> float:
        if self.span is not None:
            return self.span.off(beta, self.choice.beta)
        draw = self.extreme or self.value
        deep = 0.0 if 0 < self.choice.level < 1 else draw.off(min(_BEYOND, self.choice.beta)) + 1
        return draw.off(beta) + deep

    def release(self, tallies: Tallies, beta: Fraction, *, entropy: BitSource | None = None) -> Places:
        """Value, lower end and upper end as cells from 1 on; an end of 0 or of points + 1 is the bound."""
        drawn = self._drawing(beta, bits_from(entropy))
        found = [drawn(*tallies.of(group)) for group in range(len(tallies))]
        return np.array(found, dtype=np.int64).reshape(-1, 3)

    def _drawing(self, beta: Fraction, bits: BitSource) -> Callable[[Places, Places], tuple[int, ...]]:
        """How each group is drawn."""
        level, span, extreme = self.choice.level, self.span, self.extreme
        if span is not None:
            terms = span.terms(beta)
            return lambda cells, counts: span.drawn(cells, counts, terms, bits)
        if extreme is not None:
            deep = extreme.inside(min(_BEYOND, beta))
            return lambda cells, counts: extreme.drawn(cells, counts, deep, lowest=not level, entropy=bits)
        value, width, inside, beyond = self.value, self.width, self.inside, self.points + 1
        margin = 0 if width is None else width.margin(beta)

        def drawn(cells: Places, counts: Places) -> tuple[int, ...]:
            chosen = value.near(cells, counts, _aim(level, int(counts.sum()), inside), bits)
            ends = (0, beyond) if width is None else width.drawn(cells, counts, level, chosen, margin, bits)
            return chosen, *ends

        return drawn

    def explain(self) -> str:
        share, off = float(self.for_interval), self.accuracy(Fraction(1, 20))
        if self.span is not None:
            return f"a rank and its interval at once by the exponential mechanism, off by at most {off:.4g} rows"
        if self.extreme is not None:
            how = f"{'' if self.extreme.flips else 'the '}{self.extreme.name}"
            return f"a rank and its interval at once by {how}, off by at most {off:.4g} rows"
        bought = f"; {share:.3g} of it is for the interval" if share else "; no interval is paid for"
        return f"a rank by {'' if self.value.flips else 'the '}{self.value.name}, off by at most {off:.4g} rows{bought}"


def _aim(level: Fraction, rows: int, inside: int) -> Fraction:
    """The rank a value aims at; a minimum some ranks inside, for all cells below the first row are as good as it."""
    if 0 < level < 1:
        return level * rows
    step = min(Fraction(inside), rows * _HALF)
    return step if not level else rows - step


@dataclass(frozen=True, slots=True)
class FullestCell:
    """The listed value that most rows have."""

    cells: Cells
    rows: int

    def mechanism(self, price: PureDP | ZCDP, groups: int) -> FullestMechanism:
        return FullestMechanism(self, price, groups)


class ListedChoice(Protocol):
    """A choice among listed values: their cells, and how many rows of a unit count in one group."""

    @property
    def cells(self) -> Cells:
        """What the engine counts."""

    @property
    def rows(self) -> int:
        """Of one unit in one group."""


class Selecting(Protocol):
    """What chooses in one group."""

    @property
    def scale(self) -> float:
        """The spread of the noise on a score."""

    def accuracy(self, beta: Fraction, *, candidates: int) -> float:
        """How far below its due a choice is, but for a probability β."""


ListedT = TypeVar("ListedT", bound=ListedChoice)


@dataclass(frozen=True, slots=True)
class ListedMechanism(ABC, Generic[ListedT]):
    """What choices among listed values share. A unit that comes only adds rows, so that all counts move one way."""

    choice: ListedT
    guarantee: PureDP | ZCDP
    groups: int

    @property
    def candidates(self) -> int:
        value = self.choice.cells.value
        assert isinstance(value, Category)
        return len(value.listed)

    @property
    def price(self) -> PureDP | ZCDP:
        """What one group gets."""
        return of_groups(self.guarantee, Fraction(1), self.groups)

    @property
    @abstractmethod
    def each(self) -> Selecting:
        """The choice in one group."""

    @property
    def scale(self) -> float:
        return self.each.scale

    @property
    def reach(self) -> str:
        return f"{self.choice.rows} rows in each of {self.groups} groups, all one way"

    def accuracy(self, beta: Fraction) -> float:
        return self.each.accuracy(beta, candidates=self.candidates)

    def scores(self, tallies: Tallies) -> Iterator[Places]:
        """How many rows have each listed value, group by group."""
        for group in range(len(tallies)):
            cells, counts = tallies.of(group)
            made = np.zeros(self.candidates, dtype=np.int64)
            made[cells - 1] = counts
            yield made


@dataclass(frozen=True, slots=True)
class FullestMechanism(ListedMechanism[FullestCell]):
    """One choice per group among the listed values: permute-and-flip at ε, the exponential mechanism at ρ."""

    @property
    def name(self) -> str:
        return "exponential mechanism" if isinstance(self.guarantee, ZCDP) else "permute-and-flip"

    @property
    def each(self) -> SelectionMechanism:
        price = self.price
        if isinstance(price, ZCDP):
            return Exponential(promise=price, sensitivity=self.choice.rows, monotone=True)
        return PermuteAndFlip(promise=price, sensitivity=self.choice.rows, monotone=True)

    def release(self, tallies: Tallies, beta: Fraction, *, entropy: BitSource | None = None) -> Places:
        """The place of the chosen value, from 1 on."""
        bits, each = bits_from(entropy), self.each
        places = [each.index(scores, entropy=bits) + 1 for scores in self.scores(tallies)]
        return np.array(places, dtype=np.int64).reshape(-1, 1)

    def explain(self) -> str:
        off = self.accuracy(Fraction(1, 20))
        return f"one of {self.candidates} listed values by {self.name}, at most {off:.4g} rows below the most frequent"
