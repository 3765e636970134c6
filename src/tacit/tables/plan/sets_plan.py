"""The plan of a statement with several sets of keys: one price, one debit, one answer. Free, whatever the data are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np

from tacit.mechanisms.base import AdditiveMechanism
from tacit.mechanisms.estimate import BETA
from tacit.mechanisms.key_selection import KeySelection
from tacit.privacy import Guarantee
from tacit.tables.check.check import Checked
from tacit.tables.engines.contract import BoundedQuery, Counted, Measure
from tacit.tables.estimators.base import Chooser, Fitted
from tacit.tables.estimators.noise import Noise
from tacit.tables.estimators.registry import ESTIMATORS
from tacit.tables.fitting.margins import Margins
from tacit.tables.plan.joint import Joint, share, share_apart
from tacit.tables.plan.passes import Passes, merged
from tacit.tables.plan.plan import Given, Line, Plan, line_of, make_plan, price_words, question_of
from tacit.tables.plan.price import Need, Price, Split
from tacit.tables.plan.sets import Part, Sets, about, combinations, divided, lumped
from tacit.tables.plan.text import Branch, Hint
from tacit.tables.policy.policy import Policy
from tacit.tables.query.to_sql import expression_sql

__all__ = ["SetsPlan", "make_sets_plan"]

_LINES_OF_A_CELL = 2
_MOST_CELLS = 1000
"""Beyond so many finest groups fits are not made, or have bounds that take no longer."""


@dataclass(frozen=True, slots=True)
class SetsPlan:
    """How one statement with several sets of keys would be answered at one price."""

    checked: Checked
    policy: Policy
    asked: Price
    cost: Guarantee
    """What is charged for all sets together."""
    sets: Sets
    plans: tuple[Plan, ...]
    """One for each part; shares are of the whole price."""
    margins: tuple[Margins, ...]
    """How the numbers of all sets are made to add up: for each measure of the finest groups."""
    how: str
    """How the sets are priced together."""
    passes: Passes
    engine_sql: str = ""
    hints: tuple[Hint, ...] = ()

    @property
    def question(self) -> str:
        """The canonical text of the question, without its price."""
        return question_of(self.checked)

    @property
    def price(self) -> Guarantee:
        """What is charged."""
        return self.cost

    @property
    def bounded(self) -> BoundedQuery:
        """Of the parts, that in which a unit counts in most groups."""
        return max((part.bounded for part in self.sets.parts), key=lambda one: one.groups)

    @property
    def keys(self) -> KeySelection | None:
        """The rule for keys with the highest threshold; None where all keys are public."""
        rules = [plan.keys for plan in self.plans if plan.keys is not None]
        return max(rules, key=lambda rule: rule.threshold, default=None)

    @property
    def noise(self) -> Noise | None:
        """The noise of the first set that has any."""
        return next((plan.noise for plan in self.plans if plan.noise is not None), None)

    @property
    def lines(self) -> tuple[Line, ...]:
        """For each aggregate the line of the set where its error is largest."""
        found = []
        for aggregate in self.checked.query.aggregates():
            own = [line for plan in self.plans for line in plan.lines if line.aggregate == aggregate]
            found.append(max(own, key=lambda line: line.error or 0.0))
        return tuple(found)

    @property
    def size(self) -> int:
        """How many lines had to be computed. Fitting a set takes a few for each finest group: its law has parts."""
        cells = 0 if self.sets.sizes is None else math.prod(self.sets.sizes)
        fitted = _LINES_OF_A_CELL * len(self.margins) * len(self.checked.query.sets) * min(cells, _MOST_CELLS)
        return sum(len(plan.lines) for plan in self.plans) + fitted

    def error(self, output: str) -> float | None:
        """The largest error to expect, of all sets, for an output that is a plain aggregate."""
        return line_of(self, output).error

    def remade(
        self,
        *,
        checked: Checked | None = None,
        policy: Policy | None = None,
        price: Price | None = None,
        expected_rows: int | None = None,
    ) -> SetsPlan:
        """The plan of a changed question, or under a changed policy, or at another price.

        Priced by sums alone, which is never better: many plans are compared, and loss distributions take their time.
        """
        return make_sets_plan(
            checked or self.checked, policy or self.policy, price or self.asked, expected_rows, share_apart
        )

    def title(self, at: int) -> str:
        """What a set is called."""
        kept = self.checked.query.sets[at]
        keys = self.checked.query.keys
        return f"by {', '.join(expression_sql(keys[key]) for key in kept)}" if kept else "in all"

    def tree(self) -> Branch:
        """Where each bit of the price goes."""
        below = [Branch(_unit(self.bounded))]
        for at in range(len(self.checked.query.sets)):
            own = [(part, plan) for part, plan in zip(self.sets.parts, self.plans, strict=True) if part.at == at]
            share = float(sum(part.weight for part, _ in own))
            inside = tuple(dict.fromkeys(branch for _, plan in own for branch in plan.branches()))
            below.append(Branch(f"{self.title(at)}: {share:.0%} of the price", inside))
        below += [Branch(text) for text in self.remarks()]
        for hint in self.hints:
            title = "would halve the largest error of" if hint.halves else "would lower the largest error of"
            below.append(Branch(f"{title} {hint.aggregate}: {hint}"))
        return Branch(f"price: {price_words(self.cost, self.policy.terms)}, priced by {self.how}", tuple(below))

    def remarks(self) -> tuple[str, ...]:
        """What a reader must know about the sets."""
        if self.margins:
            return (
                "Counts and sums of all sets fit each other by weighted least squares, so that they add up; they are "
                "not rounded, for rounding would break the sums. Limits apply to the groups by all keys together, and "
                "coarser counts and sums are those of the groups that they contain.",
            )
        if self.sets.reason:
            return (f"Counts and sums of different sets are not made to add up: {self.sets.reason}.",)
        return ()

    def __str__(self) -> str:
        """The plan for people."""
        lines = [self.question, str(self.tree())]
        if self.engine_sql:
            lines += ["engine:", *(f"    {row}" for row in self.engine_sql.splitlines())]
        return "\n".join(lines)


Sharing = Callable[[Price, Sequence[Need], Sequence[Fraction]], Joint]


def make_sets_plan(
    checked: Checked, policy: Policy, price: Price, expected_rows: int | None = None, sharing: Sharing = share
) -> SetsPlan:
    """The plan for a statement with several sets of keys at one price."""
    sets = divided(checked, policy)
    joint = sharing(price, [part.need for part in sets.parts], [part.weight for part in sets.parts])
    plans = []
    for part, split in zip(sets.parts, joint.splits, strict=True):
        paid = replace(split, cost=joint.cost)
        if part.is_summed:
            plans.append(_summed_plan(checked, policy, price, part, paid))
        else:
            plans.append(_shared(make_plan(part.checked, policy, price, expected_rows, Given(paid)), part))
    passes = merged([part.bounded for part in sets.parts])
    margins = _margins(checked, sets, plans)
    return SetsPlan(checked, policy, price, joint.cost, sets, _fitted(sets, plans, margins), margins, joint.how, passes)


def _shared(plan: Plan, part: Part) -> Plan:
    """With shares of the whole price, not of the part's."""
    lines = tuple(replace(line, share=line.share * part.weight) for line in plan.lines)
    return replace(plan, lines=lines, key_share=plan.key_share * part.weight)


def _summed_plan(checked: Checked, policy: Policy, price: Price, part: Part, split: Split) -> Plan:
    """The plan of a set whose numbers are sums of the finest groups, with noise for what one unit moves there."""
    additive = part.checked.query.aggregates()
    every = about(checked, range(len(checked.query.keys)), additive)
    groups = part.bounded.groups if part.need.lumped else 1
    moved = {one: lumped(one, groups) for one in part.bounded.measures if isinstance(one, Measure)}
    noise: dict[Counted, AdditiveMechanism] = {one: split.mechanisms[found] for one, found in moved.items()}
    made = make_plan(every, policy, price, None, Given(replace(split, mechanisms=noise)))
    lines = tuple(
        replace(line, parts=tuple(replace(one, measure=lumped(one.measure, groups)) for one in line.parts))
        for line in made.lines
    )
    bounded = replace(
        part.bounded,
        keys=part.checked.query.keys,
        public_keys=combinations(part.checked.key_domains),
        groups=part.need.groups,
        measures=tuple(moved.values()),
    )
    return _shared(replace(made, checked=part.checked, bounded=bounded, lines=lines), part)


def _margins(checked: Checked, sets: Sets, plans: list[Plan]) -> tuple[Margins, ...]:
    """For each measure of the finest groups: its noise in every set."""
    if sets.sizes is None:
        return ()
    summed = [plan for part, plan in zip(sets.parts, plans, strict=True) if part.is_summed]
    made = []
    for at in range(len(summed[0].bounded.measures)):
        noise = tuple(plan.mechanism_of(plan.bounded.measures[at]) for plan in summed)
        made.append(Margins(sets.sizes, checked.query.sets, noise))
    return tuple(made)


def _fitted(sets: Sets, plans: list[Plan], margins: tuple[Margins, ...]) -> tuple[Plan, ...]:
    """With the errors that numbers have once they add up."""
    found = []
    for part, plan in zip(sets.parts, plans, strict=True):
        lines = tuple(_refitted(plan, line, margins, part.at) for line in plan.lines) if part.is_summed else plan.lines
        found.append(replace(plan, lines=lines))
    return tuple(found)


def _refitted(plan: Plan, line: Line, margins: tuple[Margins, ...], at: int) -> Line:
    """Half the width of the interval that the aggregate will have in one set."""
    ((own, mechanism),) = zip(line.parts, line.mechanisms, strict=True)
    margin = margins[plan.bounded.measures.index(own.measure)]
    estimator = ESTIMATORS[line.aggregate.estimator]
    assert not isinstance(estimator, Chooser)
    assert plan.noise is not None
    nothing = Fitted(np.zeros(1), mechanism, plan.noise, partial(margin.error, at))
    made = estimator.finish(line.aggregate, line.setting, (nothing,), BETA)
    return replace(line, error=float(made.high[0] - made.low[0]) / 2)


def _unit(bounded: BoundedQuery) -> str:
    if bounded.unit is None:
        return "unit: each row"
    return (
        f"unit: one {bounded.unit}, in each set at most {bounded.groups} groups, {bounded.rows} rows each; "
        "what is over a limit is left out by a keyed hash"
    )
