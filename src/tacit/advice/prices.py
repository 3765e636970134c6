"""From what may be spent to every promise that fits into it: a mechanism may keep more than is asked."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from tacit.privacy.composition import Guarantee
from tacit.privacy.conversion import largest_zcdp, pure_to_gaussian
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.gaussian import GaussianDP
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.privacy.prices import source
from tacit.privacy.sensitivity import root_down

__all__ = ["keywords", "needs", "promises_within", "share_of"]

_DIGITS = Context(prec=6, rounding=ROUND_FLOOR)


def promises_within(price: Guarantee, accepts: tuple[type[Guarantee], ...]) -> tuple[Guarantee, ...]:
    """The price itself and the weakest promises of other kinds from which it follows, of those that are accepted.

    A pure promise is always worth a try; of the others the one that was asked for, and else the nearest.

    >>> promises_within(ZCDP("0.5"), (PureDP, GaussianDP)), promises_within(PureDP(1), (ZCDP,))
    ((GaussianDP(1), PureDP(1)), ())
    """
    found: list[Guarantee] = [price] if type(price) in accepts else []
    for kind, weakest in _WEAKEST[type(price)].items():
        if kind in accepts and (kind is PureDP or not found):
            made = weakest(price)
            found += [] if made is None else [made]
    return tuple(found)


def _zcdp_of_approx(price: ApproxDP) -> Guarantee | None:
    rho = _down(largest_zcdp(price.eps, price.dlt))
    return ZCDP(rho, neighbours=price.neighbours) if rho else None


def _pure_of_gaussian(price: GaussianDP) -> Guarantee | None:
    """The largest ε with μ(ε) ≤ μ, found by halving: μ rises with ε."""
    low, high = Fraction(0), Fraction(1)
    while pure_to_gaussian(high) <= price.mu_squared:
        low, high = high, 2 * high
    for _ in range(24):
        middle = _down((low + high) / 2)
        low, high = (middle, high) if pure_to_gaussian(middle) <= price.mu_squared else (low, middle)
    return PureDP(_down(low), neighbours=price.neighbours) if _down(low) else None


def _root(price: ZCDP) -> Fraction:
    """ε and μ of which ρ follows: ρ = ε²/2 = μ²/2."""
    return _down(root_down(2 * price.rho))


_WEAKEST: dict[type[Guarantee], dict[type[Guarantee], Callable[..., Guarantee | None]]] = {
    PureDP: {},
    ApproxDP: {
        ZCDP: _zcdp_of_approx,
        PureDP: lambda price: PureDP(price.eps, neighbours=price.neighbours),
    },
    ZCDP: {
        GaussianDP: lambda price: GaussianDP(_root(price), neighbours=price.neighbours),
        PureDP: lambda price: PureDP(_root(price), neighbours=price.neighbours),
    },
    GaussianDP: {PureDP: _pure_of_gaussian},
}


def share_of(promise: Guarantee, parts: int) -> Guarantee:
    """What each of several equal parts may promise, to six digits, so that together they keep the promise.

    >>> share_of(ZCDP(1), 3)
    ZCDP(0.333333)
    """
    return _SHARES[type(promise)](promise, parts)


_SHARES: dict[type[Guarantee], Callable[..., Guarantee]] = {
    PureDP: lambda g, parts: PureDP(_down(g.eps / parts), neighbours=g.neighbours),
    ZCDP: lambda g, parts: ZCDP(_down(g.rho / parts), neighbours=g.neighbours),
}


def _down(exact: Fraction) -> Fraction:
    return Fraction(_DIGITS.divide(Decimal(exact.numerator), Decimal(exact.denominator)))


def keywords(promise: Guarantee) -> str:
    """The promise as it is typed into a constructor.

    >>> keywords(ApproxDP(1, "1e-6")), keywords(PureDP("0.5"))
    ('epsilon=1, delta=1e-06', 'epsilon=0.5')
    """
    return _KEYWORDS[type(promise)](promise)


_KEYWORDS: dict[type[Guarantee], Callable[..., str]] = {
    PureDP: lambda g: f"epsilon={source(g.eps)}",
    ApproxDP: lambda g: f"epsilon={source(g.eps)}, delta={source(g.dlt)}",
    ZCDP: lambda g: f"rho={source(g.rho)}",
    GaussianDP: lambda g: f"mu={source(root_down(g.mu_squared))}",
}


def needs(accepts: tuple[type[Guarantee], ...], price: Guarantee) -> str:
    """Why a mechanism that keeps these kinds of promise cannot be had for the price, and what to add."""
    if isinstance(price, PureDP):
        return "it needs a δ: add delta=1e-6"
    kinds = " or ".join(_SPOKEN[kind] for kind in accepts)
    return f"it keeps {kinds} only: pay with {_TYPED[accepts[0]]}"


_SPOKEN: dict[type[Guarantee], str] = {PureDP: "ε", ApproxDP: "ε with δ", ZCDP: "ρ", GaussianDP: "μ"}
_TYPED: dict[type[Guarantee], str] = {
    PureDP: "epsilon=",
    ApproxDP: "epsilon= and delta=",
    ZCDP: "rho=",
    GaussianDP: "mu=",
}
