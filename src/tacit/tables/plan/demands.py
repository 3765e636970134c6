"""What a statement takes whatever its price: grouped questions, what is measured for each, and their shares. Free.

A statement with several sets of keys is divided. Where all keys are public, counts and sums are measured in the finest
groups, by all keys together, and coarser ones are sums of those: they add up by what they are. Everything else is asked
of each set by itself, bounded there: a unit counts in at most so many groups of *each* set. Proof:
docs/proofs/grouping_sets.md.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from tacit.errors import InvalidParameter
from tacit.privacy.prices import text
from tacit.tables.check.check import Checked
from tacit.tables.check.public_values import domain
from tacit.tables.check.types import Words
from tacit.tables.engines.contract import Asked, BoundedQuery, Counted, Measure
from tacit.tables.estimators.base import Setting, Weighted
from tacit.tables.estimators.quantising import LARGEST
from tacit.tables.estimators.registry import ESTIMATORS
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Case, Column, Expression, Value
from tacit.tables.fitting.levels import Level, by_keys
from tacit.tables.plan.price import Need, Shares
from tacit.tables.policy.policy import Limits, Policy
from tacit.tables.query.to_sql import expression_sql, to_sql
from tacit.tables.query.tree import Aggregate, Output

if TYPE_CHECKING:
    from tacit.tables.choosing.choice import Choice

__all__ = [
    "MOST_CHOSEN",
    "MOST_MEASURES",
    "MOST_NUMBERS",
    "Demand",
    "Statement",
    "Taken",
    "check_steps",
    "deciding",
    "demanded",
    "lumped",
    "of_level",
    "retaken",
    "statement_of",
]

MOST_CHOSEN = 20
"""Of one statement: quantiles, modes and counts of distinct values, each of which takes steps of its own."""
MOST_MEASURES = 800
"""Of one statement: sums and counts. A correlation takes six."""
MOST_NUMBERS = 20_000
"""Of all sets together: beyond that they are not made to add up."""

_COUNTS = ("count_rows", "count", "count_units")
_OF_ALL = ("count_rows", "count_units")
_ADDITIVE = ("count_rows", "count", "sum")


@dataclass(frozen=True, slots=True)
class Taken:
    """What one aggregate takes: measures that get noise, or a choice from cells."""

    aggregate: Aggregate
    setting: Setting
    parts: tuple[Weighted, ...]
    choice: Choice | None

    def asked(self) -> Iterable[Asked]:
        """What an engine is asked for it."""
        yield from (one for part in self.parts for one in part.measure.asked())
        yield from () if self.choice is None else (self.choice.cells,)


@dataclass(frozen=True, slots=True)
class Demand:
    """One grouped question before it has a price: of a statement, or of one of its sets of keys."""

    taken: tuple[Taken, ...]
    need: Need
    asked: BoundedQuery
    """What the engine is asked for."""
    bounded: BoundedQuery
    """What the noise is added to: the same; of a level, its own groups, and how far a unit moves those."""
    weight: Fraction = Fraction(1)
    """Its share of the statement's share of a price."""
    at: int = 0
    """Which set of keys."""
    title: str = ""
    level: Level | None = None
    """Which of the groups that the engine is asked for are added up, where they are the finest of several levels."""

    @property
    def size(self) -> Fraction:
        """The share at which noise is as large as elsewhere in multiples of what one unit moves: groups times parts."""
        return Fraction(self.asked.groups * (len(self.taken) + (1 if self.need.shares.keys else 0)))


@dataclass(frozen=True, slots=True)
class Statement:
    """What is asked: one grouped question, or several that are answered as one."""

    checked: Checked
    demands: tuple[Demand, ...]
    reason: str = ""
    """Why counts and sums of several sets are not made to add up; empty if they are, or if there are none."""
    called: str = ""
    """Its text, if it is not that of the query."""

    @property
    def question(self) -> str:
        """Its canonical text, without a price: what the ledger remembers it by."""
        query = self.checked.query
        return self.called or to_sql(replace(query, options=query.options.question()))

    @property
    def size(self) -> Fraction:
        """As of its demands together."""
        return sum((one.size for one in self.demands), start=Fraction(0))


def statement_of(checked: Checked, policy: Policy) -> Statement:
    """The statement, divided by its sets of keys; each set has the same share of the price."""
    if not checked.query.sets:
        return Statement(checked, (demanded(checked, policy),))
    return Statement(checked, *_divided(checked, policy))


# one grouped question


def demanded(checked: Checked, policy: Policy, together: int | None = None) -> Demand:
    """What one grouping of a question takes; ``together`` intervals hold at once, if it is not the whole question."""
    policy = checked.seen(policy)
    query, unit = checked.query, policy.unit.column
    public = _public_keys(checked.key_domains)
    limits = query.options.limits(
        policy.limits if unit is not None else Limits(1, 1),
        policy.limits.groups if public is None else max(1, len(public)),
    )
    held = max(query.together() if together is None else together, 1)
    taken = tuple(_taken(one, _setting(one, checked, policy, limits.rows, held)) for one in query.aggregates())
    measures = dict.fromkeys(asked for one in taken for asked in one.asked())
    _check_number(measures)
    for measure in measures:
        check_steps(measure)
    relation = None if checked.view is None else checked.view.relation
    bounded = BoundedQuery(query.where, query.keys, public, unit, limits.groups, limits.rows, tuple(measures), relation)
    private = bool(query.keys) and public is None
    shares = _shares(taken, private, query.options.least_units or 1)
    return Demand(taken, Need(shares, limits.groups), bounded, bounded)


def deciding(demand: Demand) -> Iterable[Demand]:
    """The same grouped question, its private keys shown or not by a released count of rows or units: one way for each.

    Only where it counts and does nothing else, and no group is to be hidden for its size.
    """
    shares = demand.need.shares
    if not shares.keys or shares.least > 1 or not all(one.aggregate.estimator in _COUNTS for one in demand.taken):
        return
    for count in dict.fromkeys(one.parts[0].measure for one in demand.taken if _counts_everyone(one)):
        if isinstance(count, Measure):
            own = replace(_shares(demand.taken, False, shares.least), decides=count)
            yield replace(demand, need=replace(demand.need, shares=own))


def _counts_everyone(one: Taken) -> bool:
    """Whether every unit of a group is in its count: of all rows, or of all units, not of some."""
    own = one.aggregate
    return own.estimator in _OF_ALL and own.group_bounds is None and not isinstance(own.argument, Case)


def retaken(demand: Demand, taken: tuple[Taken, ...]) -> Demand:
    """The same grouped question, measured in another way."""
    measures = dict.fromkeys(asked for one in taken for asked in one.asked())
    _check_number(measures)
    bounded, shares = replace(demand.bounded, measures=tuple(measures)), demand.need.shares
    need = replace(demand.need, shares=_shares(taken, bool(shares.keys), shares.least))
    return replace(demand, taken=taken, need=need, asked=bounded, bounded=bounded)


def _taken(aggregate: Aggregate, setting: Setting) -> Taken:
    estimator = ESTIMATORS[aggregate.estimator]
    return Taken(aggregate, setting, estimator.parts(aggregate, setting), estimator.choice(aggregate, setting))


def _check_number(measures: Collection[Asked]) -> None:
    """Refuse, before anything is paid, more than an engine can put into one statement: it would be lost."""
    chosen = sum(one.takes_steps for one in measures)
    if chosen > MOST_CHOSEN:
        allowed = f"at most {MOST_CHOSEN} quantiles, modes and counts of distinct values"
        raise InvalidParameter("question", given=chosen, allowed=allowed, hint="Ask several smaller questions.")
    if len(measures) > MOST_MEASURES:
        allowed = f"at most {MOST_MEASURES} sums and counts behind its aggregates"
        raise InvalidParameter("question", given=len(measures), allowed=allowed, hint="Ask several smaller questions.")


def check_steps(measure: Asked) -> None:
    """Refuse, before anything is paid, what no engine can add up: too many steps, or a range without a whole one."""
    if measure.reach >= LARGEST:
        allowed = f"bounds of fewer than {LARGEST:.2g} steps: a larger granule in the policy, or narrower bounds"
        raise InvalidParameter("bounds", given=Words(f"{measure.reach:.2g} steps"), allowed=allowed)
    if measure.is_empty:
        step = text(measure.step)
        allowed = f"a range with a multiple of the granule, {step}, in it: make it wider, or the granule finer"
        raise InvalidParameter("bounds", given=Words("a range between two multiples"), allowed=allowed)


def _setting(aggregate: Aggregate, checked: Checked, policy: Policy, rows: int, held: int) -> Setting:
    kind, granule = _kind_and_granule(aggregate.argument, checked, policy)
    second_kind, second_granule = _kind_and_granule(aggregate.second, checked, policy)
    listed = aggregate.estimator in ("mode", "top") and aggregate.argument is not None
    candidates = domain(aggregate.argument, policy) if listed and aggregate.argument else None
    unit = policy.unit.column is not None
    return Setting(rows, unit, kind, granule, second_kind, second_granule, candidates, together=held)


def _kind_and_granule(
    inner: Expression | None, checked: Checked, policy: Policy
) -> tuple[Kind | None, Fraction | None]:
    own = policy.columns.get(inner.name) if isinstance(inner, Column) else None
    return None if inner is None else checked.kinds.get(inner), None if own is None else own.granule


def _public_keys(domains: Sequence[Sequence[Value] | None]) -> tuple[tuple[Value, ...], ...] | None:
    """All combinations of public keys, or None if a key is private; one empty combination without keys."""
    known = [domain for domain in domains if domain is not None]
    return tuple(itertools.product(*known)) if len(known) == len(domains) else None


def _shares(taken: Sequence[Taken], private: bool, least: int) -> Shares:
    """Each aggregate counts the same, and so does the selection of private keys; a shared measure gets both shares."""
    wanted = len(taken) + (1 if private else 0)
    if not wanted:
        raise InvalidParameter("question", given="nothing to release", allowed="an aggregate or a group")
    each = Fraction(1, wanted)
    measures: dict[Counted, Fraction] = {}
    choices: dict[Choice, Fraction] = {}
    for one in taken:
        if one.choice is not None:
            choices[one.choice] = choices.get(one.choice, Fraction(0)) + each
        for part in one.parts:
            measures[part.measure] = measures.get(part.measure, Fraction(0)) + each * part.weight
    return Shares(each if private else Fraction(0), measures, choices, least)


# several sets of keys


def _divided(checked: Checked, policy: Policy) -> tuple[tuple[Demand, ...], str]:
    """The questions that a statement with several sets of keys stands for."""
    query = checked.query
    aggregates = query.aggregates()
    additive = [one for one in aggregates if one.estimator in _ADDITIVE and one.group_bounds is None]
    reason = _reason(checked) if additive else ""
    if reason:
        additive = []
    finest = demanded(_about(checked, range(len(query.keys)), additive), policy) if additive else None
    levels = by_keys([len(one or ()) for one in checked.key_domains], query.sets)
    demands = list[Demand]()
    for at, kept in enumerate(query.sets):
        title = f"by {', '.join(expression_sql(query.keys[key]) for key in kept)}" if kept else "in all"
        own = [one for one in aggregates if one not in additive]
        private = any(checked.key_domains[key] is None for key in kept)
        whole = len(query.sets) * (len(aggregates) + private)
        if own or private:
            made = demanded(_about(checked, kept, own), policy, query.together())
            demands.append(replace(made, weight=Fraction(len(own) + private, whole), at=at, title=title))
        if finest is not None:
            keys = tuple(query.keys[key] for key in kept)
            named = _public_keys([checked.key_domains[key] for key in kept])
            made = of_level(finest, levels[at], keys, named or ())
            demands.append(replace(made, weight=Fraction(len(additive), whole), at=at, title=title))
    if not demands:
        raise InvalidParameter("question", given="nothing to release", allowed="an aggregate or a group")
    total = sum((one.weight for one in demands), start=Fraction(0))
    return tuple(replace(one, weight=one.weight / total) for one in demands), reason


def _about(checked: Checked, kept: Sequence[int], aggregates: Sequence[Aggregate]) -> Checked:
    """The question about one set alone; its outputs are the aggregates."""
    outputs = tuple(Output(f"of_set_{at}", one) for at, one in enumerate(aggregates))
    keys = tuple(checked.query.keys[at] for at in kept)
    query = replace(checked.query, outputs=outputs, keys=keys, sets=(), having=None, order=(), limit=None, offset=0)
    return replace(checked, query=query, key_domains=tuple(checked.key_domains[at] for at in kept))


def _reason(checked: Checked) -> str:
    """Why numbers cannot be made to add up."""
    listed: list[tuple[Value, ...]] = [one for one in checked.key_domains if one is not None]
    if len(listed) < len(checked.key_domains):
        return "some keys are private, and which of their groups are shown differs from set to set"
    sizes = [len(one) for one in listed]
    numbers = sum(math.prod(sizes[at] for at in kept) for kept in checked.query.sets)
    if numbers > MOST_NUMBERS or math.prod(sizes) > MOST_NUMBERS:
        return f"there are more than {MOST_NUMBERS} of them, or of the finest groups"
    return ""


def of_level(
    finest: Demand, level: Level, keys: tuple[Expression, ...], named: tuple[tuple[Value, ...], ...]
) -> Demand:
    """Counts and sums of blocks of the finest groups; ``named`` are the names of the blocks.

    One unit adds to p finest groups: to p blocks, or p times as much to one.
    """
    groups = 1 if level.is_finest else finest.need.groups
    moved = {one: lumped(one, groups) for one in finest.asked.measures}
    for measure in moved.values():
        check_steps(measure)
    taken = tuple(
        replace(one, parts=tuple(replace(part, measure=lumped(part.measure, groups)) for part in one.parts))
        for one in finest.taken
    )
    shares = finest.need.shares
    shares = replace(shares, measures={lumped(one, groups): share for one, share in shares.measures.items()})
    need = finest.need if level.is_finest else Need(shares, 1, lumped=True)
    bounded = replace(finest.bounded, keys=keys, public_keys=named, groups=need.groups, measures=tuple(moved.values()))
    return Demand(taken, need, finest.asked, bounded, level=level)


def lumped(measure: Asked | Counted, groups: int) -> Measure:
    """What a sum of finest groups moves by if one unit is in so many of them."""
    assert isinstance(measure, Measure)  # counts and sums
    return replace(measure, low=measure.low * groups, high=measure.high * groups)
