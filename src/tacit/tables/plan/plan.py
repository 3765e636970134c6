"""A plan: what would be measured, with which noise, at what price. Free, and the same whatever the data are."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np

from tacit.errors import InvalidParameter
from tacit.mechanisms.selection.key_selection import KeyRule
from tacit.mechanisms.shared.estimate import BETA
from tacit.privacy.composition import Guarantee
from tacit.report.markup import preformatted
from tacit.tables.check.check import Checked
from tacit.tables.engines.contract import BoundedQuery, Integers
from tacit.tables.estimators.base import Fitted
from tacit.tables.estimators.noise import Noise
from tacit.tables.fitting.fits import Fit, fit_of
from tacit.tables.fitting.levels import Level
from tacit.tables.plan.demands import Statement, statement_of
from tacit.tables.plan.forms import Forms, Sharing
from tacit.tables.plan.joint import Joint, share, share_alone, share_apart
from tacit.tables.plan.parts import Line, Part, priced, voting
from tacit.tables.plan.passes import InPass, Passes, merged
from tacit.tables.plan.price import Need, Price
from tacit.tables.plan.text import Branch, Hint, plan_text, plan_tree
from tacit.tables.policy.policy import Policy
from tacit.tables.query.tree import Aggregate

__all__ = ["Plan", "Sharing", "make_plan", "planned", "planned_before"]

_LINES_OF_A_CELL = 2
_MOST_CELLS = 1000
"""Beyond so many finest groups fits are not made, or have bounds that take no longer."""


@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """How one question, or several together, would be answered at one price: what each part of it gets."""

    policy: Policy
    asked: Price
    cost: Guarantee
    """What is charged, once, for all parts together: the whole ε or ρ that was asked, and the δ that is used."""
    how: str
    """How the parts are priced together."""
    statements: tuple[Statement, ...]
    shares: tuple[Fraction, ...]
    """Of the price, one per statement, exact; they add up to 1."""
    parts: tuple[Part, ...]
    """The grouped questions of all statements, in their order."""
    passes: Passes
    """What an engine runs, and where each part finds its integers."""
    together: str = ""
    """The canonical text of statements that are asked together, with the share of each."""
    engine_sql: str = ""
    aside: tuple[str, ...] = ()
    """What the rest of the price is for, where the question itself gets a share of it."""
    hints: tuple[Hint, ...] = ()
    """What would lower the errors; filled in where a plan is asked for, and not for asking."""

    @property
    def question(self) -> str:
        """The canonical text of all that is asked, without its price: what the ledger remembers it by."""
        return self.together or self.statements[0].question

    @property
    def price(self) -> Guarantee:
        """What is charged."""
        return self.cost

    @property
    def checked(self) -> Checked:
        """The first statement, held against the policy."""
        return self.statements[0].checked

    @property
    def plans(self) -> tuple[Plan, ...]:
        """One per statement, in the order given; the cost that each names is the joint one."""
        found = []
        for at, statement in enumerate(self.statements):
            own = [number for number, part in enumerate(self.parts) if part.statement == at]
            parts = tuple(replace(self.parts[number], statement=0) for number in own)
            passes = self.passes.only(own)
            found.append(
                replace(
                    self,
                    together="",
                    statements=(statement,),
                    shares=(self.shares[at],),
                    parts=parts,
                    passes=passes,
                    engine_sql="",
                )
            )
        return tuple(found)

    @property
    def bounded(self) -> BoundedQuery:
        """Of what the engine is asked for, that in which a unit counts in most groups."""
        return max((part.demand.asked for part in self.parts), key=lambda one: one.groups)

    @property
    def keys(self) -> KeyRule | None:
        """The rule for keys with the highest threshold; None where all keys are public."""
        rules = [part.keys for part in self.parts if part.keys is not None]
        return max(rules, key=lambda rule: rule.threshold, default=None)

    @property
    def key_share(self) -> Fraction:
        """What of the price goes into the choice of private keys."""
        return sum((part.key_share for part in self.parts), start=Fraction(0))

    @property
    def noise(self) -> Noise | None:
        """The noise of the first part that has any."""
        return next((part.noise for part in self.parts if part.noise is not None), None)

    @property
    def lines(self) -> tuple[Line, ...]:
        """For each aggregate of each statement the line of the part where its error is largest."""
        if len(self.parts) == 1:
            return self.parts[0].lines
        largest = dict[tuple[int, Aggregate], Line]()
        for part in self.parts:
            for line in part.lines:
                place = part.statement, line.aggregate
                if place not in largest or (line.error or 0.0) > (largest[place].error or 0.0):
                    largest[place] = line
        asked = [(at, one) for at, own in enumerate(self.statements) for one in own.checked.query.aggregates()]
        return tuple(largest[place] for place in asked)

    @property
    def size(self) -> int:
        """How many lines had to be computed. Fitting a level takes a few for each finest group: its law has parts."""
        cells = sum(
            min(level.cells, _MOST_CELLS) * len(part.bounded.measures) for part, level in _of_levels(self.parts)
        )
        return sum(len(part.lines) for part in self.parts) + _LINES_OF_A_CELL * cells

    def line(self, output: str) -> Line:
        """The line of an output that is a plain aggregate."""
        outputs = {one.name: one.expression for own in self.statements for one in own.checked.query.outputs}
        for line in self.lines:
            if outputs.get(output) == line.aggregate:
                return line
        plain = [name for name, made in outputs.items() if isinstance(made, Aggregate)]
        allowed = f"an output that is one aggregate: {', '.join(plain) or 'there is none, so give a price'}"
        raise InvalidParameter("within", given=output, allowed=allowed)

    def error(self, output: str) -> float | None:
        """The largest error to expect for an output that is a plain aggregate; None if it needs expected_rows."""
        return self.line(output).error

    def errors(self) -> tuple[tuple[float | None, float | None], ...]:
        """Of counts and sums that are made to add up: the largest error of each as it is measured, and once it fits."""
        lines = [line for part, _ in _of_levels(self.parts) for line in part.lines]
        return tuple((line.measured_error(), line.error) for line in lines)

    def integers(self, found: Sequence[Integers]) -> list[Integers]:
        """What each part gets of what the passes found."""
        return [self.passes.integers(at, found) for at in range(len(self.parts))]

    def fits(self) -> tuple[Fit, ...]:
        """How numbers of several levels are made to add up: for each measure of the finest groups."""
        return _fits(_of_levels(self.parts))

    def remade(
        self,
        *,
        checked: Checked | None = None,
        policy: Policy | None = None,
        price: Price | None = None,
        expected_rows: int | None = None,
        forms: Forms | None = None,
    ) -> Plan:
        """The plan of a changed question, or under a changed policy, or at another price.

        Of several sets of keys priced by sums alone, which is never better: many plans are compared, and loss
        distributions take their time. ``forms`` are those of the changed statement, if they are known.
        """
        known, terms, paid = checked or self.checked, policy or self.policy, price or self.asked
        ways = forms or Forms(statement_of(known, terms))
        if not known.query.sets:
            return _planned(ways, terms, paid, expected_rows)
        return make_plan([_with_shares_of(self.statements[0], ways.at(paid))], terms, paid, [expected_rows])

    def tree(self) -> Branch:
        """Where each bit of the price goes, and what would halve an error."""
        return plan_tree(self)

    def __str__(self) -> str:
        """The plan for people."""
        return plan_text(self)

    def __repr__(self) -> str:
        """The same, without the statements that an engine would run."""
        return plan_text(replace(self, engine_sql=""))

    def _repr_html_(self) -> str:
        return preformatted(repr(self))


def planned(checked: Checked, policy: Policy, price: Price, expected_rows: int | None = None) -> Plan:
    """The plan of one question, measured and priced as well as is known."""
    return _planned(Forms(statement_of(checked, policy)), policy, price, expected_rows)


def _planned(forms: Forms, policy: Policy, price: Price, expected_rows: int | None) -> Plan:
    sets = forms.statement.checked.query.sets
    sharing = share if sets else _Once()
    asked = forms.at(price, sharing=share_apart if sets else sharing)
    even = make_plan([asked], policy, price, [expected_rows], sharing)
    if all(one.level is None for one in asked.demands):
        return even
    from tacit.tables.plan.better import with_better_shares  # where there are several sets

    return with_better_shares(even, [expected_rows])


def _with_shares_of(other: Statement, asked: Statement) -> Statement:
    """With the shares of another statement, if it has the same sets."""
    if [one.level for one in other.demands] != [one.level for one in asked.demands]:
        return asked
    pairs = zip(asked.demands, other.demands, strict=True)
    return replace(asked, demands=tuple(replace(one, weight=own.weight) for one, own in pairs))


class _Once:
    """Prices as `share_alone` does, what was priced already not again: ways to measure are compared before."""

    def __init__(self) -> None:
        self._known: list[tuple[tuple[Need, ...], Joint]] = []

    def __call__(self, price: Price, needs: Sequence[Need], weights: Sequence[Fraction]) -> Joint:
        for known, joint in self._known:
            if len(known) == len(needs) and all(map(operator.is_, known, needs)):
                return joint
        joint = share_alone(price, needs, weights)
        self._known.append((tuple(needs), joint))
        return joint


def planned_before(checked: Checked, policy: Policy, price: Price) -> Plan:
    """The plan that was made before: each aggregate measured by itself, priced by sums.

    Answers are on record under what was charged for them, of which the δ may have been another one.
    """
    sharing = share if checked.query.sets else share_apart
    return make_plan([statement_of(checked, policy)], policy, price, [None], sharing)


def make_plan(
    statements: Sequence[Statement],
    policy: Policy,
    price: Price,
    expected_rows: Sequence[int | None] = (None,),
    sharing: Sharing = share_apart,
    shares: Sequence[Fraction] = (Fraction(1),),
    together: str = "",
    passing: Callable[[Sequence[BoundedQuery]], Passes] | None = None,
) -> Plan:
    """The plan for statements at one price, of which each has its share; ``passing`` says what engines run for them."""
    demands = [(at, one) for at, own in enumerate(statements) for one in own.demands]
    joint = sharing(price, [one.need for _, one in demands], [shares[at] * one.weight for at, one in demands])
    demands = [(at, voting(one, split)) for (at, one), split in zip(demands, joint.splits, strict=True)]
    parts = list[Part]()
    for number, group in itertools.groupby(zip(demands, joint.splits, strict=True), key=lambda one: one[0][0]):
        parts += _with_errors(priced(one, split, number, expected_rows[number]) for (_, one), split in group)
    return Plan(
        policy,
        price,
        joint.cost,
        joint.how,
        tuple(statements),
        tuple(shares),
        tuple(parts),
        (passing or _passes)([one.asked for _, one in demands]),
        together,
    )


def _passes(asked: Sequence[BoundedQuery]) -> Passes:
    """As few as there can be; of one query that is one."""
    if len(asked) > 1:
        return merged(asked)
    return Passes(tuple(asked), tuple(InPass(0, tuple(range(len(one.measures)))) for one in asked))


Levels = Sequence[tuple[Part, Level]]


def _of_levels(parts: Iterable[Part]) -> Levels:
    """Those whose numbers are made to add up."""
    return [(part, part.demand.level) for part in parts if part.demand.level is not None]


def _fits(own: Levels) -> tuple[Fit, ...]:
    """Of the levels of one statement."""
    measured = zip(*(part.bounded.measures for part, _ in own), strict=True)
    return tuple(
        fit_of(
            tuple(level for _, level in own),
            tuple(part.mechanism_of(measure) for (part, _), measure in zip(own, measures, strict=True)),
        )
        for measures in measured
    )


def _with_errors(parts: Iterable[Part]) -> Iterable[Part]:
    """With the errors that numbers of one statement have once they add up."""
    parts = list(parts)
    fits, at = _fits(_of_levels(parts)), 0
    for part in parts:
        if part.demand.level is None:
            yield part
            continue
        yield replace(part, lines=tuple(_fitted(part, line, fits, at) for line in part.lines))
        at += 1


def _fitted(part: Part, line: Line, fits: Sequence[Fit], at: int) -> Line:
    """Half the width of the widest interval that the aggregate will have at one level."""
    ((own, mechanism),) = zip(line.parts, line.mechanisms, strict=True)
    fit = fits[part.bounded.measures.index(own.measure)]
    assert part.noise is not None
    nothing = Fitted(np.zeros(1), mechanism, part.noise, partial(fit.error, at))
    made = line.estimator.finish(line.aggregate, line.setting, (nothing,), BETA)
    return replace(line, error=float(np.max(made.high - made.low)) / 2)
