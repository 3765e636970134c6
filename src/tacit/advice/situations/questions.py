"""A question about a table: whether to pay for it in ε or in ρ."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.advice.options import LeftOut, Way
from tacit.errors import InvalidParameter
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.privacy.neighbours import ADD_REMOVE, Neighbours
from tacit.tables.plan.plan import Plan, planned
from tacit.tables.session.table import Question

__all__ = ["TableQuestion"]

_BETA = Fraction(1, 20)


@dataclass(frozen=True, slots=True)
class TableQuestion:
    """A question such as ``people.query("SELECT ...")``; a mean's error needs the rows that a group may have.

    The plan is made from the policy and the question alone.
    """

    question: Question
    expected_rows: int | None = None

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
        return "the error in each group, exceeded once in twenty times; of several outputs the geometric mean"

    def ways(self) -> Iterable[Way]:
        typed = f"{self.question.policy.table}.sql({self.question.to_sql()!r}, {{price}})"
        yield Way(
            "noise for ε",
            (PureDP, ApproxDP),
            self._planned,
            _error,
            typed,
            "like the groups of a unit",
            "keeps ε, in a ledger that adds up ε and δ",
            scale=_scale,
        )
        yield Way(
            "noise for ρ",
            (ZCDP,),
            self._planned,
            _error,
            typed,
            "like the root of a unit's groups",
            "keeps ρ, in a ledger that adds up ρ: for many questions, and units in many groups",
            scale=_scale,
        )

    def never(self) -> Iterable[LeftOut]:
        return ()

    def _planned(self, promise: Any) -> _Planned:
        made = self.question.checked
        price = ApproxDP(promise.eps, 0) if isinstance(promise, PureDP) else promise
        plan = planned(made, self.question.policy, price, self.expected_rows)
        return _Planned(plan, promise)


@dataclass(frozen=True, slots=True)
class _Planned:
    plan: Plan
    guarantee: Any


def _error(made: _Planned, beta: Fraction) -> float:
    errors = [line.error for line in made.plan.lines]
    if any(error is None for error in errors):
        hint = "A mean's error depends on the rows of a group: say expected_rows=20000."
        raise InvalidParameter("expected_rows", given=None, allowed="how many rows you expect in a group", hint=hint)
    return math.exp(sum(math.log(max(float(error or 0), 1e-300)) for error in errors) / len(errors))


def _scale(made: _Planned) -> float:
    return max((float(one.scale) for line in made.plan.lines for one in line.mechanisms), default=math.nan)
