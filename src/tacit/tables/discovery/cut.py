"""How much the limits cut, bought with an answer: a share of its price, inside the same payment.

Rows of one unit are not bounded, so a number of rows cut has no sensitivity by itself. It is measured on a ladder of
larger public limits instead: what is cut of a unit's first rows, as many as the limits allow; and the rows beyond those
of units that have at most twice, four times, … sixty-four times as many, each unit on one step of the ladder.
Proof: docs/proofs/cut.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from tacit.errors import InvalidParameter, NotPrivate
from tacit.ledger import Receipt
from tacit.mechanisms.shared.estimate import BETA, Estimate
from tacit.privacy.prices import price as exact_share
from tacit.privacy.prices import text
from tacit.report.disclosure import Cut
from tacit.report.numbers import number
from tacit.tables.check.check import Checked
from tacit.tables.engines.contract import BoundedQuery, Engine, Integers, Measure, One
from tacit.tables.engines.sums import Sums
from tacit.tables.estimators.base import Setting, Weighted
from tacit.tables.expressions.tree import Call, Column, Expression, Literal
from tacit.tables.plan.demands import Demand, Statement, Taken, check_steps, statement_of
from tacit.tables.plan.forms import formed
from tacit.tables.plan.joint import share, share_apart
from tacit.tables.plan.passes import Passes, Place, merged
from tacit.tables.plan.plan import Plan, make_plan
from tacit.tables.plan.price import Need, Price, Shares
from tacit.tables.policy.policy import Policy
from tacit.tables.query.tree import Aggregate, Output, Query
from tacit.tables.release.disclose import disclose
from tacit.tables.release.draw import draw, draw_parts

__all__ = ["STEPS", "AnsweringWithCut", "Ladder", "read_share", "shown", "with_cut"]

STEPS = 6
"""Of the ladder: 2, 4, … 64 times as many rows as the limits allow to a unit."""
DEFAULT = Fraction(1, 10)
_COORDINATES = 3
"""That one unit moves: rows up to the limits, what is cut of those, and one step of the ladder."""
_ROWS = Aggregate("count_rows")
_COUNTS_UNITS = "count_units"


def read_share(bias: object) -> Fraction:
    """The share of the price that is spent on what was cut."""
    if bias is True:
        return DEFAULT
    part = exact_share(bias, "bias")
    if not 0 < part < 1:
        raise InvalidParameter("bias", given=bias, allowed="a share of the price between 0 and 1, such as 0.1")
    return part


def with_cut(
    checked: Checked,
    policy: Policy,
    price: Price,
    part: Fraction,
    expected_rows: int | None = None,
    *,
    before: bool = False,
) -> Plan:
    """The plan of a question at a price of which ``part`` goes to how much the limits cut; free.

    ``before``: as it was made when aggregates were measured one by one, and priced by sums.
    """
    asked = statement_of(checked, policy)
    asked = asked if before else formed(asked, price, 1 - part)
    ladders = [Ladder(title, one) for one, title in _frames(asked).items()]
    _refuse_if_nothing_is_cut(checked, ladders)
    statements = [asked, *(one.statement(policy) for one in ladders)]
    shares = (1 - part, *([part / len(ladders)] * len(ladders)))

    def passing(queries: Sequence[BoundedQuery]) -> Passes:
        own = queries[: len(asked.demands)]
        run = merged([*own, *(query for one in ladders for query in one.passes)])
        places: list[Place] = list(run.places[: len(own)])
        for at, one in enumerate(ladders):
            counted, total = run.places[len(own) + 2 * at : len(own) + 2 * at + 2]
            places.append(_OnLadder(one, counted, total))
        return Passes(run.bounded, tuple(places))

    together = f"-- with what the limits cut, at {text(part)} of the price\n{asked.question}"
    return make_plan(
        statements,
        policy,
        price,
        [expected_rows, *([None] * len(ladders))],
        share_apart if before and not checked.query.sets else share,
        shares,
        together,
        passing,
    )


def shown(plan: Plan) -> Plan:
    """The plan of the question itself, which says what the rest of the price is for."""
    own, *others = plan.plans
    aside = list[str]()
    for one in others:
        (line,) = one.lines
        ladder = _ladder(one)
        error = 0.0 if line.error is None else line.error / 2**STEPS
        about = f" {ladder.title}" if ladder.title else ""
        words = f"{float(one.shares[0]):.0%} of the price, ± {number(float(f'{error:.3g}'))} rows"
        aside.append(f"what the limits cut{about}: {words}; units of up to {number(ladder.top)} rows are looked at")
    return replace(own, aside=tuple(aside), engine_sql=plan.engine_sql)


@dataclass(frozen=True, slots=True)
class AnsweringWithCut:
    """The draw of a question and of what its limits cut, as a value that another process can be given."""

    plan: Plan

    def request(self) -> tuple[str, dict[str, object]]:
        """The same as a service is asked for it: where, and with what besides the price."""
        part = sum(self.plan.shares[1:], start=Fraction(0))
        return "answers", {"sql": self.plan.plans[0].question, "bias": text(part)}

    def __call__(self, engine: Engine, receipt: Receipt) -> bytes:
        found = [engine.run(one) for one in self.plan.passes.bounded]
        own, *others = self.plan.plans
        told = disclose(own, draw(own, own.integers(found)), receipt)
        cut = tuple(_drawn(one, found) for one in others)
        return replace(told, cut=cut).to_json(indent=None).encode()


def _drawn(plan: Plan, found: Sequence[Integers]) -> Cut:
    ladder = _ladder(plan)
    (drawn,) = draw_parts(plan, plan.integers(found), BETA / ladder.size)
    (estimate,) = drawn.estimates.values()
    assert isinstance(estimate, Estimate)  # a count
    return ladder.read(estimate, text(plan.shares[0]))


def _ladder(plan: Plan) -> Ladder:
    (place,) = plan.passes.places
    assert isinstance(place, _OnLadder)
    return place.ladder


@dataclass(frozen=True, slots=True)
class Ladder:
    """What is measured of the rows that the limits of one grouped question cut.

    Of a unit with n rows, of which the question counts k: min(n, most); min(n, most) - k; and n - most on the one step
    on which it stands, if n is more than ``most``. All are multiplied so that one unit moves each by ``reach`` at most.
    """

    title: str
    asked: BoundedQuery

    @property
    def most(self) -> int:
        """As many rows of a unit can count."""
        return self.asked.groups * self.asked.rows

    @property
    def top(self) -> int:
        """Beyond so many rows of a unit, nothing is looked at."""
        return self.most << STEPS

    @property
    def reach(self) -> int:
        """How far one unit moves each number."""
        return self.top

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return 2 + STEPS

    @property
    def factors(self) -> list[int]:
        """What each number is multiplied by."""
        return [1 << STEPS, 1 << STEPS, *(1 << STEPS - at for at in range(1, STEPS + 1))]

    @property
    def passes(self) -> tuple[BoundedQuery, BoundedQuery]:
        """What an engine is asked: the rows that count, and the rows of each unit up to each step and one beyond."""
        counted = replace(self.asked, measures=(Measure(One(), 0, self.asked.rows, chosen=False),))
        tops = tuple(Measure(One(), 0, top, chosen=False) for top in self._tops())
        return counted, replace(
            self.asked, where=_listed(self.asked), keys=(), public_keys=((),), groups=1, measures=tops
        )

    def _tops(self) -> list[int]:
        steps = [self.most << at for at in range(STEPS + 1)]
        return sorted({*steps, *(one + 1 for one in steps[:-1])})

    def exact(self, counted: Integers, total: Integers) -> list[int]:
        """The numbers, from the engine's integers; private."""
        kept = sum(sum(_sums(one)) for one in counted.measures)
        up_to = {top: sum(_sums(one)) for top, one in zip(self._tops(), total.measures, strict=True)}
        steps = [self.most << at for at in range(STEPS + 1)]
        beyond = {one: up_to[one + 1] - up_to[one] for one in steps[:-1]}  # units with more rows
        beyond[steps[-1]] = 0  # the last step is open: who has more stands on it, cut off
        made = [up_to[self.most], up_to[self.most] - kept]
        for low, high in pairwise(steps):
            inside = up_to[high] - up_to[low] - (high - low) * beyond[high]
            made.append(inside + (low - self.most) * (beyond[low] - beyond[high]))
        return [one * factor for one, factor in zip(made, self.factors, strict=True)]

    def statement(self, policy: Policy) -> Statement:
        """The numbers as a question with one public group for each."""
        bins, key = tuple(range(self.size)), Column("step")
        measure = Measure(One(), 0, self.reach, chosen=False)
        check_steps(measure)
        query = Query(policy.table, (Output("rows", _ROWS),), keys=(key,))
        listed = tuple((one,) for one in bins)
        told = BoundedQuery(None, (key,), listed, policy.unit.column, _COORDINATES, 1, (measure,))
        taken = Taken(_ROWS, Setting(1, chosen=False), (Weighted(measure, Fraction(1)),), None)
        need = Need(Shares(Fraction(0), {measure: Fraction(1)}), _COORDINATES)
        return Statement(Checked(query, {}, (bins,)), (Demand((taken,), need, told, told),), called="WHAT LIMITS CUT")

    def read(self, estimate: Estimate, share: str) -> Cut:
        """What is said of the noisy numbers: post-processing. Steps that noise explains are left out."""
        factors = np.array(self.factors, dtype=np.float64)
        values = np.maximum(estimate.value / factors, 0.0)
        lows, highs = np.maximum(estimate.low / factors, 0.0), np.maximum(estimate.high / factors, 0.0)
        found = [at for at in range(2, self.size) if lows[at] > 0]
        last = max(found, default=1)

        def cut(numbers: np.ndarray) -> float:
            return float(numbers[1 : last + 1].sum())

        def part(whole: np.ndarray, numbers: np.ndarray) -> float:
            lost, steps = cut(numbers), float(numbers[2 : last + 1].sum())
            return min(lost / max(float(whole[0]) + steps, 1.0), 1.0)

        return Cut(
            what=self.title,
            rows=cut(values),
            low=cut(lows),
            high=cut(highs),
            part=part(values, values),
            part_low=part(highs, lows),
            part_high=part(lows, highs),
            seen=self.most << (last - 1),
            share=share,
        )


@dataclass(frozen=True, slots=True)
class _OnLadder:
    """Where the numbers of a ladder are found: in two passes."""

    ladder: Ladder
    counted: Place
    total: Place

    def of(self, found: Sequence[Integers]) -> Integers:
        exact = self.ladder.exact(self.counted.of(found), self.total.of(found))
        size = self.ladder.size
        return Integers((list(range(size)),), np.zeros(size, dtype=np.int64), (Sums.of(exact),))


def _frames(asked: Statement) -> dict[BoundedQuery, str]:
    """The grouped questions of a statement, each once whatever is measured in it, and what they are called."""
    made = dict[BoundedQuery, str]()
    for demand in asked.demands:
        made.setdefault(replace(demand.asked, measures=()), "" if demand.level is not None else demand.title)
    return made


def _refuse_if_nothing_is_cut(checked: Checked, ladders: Sequence[Ladder]) -> None:
    if any(one.asked.unit is None for one in ladders):
        raise NotPrivate("Each row is a unit here, so no limit cuts any: leave bias out. Nothing was spent.")
    if all(one.estimator == _COUNTS_UNITS for one in checked.query.aggregates()):
        allowed = "a question about rows: this one counts units, of which each counts once in a group"
        raise InvalidParameter("bias", given=checked.query.table, allowed=allowed, hint="Nothing was spent.")


def _listed(asked: BoundedQuery) -> Expression | None:
    """The condition under which a row counts if nothing is limited: WHERE, and a key that is listed."""
    conditions = [] if asked.where is None else [asked.where]
    for at, key in enumerate(asked.keys if asked.public_keys is not None else ()):
        values = dict.fromkeys(one[at] for one in asked.public_keys or ())
        known = tuple(Literal(one) for one in values if one is not None)
        either: list[Expression] = [Call("in", (key, *known))] if known else []
        either += [Call("is_null", (key,))] if None in values else []
        conditions.append(Call("or", tuple(either)) if len(either) > 1 else either[0] if either else Literal(False))
    if not conditions:
        return None
    return conditions[0] if len(conditions) == 1 else Call("and", tuple(conditions))


def _sums(found: object) -> list[int]:
    assert isinstance(found, Sums)
    return list(found)
