"""Zero-concentrated differential privacy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from tacit.errors import NotPrivate
from tacit.privacy import conversion
from tacit.privacy.composition import Guarantee
from tacit.privacy.neighbours import ADD_REMOVE, REPLACE, Neighbours, relation
from tacit.privacy.prices import failure_probability, non_negative, source, text, times
from tacit.privacy.promise import Promise, neighbours_from, no_conversion, only
from tacit.privacy.sensitivity import root_down


@dataclass(frozen=True, slots=True, init=False, repr=False)
class ZCDP(Guarantee):
    """The Rényi divergence of every order α > 1 is at most ρα, outside events of probability δ (Bun & Steinke 2016).

    ``rho`` and ``dlt`` are exact. Sums of ρ stay valid when the analyst chooses each price from earlier answers.

    >>> ZCDP(0.05).epsilon(1e-6)
    1.4715...
    >>> (2 * ZCDP("1/3") + ZCDP("1/3")).to(ZCDP)
    ZCDP(1)
    """

    kind: ClassVar[str] = "zcdp"
    symbol: ClassVar[str] = "ρ"
    adds_up: ClassVar[bool] = True

    rho: Fraction
    dlt: Fraction
    neighbours: Neighbours

    def __init__(self, rho: object, delta: object = 0, *, neighbours: Neighbours = ADD_REMOVE) -> None:
        object.__setattr__(self, "rho", non_negative(rho, "rho"))
        object.__setattr__(self, "dlt", failure_probability(delta))
        object.__setattr__(self, "neighbours", relation(neighbours))

    def as_pure(self) -> Fraction | None:
        return None if self.rho or self.dlt else Fraction(0)

    def as_approx(self) -> tuple[Fraction, Fraction] | None:
        return None if self.rho else (Fraction(0), self.dlt)

    def as_zcdp(self) -> tuple[Fraction, Fraction]:
        return self.rho, self.dlt

    def as_renyi(self, alpha: Fraction) -> Fraction | None:
        return None if self.dlt else conversion.zcdp_to_renyi(self.rho, alpha)

    @property
    def leak(self) -> Fraction:
        return self.dlt

    def with_leak(self, delta: Fraction) -> ZCDP:
        """The same ρ with another δ."""
        return ZCDP(self.rho, delta, neighbours=self.neighbours)

    def beyond_leak(self) -> ZCDP:
        """What holds outside the events of probability δ."""
        return self.with_leak(Fraction(0))

    def renyi_beyond_leak(self, alpha: Fraction) -> Fraction:
        return conversion.zcdp_to_renyi(self.rho, alpha)

    def renyi_estimate(self, alpha: float) -> float:
        return float(self.rho) * alpha

    def epsilon(self, delta: object = 0) -> float:
        return conversion.zcdp_to_epsilon(self.rho, self.dlt, failure_probability(delta))

    def delta(self, epsilon: object) -> float:
        return conversion.zcdp_to_delta(self.rho, self.dlt, non_negative(epsilon, "epsilon"))

    def group(self, k: int) -> ZCDP:
        """k²ρ (Bun & Steinke 2016, Proposition 1.9), for δ = 0 only."""
        size = times(k, least=1)
        if self.dlt and size > 1:
            reason = "The events left out differ from pair to pair of neighbours, so they do not chain."
            hint = "Convert to (ε, δ) first: .to(ApproxDP, delta=...).group(k)."
            raise NotPrivate(f"Approximate zCDP has no proven group privacy. {reason} {hint}")
        return ZCDP(size * size * self.rho, self.dlt, neighbours=self.neighbours)

    def to_replace(self) -> ZCDP:
        """4ρ under replacement of one unit, for δ = 0 only."""
        return ZCDP(self.before_replacing().group(2).rho, neighbours=REPLACE)

    @classmethod
    def implied_by(cls, promise: Promise, at: Mapping[str, object]) -> ZCDP:
        only(at)
        pair = promise.as_zcdp()
        if pair is None:
            raise no_conversion(promise, "zCDP", "It does not bound the Rényi divergence at every order.")
        return cls(*pair, neighbours=promise.neighbours)

    def covers(self, promise: Promise) -> bool:
        pair = promise.as_zcdp()
        return pair is not None and pair[0] <= self.rho and pair[1] <= self.dlt

    def amounts(self) -> tuple[Fraction, ...]:
        return self.rho, self.dlt

    def of_amounts(self, *amounts: Fraction) -> Self:
        return type(self)(*amounts, neighbours=self.neighbours)

    def range_of_each(self, count: int = 1) -> Fraction:
        """√(8ρ/count): a range of η costs η²/8 (Cesar & Rogers 2021)."""
        return root_down(8 * self.rho / count)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "rho": text(self.rho), "delta": text(self.dlt), "neighbours": self.neighbours.value}

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Self:
        return cls(values["rho"], values["delta"], neighbours=neighbours_from(values))

    def __repr__(self) -> str:
        delta = f", {source(self.dlt)}" if self.dlt else ""
        return f"ZCDP({source(self.rho)}{delta}{self.where()})"
