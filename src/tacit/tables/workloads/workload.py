"""Workloads of counts that add up: all levels are sums of the same finest cells, measured in one pass, then reconciled.

A unit is bounded once, in the finest cells; a coarser count is the sum of bounded cells and not a count bounded anew,
so that the sums hold for what is measured and not only roughly.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.ledger import Receipt
from tacit.mechanisms.base import AdditiveMechanism
from tacit.mechanisms.estimate import BETA
from tacit.privacy import Guarantee
from tacit.privacy.prices import text
from tacit.report.columns import Column as Released
from tacit.report.disclosure import Disclosure, GroupRule
from tacit.report.disclosure import Noise as Told
from tacit.tables.engines.access import Access
from tacit.tables.engines.contract import BoundedQuery, Engine, Integers, Measure
from tacit.tables.engines.sums import Sums
from tacit.tables.estimators.noise import Noise, noises_for, spread
from tacit.tables.expressions.tree import Value
from tacit.tables.fitting.least_squares import Reconciled, reconciliation
from tacit.tables.plan.joint import shares_of
from tacit.tables.plan.price import Price, read_price
from tacit.tables.release.answer import Answer
from tacit.tables.release.batch_answers import KIND, VERSION, Answers
from tacit.tables.release.disclose import describe
from tacit.tables.release.draw import placed, released
from tacit.tables.workloads.levels import MOST, Level

__all__ = ["ConsistentAnswers", "Sum", "Workload", "WorkloadPlan"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum of consistent counts and its 95% interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class WorkloadPlan:
    """How a workload would be answered at one price: free, and the same whatever the data are."""

    cost: Guarantee
    levels: tuple[Level, ...]
    shares: tuple[Fraction, ...]
    noise: Noise
    mechanisms: tuple[AdditiveMechanism, ...]
    """One per level."""
    fit: Reconciled

    @property
    def price(self) -> Guarantee:
        """What is charged."""
        return self.cost

    def errors(self) -> tuple[tuple[float, float], ...]:
        """Per level: the largest error (exceeded once in twenty times) as measured, and after all are reconciled."""
        found = []
        for level, mechanism in zip(self.levels, self.mechanisms, strict=True):
            after = self.fit.errors(level.sums(), BETA)
            found.append((float(mechanism.accuracy(BETA)), float(after.max())))
        return tuple(found)

    def __str__(self) -> str:
        lines = [f"price: {self.cost!r}, {self.noise.name} noise, one pass over the rows"]
        for level, part, mechanism, (before, after) in zip(
            self.levels, self.shares, self.mechanisms, self.errors(), strict=True
        ):
            noise = f"{float(part):.0%} of the price, scale {mechanism.scale:.4g}"
            errors = f"± {before:.4g} as measured, ± {after:.4g} consistent"
            lines.append(f"{level.name}: {len(level.labels)} counts, {noise}, {errors}")
        return "\n".join(lines)


class Workload:
    """Counts at several levels that add up. Made by `Table.margins` and `Table.ranges`; free until it is asked."""

    def __init__(
        self, access: Access, question: str, bounded: BoundedQuery, levels: Sequence[Level], weights: Sequence[Fraction]
    ) -> None:
        if sum(len(level.labels) for level in levels) > MOST:
            raise InvalidParameter("levels", given="too many groups", allowed=f"at most {MOST} counts in all")
        self._access = access
        self._policy = access.policy
        self._question = question
        self._bounded = bounded
        self._levels = tuple(levels)
        self._shares = shares_of(weights)

    def plan(
        self, *, epsilon: object = None, delta: object = None, rho: object = None, price: Guarantee | None = None
    ) -> WorkloadPlan:
        """The noise of each level and its errors, before and after reconciling. Free."""
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
        plan = self.plan(epsilon=epsilon, delta=delta, rho=rho, price=price)
        levels = ", ".join(f"{level.name}: {part}" for level, part in zip(self._levels, self._shares, strict=True))
        canonical = f"-- counts that add up ({levels})\n{self._question}"
        claim = self._access.paid(canonical, plan.cost, partial(self._drawn, plan, canonical), fresh=fresh)
        assert claim.answer is not None
        return ConsistentAnswers(tuple(Answers.read(claim.answer, claim.receipt)), claim.receipt, plan)

    def _plan(self, price: Price) -> WorkloadPlan:
        best: tuple[float, Noise, tuple[AdditiveMechanism, ...]] | None = None
        for noise in noises_for(price):
            made = tuple(self._mechanism(noise, at) for at in range(len(self._levels)))
            total = sum(spread(mechanism) ** 2 for mechanism in made)
            if best is None or total < best[0]:
                best = (total, noise, made)
        assert best is not None
        _, noise, mechanisms = best
        cost = price.with_leak(noise.guarantee.leak)
        sums = np.vstack([level.sums() for level in self._levels])
        each = tuple(mechanisms[at] for at, level in enumerate(self._levels) for _ in level.labels)
        return WorkloadPlan(cost, self._levels, self._shares, noise, mechanisms, reconciliation(sums, each))

    def _mechanism(self, noise: Noise, at: int) -> AdditiveMechanism:
        return noise.mechanism(self._shares[at], *self._measure(at))

    def _measure(self, at: int) -> tuple[Measure, int]:
        """What a level measures, and in how many blocks a unit is.

        One unit adds ``reach`` to at most p cells: to p blocks, or p times as much to one block.
        """
        (measure,) = self._bounded.measures
        assert isinstance(measure, Measure)  # counts only
        groups = self._bounded.groups
        if self._levels[at].is_finest:
            return measure, groups
        return replace(measure, high=measure.reach * groups, low=0), 1

    def __getstate__(self) -> dict[str, object]:
        """What the process that draws is given: all but the way to the ledger and the data."""
        return {name: value for name, value in self.__dict__.items() if name != "_access"}

    def _drawn(self, plan: WorkloadPlan, canonical: str, engine: Engine, receipt: Receipt) -> bytes:
        cells = self._cells(engine.run(self._bounded))
        measured = [self._measured(at, cells, mechanism) for at, mechanism in enumerate(plan.mechanisms)]
        estimates = plan.fit.estimates(np.concatenate(measured))
        told = [
            self._told(plan, at, canonical, values, estimates, receipt).to_dict() for at, values in enumerate(measured)
        ]
        body = {"kind": KIND, "version": VERSION, "answers": told}
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()

    def _cells(self, integers: Integers) -> Sums:
        """Every listed cell's bounded count, zeros included."""
        assert self._bounded.public_keys is not None
        (values,) = placed(self._bounded.public_keys, integers)
        assert isinstance(values, Sums)
        return values

    def _measured(self, at: int, cells: Sums, mechanism: AdditiveMechanism) -> Floats:
        level = self._levels[at]

        def add(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
            blocks = np.zeros(len(level.labels), dtype=np.int64)
            np.add.at(blocks, level.blocks, numbers)
            return blocks

        return released(mechanism, self._measure(at)[0], cells.summed(add))

    def _told(
        self, plan: WorkloadPlan, at: int, canonical: str, measured: Floats, estimates: Floats, receipt: Receipt
    ) -> Disclosure:
        level, mechanism = self._levels[at], plan.mechanisms[at]
        sums = level.sums()
        value, off = sums @ estimates, plan.fit.errors(sums, BETA)
        raw = float(mechanism.accuracy(BETA))
        named = tuple(Released(name, tuple(label[i] for label in level.labels)) for i, name in enumerate(level.columns))
        square = mechanism.sensitivity.square
        said = f"{mechanism.sensitivity.norm} " + (
            text(mechanism.sensitivity.value) if mechanism.sensitivity.is_exact else f"√{text(square)}"
        )
        return describe(
            self._policy,
            receipt,
            question=f"{canonical}\n-- {level.name}",
            limits=(self._bounded.groups, self._bounded.rows),
            rule=GroupRule("public", f"{len(level.labels)} public groups, shown even when empty"),
            noise=(
                Told(
                    ("n", "measured"),
                    "rows",
                    plan.noise.name,
                    mechanism.scale,
                    "1",
                    said,
                    text(self._shares[at]),
                    raw,
                ),
            ),
            columns=(
                *named,
                Released.of("n", value, value - off, value + off),
                Released.of("measured", measured, measured - raw, measured + raw, whole=True),
            ),
            remarks=(
                f"Level {at + 1} of {len(self._levels)} that were asked together at one price. n fits all levels by "
                "weighted least squares, so that counts add up; it is not rounded, for rounding would break the sums. "
                "measured is the number with its own noise.",
                "Limits apply to the finest groups; coarser counts are sums of those.",
            ),
        )


class ConsistentAnswers(Answers):
    """Answers of a workload, one per level; counts add up."""

    __slots__ = ("_plan",)

    def __init__(self, answers: tuple[Answer, ...], receipt: Receipt, plan: WorkloadPlan) -> None:
        super().__init__(answers, receipt)
        self._plan = plan

    @property
    def finest(self) -> Answer:
        """The answer of the finest level."""
        for level, answer in zip(self._plan.levels, self, strict=True):
            if level.is_finest:
                return answer
        raise InvalidParameter("finest level", given="not asked for", allowed="a workload that contains it")

    def between(self, first: Value, last: Value) -> Sum:
        """The count of a range of an ordered key, both ends in it, with its own interval; free."""
        column = self.finest.columns[0]
        keys = list(self.finest[column].values)
        if first not in keys or last not in keys or keys.index(first) > keys.index(last):
            raise InvalidParameter("range", given=(first, last), allowed=f"two values of {column}, in their order")
        wanted = np.zeros((1, len(keys)))
        wanted[0, keys.index(first) : keys.index(last) + 1] = 1.0
        return self.total(wanted[0])

    def total(self, weights: Sequence[float] | Floats) -> Sum:
        """Any weighted sum of the finest counts, with its own interval; free."""
        counts = np.array(self.finest["n"].values, dtype=np.float64)
        try:
            wanted = np.asarray(weights, dtype=np.float64).reshape(1, -1)
        except (TypeError, ValueError):
            wanted = np.empty((1, 0))
        if wanted.shape[1] != len(counts) or not np.isfinite(wanted).all():
            raise InvalidParameter("weights", given=weights, allowed=f"{len(counts)} finite numbers")
        value = float((wanted @ counts)[0])
        off = float(self._plan.fit.errors(wanted, BETA)[0])
        return Sum(value, value - off, value + off)
