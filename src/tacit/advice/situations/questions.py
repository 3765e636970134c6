"""A question about a table: whether to pay for it in ε or in ρ."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.advice.options import LeftOut, Way
from tacit.errors import InvalidParameter
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.privacy.neighbours import ADD_REMOVE, Neighbours
from tacit.tables.plan.parts import Line
from tacit.tables.plan.plan import Plan, planned
from tacit.tables.session.table import Question

__all__ = ["TableQuestion"]

_BETA = Fraction(1, 20)
_SOME_PRICE = ApproxDP(1, "1e-6")


@dataclass(frozen=True, slots=True)
class TableQuestion:
    """A question such as ``people.query("SELECT ...")``; a mean's error needs the rows that a group may have.

    The plan is made from the policy and the question alone. A price without δ is taken with the policy's δ per
    question, as `tacit ask` takes it.
    """

    question: Question
    expected_rows: int | None = None

    def __post_init__(self) -> None:
        if not all(hasattr(self.question, name) for name in ("plan", "to_sql")):
            allowed = "a question of an open table"
            hint = 'Say TableQuestion(people.query("SELECT …")).'
            raise InvalidParameter("question", given=self.question, allowed=allowed, hint=hint)

    @property
    def neighbours(self) -> Neighbours:
        return ADD_REMOVE

    def title(self) -> str:
        return self.question.to_sql()

    def measured_as(self, beta: str) -> str:
        if Fraction(beta) != _BETA:
            raise InvalidParameter(
                "beta", given=beta, allowed="0.05: plans say what noise exceeds once in twenty times"
            )
        lines = self._plan(_SOME_PRICE).lines
        ranks = ", of a median or another rank in rows" if any(line.pick is not None for line in lines) else ""
        several = "; of several outputs the largest" if len(lines) > 1 else ""
        return f"the error in each group{ranks}, exceeded once in twenty times{several}"

    def ways(self) -> Iterable[Way]:
        if any(_error_of(line) is None for line in self._plan(_SOME_PRICE).lines):
            hint = "Say expected_rows=20000: a mean's error depends on the rows of a group."
            given = self.expected_rows
            raise InvalidParameter(
                "expected_rows", given=given, allowed="how many rows you expect in a group", hint=hint
            )
        typed = f"{self.question.policy.table}.sql({self.question.to_sql()!r}, {{price}})"
        yield Way(
            "noise for ε",
            (PureDP, ApproxDP),
            self._planned,
            _error,
            typed,
            "like the groups of a unit",
            f"keeps ε, in a ledger that adds up ε and δ{self._elsewhere('epsilon')}",
            scale=_scale,
        )
        yield Way(
            "noise for ρ",
            (ZCDP,),
            self._planned,
            _error,
            typed,
            "like the root of a unit's groups",
            "keeps ρ, in a ledger that adds up ρ: for many questions, and units in many groups"
            f"{self._elsewhere('rho')}",
            scale=_scale,
        )

    def _elsewhere(self, flavour: str) -> str:
        own = self.question.policy.terms.flavour.name
        return "" if own == flavour else f"; this policy's budget is in {own}, so it is for a policy to come"

    def never(self) -> Iterable[LeftOut]:
        return ()

    def _planned(self, promise: Any) -> _Planned:
        delta = self.question.policy.delta
        if isinstance(promise, ZCDP):
            price: ApproxDP | ZCDP = promise if promise.dlt else ZCDP(promise.rho, delta)
        else:
            price = ApproxDP(promise.eps, promise.dlt if isinstance(promise, ApproxDP) else delta)
        return _Planned(self._plan(price), promise)

    def _plan(self, price: ApproxDP | ZCDP) -> Plan:
        return planned(self.question.checked, self.question.policy, price, self.expected_rows)


@dataclass(frozen=True, slots=True)
class _Planned:
    plan: Plan
    promise: Guarantee

    @property
    def guarantee(self) -> Guarantee:
        """What was asked for; where the keys take the policy's δ, what is charged."""
        cost = self.plan.cost
        return self.promise if getattr(self.promise, "dlt", 0) or not getattr(cost, "dlt", 0) else cost


def _error_of(line: Line) -> float | None:
    return line.error if line.pick is None else line.pick[1].accuracy(_BETA)


def _error(made: _Planned, beta: Fraction) -> float:
    return max(_error_of(line) or 0.0 for line in made.plan.lines)


def _scale(made: _Planned) -> float:
    """The largest noise on what is counted or added up, in its own units; of a choice, in rows."""
    noises = [
        float(mechanism.scale) * float(own.measure.step)
        for line in made.plan.lines
        for own, mechanism in zip(line.parts, line.mechanisms, strict=True)
    ]
    return max((*noises, *(line.pick[1].scale for line in made.plan.lines if line.pick is not None)), default=math.nan)
