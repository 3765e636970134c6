"""The price that keeps errors within bounds, and what a smaller price would buy. Free."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from tacit.errors import InvalidParameter, TacitError
from tacit.ledger.amounts import readable
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.tables.plan.plan import Plan
from tacit.tables.plan.price import Price, three_digits_up
from tacit.tables.policy.policy import Policy

__all__ = ["price_within", "what_fits"]


def price_within(make: Callable[[Price], Plan], policy: Policy, targets: dict[str, float], delta: Fraction) -> Plan:
    """The plan with the smallest price, to three digits, whose errors are within the targets; never below the least."""
    for output, target in targets.items():
        if not (isinstance(target, int | float) and math.isfinite(target) and target > 0):
            raise InvalidParameter(f"within {output}", given=target, allowed="an error above 0")

    def plan_at(main: Fraction) -> Plan:
        rho = policy.terms.flavour.name == "rho"
        return make(ZCDP(main, delta) if rho else ApproxDP(main, delta))

    def meets(main: Fraction) -> bool:
        plan = plan_at(main)
        for output, target in targets.items():
            line = plan.line(output)
            error = line.error
            if error is None and line.pick is not None:
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
    return plan_at(max(three_digits_up(top), policy.terms.smallest))


def what_fits(plan: Plan, left: object) -> str:
    """What the first error of a plan would be at the price that is left, in words; nothing if no such plan exists."""
    if len(plan.statements) > 1 or not isinstance(left, ApproxDP | ZCDP) or left.main < plan.policy.terms.smallest:
        return ""
    delta = min(plan.asked.dlt, left.dlt)
    try:
        smaller = plan.remade(price=left.with_leak(delta))
    except TacitError:
        return ""
    pairs = zip(plan.lines, smaller.lines, strict=True)
    errors = [(one.error, other.error) for one, other in pairs if one.error is not None and other.error is not None]
    before, after = (f"± {errors[0][at]:.4g}" if errors else "" for at in (0, 1))
    return (
        ""
        if before == after
        else f"At {left.symbol} {readable(left.main)} the error would be {after} instead of {before}."
    )
