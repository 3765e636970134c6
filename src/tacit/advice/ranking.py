"""`tacit.advise`: which mechanism, for a price or for an error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from tacit.advice.options import Advice, LeftOut, Option, Situation, Way, at_price, ranked
from tacit.advice.text import digits_up
from tacit.errors import InvalidParameter
from tacit.mechanisms.shared.promise import PriceLike
from tacit.mechanisms.shared.tails import read_beta, read_error
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.gaussian import GaussianDP
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.privacy.neighbours import Neighbours
from tacit.privacy.prices import Price, six_digits, source, text

__all__ = ["advise", "said_next"]

_STEPS = 40
_LARGEST = Fraction(64)
"""From this ε on nobody is promised anything: what needs more is not advised."""
_SMALLEST = Fraction(1, 10**9)
_BIT_MORE = Fraction(1_000_001, 1_000_000)


def advise(
    situation: Situation,
    *,
    epsilon: PriceLike = None,
    delta: PriceLike = None,
    rho: PriceLike = None,
    mu: PriceLike = None,
    error: PriceLike = None,
    beta: Price = "0.05",
) -> Advice:
    """Which mechanism to use, for a price (ε, (ε,δ), ρ or μ) or for an error that β of the answers may exceed.

    Computed from what the mechanisms say of themselves, never from data. With ``error=`` the ranking is by the ε that
    it takes; ``delta=`` then allows the mechanisms that need one.

    >>> from tacit.advice import Numbers
    >>> advise(Numbers(4, sensitivity=1), epsilon=1, delta="1e-4").best.name
    'Laplace'
    >>> advise(Numbers(5, sensitivity=1), epsilon=1, delta="1e-4").best.call
    'tacit.Gaussian(epsilon=1, delta=0.0001, sensitivity=tacit.L2.sqrt(5))'
    >>> advise(Numbers(1, sensitivity=1), error=10).best.promise
    PureDP(0.299574)
    """
    kind = isinstance(situation, type)
    if kind or not all(hasattr(situation, name) for name in ("ways", "neighbours", "measured_as")):
        allowed = "what is to be released, such as tacit.advice.Numbers(10, sensitivity=1)"
        raise InvalidParameter("situation", given=situation, allowed=allowed)
    try:
        return _advised(situation, epsilon, delta, rho, mu, error, beta)
    except InvalidParameter as refused:
        hint = said_next(refused.name)
        if refused.hint or not hint or type(refused) is not InvalidParameter:
            raise
        raise InvalidParameter(refused.name, given=refused.given, allowed=refused.allowed, hint=hint) from None


_NEXT = {
    "price": "epsilon=1",
    "epsilon": "epsilon=1",
    "delta": 'epsilon=1, delta="1e-6"',
    "rho": 'rho="0.1"',
    "mu": 'mu="0.5"',
    "error": "error=10, in the units of what is released",
    "beta": 'beta="0.05"',
}
"""What to say instead, where a refusal does not tell."""


def said_next(name: str) -> str:
    """The hint of a refusal that has none of its own.

    >>> said_next("beta")
    'Say beta="0.05".'
    """
    return f"Say {_NEXT[name]}." if name in _NEXT else ""


def _advised(
    situation: Situation,
    epsilon: PriceLike,
    delta: PriceLike,
    rho: PriceLike,
    mu: PriceLike,
    error: PriceLike,
    beta: Price,
) -> Advice:
    level = read_beta(beta)
    ways, never = tuple(situation.ways()), tuple(situation.never())
    measured = situation.measured_as(text(level))
    if error is None:
        price = _price(epsilon, delta, rho, mu, situation.neighbours)
        options, left_out = at_price(ways, price, level)
        asked = f"for {_spoken(price)}"
    else:
        for name, value in (("epsilon", epsilon), ("rho", rho), ("mu", mu)):
            if value is not None:
                hint = "Leave one of the two out."
                raise InvalidParameter(name, given=value, allowed="a price or an error, not both", hint=hint)
        wanted = read_error(error)
        options, left_out = _for_error(ways, wanted, _Terms(delta, situation.neighbours, level))
        asked = f"off by at most {source(wanted)}"
    if not options:
        why = f"one at which it can be had ({left_out[0].name}: {left_out[0].reason})"
        raise InvalidParameter("price", given=asked, allowed=why)
    return Advice(situation, asked, tuple(options), (*left_out, *never), measured)


def _price(epsilon: PriceLike, delta: PriceLike, rho: PriceLike, mu: PriceLike, where: Neighbours) -> Guarantee:
    given = [name for name, value in (("epsilon", epsilon), ("rho", rho), ("mu", mu)) if value is not None]
    if len(given) != 1:
        allowed = "exactly one of epsilon=, rho=, mu= or error= (delta= goes with epsilon= or error=)"
        raise InvalidParameter("price", given=given or None, allowed=allowed)
    if delta is not None and epsilon is None:
        raise InvalidParameter("delta", given=delta, allowed=f"nothing beside {given[0]}=, which says it all")
    if rho is not None:
        price: Guarantee = ZCDP(rho, neighbours=where)
    elif mu is not None:
        price = GaussianDP(mu, neighbours=where)
    else:
        price = _pure_or_not(epsilon, delta, where)
    if price in (ZCDP(0, neighbours=where), GaussianDP(0, neighbours=where), PureDP(0, neighbours=where)):
        raise InvalidParameter(given[0], given=0, allowed="a finite number above 0")
    return price


def _pure_or_not(epsilon: object, delta: PriceLike, where: Neighbours) -> Guarantee:
    made = ApproxDP(epsilon, 0 if delta is None else delta, neighbours=where)
    if not made.eps:
        raise InvalidParameter("epsilon", given=0, allowed="a finite number above 0")
    return made if made.dlt else PureDP(epsilon, neighbours=where)


def _spoken(price: Guarantee) -> str:
    stated = price.as_approx()
    if stated is not None:
        return f"ε = {text(stated[0])}" + (f", δ = {text(stated[1])}" if stated[1] else "")
    if isinstance(price, ZCDP):
        return f"ρ = {text(price.rho)}"
    return f"μ = {price.mu:.6g}" if isinstance(price, GaussianDP) else repr(price)


@dataclass(frozen=True, slots=True)
class _Terms:
    """What goes with an ε that is looked for: a δ or none, the neighbours, and how often the error is exceeded."""

    delta: PriceLike
    where: Neighbours
    beta: Fraction

    def price(self, epsilon: Fraction) -> Guarantee:
        """This ε, with the δ."""
        return _pure_or_not(epsilon, self.delta, self.where)

    def epsilon(self, option: Option) -> float:
        """The ε that an option takes, at the δ that was allowed."""
        stated = option.promise.as_approx()
        if stated is not None:
            return float(stated[0])
        return float(option.promise.epsilon("1e-6" if self.delta is None else self.delta))


def _for_error(ways: Sequence[Way], error: Fraction, terms: _Terms) -> tuple[list[Option], list[LeftOut]]:
    """Each way at the least ε, to six digits, that keeps its error; the least ε first."""
    found, left_out = [], []
    for way in ways:
        search = _Search(way, terms, error)
        option = search.least()
        if option is None:
            left_out.append(search.refusal())
        else:
            found.append(replace(option, ranked_by=terms.epsilon(option)))
    if not found:
        _refuse_if_too_precise(ways, error, terms)
    return ranked(found), left_out


def _refuse_if_too_precise(ways: Sequence[Way], error: Fraction, terms: _Terms) -> None:
    """Says what error can be had, if one can."""
    can, _ = at_price(ways, terms.price(_LARGEST), terms.beta)
    if can:
        least = digits_up(min(one.error for one in can))
        allowed = f"{least} or more: that takes ε = {_LARGEST} already, and from there on nobody is promised anything"
        raise InvalidParameter("error", given=source(error), allowed=allowed, hint=f"Say error={least}, or a price.")


class _Search:
    """The least ε at which one way is off by at most an error: errors fall nearly as 1/ε, so aim, or halve."""

    def __init__(self, way: Way, terms: _Terms, error: Fraction) -> None:
        self._way, self._terms, self._error = way, terms, error
        self._reason = ""

    def refusal(self) -> LeftOut:
        """Why there is none."""
        return LeftOut(self._way.name, self._reason or f"so precise it would take an ε above {_LARGEST}")

    def least(self) -> Option | None:
        """The option; or None."""
        low, high, best = self._bracket()
        if best is None:
            return None
        guess = high
        for _ in range(_STEPS):
            aimed = high * Fraction(best.error) / self._error
            guess = six_digits(aimed if low < aimed < high else Fraction(math.sqrt(float(low) * float(high))))
            if not low < guess < high or high <= low * _BIT_MORE:
                break
            option = self._at(guess)
            if option is not None and option.error <= self._error:
                best, high = option, guess
            else:
                low = guess
        return best

    def _bracket(self) -> tuple[Fraction, Fraction, Option | None]:
        """An ε that is too small and one that is not, a factor of 8 apart; from 1 downwards, or upwards."""
        at, option = Fraction(1), self._at(Fraction(1))
        if option is not None and option.error <= self._error:
            while at > max(_SMALLEST, self._way.searched_from):
                smaller = self._at(at / 8)
                if smaller is None or smaller.error > self._error:
                    break
                at, option = at / 8, smaller
            return max(at / 8, self._way.searched_from), at, option
        while at < _LARGEST:
            at *= 8
            option = self._at(at)
            if option is not None and option.error <= self._error:
                return at / 8, at, option
        return at, at, None

    def _at(self, epsilon: Fraction) -> Option | None:
        options, refused = at_price([self._way], self._terms.price(epsilon), self._terms.beta)
        self._reason = refused[0].reason if refused else ""
        return options[0] if options else None
