"""Gaussian differential privacy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from tacit.privacy import conversion
from tacit.privacy.composition import Guarantee
from tacit.privacy.neighbours import ADD_REMOVE, REPLACE, Neighbours, relation
from tacit.privacy.prices import failure_probability, non_negative, round_up, six_digits, source, text, times
from tacit.privacy.promise import Promise, neighbours_from, no_conversion, only
from tacit.privacy.sensitivity import root_up


@dataclass(frozen=True, slots=True, init=False, repr=False)
class GaussianDP(Guarantee):
    """Telling neighbours apart is at least as hard as telling N(0,1) from N(μ,1) (Dong, Roth & Su 2022).

    ``mu_squared`` is exact, so that composition, which adds squares, is exact too; ``mu`` is rounded up.

    >>> (2 * GaussianDP(1)).to(GaussianDP), GaussianDP(1).delta(1)
    (GaussianDP.of_square(2), 0.1269367...)
    """

    kind: ClassVar[str] = "gaussian"
    symbol: ClassVar[str] = "μ²"
    adds_up: ClassVar[bool] = True

    mu_squared: Fraction
    neighbours: Neighbours

    def __init__(self, mu: object, *, neighbours: Neighbours = ADD_REMOVE) -> None:
        exact = non_negative(mu, "mu")
        object.__setattr__(self, "mu_squared", exact * exact)
        object.__setattr__(self, "neighbours", relation(neighbours))

    @classmethod
    def of_square(cls, mu_squared: object, *, neighbours: Neighbours = ADD_REMOVE) -> GaussianDP:
        """The guarantee whose μ² is given, exactly."""
        made = cls(0, neighbours=neighbours)
        object.__setattr__(made, "mu_squared", non_negative(mu_squared, "mu_squared"))
        return made

    @property
    def mu(self) -> float:
        """μ, rounded up."""
        return round_up(root_up(self.mu_squared))

    def as_pure(self) -> Fraction | None:
        return None if self.mu_squared else Fraction(0)

    def as_approx(self) -> tuple[Fraction, Fraction] | None:
        return None if self.mu_squared else (Fraction(0), Fraction(0))

    def as_gaussian(self) -> Fraction:
        return self.mu_squared

    def as_zcdp(self) -> tuple[Fraction, Fraction]:
        return conversion.gaussian_to_zcdp(self.mu_squared), Fraction(0)

    def as_renyi(self, alpha: Fraction) -> Fraction:
        return conversion.gaussian_to_renyi(self.mu_squared, alpha)

    def renyi_estimate(self, alpha: float) -> float:
        return float(self.mu_squared) * alpha / 2

    def epsilon(self, delta: object = 0) -> float:
        return conversion.gaussian_to_epsilon(self.mu_squared, failure_probability(delta))

    def delta(self, epsilon: object) -> float:
        return conversion.gaussian_to_delta(self.mu_squared, non_negative(epsilon, "epsilon"))

    def group(self, k: int) -> GaussianDP:
        """kμ (Dong, Roth & Su 2022, Theorem 2.14)."""
        size = times(k, least=1)
        return GaussianDP.of_square(size * size * self.mu_squared, neighbours=self.neighbours)

    def rounded_up(self) -> GaussianDP:
        return GaussianDP(six_digits(root_up(self.mu_squared)), neighbours=self.neighbours)

    def to_replace(self) -> GaussianDP:
        """2μ under replacement of one unit."""
        return GaussianDP.of_square(4 * self.before_replacing().mu_squared, neighbours=REPLACE)

    @classmethod
    def implied_by(cls, promise: Promise, at: Mapping[str, object]) -> GaussianDP:
        only(at)
        mu_squared = promise.as_gaussian()
        if mu_squared is None:
            raise no_conversion(promise, "Gaussian DP", "Its trade-off curve may lie below every Gaussian one.")
        return cls.of_square(mu_squared, neighbours=promise.neighbours)

    def covers(self, promise: Promise) -> bool:
        mu_squared = promise.as_gaussian()
        return mu_squared is not None and mu_squared <= self.mu_squared

    def amounts(self) -> tuple[Fraction, ...]:
        return (self.mu_squared,)

    def of_amounts(self, *amounts: Fraction) -> GaussianDP:
        return GaussianDP.of_square(*amounts, neighbours=self.neighbours)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "mu_squared": text(self.mu_squared), "neighbours": self.neighbours.value}

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Self:
        made = cls.of_square(values["mu_squared"], neighbours=neighbours_from(values))
        assert isinstance(made, cls)
        return made

    def __repr__(self) -> str:
        root = root_up(self.mu_squared)
        if root * root == self.mu_squared:
            return f"GaussianDP({source(root)}{self.where()})"
        return f"GaussianDP.of_square({source(self.mu_squared)}{self.where()})"
