"""(ε,δ)-differential privacy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from tacit.errors import InvalidParameter, NotPrivate
from tacit.privacy import conversion
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.neighbours import ADD_REMOVE, REPLACE, Neighbours, relation
from tacit.privacy.prices import failure_probability, non_negative, price, source, text, times
from tacit.privacy.promise import Promise, neighbours_from, no_conversion, only
from tacit.privacy.sensitivity import root_down


@dataclass(frozen=True, slots=True, init=False, repr=False)
class ApproxDP(Guarantee):
    """Every event is at most e^ε times likelier, plus δ, on one neighbour than on the other.

    ``eps`` and ``dlt`` are the exact parameters; ``.epsilon(delta)`` and ``.delta(epsilon)`` evaluate the promise
    elsewhere (Dwork & Roth 2014; Kairouz, Oh & Viswanath 2017 for the whole profile).

    >>> ApproxDP(1, 1e-6)
    ApproxDP(1, 1e-06)
    >>> ApproxDP(1, 1e-6).epsilon(1e-9)
    inf
    """

    kind: ClassVar[str] = "approx"
    symbol: ClassVar[str] = "ε"

    eps: Fraction
    dlt: Fraction
    neighbours: Neighbours

    def __init__(self, epsilon: object, delta: object, *, neighbours: Neighbours = ADD_REMOVE) -> None:
        object.__setattr__(self, "eps", non_negative(epsilon, "epsilon"))
        object.__setattr__(self, "dlt", failure_probability(delta))
        object.__setattr__(self, "neighbours", relation(neighbours))

    def as_pure(self) -> Fraction | None:
        return None if self.dlt else self.eps

    def as_approx(self) -> tuple[Fraction, Fraction]:
        return self.eps, self.dlt

    def as_gaussian(self) -> Fraction | None:
        return None if self.dlt else conversion.pure_to_gaussian(self.eps)

    def as_zcdp(self) -> tuple[Fraction, Fraction] | None:
        return None if self.dlt else (conversion.pure_to_zcdp(self.eps), Fraction(0))

    def as_renyi(self, alpha: Fraction) -> Fraction | None:
        return None if self.dlt else conversion.pure_to_renyi(self.eps, alpha)

    @property
    def leak(self) -> Fraction:
        return self.dlt

    def with_leak(self, delta: Fraction) -> ApproxDP:
        """The same ε with another δ."""
        return ApproxDP(self.eps, delta, neighbours=self.neighbours)

    def beyond_leak(self) -> PureDP:
        """What holds outside the events of probability δ."""
        return PureDP(self.eps, neighbours=self.neighbours)

    def renyi_beyond_leak(self, alpha: Fraction) -> Fraction:
        return conversion.pure_to_renyi(self.eps, alpha)

    def renyi_estimate(self, alpha: float) -> float:
        return conversion.pure_renyi_estimate(float(self.eps), alpha)

    def epsilon(self, delta: object = 0) -> float:
        return conversion.approx_to_epsilon(self.eps, self.dlt, failure_probability(delta))

    def delta(self, epsilon: object) -> float:
        return conversion.approx_to_delta(self.eps, self.dlt, non_negative(epsilon, "epsilon"))

    def group(self, k: int) -> ApproxDP:
        """(kε, δ·(1 + e^ε + … + e^{(k-1)ε})); refused when that δ reaches 1."""
        size = times(k, least=1)
        delta = conversion.approx_group_delta(self.eps, self.dlt, size)
        if delta >= 1:
            raise NotPrivate(f"{self!r} promises nothing to a group of {size}: its δ would reach 1.")
        return ApproxDP(size * self.eps, delta, neighbours=self.neighbours)

    def to_replace(self) -> ApproxDP:
        """(2ε, (1+e^ε)δ) under replacement of one unit."""
        two = self.before_replacing().group(2)
        return ApproxDP(two.eps, two.dlt, neighbours=REPLACE)

    @classmethod
    def implied_by(cls, promise: Promise, at: Mapping[str, object]) -> ApproxDP:
        only(at, "delta", "epsilon")
        if len(at) == 2:
            raise InvalidParameter("epsilon", given=at["epsilon"], allowed="either delta or epsilon, not both")
        if "delta" in at:
            delta = failure_probability(at["delta"])
            epsilon = promise.epsilon(delta)
            if epsilon == float("inf"):
                raise no_conversion(promise, f"(ε, {text(delta)})-DP for any ε", "Ask for a larger delta.")
            return cls(epsilon, delta, neighbours=promise.neighbours)
        if "epsilon" in at:
            level = non_negative(at["epsilon"], "epsilon")
            reached = promise.delta(level)
            if reached >= 1:
                raise no_conversion(promise, f"({text(level)}, δ)-DP for any δ below 1", "Ask for a larger epsilon.")
            return cls(level, reached, neighbours=promise.neighbours)
        pair = promise.as_approx()
        if pair is None:
            allowed = "the δ at which to evaluate"
            raise InvalidParameter("delta", given=None, allowed=allowed, hint="Write .to(ApproxDP, delta=1e-6).")
        return cls(*pair, neighbours=promise.neighbours)

    def covers(self, promise: Promise) -> bool:
        pair = promise.as_approx()
        if pair is not None and pair[0] <= self.eps and pair[1] <= self.dlt:
            return True
        if price(promise.delta(self.eps)) <= self.dlt:
            return True
        reached = promise.epsilon(self.dlt)
        return reached != float("inf") and price(reached) <= self.eps

    def amounts(self) -> tuple[Fraction, ...]:
        return self.eps, self.dlt

    def of_amounts(self, *amounts: Fraction) -> Self:
        return type(self)(*amounts, neighbours=self.neighbours)

    def range_of_each(self, count: int = 1) -> Fraction:
        """The larger of the ranges that ε alone and the largest ρ within this (ε, δ) allow."""
        return max(self.eps / count, root_down(8 * conversion.largest_zcdp(self.eps, self.dlt) / count))

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "epsilon": text(self.eps),
            "delta": text(self.dlt),
            "neighbours": self.neighbours.value,
        }

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Self:
        return cls(values["epsilon"], values["delta"], neighbours=neighbours_from(values))

    def __repr__(self) -> str:
        return f"ApproxDP({source(self.eps)}, {source(self.dlt)}{self.where()})"
