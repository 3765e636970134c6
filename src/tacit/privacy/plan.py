"""A plan fixed in advance, and what it costs by each method there is.

A plan is a list of steps: a mechanism by name with its noise, perhaps on a Poisson sample, so many times.
`Plan.by_method` prices it by every bound that applies, so that a reader sees what a better theorem buys.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.errors import InvalidParameter
from tacit.privacy import renyi_curves
from tacit.privacy.composing import compose
from tacit.privacy.composition import Composition, Guarantee
from tacit.privacy.conversion import renyi_to_epsilon
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.gaussian import GaussianDP
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.prices import failure_probability, positive, price, times
from tacit.privacy.theorems import advanced

__all__ = ["FAMILIES", "Cost", "Plan", "Step"]

Curve = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class _Family:
    """How one mechanism is described: the names of its numbers, and what follows from them."""

    parameters: tuple[str, ...]
    loss: Callable[..., LossDistribution]
    promise: Callable[..., Guarantee]
    renyi: Callable[..., Curve] | None = None
    sampled_renyi: Callable[..., Curve] | None = None
    attained: bool = True
    """Whether some mechanism of this kind has this very loss, so that lower bounds on it bind."""


def _ratio(scale: Fraction, sensitivity: Fraction) -> float:
    return float(sensitivity / scale)


FAMILIES: dict[str, _Family] = {
    "laplace": _Family(
        ("scale", "sensitivity"),
        loss=LossDistribution.laplace,
        promise=lambda scale, sensitivity: PureDP(sensitivity / scale),
        renyi=lambda scale, sensitivity: lambda order: renyi_curves.laplace(order, _ratio(scale, sensitivity)),
        sampled_renyi=lambda rate, scale, sensitivity: (
            lambda order: renyi_curves.sampled_laplace(order, _ratio(scale, sensitivity), rate)
        ),
    ),
    "discrete-laplace": _Family(
        ("scale", "sensitivity"),
        loss=lambda scale, sensitivity: LossDistribution.discrete_laplace(scale, _whole(sensitivity)),
        promise=lambda scale, sensitivity: PureDP(sensitivity / scale),
        renyi=lambda scale, sensitivity: (
            lambda order: renyi_curves.discrete_laplace(order, float(1 / scale), _whole(sensitivity))
        ),
    ),
    "gaussian": _Family(
        ("scale", "sensitivity"),
        loss=LossDistribution.gaussian,
        promise=lambda scale, sensitivity: GaussianDP(sensitivity / scale),
        renyi=lambda scale, sensitivity: lambda order: renyi_curves.gaussian(order, _ratio(scale, sensitivity)),
        sampled_renyi=lambda rate, scale, sensitivity: (
            lambda order: renyi_curves.sampled_gaussian(order, _ratio(scale, sensitivity), rate)
        ),
    ),
    "discrete-gaussian": _Family(
        ("scale", "sensitivity"),
        loss=lambda scale, sensitivity: LossDistribution.discrete_gaussian(scale, _whole(sensitivity)),
        promise=lambda scale, sensitivity: ZCDP(sensitivity**2 / (2 * scale**2)),
    ),
    "randomized-response": _Family(
        ("epsilon", "categories"),
        loss=lambda epsilon, categories: LossDistribution.randomized_response(
            epsilon, _whole(categories), PureDP(0).neighbours
        ),
        promise=lambda epsilon, categories: PureDP(epsilon),
        renyi=lambda epsilon, categories: (
            lambda order: renyi_curves.randomized_response(order, float(epsilon), _whole(categories))
        ),
    ),
    "exponential": _Family(
        ("epsilon",),
        loss=lambda epsilon: LossDistribution.bounded_range(epsilon),
        promise=lambda epsilon: PureDP(epsilon),
        renyi=lambda epsilon: lambda order: renyi_curves.bounded_range(order, float(epsilon)),
        attained=False,
    ),
    "pure": _Family(
        ("epsilon",),
        loss=LossDistribution.pure,
        promise=lambda epsilon: PureDP(epsilon),
        renyi=lambda epsilon: lambda order: renyi_curves.pure(order, float(epsilon)),
    ),
    "approximate": _Family(
        ("epsilon", "failure"),
        loss=lambda epsilon, failure: LossDistribution.approximate(epsilon, failure),
        promise=lambda epsilon, failure: ApproxDP(epsilon, failure),
    ),
}
"""name: what it takes. ``scale`` is b for Laplace noise, σ for Gaussian noise; ``failure`` is the mechanism's own δ."""

_NAMES = {"renyi": "Rényi", "gaussian": "Gaussian DP", "optimal": "optimal composition", "basic": "basic composition"}

_DEFAULTS = {"sensitivity": Fraction(1), "categories": Fraction(2)}


def _whole(value: Fraction) -> int:
    if value.denominator != 1:
        raise InvalidParameter("sensitivity", given=float(value), allowed="a whole number for a law on whole numbers")
    return value.numerator


@dataclass(frozen=True, slots=True)
class Step:
    """One mechanism of a plan, used ``count`` times, each time on a fresh Poisson sample if ``sampling`` is below 1.

    >>> Step.of("gaussian", {"scale": 1}, sampling=0.01, count=10_000)
    Step(mechanism='gaussian', numbers=(('scale', Fraction(1, 1)), ('sensitivity', Fraction(1, 1))), sampling=Fraction(1, 100), count=10000)
    """  # noqa: E501

    mechanism: str
    numbers: tuple[tuple[str, Fraction], ...]
    sampling: Fraction = Fraction(1)
    count: int = 1

    @classmethod
    def of(cls, mechanism: str, numbers: Mapping[str, Any], *, sampling: object = 1, count: object = 1) -> Step:
        """A step from what people write; every number is checked, and named in the error if it cannot be used."""
        if mechanism not in FAMILIES:
            raise InvalidParameter("mechanism", given=mechanism, allowed=", ".join(sorted(FAMILIES)))
        wanted = FAMILIES[mechanism].parameters
        for name in numbers:
            if name not in wanted:
                raise InvalidParameter(name, given=numbers[name], allowed=f"for {mechanism}: {', '.join(wanted)}")
        read = []
        for name in wanted:
            value = numbers.get(name, _DEFAULTS.get(name))
            if value is None:
                raise InvalidParameter(name, given=None, allowed=f"a number above 0, which {mechanism} needs")
            read.append((name, failure_probability(value, name) if name == "failure" else positive(value, name)))
        rate = price(sampling, "sampling", allowed="a number from 0 to 1")
        if not 0 <= rate <= 1:
            raise InvalidParameter("sampling", given=sampling, allowed="a number from 0 to 1")
        return cls(mechanism, tuple(read), rate, times(count, "times"))

    @property
    def loss(self) -> LossDistribution:
        """The loss of all ``count`` uses."""
        one = FAMILIES[self.mechanism].loss(**dict(self.numbers))
        return self.count * (one if self.sampling == 1 else one.sampled(self.sampling))

    @property
    def promise(self) -> Guarantee | None:
        """The guarantee of one use, as the mechanism states it; none on a sample."""
        return FAMILIES[self.mechanism].promise(**dict(self.numbers)) if self.sampling == 1 else None

    @property
    def renyi(self) -> Curve | None:
        """The Rényi curve of all uses, where a closed form or a proven bound is known."""
        family, numbers = FAMILIES[self.mechanism], dict(self.numbers)
        one: Curve | None = None
        if self.sampling == 1:
            one = family.renyi(**numbers) if family.renyi else None
        elif family.sampled_renyi:
            one = family.sampled_renyi(float(self.sampling), **numbers)
        if one is None:
            return None
        found = one
        return lambda order: self.count * found(order)


@dataclass(frozen=True, slots=True)
class Cost:
    """What one method says a plan costs."""

    method: str
    epsilon: float


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps that are fixed in advance, about add-remove neighbours.

    >>> plan = Plan((Step.of("laplace", {"scale": 100}, count=1000),))
    >>> best = plan.by_method(1e-6)[0]
    >>> best.method, round(best.epsilon, 3)
    ('loss distribution', 1.363)
    """

    steps: tuple[Step, ...]

    def __post_init__(self) -> None:
        if not self.steps:
            raise InvalidParameter("plan", given=(), allowed="at least one step")

    @property
    def loss(self) -> LossDistribution:
        """The loss of the whole plan."""
        return LossDistribution.compose(step.loss for step in self.steps)

    def lower(self, delta: object) -> float | None:
        """An ε below which no proof can go, or None where the loss is only an upper bound on those it stands for."""
        if not all(FAMILIES[step.mechanism].attained for step in self.steps):
            return None
        return self.loss.epsilon_bounds(failure_probability(delta))[0]

    def repeated(self, count: int) -> Plan:
        """The plan with every step's count multiplied."""
        return Plan(tuple(Step(s.mechanism, s.numbers, s.sampling, s.count * count) for s in self.steps))

    def by_method(self, delta: object) -> tuple[Cost, ...]:
        """ε at this δ by every method that applies, the cheapest first; all are proven upper bounds."""
        leak = failure_probability(delta)
        costs = [Cost("loss distribution", self.loss.epsilon(leak)), *self._named(leak)]
        renyi = self._by_renyi(leak)
        if renyi is not None:
            costs.append(Cost("Rényi", renyi))
        least: dict[str, float] = {}
        for cost in costs:
            least[cost.method] = min(cost.epsilon, least.get(cost.method, math.inf))
        return tuple(sorted((Cost(name, value) for name, value in least.items()), key=lambda cost: cost.epsilon))

    def _by_renyi(self, delta: Fraction) -> float | None:
        curves = [step.renyi for step in self.steps]
        if not delta or any(curve is None for curve in curves):
            return None

        def total(order: float) -> float:
            return math.fsum(curve(order) for curve in curves if curve is not None)

        order = _best_order(total, max(float(delta), 5e-324))  # steers the search only
        divergence = total(order)
        return renyi_to_epsilon(Fraction(order), Fraction(divergence), delta) if math.isfinite(divergence) else None

    def _named(self, delta: Fraction) -> list[Cost]:
        """The theorems about guarantees: they need every step to state one."""
        promises = [step.promise for step in self.steps]
        if any(promise is None for promise in promises) or not any(step.count for step in self.steps):
            return []
        parts = [
            step.count * promise for step, promise in zip(self.steps, promises, strict=True) if promise is not None
        ]
        whole = compose(parts)
        bounds = whole.bounds(delta) if isinstance(whole, Composition) else {"basic": whole.epsilon(delta)}
        costs = [Cost(_NAMES.get(name, name), epsilon) for name, epsilon in bounds.items()]
        if len(self.steps) == 1 and promises[0] is not None:
            costs += _advanced(promises[0], self.steps[0].count, delta)
        return costs


def _best_order(curve: Curve, delta: float) -> float:
    """An order near the best, for curves that are dear to evaluate: any order is valid, so a short search will do."""

    def epsilon(order: float) -> float:
        return curve(order) + math.log1p(-1 / order) - math.log(delta * order) / (order - 1)

    found: dict[float, float] = {}
    for power in range(-6, 15):  # whole from 2 on, where sampled curves are cheap
        order = 1 + 2.0**power
        found[order] = epsilon(order)
        if order > 16 and found[order] > 2 * min(found.values()):
            break  # dearer and dearer, and ever slower to compute
    for _ in range(4):
        tried = sorted(found)
        best = tried.index(min(found, key=found.__getitem__))
        for left, right in ((best - 1, best), (best, best + 1)):
            if left >= 0 and right < len(tried):
                middle = (tried[left] + tried[right]) / 2
                order = float(round(middle)) if middle > 12 else middle
                if order not in found:
                    found[order] = epsilon(order)
    return min(found, key=found.__getitem__)


def _advanced(promise: Guarantee, count: int, delta: Fraction) -> list[Cost]:
    """Dwork & Roth's theorem, where some δ is left for its slack."""
    stated = promise.as_approx()
    if stated is None or not count or delta <= count * stated[1]:
        return []
    return [Cost("advanced composition", advanced(promise, count, delta - count * stated[1]).epsilon(delta))]
