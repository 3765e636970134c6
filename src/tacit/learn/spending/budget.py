"""What a fit may spend: a promise in the unit in which its parts add up, and the noise that a part of it buys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from tacit.errors import InvalidParameter, NotPrivate
from tacit.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace
from tacit.mechanisms.additive.integer_mechanism import IntegerMechanism
from tacit.mechanisms.shared.promise import PriceLike, read_promise
from tacit.privacy import ADD_REMOVE, L1, L2, ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP
from tacit.privacy.conversion import largest_gaussian, largest_zcdp

__all__ = ["Budget", "read_budget"]

_ACCEPTS: tuple[type[Guarantee], ...] = (ApproxDP, ZCDP, GaussianDP, PureDP)


@dataclass(frozen=True, slots=True)
class Budget:
    """A promise, under add-remove, and the guarantee whose parts it is spent in: ε, ρ or μ², which add up exactly.

    An (ε, δ) becomes the largest μ² that implies it. Parts are fractions of the whole; who spends them sees to it that
    they sum to at most one.

    >>> budget = read_budget("LogisticRegression", epsilon=1, delta=1e-5)
    >>> budget.promise, budget.part(Fraction(1, 10)).mu < 0.085
    (ApproxDP(1, 1e-05), True)
    >>> read_budget("Tree", rho=0.5).part(Fraction(1, 4))
    ZCDP(0.125)
    """

    promise: Guarantee
    spent_as: Guarantee

    @property
    def pure(self) -> bool:
        """Whether noise is Laplace's, by the L1 norm."""
        return type(self.spent_as) is PureDP

    def part(self, share: Fraction) -> Guarantee:
        """A share of the whole, as a promise: `compose` of parts that sum to one is the whole."""
        if not 0 < share <= 1:
            raise InvalidParameter("share", given=share, allowed="above 0 and at most 1")
        return _PARTS[type(self.spent_as)](self.spent_as, share)

    def noise(self, share: Fraction, *, l1: int, l2_squared: int) -> IntegerMechanism:
        """The mechanism on whole numbers that a share buys, for an answer of these sensitivities in L1 and L2 squared.

        Laplace's by L1 for a pure promise; Gaussian by L2 otherwise: the discrete law for ρ, the rounded one for μ.
        """
        part = self.part(share)
        if self.pure:
            return DiscreteLaplace(promise=part, sensitivity=L1(l1))
        return DiscreteGaussian(promise=part, sensitivity=L2.sqrt(l2_squared))

    def in_zcdp(self) -> Budget:
        """The same promise spent in ρ, for fits that also choose (ε²/8 a choice): an (ε, δ) by the largest ρ below it.

        Pure promises stay. A μ is refused: no ρ implies it.

        >>> read_budget("Tree", rho=1).in_zcdp().spent_as
        ZCDP(1)
        """
        return Budget(self.promise, _IN_ZCDP[type(self.promise)](self.promise))


def read_budget(
    estimator: str,
    *,
    epsilon: PriceLike = None,
    delta: PriceLike = None,
    rho: PriceLike = None,
    mu: PriceLike = None,
    promise: Guarantee | None = None,
) -> Budget:
    """The budget that an estimator's keywords ask for."""
    asked = read_promise(estimator, _ACCEPTS, ADD_REMOVE, epsilon, delta, rho, mu, promise)
    return Budget(asked, _SPENT_AS[type(asked)](asked))


@lru_cache(maxsize=256)
def _gaussian(promise: ApproxDP) -> Guarantee:
    if not promise.dlt:
        return PureDP(promise.eps)
    return GaussianDP.of_square(_reachable(largest_gaussian(promise.eps, promise.dlt), promise))


@lru_cache(maxsize=256)
def _zcdp(promise: ApproxDP) -> Guarantee:
    if not promise.dlt:
        return PureDP(promise.eps)
    return ZCDP(_reachable(largest_zcdp(promise.eps, promise.dlt), promise))


def _no_zcdp(promise: GaussianDP) -> Guarantee:
    raise NotPrivate(f"This fit makes choices, which are not proved to keep {promise!r}. Pass epsilon= or rho=.")


def _reachable(found: Fraction, promise: ApproxDP) -> Fraction:
    if not found:
        raise InvalidParameter("promise", given=promise, allowed="a promise that noise below 1e300 can keep")
    return found


_SPENT_AS: dict[type[Guarantee], Callable[[Any], Guarantee]] = {
    PureDP: lambda g: g,
    ZCDP: lambda g: ZCDP(g.rho),
    GaussianDP: lambda g: g,
    ApproxDP: _gaussian,
}
_IN_ZCDP: dict[type[Guarantee], Callable[[Any], Guarantee]] = {
    PureDP: lambda g: g,
    ZCDP: lambda g: ZCDP(g.rho),
    GaussianDP: _no_zcdp,
    ApproxDP: _zcdp,
}
_PARTS: dict[type[Guarantee], Callable[[Any, Fraction], Guarantee]] = {
    PureDP: lambda g, share: PureDP(g.eps * share),
    ZCDP: lambda g, share: ZCDP(g.rho * share),
    GaussianDP: lambda g, share: GaussianDP.of_square(g.mu_squared * share),
}
