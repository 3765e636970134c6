"""A histogram of units over public bins: each unit in exactly one of them, so it moves one number by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tacit.ledger import Receipt
from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.mechanisms.shared.estimate import Estimate
from tacit.privacy import Guarantee
from tacit.report.columns import Column as Released
from tacit.report.disclosure import Disclosure, GroupRule
from tacit.tables.check.check import Checked
from tacit.tables.engines.access import Access
from tacit.tables.engines.contract import BoundedQuery, Engine, Integers, Measure, One
from tacit.tables.engines.sums import Sums
from tacit.tables.estimators.base import Setting, Weighted
from tacit.tables.expressions.tree import Column
from tacit.tables.plan.demands import Demand, Statement, Taken
from tacit.tables.plan.passes import Passes
from tacit.tables.plan.plan import Plan, make_plan
from tacit.tables.plan.price import Need, Price, Shares
from tacit.tables.policy.policy import Policy
from tacit.tables.query.tree import Aggregate, Output, Query
from tacit.tables.release.answer import Answer
from tacit.tables.release.batch_answers import Answers
from tacit.tables.release.disclose import describe, noises
from tacit.tables.release.draw import draw_parts

__all__ = ["FALSE_BINS", "AnsweringBins", "AnsweringTogether", "Histogram", "threshold", "together"]

FALSE_BINS = Fraction(1, 1000)
"""How often any bin without a unit may pass for one with units."""

_BETA = Fraction(1, 20)
_ONE_UNIT = Measure(One(), 0, 1, chosen=False)
_UNITS = Aggregate("count_units")


@dataclass(frozen=True, slots=True)
class Histogram:
    """A question about all units: bins with public names, and how their counts follow from an engine's integers.

    ``counts`` must put each unit into exactly one bin, whatever the other units are; a value, which another process can
    be given.
    """

    question: str
    names: tuple[Released, ...]
    """Columns that name the bins."""
    passes: tuple[BoundedQuery, ...]
    counts: Callable[[Sequence[Integers]], Sums]
    remarks: tuple[str, ...]
    said: tuple[str, tuple[str, ...]]
    """What is discovered, of which columns."""

    @property
    def bins(self) -> int:
        """How many bins there are."""
        return len(self.names[0].values)

    def of(self, found: Sequence[Integers]) -> Integers:
        """The units in each bin, of what the passes found."""
        exact = self.counts(found)
        assert len(exact) == self.bins
        return Integers((list(range(self.bins)),), np.zeros(self.bins, dtype=np.int64), (exact,))

    def plan(self, policy: Policy, price: Price) -> Plan:
        """The noise of every bin; of a price with a δ, the δ is not used."""
        bins, key = tuple(range(self.bins)), Column("bin")
        query = Query(policy.table, (Output("units", _UNITS),), keys=(key,))
        told = BoundedQuery(None, (key,), tuple((one,) for one in bins), policy.unit.column, 1, 1, (_ONE_UNIT,))
        taken = Taken(_UNITS, Setting(1, chosen=False), (Weighted(_ONE_UNIT, Fraction(1)),), None)
        demand = Demand((taken,), Need(Shares(Fraction(0), {_ONE_UNIT: Fraction(1)}), 1), told, told)
        asked = Statement(Checked(query, {}, (bins,)), (demand,), called=self.question)
        return make_plan([asked], policy, price.with_leak(Fraction(0)), passing=lambda _: Passes(self.passes, (self,)))

    def ask(self, access: Access, price: Price, *, fresh: bool) -> Answer:
        """Pay and get the noisy counts."""
        drawn = AnsweringBins(self, self.plan(access.policy, price))
        claim = access.paid(drawn.plan.question, drawn.plan.cost, drawn, fresh=fresh)
        assert claim.answer is not None
        return Answer.read(claim.answer, claim.receipt)


@dataclass(frozen=True, slots=True)
class AnsweringBins:
    """The draw of a histogram, as a value that another process can be given."""

    histogram: Histogram
    plan: Plan

    def request(self) -> tuple[str, dict[str, object]]:
        """The same as a service is asked for it: where, and with what besides the price."""
        what, columns = self.histogram.said
        return "discoveries", {"what": what, "columns": list(columns), "question": self.plan.question}

    def __call__(self, engine: Engine, receipt: Receipt) -> bytes:
        return self.drawn(engine, receipt).to_json(indent=None).encode()

    def drawn(self, engine: Engine, receipt: Receipt) -> Disclosure:
        """The noisy counts, with everything that must be said of them."""
        plan, asked = self.plan, self.histogram
        (drawn,) = draw_parts(plan, plan.integers([engine.run(one) for one in plan.passes.bounded]), _BETA)
        (units,), (part,) = drawn.estimates.values(), plan.parts
        assert isinstance(units, Estimate)  # a count
        bar = threshold(part.mechanism_of(_ONE_UNIT), asked.bins)
        column = Released.of("units", units.value, units.low, units.high, whole=True)
        shown = Released("found", tuple(bool(one > bar) for one in units.value))
        return describe(
            plan.policy,
            receipt,
            question=plan.question,
            limits=(1, 1),
            rule=GroupRule("public", f"{asked.bins} public bins, shown even when empty; each unit is in one of them"),
            noise=tuple(noises(part, plan.checked.query)),
            columns=(*asked.names, column, shown),
            remarks=(*asked.remarks, f"A bin counts as found if its noisy number of units is above {bar:g}."),
        )


@dataclass(frozen=True, slots=True)
class Together:
    """What several draws are called under one payment, and what they cost."""

    question: str
    cost: Guarantee


@dataclass(frozen=True, slots=True)
class AnsweringTogether:
    """The draws of several histograms under one payment, each with an equal part of the price."""

    parts: tuple[AnsweringBins, ...]
    plan: Together

    def request(self) -> tuple[str, dict[str, object]]:
        """The same as a service is asked for it: where, and with what besides the price."""
        _, columns = self.parts[0].histogram.said
        return "discoveries", {"what": "limits", "columns": list(columns), "question": self.plan.question}

    def __call__(self, engine: Engine, receipt: Receipt) -> bytes:
        return Answers.written([one.drawn(engine, receipt) for one in self.parts])


def together(question: str, histograms: Sequence[Histogram], policy: Policy, price: Price) -> AnsweringTogether:
    """The noisy counts of each for one payment: equal parts of the price, which add up to it."""
    part = price.scaled(Fraction(1, len(histograms)))
    draws = tuple(AnsweringBins(one, one.plan(policy, part)) for one in histograms)
    return AnsweringTogether(draws, Together(question, price.with_leak(Fraction(0))))


def threshold(mechanism: AdditiveMechanism, bins: int) -> float:
    """What noise alone reaches in none of the bins, but for one time in a thousand."""
    return float(mechanism.accuracy(FALSE_BINS, size=bins))
