"""What would lower the errors of a plan: other plans are made and compared. Free, and independent of the data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from tacit.errors import TacitError
from tacit.ledger.amounts import readable
from tacit.tables.check.check import Checked
from tacit.tables.expressions.tree import Expression
from tacit.tables.plan.demands import statement_of
from tacit.tables.plan.forms import Forms
from tacit.tables.plan.parts import Line
from tacit.tables.plan.plan import Plan
from tacit.tables.plan.price import Price, three_digits_up
from tacit.tables.plan.text import Hint
from tacit.tables.policy.policy import Limits, Policy
from tacit.tables.query.tree import Aggregate, Output, Query

__all__ = ["hints_for"]

_STEPS = 3
_HALF = 0.505
"""Half, but for the whole steps that errors come in."""
_DEAREST = Fraction(64)
_BIT_MORE = Fraction(21, 20)
_TRIES = 12
_WORTH = 0.9
"""A change that leaves more than this of the error is not worth telling, unless nothing else is left."""

MOST_WORK = 4000
"""Lines of other plans that are made for the hints of one plan: an aggregate that comes after that gets none."""


def hints_for(plan: Plan, expected_rows: int | None = None) -> tuple[Hint, ...]:
    """For each aggregate whose error is known: the changes that halve it, or come nearest to that.

    Of a statement with very many aggregates only the first get hints: how many is a matter of its size alone.
    """
    found, others = list[Hint](), _Others(plan, expected_rows)
    for at, line in enumerate(plan.lines):
        if line.error:
            made = _Line(plan, at, line, line.error, others).hints()
            if others.left < 0:
                break
            found += made
    return tuple(found)


class _Others:
    """Plans of changed questions, of which lines with the same error want the same: each is made once."""

    def __init__(self, plan: Plan, rows: int | None) -> None:
        self._plan, self._rows = plan, rows
        self._forms = Forms(statement_of(plan.checked, plan.policy))
        self._known: dict[object, tuple[float | None, ...] | None] = {}
        self.left = MOST_WORK

    def errors(
        self, key: object, lines: int, checked: Checked | None, policy: Policy | None, price: Price | None
    ) -> tuple[float | None, ...] | None:
        """The errors of a plan of so many lines; None if there is no such plan, or no more of them may be made."""
        if key not in self._known:
            self.left -= -(-self._plan.size * lines // len(self._plan.lines))
            self._known[key] = self._made(checked, policy, price) if self.left >= 0 else None
        return self._known[key]

    def _made(
        self, checked: Checked | None, policy: Policy | None, price: Price | None
    ) -> tuple[float | None, ...] | None:
        try:
            forms = self._forms if checked is None and policy is None else None
            made = self._plan.remade(checked=checked, policy=policy, price=price, expected_rows=self._rows, forms=forms)
        except TacitError:
            return None
        return tuple(line.error for line in made.lines)


class _Line:
    """One aggregate of a plan, and other plans for the same question."""

    def __init__(self, plan: Plan, at: int, line: Line, error: float, others: _Others) -> None:
        self._plan, self._at, self._line, self._error, self._others = plan, at, line, error, others

    def hints(self) -> list[Hint]:
        made = [
            self._hint(change, error) for change, error in self._changes() if error is not None and error < self._error
        ]
        told = [one for one in made if one.halves or one.error <= _WORTH * self._error]
        return sorted(told, key=lambda one: (not one.halves, one.error))

    def _hint(self, change: str, error: float) -> Hint:
        return Hint(self._line.name, change, error, halves=self._halves(error))

    def _changes(self) -> Iterator[tuple[str, float | None]]:
        yield from self._dearer()
        limits = self._plan.policy.limits
        if self._plan.policy.unit.column is not None:
            if self._plan.bounded.groups > 1:
                yield from self._limit("groups", self._plan.bounded.groups, limits)
            if limits.rows > 1:
                yield from self._limit("rows", limits.rows, limits)
        if self._line.aggregate.bounds is not None or self._line.aggregate.group_bounds is not None:
            key = ("narrowed", self._line.aggregate)
            yield "bounds half as wide", self._with(key, checked=_narrowed(self._plan.checked, self._line.aggregate))
        if self._plan.keys is not None:
            listed = replace(self._plan.checked, key_domains=_listed(self._plan))
            yield "keys listed as public, shown even when empty", self._with("listed", checked=listed)
        if len(self._plan.lines) > 1:
            yield "this aggregate asked alone, the others not at all", self._alone()

    def _dearer(self) -> Iterator[tuple[str, float | None]]:
        """A price of three digits at which the error is half as large, near the smallest."""
        factor = Fraction(2)
        for _ in range(_STEPS):
            error = self._at_price(factor)
            if not error:
                return
            factor *= Fraction(error / (self._error / 2)).limit_denominator(10_000)
            factor = min(max(factor, Fraction(1)), _DEAREST)
        for _ in range(_TRIES):
            price = self._plan.asked
            main = three_digits_up(price.main * factor)
            error = self._with(main, price=price.scaled(main / price.main))
            if self._halves(error):
                yield f"{price.symbol} {readable(main)} instead of {readable(price.main)}", error
                return
            factor *= _BIT_MORE

    def _at_price(self, factor: Fraction) -> float | None:
        price = self._plan.asked
        return self._with(price.main * factor, price=price.scaled(factor))

    def _halves(self, error: float | None) -> bool:
        return error is not None and error <= _HALF * self._error

    def _limit(self, name: str, now: int, limits: Limits) -> Iterator[tuple[str, float | None]]:
        """The largest limit that halves the error; or 1, if none does."""
        tried, low, high = 1, 1, now
        while high - low > 1:
            middle = (low + high) // 2
            error = self._limited(name, middle, limits)
            if self._halves(error):
                tried = low = middle
            else:
                high = middle
        yield f"{name} = {tried} instead of {now} in [limits]", self._limited(name, tried, limits)

    def _limited(self, name: str, value: int, limits: Limits) -> float | None:
        changed = Limits(value, limits.rows) if name == "groups" else Limits(limits.groups, value)
        return self._with((name, value), policy=replace(self._plan.policy, limits=changed))

    def _alone(self) -> float | None:
        query = self._plan.checked.query
        alone = replace(query, outputs=(Output("alone", self._line.aggregate),), having=None, order=())
        return self._with(("alone", self._line.aggregate), checked=replace(self._plan.checked, query=alone), at=0)

    def _with(
        self,
        key: object,
        *,
        checked: Checked | None = None,
        policy: Policy | None = None,
        price: Price | None = None,
        at: int | None = None,
    ) -> float | None:
        """The error under a changed plan, which the key names; None if there is no such plan."""
        place, lines = (self._at, len(self._plan.lines)) if at is None else (at, 1)
        errors = self._others.errors(key, lines, checked, policy, price)
        return errors[place] if errors is not None and place < len(errors) else None


def _listed(plan: Plan) -> tuple[tuple[str, ...], ...]:
    """Stand-ins for public keys, enough of them for a unit to reach its limit of groups."""
    stand_ins = tuple(str(at) for at in range(plan.bounded.groups))
    return (stand_ins, *(("only",) for _ in plan.checked.key_domains[1:]))


def _narrowed(checked: Checked, aggregate: Aggregate) -> Checked:
    """The same question with the aggregate's bounds halved."""

    def half(pair: tuple[Fraction, Fraction] | None) -> tuple[Fraction, Fraction] | None:
        return None if pair is None else (pair[0] / 2, pair[1] / 2)

    changed = replace(aggregate, bounds=half(aggregate.bounds), group_bounds=half(aggregate.group_bounds))

    def visit(expression: Expression) -> Expression:
        if expression == aggregate:
            return changed
        if isinstance(expression, Aggregate):
            return expression
        return expression.with_parts(tuple(visit(part) for part in expression.parts()))

    query = checked.query
    narrowed: Query = replace(
        query,
        outputs=tuple(replace(one, expression=visit(one.expression)) for one in query.outputs),
        having=None if query.having is None else visit(query.having),
        order=tuple(replace(one, expression=visit(one.expression)) for one in query.order),
    )
    return replace(checked, query=narrowed)
