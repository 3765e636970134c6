"""Reading a price: the same keywords on every mechanism, turned into the guarantee that was asked for."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias, TypeGuard, TypeVar

from tacit.errors import InvalidParameter, NotPrivate
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.gaussian import GaussianDP
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.guarantees.renyi import RenyiDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.privacy.neighbours import Neighbours
from tacit.privacy.prices import Price

__all__ = ["PriceLike", "read_promise", "within_floats"]

PriceLike: TypeAlias = Price | None
G = TypeVar("G", bound=Guarantee)


def read_promise(
    mechanism: str,
    accepts: tuple[type[G], ...],
    neighbours: Neighbours,
    epsilon: PriceLike = None,
    delta: PriceLike = None,
    rho: PriceLike = None,
    mu: PriceLike = None,
    promise: Guarantee | None = None,
) -> G:
    """The one guarantee that a constructor's keywords ask for, if ``mechanism`` is proved to give it."""
    asked = _one_of(epsilon, delta, rho, mu, promise, neighbours)
    if not is_one_of(asked, accepts):
        names = " or ".join(_KEYWORDS[kind] for kind in accepts if kind in _KEYWORDS)
        reason = _REASONS.get((mechanism, type(asked)), f"It is not proved to keep {type(asked).__name__}.")
        raise NotPrivate(f"{mechanism} was asked for {asked!r}. {reason} Pass {names}.")
    name, amount = _AMOUNT[type(asked)](asked)
    if not amount:
        raise InvalidParameter(name, given=0, allowed="a finite number above 0")
    if asked.neighbours is not neighbours:
        raise InvalidParameter(
            "promise",
            given=asked,
            allowed=f"a promise for the {neighbours.value} relation, which the sensitivity is stated for",
        )
    return asked


def is_one_of(asked: Guarantee, accepts: tuple[type[G], ...]) -> TypeGuard[G]:
    """Whether a guarantee is of one of these very kinds."""
    return type(asked) in accepts


_KEYWORDS: dict[type[Guarantee], str] = {
    PureDP: "epsilon=",
    ApproxDP: "epsilon= with delta=",
    ZCDP: "rho=",
    GaussianDP: "mu=",
}

_AMOUNT: dict[type[Guarantee], Callable[[Any], tuple[str, Fraction]]] = {
    PureDP: lambda g: ("epsilon", g.eps),
    ApproxDP: lambda g: ("epsilon", g.eps),
    RenyiDP: lambda g: ("epsilon", g.eps),
    ZCDP: lambda g: ("rho", g.rho),
    GaussianDP: lambda g: ("mu", g.mu_squared),
}


_NO_PURE_GAUSSIAN = "Gaussian noise has unbounded privacy loss, so it keeps no pure ε: there must be a δ."
_NO_CONCENTRATED_SELECTION = (
    "The number of runs adds a constant at every Rényi order, so no ρ and no μ holds for the best of them."
)
_REASONS: dict[tuple[str, type[Guarantee]], str] = {
    ("Gaussian", PureDP): _NO_PURE_GAUSSIAN,
    ("DiscreteGaussian", PureDP): _NO_PURE_GAUSSIAN,
    (
        "TruncatedLaplace",
        PureDP,
    ): "Cutting off the tails makes some outcomes impossible on one side: there must be a δ.",
    ("PrivateSelection", ZCDP): _NO_CONCENTRATED_SELECTION,
    ("PrivateSelection", GaussianDP): _NO_CONCENTRATED_SELECTION,
}


def _one_of(
    epsilon: PriceLike,
    delta: PriceLike,
    rho: PriceLike,
    mu: PriceLike,
    promise: Guarantee | None,
    neighbours: Neighbours,
) -> Guarantee:
    given = [
        name
        for name, value in (("epsilon", epsilon), ("rho", rho), ("mu", mu), ("promise", promise))
        if value is not None
    ]
    if len(given) != 1:
        raise InvalidParameter(
            "price",
            given=given or None,
            allowed="exactly one of epsilon=, rho=, mu= or promise= (delta= goes with epsilon= or rho=)",
        )
    if promise is not None:
        if delta is not None:
            raise InvalidParameter("delta", given=delta, allowed="nothing beside promise=, which carries its own delta")
        if not isinstance(promise, Guarantee):
            allowed = "PureDP(...), ApproxDP(...), ZCDP(...), RenyiDP(...) or GaussianDP(...)"
            raise InvalidParameter("promise", given=promise, allowed=allowed)
        return promise
    if mu is not None:
        if delta is not None:
            raise InvalidParameter("delta", given=delta, allowed="nothing beside mu=")
        return GaussianDP(mu, neighbours=neighbours)
    if rho is not None:
        return ZCDP(rho, 0 if delta is None else delta, neighbours=neighbours)
    assert epsilon is not None
    if delta is None:
        return PureDP(epsilon, neighbours=neighbours)
    return ApproxDP(epsilon, delta, neighbours=neighbours)


def within_floats(scale: Fraction, *, bits: int = 990) -> Fraction:
    """Refuse noise of a scale that floats can hardly hold: outside 2**-bits … 2**bits."""
    if abs(scale.numerator.bit_length() - scale.denominator.bit_length()) > bits:
        tens = bits * 3 // 10
        allowed = f"noise of a scale between 1e-{tens} and 1e{tens}"
        hint = "The scale follows from the sensitivity and the price; measure the values in another unit."
        raise InvalidParameter("scale", given=_Size(scale), allowed=allowed, hint=hint)
    return scale


class _Size:
    """A number too large or too small to print."""

    def __init__(self, exact: Fraction) -> None:
        self._power = exact.numerator.bit_length() - exact.denominator.bit_length()

    def __repr__(self) -> str:
        return f"about 2^{self._power}"
