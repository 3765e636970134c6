"""Filters: budgets that stay valid when the analyst picks every price from earlier answers.

Only some sums survive that freedom: of ε and δ, of ρ and δ, of μ², and of a Rényi divergence at an order fixed
beforehand. A filter adds these exactly and refuses what would pass the budget. Nothing else may enter: a loss
distribution or an optimal composition prices a plan fixed in advance, so it is charged as the (ε,δ) it comes to, in an
ε/δ filter. Proofs and sources: docs/proofs/filters.md.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from fractions import Fraction
from typing import NoReturn

from tacit.errors import BudgetExceeded, InvalidParameter, NotPrivate
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.renyi import RenyiDP
from tacit.privacy.lasting import Readings, Spent, half_square
from tacit.privacy.prices import failure_probability, float_down, read_up, text
from tacit.privacy.promise import Promise, same_neighbours

_FINEST = 1 << 4096  # sums are exact down to this fraction; decimal prices never come near it


class Filter:
    """A budget of one kind that many costs, chosen one after the other, can never exceed together.

    The budget's kind is the filter's: `PureDP` and `ApproxDP` add ε and δ (Rogers et al. 2016), `ZCDP` adds ρ and δ
    (Feldman & Zrnic 2021; Whitehouse et al. 2023), `GaussianDP` adds μ² (Smith & Thakurta 2022), `RenyiDP` adds at its
    order (Feldman & Zrnic 2021). Costs of another kind enter by a conversion that exists. Safe to share by threads.

    >>> from tacit.privacy import PureDP
    >>> budget = Filter(PureDP(1))
    >>> for _ in range(10):
    ...     _ = budget.spend(PureDP(0.1))
    >>> budget.remaining, budget.allows(PureDP("1e-100"))
    (PureDP(0), False)
    """

    __slots__ = ("_account",)

    def __init__(self, budget: Guarantee) -> None:
        if not isinstance(budget, Guarantee):
            allowed = "one guarantee, such as ApproxDP(3, 1e-5) or ZCDP(0.5)"
            hint = "A composition is no budget: convert it first, for example with .to(ApproxDP, delta=1e-6)."
            raise InvalidParameter("budget", given=budget, allowed=allowed, hint=hint)
        self._account = _Account([budget])

    @property
    def budget(self) -> Guarantee:
        """The promise that holds however the filter is used."""
        return self._account.budgets[0]

    @property
    def spent(self) -> Guarantee:
        """What has been charged so far. An odometer's reading, not a guarantee: only the budget is one."""
        return self._account.spent()[0]

    @property
    def remaining(self) -> Guarantee:
        """What is left of the budget."""
        return self._account.remaining()[0]

    def allows(self, cost: object, *, delta: object = None) -> bool:
        """Whether ``cost`` fits in what is left; spends nothing."""
        return self._account.fits(self._account.prices(cost, delta))

    def spend(self, cost: object, *, delta: object = None) -> Guarantee:
        """Charge ``cost`` and return the charge; `BudgetExceeded`, and nothing spent, if it does not fit.

        A cost is a guarantee or has one. In an ε/δ filter, ``delta`` says where to evaluate a cost that has no single
        (ε,δ): zCDP, Gaussian DP, a composition, a loss distribution.
        """
        return self._account.spend(cost, delta)[0]

    def __reduce__(self) -> NoReturn:
        raise _no_copies()

    def __repr__(self) -> str:
        return f"<Filter: {self.spent} charged of {self.budget}>"


class OrderFilter:
    """A Rényi budget at each of several orders fixed beforehand; a cost must fit at *every* one of them.

    >>> both = OrderFilter([RenyiDP(2, 1), RenyiDP(32, 4)])
    >>> from tacit.privacy import ZCDP
    >>> both.allows(ZCDP("0.125")), both.allows(ZCDP("0.126"))
    (True, False)
    """

    __slots__ = ("_account",)

    def __init__(self, budgets: Sequence[RenyiDP]) -> None:
        listed = list(budgets)
        orders = [budget.alpha for budget in listed if isinstance(budget, RenyiDP)]
        if not listed or len(orders) < len(listed) or len(set(orders)) < len(orders):
            allowed = "one RenyiDP budget for each of one or more different orders"
            raise InvalidParameter("budgets", given=budgets, allowed=allowed)
        for budget in listed:
            same_neighbours(listed[0], budget, "held together")
        self._account = _Account(listed)

    @property
    def budget(self) -> tuple[Guarantee, ...]:
        """The promises that all hold however the filter is used."""
        return tuple(self._account.budgets)

    @property
    def spent(self) -> tuple[Guarantee, ...]:
        """What has been charged so far at each order: a reading, not a guarantee."""
        return self._account.spent()

    @property
    def remaining(self) -> tuple[Guarantee, ...]:
        """What is left at each order."""
        return self._account.remaining()

    def allows(self, cost: object) -> bool:
        """Whether ``cost`` fits at every order; spends nothing."""
        return self._account.fits(self._account.prices(cost, None))

    def spend(self, cost: object) -> tuple[Guarantee, ...]:
        """Charge ``cost`` at every order and return the charges; all or nothing."""
        return self._account.spend(cost, None)

    def __reduce__(self) -> NoReturn:
        raise _no_copies()

    def __repr__(self) -> str:
        return f"<OrderFilter: {self.spent} charged of {self.budget}>"


class LastingFilter:
    """An ε/δ budget with a δ′ set aside, which many small costs, chosen one after the other, can never exceed together.

    >>> from tacit.privacy import PureDP
    >>> budget, questions = LastingFilter(ApproxDP(3, 1e-8), set_aside=1e-8), 0
    >>> while budget.allows(PureDP(0.03)):
    ...     questions, _ = questions + 1, budget.spend(PureDP(0.03))
    >>> questions                                            # 100 by the sum alone
    303
    """

    __slots__ = ("_lock", "_spent", "budget", "readings")

    def __init__(self, budget: Promise, *, set_aside: object) -> None:
        pair = budget.as_approx() if isinstance(budget, Promise) else None
        if pair is None:
            allowed = "an (ε, δ) budget, such as ApproxDP(3, 1e-8): others add up by themselves"
            raise InvalidParameter("budget", given=budget, allowed=allowed)
        self.budget = ApproxDP(*pair, neighbours=budget.neighbours)
        self.readings = Readings(*pair, failure_probability(set_aside, "set_aside"))
        self._spent = Spent()
        self._lock = threading.Lock()

    @property
    def spent(self) -> Spent:
        """What has been charged so far: sums, not a guarantee. Only the budget is one."""
        return self._spent

    @property
    def remaining(self) -> ApproxDP:
        """The largest cost that fits now, by whichever reading leaves more."""
        spent, both = self._spent, self.readings
        most = max(both.left_by_sum(spent), both.left_by_squares(spent))
        return ApproxDP(most, both.left_delta(spent), neighbours=self.budget.neighbours)

    def allows(self, cost: object) -> bool:
        """Whether ``cost`` fits; spends nothing."""
        return self.readings.allows(self._spent + self._charge(cost))

    def spend(self, cost: object) -> ApproxDP:
        """Charge ``cost`` and return the charge; `BudgetExceeded`, and nothing spent, if it fits by neither reading."""
        charge = self._charge(cost)
        made = ApproxDP(charge.epsilon, charge.delta, neighbours=self.budget.neighbours)
        with self._lock:
            after = self._spent + charge
            if self.readings.allows(after):
                self._spent = after
                return made
        left = self.remaining
        raise BudgetExceeded(asked=made, left=left, fits=f"{left} would fit.")

    def _charge(self, cost: object) -> Spent:
        """A cost as (ε, δ): of what has no such pair by itself, the evaluated one is charged."""
        promise = getattr(cost, "guarantee", cost)
        if not isinstance(promise, Promise):
            allowed = "a guarantee that is (ε, δ)-DP, such as PureDP(0.1), or a mechanism that has one"
            raise InvalidParameter("cost", given=cost, allowed=allowed)
        same_neighbours(self.budget, promise, "charged to one budget")
        pair = promise.to(ApproxDP)
        return Spent(pair.eps, pair.dlt, half_square(pair.eps))

    def __reduce__(self) -> NoReturn:
        raise _no_copies()

    def __repr__(self) -> str:
        return f"<LastingFilter: Σε {text(self._spent.epsilon)} charged of {self.budget}>"


class _Account:
    """Exact running sums against one or more budgets, under a lock."""

    __slots__ = ("_lock", "_sums", "budgets")

    def __init__(self, budgets: Sequence[Guarantee]) -> None:
        self.budgets = list(budgets)
        self._sums = [tuple(Fraction(0) for _ in budget.amounts()) for budget in budgets]
        self._lock = threading.Lock()

    def prices(self, cost: object, delta: object) -> tuple[Guarantee, ...]:
        """The cost in each budget's kind, or an error that says why it has none."""
        return tuple(_price(budget, cost, delta) for budget in self.budgets)

    def fits(self, prices: tuple[Guarantee, ...]) -> bool:
        with self._lock:
            return self._after(prices) is not None

    def spend(self, cost: object, delta: object) -> tuple[Guarantee, ...]:
        prices = self.prices(cost, delta)
        with self._lock:
            after = self._after(prices)
            if after is not None:
                self._sums = after
                return prices
        left = self.remaining()
        several = len(prices) > 1
        fits = "At every order the cost must fit." if several else f"{left[0]} would fit."
        raise BudgetExceeded(asked=prices if several else prices[0], left=left if several else left[0], fits=fits)

    def spent(self) -> tuple[Guarantee, ...]:
        with self._lock:
            sums = self._sums
        return tuple(budget.of_amounts(*total) for budget, total in zip(self.budgets, sums, strict=True))

    def remaining(self) -> tuple[Guarantee, ...]:
        with self._lock:
            sums = self._sums
        return tuple(
            budget.of_amounts(*(most - used for most, used in zip(budget.amounts(), total, strict=True)))
            for budget, total in zip(self.budgets, sums, strict=True)
        )

    def _after(self, prices: tuple[Guarantee, ...]) -> list[tuple[Fraction, ...]] | None:
        """The sums after the charge, or None if any would pass its budget."""
        found = []
        for budget, total, price in zip(self.budgets, self._sums, prices, strict=True):
            new = tuple(_bounded(used + more) for used, more in zip(total, price.amounts(), strict=True))
            if any(used > most for used, most in zip(new, budget.amounts(), strict=True)):
                return None
            found.append(new)
        return found


def _price(budget: Guarantee, cost: object, delta: object) -> Guarantee:
    """``cost`` as a guarantee of the budget's kind."""
    promise = getattr(cost, "guarantee", cost)
    evaluated = isinstance(budget, ApproxDP)
    if delta is not None and not evaluated:
        raise InvalidParameter("delta", given=delta, allowed="no delta: only an ε/δ filter evaluates a cost at one")
    if not isinstance(promise, Promise):
        return _evaluated(budget, cost if promise is None else promise, delta)
    same_neighbours(budget, promise, "charged to one budget")
    return promise.to(ApproxDP, delta=delta) if evaluated else budget.price_of(promise)


def _evaluated(budget: Guarantee, loss: object, delta: object) -> Guarantee:
    """A loss distribution as the (ε,δ) it comes to: only an ε/δ filter may add that up."""
    evaluate = getattr(loss, "epsilon", None)
    if not callable(evaluate) or not hasattr(loss, "neighbours"):
        allowed = "a guarantee, a loss distribution, or something that has a guarantee"
        raise InvalidParameter("cost", given=loss, allowed=allowed)
    if not isinstance(budget, ApproxDP):
        reason = "It prices a plan fixed in advance, and its sums are not valid when prices are chosen from answers."
        hint = "Charge it to an ε/δ filter: Filter(ApproxDP(...)).spend(loss, delta=...)."
        raise NotPrivate(f"A loss distribution cannot be charged to a {type(budget).__name__} filter. {reason} {hint}")
    if delta is None:
        hint = "Write .spend(loss, delta=1e-6)."
        raise InvalidParameter("delta", given=None, allowed="the δ at which to evaluate the loss", hint=hint)
    level = failure_probability(delta)
    epsilon = evaluate(float_down(level))
    if epsilon == float("inf"):
        raise NotPrivate(f"The loss has no ε at δ = {delta}: it reveals everything with a larger probability.")
    made = ApproxDP(read_up(epsilon), level, neighbours=loss.neighbours)
    same_neighbours(budget, made, "charged to one budget")
    return made


def _bounded(total: Fraction) -> Fraction:
    """The sum, rounded up if it needs more than 4096 bits after the point: so that every spend costs the same."""
    if total.denominator <= _FINEST:
        return total
    return Fraction(-(-total.numerator * _FINEST // total.denominator), _FINEST)


def _no_copies() -> NotPrivate:
    return NotPrivate("A filter cannot be copied or pickled: two copies could each spend the whole budget.")
