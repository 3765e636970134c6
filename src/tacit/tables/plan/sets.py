"""GROUPING SETS, ROLLUP and CUBE: one statement, divided into grouped questions that are priced together.

Where all keys are public, counts and sums are measured in the finest groups, by all keys together, and coarser ones
are sums of those: they add up by what they are. Everything else is asked of each set by itself, bounded there: a unit
counts in at most so many groups of *each* set. Proof: docs/proofs/grouping_sets.md.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from tacit.errors import InvalidParameter
from tacit.tables.check.check import Checked
from tacit.tables.engines.contract import BoundedQuery, Counted, Measure
from tacit.tables.expressions.tree import Value
from tacit.tables.plan.plan import check_steps, needed
from tacit.tables.plan.price import Need, Shares
from tacit.tables.policy.policy import Policy
from tacit.tables.query.tree import Aggregate, Output

__all__ = ["MOST_NUMBERS", "Part", "Sets", "divided", "lumped"]

MOST_NUMBERS = 20_000
"""Of all sets together: beyond that they are not made to add up."""

_ADDITIVE = ("count_rows", "count", "sum")


@dataclass(frozen=True, slots=True)
class Part:
    """A grouped question about one of the sets: some aggregates of it, and their share of the price."""

    at: int
    """Which set."""
    checked: Checked
    need: Need
    bounded: BoundedQuery
    """What is measured: by the set's own keys, or by all keys if the set's numbers are sums of the finest."""
    weight: Fraction
    is_summed: bool = False


@dataclass(frozen=True, slots=True)
class Sets:
    """A statement, divided. ``sizes`` are how many values each key has, where numbers are made to add up."""

    parts: tuple[Part, ...]
    sizes: tuple[int, ...] | None
    reason: str
    """Why counts and sums are not made to add up; empty if they are, or if there are none."""


def divided(checked: Checked, policy: Policy) -> Sets:
    """The questions that a statement with several sets of keys stands for; each set has the same share of the price."""
    query = checked.query
    aggregates = query.aggregates()
    additive = [one for one in aggregates if one.estimator in _ADDITIVE and one.group_bounds is None]
    reason = _reason(checked) if additive else ""
    if reason:
        additive = []
    finest = needed(about(checked, range(len(query.keys)), additive), policy) if additive else None
    parts = list[Part]()
    for at, kept in enumerate(query.sets):
        own = [one for one in aggregates if one not in additive]
        private = any(checked.key_domains[key] is None for key in kept)
        whole = len(query.sets) * (len(aggregates) + private)
        if own or private:
            parts.append(_own(at, about(checked, kept, own), policy, Fraction(len(own) + private, whole)))
        if finest is not None:
            summed = about(checked, kept, additive)
            parts.append(_summed(at, summed, finest, len(kept) == len(query.keys), Fraction(len(additive), whole)))
    if not parts:
        raise InvalidParameter("question", given="nothing to release", allowed="an aggregate or a group")
    total = sum((part.weight for part in parts), start=Fraction(0))
    scaled = tuple(replace(part, weight=part.weight / total) for part in parts)
    return Sets(scaled, tuple(len(one or ()) for one in checked.key_domains) if finest else None, reason)


def about(checked: Checked, kept: Sequence[int], aggregates: Sequence[Aggregate]) -> Checked:
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


def _own(at: int, checked: Checked, policy: Policy, weight: Fraction) -> Part:
    shares, groups, bounded = needed(checked, policy)
    return Part(at, checked, Need(shares, groups), bounded, weight)


def _summed(
    at: int, checked: Checked, finest: tuple[Shares, int, BoundedQuery], is_finest: bool, weight: Fraction
) -> Part:
    """One unit adds to p finest groups: to p groups of the set, or p times as much to one."""
    shares, groups, bounded = finest
    if is_finest:
        return Part(at, checked, Need(shares, groups), bounded, weight, is_summed=True)
    moved = dict[Counted, Fraction]()
    for one, share in shares.measures.items():
        measure = lumped(one, groups)
        check_steps(measure)
        moved[measure] = share
    return Part(at, checked, Need(replace(shares, measures=moved), 1, lumped=True), bounded, weight, is_summed=True)


def lumped(measure: Counted, groups: int) -> Measure:
    """What a sum of finest groups moves by if one unit is in so many of them."""
    assert isinstance(measure, Measure)  # counts and sums
    return replace(measure, low=measure.low * groups, high=measure.high * groups)


def combinations(domains: Sequence[Sequence[Value] | None]) -> tuple[tuple[Value, ...], ...]:
    """All combinations of public keys, in the order in which numbers of a set are listed."""
    return tuple(itertools.product(*(one or () for one in domains)))
