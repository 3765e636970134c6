"""A plan: what would be measured, with which noise, at what price. Free, and the same whatever the data are."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from tacit.errors import InvalidParameter, TacitError
from tacit.ledger.amounts import readable
from tacit.mechanisms.base import AdditiveMechanism
from tacit.mechanisms.key_selection import KeySelection
from tacit.privacy import ZCDP, ApproxDP, Guarantee
from tacit.privacy.prices import text
from tacit.tables.bounded import Asked, Blend, BoundedQuery, Cells, Counted, Distinct, Measure, Quantised
from tacit.tables.checks import Checked
from tacit.tables.choices import Choice, ChoiceMechanism
from tacit.tables.domains import domain
from tacit.tables.estimators.base import Chooser, Part, Setting
from tacit.tables.estimators.quantising import LARGEST
from tacit.tables.estimators.registry import ESTIMATORS
from tacit.tables.explaining_tree import Branch, Hint
from tacit.tables.expressions import Column, Expression, Value
from tacit.tables.kinds import Kind
from tacit.tables.noises import Noise
from tacit.tables.policy import Limits, Policy
from tacit.tables.pricing import Price, Shares, Split, split
from tacit.tables.query import Aggregate
from tacit.tables.sql.printing import expression_sql, to_sql
from tacit.tables.typed import Words

__all__ = ["Line", "Plan", "Splitting", "make_plan", "needed", "price_within"]


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
        query = self.checked.query
        return to_sql(replace(query, options=query.options.question()))

    @property
    def price(self) -> Guarantee:
        """What is charged."""
        return self.cost

    def error(self, output: str) -> float | None:
        """The error to expect for an output that is a plain aggregate; None if it needs expected_rows."""
        return self._line(output).error

    def _line(self, output: str) -> Line:
        outputs = {one.name: one.expression for one in self.checked.query.outputs}
        for line in self.lines:
            if outputs.get(output) == line.aggregate:
                return line
        plain = [name for name, made in outputs.items() if isinstance(made, Aggregate)]
        allowed = f"an output that is one aggregate: {', '.join(plain) or 'there is none, so give a price'}"
        raise InvalidParameter("within", given=output, allowed=allowed)

    def tree(self) -> Branch:
        """Where each bit of the price goes, and what would halve an error."""
        limits = self.bounded
        who = "each row" if limits.unit is None else f"one {limits.unit}"
        counted = "" if limits.unit is None else f", at most {_groups(limits)}, {limits.rows} rows each"
        bounding = () if limits.unit is None else (Branch("what is over a limit is left out by a keyed hash"),)
        below = [Branch(f"unit: {who}{counted}", bounding)]
        if self.keys is not None:
            below.append(Branch(f"groups: {self.keys.explain()} ({_percent(self.key_share)} of the price)"))
        elif limits.public_keys is not None and limits.keys:
            below.append(Branch(f"groups: {len(limits.public_keys)} public keys, shown even when empty"))
        below += [self._branch(line) for line in self.lines]
        return Branch(f"price: {_price_words(self.cost)}", tuple(below))

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


Splitting = Callable[[Price, Shares, int], Split]
"""How a price becomes mechanisms: by itself (`pricing.split`), or as one of several statements paid together."""


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
            lines.append(Line(aggregate, settings[aggregate], (), (), shares.choices[own], None, pick))
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


def price_within(
    checked: Checked, policy: Policy, targets: dict[str, float], expected_rows: int | None, delta: Fraction
) -> Plan:
    """The plan with the smallest price, to three digits, whose errors are within the targets."""
    for output, target in targets.items():
        if not (isinstance(target, int | float) and math.isfinite(target) and target > 0):
            raise InvalidParameter(f"within {output}", given=target, allowed="an error above 0")

    def plan_at(main: Fraction) -> Plan:
        rho = policy.terms.flavour.name == "rho"
        price: Price = ZCDP(main, delta) if rho else ApproxDP(main, delta)
        return make_plan(checked, policy, price, expected_rows)

    def meets(main: Fraction) -> bool:
        plan = plan_at(main)
        for output, target in targets.items():
            error = plan.error(output)
            if error is None and plan._line(output).pick is not None:
                allowed = "outputs that are counts, sums, means or variances: a quantile's error depends on the rows"
                raise InvalidParameter("within", given=output, allowed=allowed)
            if error is None:
                hint = "The error of a mean depends on how many rows there are, which is secret: say what you expect."
                raise InvalidParameter("expected_rows", given=None, allowed="a number of rows per group", hint=hint)
            if error > target:
                return False
        return True

    low, high = -24, 24  # powers of two
    if not meets(Fraction(2) ** high):
        raise InvalidParameter("within", given=targets, allowed="errors that some price can reach")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if meets(Fraction(2) ** middle) else (middle, high)
    bottom, top = Fraction(2) ** low, Fraction(2) ** high
    while top - bottom > top / 2000:
        between = (bottom + top) / 2
        bottom, top = (bottom, between) if meets(between) else (between, top)
    return plan_at(_three_digits_up(top))


def what_fits(plan: Plan, left: object) -> str:
    """What the first error of a plan would be at the price that is left, in words; nothing if no such plan exists."""
    if not isinstance(left, ApproxDP | ZCDP):
        return ""
    delta = min(plan.asked.dlt, left.dlt)
    main, symbol = (left.rho, "ρ") if isinstance(left, ZCDP) else (left.eps, "ε")
    try:
        smaller = make_plan(plan.checked, plan.policy, ZCDP(main, delta) if symbol == "ρ" else ApproxDP(main, delta))
    except TacitError:
        return ""
    pairs = zip(plan.lines, smaller.lines, strict=True)
    errors = [(one.error, other.error) for one, other in pairs if one.error is not None and other.error is not None]
    if not errors:
        return ""
    return f"At {symbol} {readable(main)} the error would be ± {errors[0][1]:.4g} instead of ± {errors[0][0]:.4g}."


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
    for measure in measures:
        if not isinstance(measure, Cells):
            _check_steps(measure)
    relation = None if checked.view is None else query.source
    bounded = BoundedQuery(query.where, query.keys, public, unit, groups, rows, tuple(measures), relation)
    return bounded, settings, parts


def _check_steps(measure: Measure | Distinct) -> None:
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
    candidates = domain(aggregate.argument, policy) if aggregate.estimator == "mode" and aggregate.argument else None
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
    return f"{words[type(measure.value).__name__]}, one unit moves a group by at most {measure.reach} steps{steps}{how}"


def _price_words(cost: Guarantee) -> str:
    if isinstance(cost, ZCDP):
        return f"ρ {readable(cost.rho)}, δ {readable(cost.dlt)}"
    assert isinstance(cost, ApproxDP)
    return f"ε {readable(cost.eps)}, δ {readable(cost.dlt)}"


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


def _three_digits_up(exact: Fraction) -> Fraction:
    """Three significant digits, rounded up: a price that people can type."""
    power = math.floor(math.log10(float(exact))) - 2
    step = Fraction(10) ** power
    return math.ceil(exact / step) * step
