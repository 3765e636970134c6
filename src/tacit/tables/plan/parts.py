"""A part of a plan: one grouped question at a price, the noise of each of its measures, the errors to expect."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from tacit.mechanisms.selection.key_selection import KeyRule
from tacit.mechanisms.selection.key_votes import VotedKeySelection
from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.tables.engines.contract import Asked, BoundedQuery, Counted, Votes
from tacit.tables.estimators.base import Estimator, Setting, Weighted
from tacit.tables.estimators.noise import Noise
from tacit.tables.estimators.quantising import row_bounds
from tacit.tables.estimators.registry import ESTIMATORS
from tacit.tables.plan.demands import Demand, Taken
from tacit.tables.plan.price import Split
from tacit.tables.query.to_sql import expression_sql
from tacit.tables.query.tree import Aggregate

if TYPE_CHECKING:
    from tacit.tables.choosing.choice import Choice, ChoiceMechanism

__all__ = ["Line", "Part", "priced", "voting"]


@dataclass(frozen=True, slots=True)
class Line:
    """One aggregate of a part: its measures, the mechanism for each, its share of the price, the error to expect.

    ``error`` is exceeded once in twenty times, per group; None where it depends on the number of rows, which is secret:
    pass ``expected_rows`` for it.
    """

    aggregate: Aggregate
    setting: Setting
    parts: tuple[Weighted, ...]
    mechanisms: tuple[AdditiveMechanism, ...]
    share: Fraction
    error: float | None
    pick: tuple[Choice, ChoiceMechanism] | None = None
    """What is chosen from cells, where nothing is noised."""

    @property
    def name(self) -> str:
        """The aggregate as SQL."""
        return expression_sql(self.aggregate)

    @property
    def estimator(self) -> Estimator:
        """What makes a statistic of the measures."""
        return ESTIMATORS[self.aggregate.estimator]

    @property
    def never_negative(self) -> bool:
        """Whether a count or sum is of values that are none of them below 0."""
        if self.aggregate.estimator.startswith("count"):
            return True
        bounds = self.aggregate.group_bounds or row_bounds(self.aggregate)
        return bounds[0] >= 0

    def measured_error(self, expected_rows: int | None = None) -> float | None:
        """The error of the statistic by itself, not made to add up with others."""
        return self.estimator.error(self.aggregate, self.setting, self.mechanisms, expected_rows)


@dataclass(frozen=True, slots=True)
class Part:
    """How one grouped question would be answered, at its share of the price of a plan."""

    demand: Demand
    bounded: BoundedQuery
    """What the noise is added to."""
    keys: KeyRule | None
    noise: Noise | None
    lines: tuple[Line, ...]
    """Their shares are of the price of the statement."""
    key_share: Fraction
    decides: Counted | None = None
    """The released count that the rule for keys looks at, in place of the number of units."""
    statement: int = 0
    """Which statement of the plan it belongs to."""
    votes: Votes | None = None
    """What the rule for keys looks at, where units of few keys count for more."""

    def mechanism_of(self, measure: Asked | Counted) -> AdditiveMechanism:
        """The noise that a measure gets."""
        return next(
            mechanism
            for line in self.lines
            for part, mechanism in zip(line.parts, line.mechanisms, strict=True)
            if part.measure == measure
        )


def priced(demand: Demand, split: Split, statement: int, expected_rows: int | None) -> Part:
    """The part at its share of a price; a loop over its aggregates' estimators."""
    lines = tuple(_line(one, demand, split, expected_rows) for one in demand.taken)
    share = demand.need.shares.keys * demand.weight
    decides = demand.need.shares.decides
    return Part(demand, demand.bounded, split.keys, split.noise, lines, share, decides, statement, votes_of(split))


def voting(demand: Demand, split: Split) -> Demand:
    """The same grouped question, asked for votes as well where a rule for keys is by votes."""
    votes = votes_of(split)
    if votes is None:
        return demand
    asked, bounded = (replace(one, measures=(*one.measures, votes)) for one in (demand.asked, demand.bounded))
    return replace(demand, asked=asked, bounded=bounded)


def votes_of(split: Split) -> Votes | None:
    """What a rule by votes looks at."""
    return Votes(split.keys.weights) if isinstance(split.keys, VotedKeySelection) else None


def _line(own: Taken, demand: Demand, split: Split, expected_rows: int | None) -> Line:
    shares = demand.need.shares
    if own.choice is not None:
        alike = sum(one.choice == own.choice for one in demand.taken)  # ranks of one choice share its price
        share = shares.choices[own.choice] / alike * demand.weight
        return Line(own.aggregate, own.setting, (), (), share, None, (own.choice, split.choices[own.choice]))
    mechanisms = tuple(split.mechanisms[part.measure] for part in own.parts)
    share = sum((shares.measures[part.measure] / _takers(part, demand) for part in own.parts), start=Fraction(0))
    made = Line(own.aggregate, own.setting, own.parts, mechanisms, share * demand.weight, None)
    return replace(made, error=made.measured_error(expected_rows))


def _takers(part: Weighted, demand: Demand) -> int:
    """How many aggregates are made of a measure, and share its price."""
    return sum(part.measure in (other.measure for other in one.parts) for one in demand.taken)
