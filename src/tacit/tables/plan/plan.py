"""A plan: what would be measured, with which noise, at what price. Free, and the same whatever the data are."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

from tacit.errors import InvalidParameter
from tacit.ledger import Terms
from tacit.ledger.amounts import readable
from tacit.mechanisms.base import AdditiveMechanism
from tacit.mechanisms.key_selection import KeySelection
from tacit.privacy import Guarantee
from tacit.privacy.prices import text
from tacit.tables.check.check import Checked
from tacit.tables.check.public_values import domain
from tacit.tables.check.types import Words
from tacit.tables.choosing.choice import Choice, ChoiceMechanism
from tacit.tables.engines.contract import Asked, Blend, BoundedQuery, Cells, Counted, Distinct, Measure, Quantised
from tacit.tables.estimators.base import Chooser, Part, Setting
from tacit.tables.estimators.noise import Noise
from tacit.tables.estimators.quantising import LARGEST
from tacit.tables.estimators.registry import ESTIMATORS
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Column, Expression, Value
from tacit.tables.plan.price import Price, Shares, Split, split
from tacit.tables.plan.text import Branch, Hint
from tacit.tables.policy.policy import Limits, Policy
from tacit.tables.query.to_sql import expression_sql, to_sql
from tacit.tables.query.tree import Aggregate

__all__ = [
    "MOST_CHOSEN",
    "MOST_MEASURES",
    "Given",
    "Line",
    "Plan",
    "Planned",
    "Splitting",
    "check_number",
    "check_steps",
    "line_of",
    "make_plan",
    "measure_words",
    "needed",
    "price_words",
    "question_of",
]


MOST_CHOSEN = 20
"""Of one statement: quantiles, modes and counts of distinct values, each of which takes steps of its own."""
MOST_MEASURES = 800
"""Of one statement: sums and counts. A correlation takes six."""


@dataclass(frozen=True, slots=True)
class Line:
    """One aggregate of a plan: its measures, the mechanism for each, its share of the price, the error to expect.

    ``error`` is exceeded once in twenty times, per group; None where it depends on the number of rows, which is secret:
    pass ``expected_rows`` for it.
    """

    aggregate: Aggregate
    setting: Setting
    parts: tuple[Part, ...]
    mechanisms: tuple[AdditiveMechanism, ...]
    share: Fraction
    error: float | None
    pick: tuple[Choice, ChoiceMechanism] | None = None
    """What is chosen from cells, where nothing is noised."""

    @property
    def name(self) -> str:
        """The aggregate as SQL."""
        return expression_sql(self.aggregate)


@dataclass(frozen=True, slots=True)
class Plan:
    """How one question would be answered at one price."""

    checked: Checked
    policy: Policy
    asked: Price
    cost: Guarantee
    """What is charged: the whole ε or ρ that was asked, and the δ that is used."""
    bounded: BoundedQuery
    keys: KeySelection | None
    noise: Noise | None
    lines: tuple[Line, ...]
    key_share: Fraction
    engine_sql: str = ""
    hints: tuple[Hint, ...] = ()
    """What would lower the errors; filled in where a plan is asked for, and not for asking."""

    @property
    def question(self) -> str:
        """The canonical text of the question, without its price."""
        return question_of(self.checked)

    @property
    def price(self) -> Guarantee:
        """What is charged."""
        return self.cost

    @property
    def size(self) -> int:
        """How many lines had to be computed."""
        return len(self.lines)

    def error(self, output: str) -> float | None:
        """The error to expect for an output that is a plain aggregate; None if it needs expected_rows."""
        return line_of(self, output).error

    def mechanism_of(self, measure: Asked | Counted) -> AdditiveMechanism:
        """The noise that a measure gets."""
        return next(
            mechanism
            for line in self.lines
            for part, mechanism in zip(line.parts, line.mechanisms, strict=True)
            if part.measure == measure
        )

    def remade(
        self,
        *,
        checked: Checked | None = None,
        policy: Policy | None = None,
        price: Price | None = None,
        expected_rows: int | None = None,
    ) -> Plan:
        """The plan of a changed question, or under a changed policy, or at another price."""
        return make_plan(checked or self.checked, policy or self.policy, price or self.asked, expected_rows)

    def tree(self) -> Branch:
        """Where each bit of the price goes, and what would halve an error."""
        limits = self.bounded
        who = "each row" if limits.unit is None else f"one {limits.unit}"
        rows = "row" if limits.rows == 1 else "rows"
        counted = "" if limits.unit is None else f", at most {_groups(limits)}, {limits.rows} {rows} each"
        bounding = () if limits.unit is None else (Branch("what is over a limit is left out by a keyed hash"),)
        unit = Branch(f"unit: {who}{counted}", bounding)
        return Branch(f"price: {price_words(self.cost, self.policy.terms)}", (unit, *self.branches()))

    def branches(self) -> tuple[Branch, ...]:
        """What the price is for: the groups, and each aggregate."""
        limits, below = self.bounded, list[Branch]()
        if self.keys is not None:
            below.append(Branch(f"groups: {self.keys.explain()} ({_percent(self.key_share)} of the price)"))
        elif limits.public_keys is not None and limits.keys:
            below.append(Branch(f"groups: {len(limits.public_keys)} public keys, shown even when empty"))
        return (*below, *(self._branch(line) for line in self.lines))

    def _branch(self, line: Line) -> Branch:
        kind = self.noise.name if self.noise is not None else ""
        parts = [
            Branch(
                f"{measure_words(part.measure)}: {_percent(line.share * part.weight)} of the price, {kind} noise, "
                f"scale {mechanism.scale:.4g}, ± {float(mechanism.accuracy('0.05')):.4g} steps"
            )
            for part, mechanism in zip(line.parts, line.mechanisms, strict=True)
        ]
        own = [hint for hint in self.hints if hint.aggregate == line.name]
        for title, chosen in (
            ("what would halve the error", [hint for hint in own if hint.halves]),
            ("what would lower it", [hint for hint in own if not hint.halves]),
        ):
            parts += [Branch(title, tuple(Branch(str(hint)) for hint in chosen))] if chosen else []
        return Branch(f"{line.name}: {_percent(line.share)} of the price; {_error(line)}", tuple(parts))

    def __str__(self) -> str:
        """The plan for people."""
        lines = [self.question, str(self.tree())]
        if self.engine_sql:
            lines += ["engine:", *(f"    {row}" for row in self.engine_sql.splitlines())]
        return "\n".join(lines)


class Planned(Protocol):
    """What plans of one grouping and of several have in common."""

    @property
    def checked(self) -> Checked:
        """The question."""

    @property
    def policy(self) -> Policy:
        """The policy it obeys."""

    @property
    def asked(self) -> Price:
        """What it may cost."""

    @property
    def cost(self) -> Guarantee:
        """What is charged."""

    @property
    def size(self) -> int:
        """How many lines had to be computed: what another plan like it takes."""

    @property
    def question(self) -> str:
        """The canonical text of the question, without its price."""

    @property
    def bounded(self) -> BoundedQuery:
        """What the engine is asked for; of several groupings, the one in which a unit counts in most groups."""

    @property
    def keys(self) -> KeySelection | None:
        """The rule for private keys; of several, the one with the highest threshold."""

    @property
    def lines(self) -> tuple[Line, ...]:
        """One per aggregate; of several groupings, the one with the largest error."""

    def remade(
        self,
        *,
        checked: Checked | None = None,
        policy: Policy | None = None,
        price: Price | None = None,
        expected_rows: int | None = None,
    ) -> Planned:
        """The plan of a changed question, or under a changed policy, or at another price."""


def question_of(checked: Checked) -> str:
    """The canonical text of a question, without its price."""
    query = checked.query
    return to_sql(replace(query, options=query.options.question()))


def line_of(plan: Planned, output: str) -> Line:
    """The line of an output that is a plain aggregate."""
    outputs = {one.name: one.expression for one in plan.checked.query.outputs}
    for line in plan.lines:
        if outputs.get(output) == line.aggregate:
            return line
    plain = [name for name, made in outputs.items() if isinstance(made, Aggregate)]
    allowed = f"an output that is one aggregate: {', '.join(plain) or 'there is none, so give a price'}"
    raise InvalidParameter("within", given=output, allowed=allowed)


Splitting = Callable[[Price, Shares, int], Split]
"""How a price becomes mechanisms: by itself (`pricing.split`), or as one of several statements paid together."""


@dataclass(frozen=True, slots=True)
class Given:
    """A statement's mechanisms, as they were priced with all others."""

    split: Split

    def __call__(self, price: Price, shares: Shares, groups: int) -> Split:
        return self.split


def make_plan(
    checked: Checked, policy: Policy, price: Price, expected_rows: int | None = None, splitting: Splitting = split
) -> Plan:
    """The plan for a question at a price; a loop over its aggregates' estimators."""
    bounded, settings, parts = _measured(checked, policy)
    shares = _shares(checked, parts, _private(bounded))
    made = splitting(price, shares, bounded.groups)
    lines = []
    for aggregate, own in parts.items():
        if not isinstance(own, tuple):
            pick = (own, made.choices[own])
            alike = sum(one == own for one in parts.values())  # ranks of one choice share its price
            lines.append(Line(aggregate, settings[aggregate], (), (), shares.choices[own] / alike, None, pick))
            continue
        mechanisms = tuple(made.mechanisms[part.measure] for part in own)
        estimator = ESTIMATORS[aggregate.estimator]
        assert not isinstance(estimator, Chooser)
        error = estimator.error(aggregate, settings[aggregate], mechanisms, expected_rows)
        share = sum((shares.measures[part.measure] for part in own), start=Fraction(0))
        lines.append(Line(aggregate, settings[aggregate], own, mechanisms, share, error))
    return Plan(checked, policy, price, made.cost, bounded, made.keys, made.noise, tuple(lines), shares.keys)


def needed(checked: Checked, policy: Policy) -> tuple[Shares, int, BoundedQuery]:
    """What a question takes whatever its price: the shares of its parts, groups per unit, and what is measured."""
    bounded, _, parts = _measured(checked, policy)
    return _shares(checked, parts, _private(bounded)), bounded.groups, bounded


def _private(bounded: BoundedQuery) -> bool:
    return bool(bounded.keys) and bounded.public_keys is None


Needed = dict[Aggregate, tuple[Part, ...] | Choice]
"""Per aggregate the measures that get noise, or what is chosen."""


def _measured(checked: Checked, policy: Policy) -> tuple[BoundedQuery, dict[Aggregate, Setting], Needed]:
    """What the engine is asked for, and what each aggregate takes of it."""
    policy = checked.seen(policy)
    query, unit = checked.query, policy.unit.column
    public = _public_keys(checked.key_domains)
    limits = query.options.limits(
        policy.limits if unit is not None else Limits(1, 1),
        policy.limits.groups if public is None else max(1, len(public)),
    )
    groups, rows = limits.groups, limits.rows
    settings: dict[Aggregate, Setting] = {}
    parts: Needed = {}
    measures: dict[Asked, None] = {}
    for aggregate in query.aggregates():
        estimator, setting = ESTIMATORS[aggregate.estimator], _setting(aggregate, checked, policy, rows)
        settings[aggregate] = setting
        if isinstance(estimator, Chooser):
            choice = parts[aggregate] = estimator.choice(aggregate, setting)
            measures[choice.cells] = None
            continue
        own = parts[aggregate] = estimator.parts(aggregate, setting)
        for part in own:
            measures |= dict.fromkeys(part.measure.measures if isinstance(part.measure, Blend) else [part.measure])
    check_number(measures)
    for measure in measures:
        if not isinstance(measure, Cells):
            check_steps(measure)
    relation = None if checked.view is None else checked.view.relation
    bounded = BoundedQuery(query.where, query.keys, public, unit, groups, rows, tuple(measures), relation)
    return bounded, settings, parts


def check_number(measures: Collection[Asked]) -> None:
    """Refuse, before anything is paid, more than an engine can put into one statement: it would be lost."""
    chosen = sum(1 for one in measures if isinstance(one, Cells | Distinct))
    if chosen > MOST_CHOSEN:
        allowed = f"at most {MOST_CHOSEN} quantiles, modes and counts of distinct values"
        raise InvalidParameter("question", given=chosen, allowed=allowed, hint="Ask several smaller questions.")
    if len(measures) > MOST_MEASURES:
        allowed = f"at most {MOST_MEASURES} sums and counts behind its aggregates"
        raise InvalidParameter("question", given=len(measures), allowed=allowed, hint="Ask several smaller questions.")


def check_steps(measure: Measure | Distinct) -> None:
    """Refuse, before anything is paid, what no engine can add up: too many steps, or a range without a whole one."""
    if measure.reach >= LARGEST:
        allowed = f"bounds of fewer than {LARGEST:.2g} steps: a larger granule in the policy, or narrower bounds"
        raise InvalidParameter("bounds", given=Words(f"{measure.reach:.2g} steps"), allowed=allowed)
    if isinstance(measure, Measure) and measure.low > measure.high and isinstance(measure.value, Quantised):
        step = text(measure.value.granule)
        allowed = f"a range with a multiple of the granule, {step}, in it: make it wider, or the granule finer"
        raise InvalidParameter("bounds", given=Words("a range between two multiples"), allowed=allowed)


def _setting(aggregate: Aggregate, checked: Checked, policy: Policy, rows: int) -> Setting:
    kind, granule = _kind_and_granule(aggregate.argument, checked, policy)
    second_kind, second_granule = _kind_and_granule(aggregate.second, checked, policy)
    candidates = (
        domain(aggregate.argument, policy) if aggregate.estimator in ("mode", "top") and aggregate.argument else None
    )
    unit = policy.unit.column is not None
    return Setting(rows, unit, kind, granule, second_kind, second_granule, candidates)


def _kind_and_granule(
    inner: Expression | None, checked: Checked, policy: Policy
) -> tuple[Kind | None, Fraction | None]:
    own = policy.columns.get(inner.name) if isinstance(inner, Column) else None
    return None if inner is None else checked.kinds.get(inner), None if own is None else own.granule


def _public_keys(domains: tuple[tuple[Value, ...] | None, ...]) -> tuple[tuple[Value, ...], ...] | None:
    """All combinations of public keys, or None if a key is private; one empty combination without keys."""
    known = [domain for domain in domains if domain is not None]
    return tuple(itertools.product(*known)) if len(known) == len(domains) else None


def _shares(checked: Checked, parts: Needed, private: bool) -> Shares:
    """Each aggregate counts the same, and so does the selection of private keys; a shared measure gets both shares."""
    wanted = len(parts) + (1 if private else 0)
    if not wanted:
        raise InvalidParameter("question", given="nothing to release", allowed="an aggregate or a group")
    each = Fraction(1, wanted)
    measures: dict[Counted, Fraction] = {}
    choices: dict[Choice, Fraction] = {}
    for own in parts.values():
        if not isinstance(own, tuple):
            choices[own] = choices.get(own, Fraction(0)) + each
            continue
        for part in own:
            measures[part.measure] = measures.get(part.measure, Fraction(0)) + each * part.weight
    least = checked.query.options.least_units or 1
    return Shares(each if private else Fraction(0), measures, choices, least)


def measure_words(measure: Counted) -> str:
    """A measure for people."""
    if isinstance(measure, Distinct):
        return f"distinct values, one unit moves a group by at most {measure.reach}, values chosen"
    if isinstance(measure, Blend):
        what = {
            2: "sums of the distances to both bounds",
            3: "sums of squares and products of the distances to both bounds",
        }
        how = ", rows chosen" if measure.chosen else ""
        which = what[len(measure.combinations)]
        return f"{which}, one unit moves a group's by at most {measure.reach} steps together{how}"
    words = {
        "One": "rows",
        "Present": "known values",
        "Quantised": "sum",
        "Square": "sum of squares",
        "Product": "sum of products",
    }
    how = ", rows chosen" if measure.chosen else ""
    granule = getattr(measure.value, "granule", Fraction(1))
    steps = "" if granule == 1 else f" of {float(granule):.4g}"
    most = f"{measure.reach} {'step' if measure.reach == 1 else 'steps'}{steps}"
    return f"{words[type(measure.value).__name__]}, one unit moves a group by at most {most}{how}"


def price_words(cost: Guarantee, terms: Terms) -> str:
    """A price for people, with what is wrong if it cannot be paid because it is too little."""
    told = f"{cost.symbol} {readable(cost.main)}, δ {readable(cost.leak)}"
    least = f" (too little: a payment is at least {cost.symbol} {readable(terms.smallest)})"
    return told + (least if cost.main < terms.smallest else "")


def _groups(limits: BoundedQuery) -> str:
    return f"{limits.groups} group" + ("s" if limits.groups != 1 else "")


def _percent(share: Fraction) -> str:
    return f"{float(share):.0%}"


def _error(line: Line) -> str:
    if line.pick is not None:
        return line.pick[1].explain()
    if line.error is None:
        return "error depends on the number of rows: pass expected_rows"
    return f"± {line.error:.4g} nineteen times of twenty"
