"""Pure differential privacy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from tacit.privacy import conversion
from tacit.privacy.composition import Guarantee
from tacit.privacy.neighbours import ADD_REMOVE, REPLACE, Neighbours, relation
from tacit.privacy.prices import failure_probability, non_negative, source, text, times
from tacit.privacy.promise import Promise, neighbours_from, no_conversion, only


@dataclass(frozen=True, slots=True, init=False, repr=False)
class PureDP(Guarantee):
    """Every event is at most e^ε times likelier on one neighbour than on the other (Dwork et al. 2006).

    ``eps`` is the exact ε; ``.epsilon(delta)`` and ``.delta(epsilon)`` evaluate the promise elsewhere.

    >>> PureDP(0.1), PureDP("0.1") == PureDP(0.1)
    (PureDP(0.1), True)
    >>> (10 * PureDP(0.1)).epsilon(), (1000 * PureDP(0.01)).epsilon(delta=1e-6)
    (1.0, 1.3654...)
    """

    kind: ClassVar[str] = "pure"
    symbol: ClassVar[str] = "ε"

    eps: Fraction
    neighbours: Neighbours

    def __init__(self, epsilon: object, *, neighbours: Neighbours = ADD_REMOVE) -> None:
        object.__setattr__(self, "eps", non_negative(epsilon, "epsilon"))
        object.__setattr__(self, "neighbours", relation(neighbours))

    def as_pure(self) -> Fraction:
        return self.eps

    def as_approx(self) -> tuple[Fraction, Fraction]:
        return self.eps, Fraction(0)

    def as_gaussian(self) -> Fraction:
        return conversion.pure_to_gaussian(self.eps)

    def as_zcdp(self) -> tuple[Fraction, Fraction]:
        return conversion.pure_to_zcdp(self.eps), Fraction(0)

    def as_renyi(self, alpha: Fraction) -> Fraction:
        return conversion.pure_to_renyi(self.eps, alpha)

    def renyi_estimate(self, alpha: float) -> float:
        return conversion.pure_renyi_estimate(float(self.eps), alpha)

    def epsilon(self, delta: object = 0) -> float:
        return conversion.approx_to_epsilon(self.eps, Fraction(0), failure_probability(delta))

    def delta(self, epsilon: object) -> float:
        return conversion.approx_to_delta(self.eps, Fraction(0), non_negative(epsilon, "epsilon"))

    def group(self, k: int) -> PureDP:
        """kε (Dwork & Roth 2014, Theorem 2.2)."""
        return PureDP(times(k, least=1) * self.eps, neighbours=self.neighbours)

    def to_replace(self) -> PureDP:
        """2ε under replacement of one unit."""
        return PureDP(2 * self.before_replacing().eps, neighbours=REPLACE)

    @classmethod
    def implied_by(cls, promise: Promise, at: Mapping[str, object]) -> PureDP:
        only(at)
        epsilon = promise.as_pure()
        if epsilon is None:
            raise no_conversion(promise, "pure ε-DP", "Its privacy loss is not bounded by any ε.")
        return cls(epsilon, neighbours=promise.neighbours)

    def covers(self, promise: Promise) -> bool:
        epsilon = promise.as_pure()
        return epsilon is not None and epsilon <= self.eps

    def amounts(self) -> tuple[Fraction, ...]:
        return (self.eps,)

    def of_amounts(self, *amounts: Fraction) -> Self:
        return type(self)(*amounts, neighbours=self.neighbours)

    def range_of_each(self, count: int = 1) -> Fraction:
        """ε shared evenly."""
        return self.eps / count

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "epsilon": text(self.eps), "neighbours": self.neighbours.value}

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Self:
        return cls(values["epsilon"], neighbours=neighbours_from(values))

    def __repr__(self) -> str:
        return f"PureDP({source(self.eps)}{self.where()})"
