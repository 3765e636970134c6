"""Workloads of counts that add up: all levels are sums of the same finest cells, measured in one pass, then fitted.

A unit is bounded once, in the finest cells; a coarser count is the sum of bounded cells and not a count bounded anew,
so that the sums hold for what is measured and not only roughly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.ledger import Receipt
from tacit.mechanisms.shared.estimate import BETA, Estimate
from tacit.privacy import Guarantee
from tacit.report.columns import Column as Released
from tacit.report.disclosure import Disclosure, GroupRule
from tacit.tables.engines.access import Access
from tacit.tables.engines.contract import Engine
from tacit.tables.expressions.tree import Value
from tacit.tables.plan.demands import Statement
from tacit.tables.plan.joint import share_alike
from tacit.tables.plan.parts import Part
from tacit.tables.plan.plan import Plan, make_plan
from tacit.tables.plan.price import Price, read_price
from tacit.tables.query.to_sql import to_sql
from tacit.tables.release.answer import Answer
from tacit.tables.release.batch_answers import Answers
from tacit.tables.release.disclose import describe, noises
from tacit.tables.release.draw import Drawn, draw_parts

__all__ = ["AnsweringLevels", "ConsistentAnswers", "Said", "Sum", "Workload"]

MOST = 3000
"""Released numbers of one workload."""

Floats = npt.NDArray[np.float64]
Names = tuple[tuple[str, ...], ...]
"""For each level the columns that name its blocks."""
Said = tuple[tuple[str, object], ...]
"""What was said besides the question about the finest groups: levels and weights, or a key and its branching."""


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum of consistent counts and its 95% interval."""

    value: float
    low: float
    high: float


class Workload:
    """Counts at several levels that add up. Made by `Table.margins` and `Table.ranges`; free until it is asked."""

    def __init__(self, access: Access, statement: Statement, columns: Names, said: Said) -> None:
        if sum(len(one.bounded.public_keys or ()) for one in statement.demands) > MOST:
            raise InvalidParameter("levels", given="too many groups", allowed=f"at most {MOST} counts in all")
        self._access = access
        self._statement = statement
        self._columns = columns
        self._said = said

    def plan(
        self, *, epsilon: object = None, delta: object = None, rho: object = None, price: Guarantee | None = None
    ) -> Plan:
        """The noise of each level and its errors, before and after all are fitted. Free."""
        return self._plan(read_price(self._access.policy, epsilon=epsilon, delta=delta, rho=rho, price=price))

    def ask(
        self,
        *,
        epsilon: object = None,
        delta: object = None,
        rho: object = None,
        price: Guarantee | None = None,
        fresh: bool = False,
    ) -> ConsistentAnswers:
        """Pay once and get an answer per level; every count is the sum of those below it."""
        drawn = self.answering(epsilon=epsilon, delta=delta, rho=rho, price=price)
        claim = self._access.paid(drawn.plan.question, drawn.plan.cost, drawn, fresh=fresh)
        assert claim.answer is not None
        return ConsistentAnswers(tuple(Answers.read(claim.answer, claim.receipt)), claim.receipt, drawn.plan)

    def answering(
        self, *, epsilon: object = None, delta: object = None, rho: object = None, price: Guarantee | None = None
    ) -> AnsweringLevels:
        """The draw at a price, to be paid for."""
        plan = self.plan(epsilon=epsilon, delta=delta, rho=rho, price=price)
        return AnsweringLevels(plan, self._columns, self._said)

    def _plan(self, price: Price) -> Plan:
        return make_plan([self._statement], self._access.policy, price, sharing=share_alike)


@dataclass(frozen=True, slots=True)
class AnsweringLevels:
    """The draw of a workload, as a value that another process can be given."""

    plan: Plan
    columns: Names
    said: Said

    def request(self) -> tuple[str, dict[str, object]]:
        """The same as a service is asked for it: where, and with what besides the price."""
        sql = to_sql(self.plan.checked.query)
        return "workloads", {"sql": sql, **dict(self.said), "question": self.plan.question}

    def __call__(self, engine: Engine, receipt: Receipt) -> bytes:
        found = [engine.run(one) for one in self.plan.passes.bounded]
        drawn = draw_parts(self.plan, self.plan.integers(found), BETA)
        levels = zip(self.plan.parts, drawn, self.columns, strict=True)
        return Answers.written([self._told(part, own, names, receipt) for part, own, names in levels])

    def _told(self, part: Part, drawn: Drawn, names: Sequence[str], receipt: Receipt) -> Disclosure:
        (fitted,), (measured,) = drawn.estimates.values(), drawn.measured
        assert isinstance(fitted, Estimate)  # a count
        named = (Released(name, tuple(cells)) for name, cells in zip(names, drawn.keys, strict=True))
        return describe(
            self.plan.policy,
            receipt,
            question=f"{self.plan.question}\n-- {part.demand.title}",
            limits=(self.plan.bounded.groups, self.plan.bounded.rows),
            rule=GroupRule("public", f"{drawn.size} public groups, shown even when empty"),
            noise=tuple(
                replace(one, outputs=("n", "measured"), measure="rows") for one in noises(part, self.plan.checked.query)
            ),
            columns=(
                *named,
                Released.of("n", fitted.value, fitted.low, fitted.high),
                Released.of("measured", measured.values, *measured.interval(BETA), whole=True),
            ),
            remarks=(
                f"Level {part.demand.at + 1} of {len(self.plan.parts)} that were asked together at one price. n fits "
                "all levels by weighted least squares, so that counts add up; it is not rounded, for rounding would "
                "break the sums. measured is the number with its own noise.",
                "Limits apply to the finest groups; coarser counts are sums of those.",
            ),
        )


class ConsistentAnswers(Answers):
    """Answers of a workload, one per level; counts add up."""

    __slots__ = ("_plan",)

    def __init__(self, answers: tuple[Answer, ...], receipt: Receipt, plan: Plan) -> None:
        super().__init__(answers, receipt)
        self._plan = plan

    @property
    def finest(self) -> Answer:
        """The answer of the finest level."""
        for part, answer in zip(self._plan.parts, self, strict=True):
            if part.demand.level is not None and part.demand.level.is_finest:
                return answer
        raise InvalidParameter("finest level", given="not asked for", allowed="a workload that contains it")

    def between(self, first: Value, last: Value) -> Sum:
        """The count of a range of an ordered key, both ends in it, with its own interval; free."""
        column = self.finest.columns[0]
        keys = list(self.finest[column].values)
        if first not in keys or last not in keys or keys.index(first) > keys.index(last):
            raise InvalidParameter("range", given=(first, last), allowed=f"two values of {column}, in their order")
        wanted = np.zeros(len(keys))
        wanted[keys.index(first) : keys.index(last) + 1] = 1.0
        return self.total(wanted)

    def total(self, weights: Sequence[float] | Floats) -> Sum:
        """Any weighted sum of the finest counts, with its own interval; free."""
        counts = np.array(self.finest["n"].values, dtype=np.float64)
        try:
            wanted = np.asarray(weights, dtype=np.float64).reshape(1, -1)
        except (TypeError, ValueError):
            wanted = np.empty((1, 0))
        if wanted.shape[1] != len(counts) or not np.isfinite(wanted).all():
            raise InvalidParameter("weights", given=weights, allowed=f"{len(counts)} finite numbers")
        (fit,) = self._plan.fits()
        value, off = float((wanted @ counts)[0]), float(fit.errors(wanted, BETA)[0])
        return Sum(value, value - off, value + off)
