"""Rényi differential privacy at one order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from tacit.errors import InvalidParameter, NotPrivate
from tacit.privacy import conversion
from tacit.privacy.composition import Guarantee
from tacit.privacy.neighbours import ADD_REMOVE, REPLACE, Neighbours, relation
from tacit.privacy.prices import failure_probability, non_negative, order, source, text, times
from tacit.privacy.promise import Promise, neighbours_from, no_conversion, only


@dataclass(frozen=True, slots=True, init=False, repr=False)
class RenyiDP(Guarantee):
    """The Rényi divergence of order α between neighbours is at most ε (Mironov 2017); so it is at every lower order.

    ``alpha`` and ``eps`` are exact.

    >>> RenyiDP(2, 0.5).epsilon(1e-6)
    12.9...
    >>> (RenyiDP(2, 0.5) + RenyiDP(8, 0.1)).to(RenyiDP, alpha=2)
    RenyiDP(2, 0.6)
    """

    kind: ClassVar[str] = "renyi"

    alpha: Fraction
    eps: Fraction
    neighbours: Neighbours

    def __init__(self, alpha: object, epsilon: object, *, neighbours: Neighbours = ADD_REMOVE) -> None:
        object.__setattr__(self, "alpha", order(alpha))
        object.__setattr__(self, "eps", non_negative(epsilon, "epsilon"))
        object.__setattr__(self, "neighbours", relation(neighbours))

    def as_pure(self) -> Fraction | None:
        return None if self.eps else Fraction(0)

    def as_approx(self) -> tuple[Fraction, Fraction] | None:
        return None if self.eps else (Fraction(0), Fraction(0))

    def as_renyi(self, alpha: Fraction) -> Fraction | None:
        return self.eps if alpha <= self.alpha or not self.eps else None

    def renyi_estimate(self, alpha: float) -> float:
        return float(self.eps) if alpha <= self.alpha or not self.eps else float("inf")

    def highest_order(self) -> Fraction | None:
        return self.alpha if self.eps else None

    def epsilon(self, delta: object = 0) -> float:
        return conversion.renyi_to_epsilon(self.alpha, self.eps, failure_probability(delta))

    def delta(self, epsilon: object) -> float:
        return conversion.renyi_to_delta(self.alpha, self.eps, non_negative(epsilon, "epsilon"))

    def group(self, k: int) -> RenyiDP:
        """Half the order for each doubling of the group: D_{α/2} ≤ (2α-3)/(α-2)·ε for two (Mironov 2017, Prop. 11).

        Refused when the order runs out, at α ≤ 2 before a doubling.

        >>> RenyiDP(8, 1).group(2)
        RenyiDP(4, "13/6")
        """
        size = times(k, least=1)
        alpha, epsilon = self.alpha, self.eps
        for _ in range((size - 1).bit_length()):
            if alpha <= 2:
                reason = "Each doubling of the group halves the order, which must stay above 1."
                raise NotPrivate(f"{self!r} promises nothing to a group of {size}. {reason}")
            alpha, epsilon = alpha / 2, epsilon * (2 * alpha - 3) / (alpha - 2)
        return RenyiDP(alpha, epsilon, neighbours=self.neighbours)

    def to_replace(self) -> RenyiDP:
        """The promise to a group of two, under replacement of one unit."""
        two = self.before_replacing().group(2)
        return RenyiDP(two.alpha, two.eps, neighbours=REPLACE)

    @classmethod
    def implied_by(cls, promise: Promise, at: Mapping[str, object]) -> RenyiDP:
        only(at, "alpha")
        if "alpha" not in at:
            hint = "Write .to(RenyiDP, alpha=2)."
            raise InvalidParameter("alpha", given=None, allowed="the order at which to evaluate", hint=hint)
        alpha = order(at["alpha"])
        divergence = promise.as_renyi(alpha)
        if divergence is None:
            raise no_conversion(promise, f"Rényi DP of order {text(alpha)}", "Its divergence there is not bounded.")
        return cls(alpha, divergence, neighbours=promise.neighbours)

    def covers(self, promise: Promise) -> bool:
        divergence = promise.as_renyi(self.alpha)
        return divergence is not None and divergence <= self.eps

    def amounts(self) -> tuple[Fraction, ...]:
        return (self.eps,)

    def of_amounts(self, *amounts: Fraction) -> Self:
        return type(self)(self.alpha, *amounts, neighbours=self.neighbours)

    def price_of(self, promise: Promise) -> RenyiDP:
        return promise.to(RenyiDP, alpha=self.alpha)

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "alpha": text(self.alpha),
            "epsilon": text(self.eps),
            "neighbours": self.neighbours.value,
        }

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Self:
        return cls(values["alpha"], values["epsilon"], neighbours=neighbours_from(values))

    def __repr__(self) -> str:
        return f"RenyiDP({source(self.alpha)}, {source(self.eps)}{self.where()})"
