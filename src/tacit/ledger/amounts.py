"""Exact amounts of privacy, in the one currency a ledger keeps: ε and δ, or ρ and δ.

Only sums that stay valid when the analyst picks each price from earlier answers are offered: docs/proofs/ledger.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from tacit.errors import InvalidParameter, NotPrivate
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.privacy.lasting import half_square
from tacit.privacy.neighbours import Neighbours
from tacit.privacy.prices import price, text
from tacit.privacy.promise import Promise

__all__ = ["EPSILON", "FLAVOURS", "GRAINS", "NOTHING", "RHO", "Amount", "Flavour", "Money", "flavour_of", "in_grains"]

Money: TypeAlias = ApproxDP | ZCDP

_DECIMALS = 340  # every float's shortest decimal has fewer
GRAINS = 10**_DECIMALS * math.lcm(*range(1, 1001))
"""Amounts are whole multiples of 1/GRAINS, so that the length of a sum does not grow with the number of prices."""

_UPWARDS = Context(prec=30, rounding=ROUND_CEILING, Emin=-10_000, Emax=10_000)
_GRANULE = Decimal(1).scaleb(-_DECIMALS)
_WIDE = Context(prec=1000, rounding=ROUND_CEILING, Emin=-10_000, Emax=10_000)


@dataclass(frozen=True, slots=True)
class Amount:
    """A sum of prices: the ε or ρ, and the δ.

    >>> Amount.of("0.1", 0) + Amount.of("0.2", "1e-9")
    Amount(0.3, 1e-09)
    >>> Amount.of(1, 0).within(Amount.of(1, 0)), Amount.of("0.1", "1e-9").within(Amount.of(1, 0))
    (True, False)
    """

    main: Fraction
    delta: Fraction

    @classmethod
    def of(cls, main: object, delta: object) -> Amount:
        """The exact amount that two typed numbers mean."""
        return cls(price(main, "amount"), price(delta, "delta"))

    @classmethod
    def read(cls, texts: tuple[str, str] | list[str]) -> Amount:
        """The amount that `texts` wrote; there is none below zero."""
        found = cls.of(texts[0], texts[1])
        if found.main.numerator < 0 or found.delta.numerator < 0:
            raise InvalidParameter("amount", given=tuple(texts), allowed="0 or more")
        return found

    def texts(self) -> list[str]:
        """Both numbers as exact text."""
        return [_text(self.main), _text(self.delta)]

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.main + other.main, self.delta + other.delta)

    def up_to(self, cap: Amount) -> Amount:
        """What is left between this and the cap; nothing where the cap has been passed."""
        nothing = Fraction(0)
        return Amount(max(cap.main - self.main, nothing), max(cap.delta - self.delta, nothing))

    def within(self, cap: Amount) -> bool:
        """Whether neither number exceeds the cap's."""
        return self.main <= cap.main and self.delta <= cap.delta

    def smaller(self, other: Amount) -> Amount:
        """The smaller of each number."""
        return Amount(min(self.main, other.main), min(self.delta, other.delta))

    def __repr__(self) -> str:
        return f"Amount({', '.join(self.texts())})"


NOTHING = Amount(Fraction(0), Fraction(0))
SQUARES = " squares"
"""The account of Σε²/2, in a ledger with a δ′ set aside: no analyst's name begins with a space."""


@dataclass(frozen=True, slots=True)
class Flavour:
    """A currency: what one kind of guarantee is counted in, and how a cost is turned into it."""

    name: str
    symbol: str
    kind: type[ApproxDP] | type[ZCDP]

    def amount(self, guarantee: Promise) -> Amount:
        """What a guarantee of this kind, or one that converts to it, amounts to."""
        made = guarantee.to(self.kind)
        pair = made.as_zcdp() if self.kind is ZCDP else made.as_approx()
        assert pair is not None  # a guarantee is of its own kind
        return Amount(*pair)

    def price(self, cost: object) -> Amount:
        """What a ledger of this flavour charges for a cost: never less than it, and exact unless it has absurd digits.

        >>> from tacit.privacy import PureDP
        >>> EPSILON.price(PureDP(0.1)), RHO.price(PureDP(0.1))
        (Amount(0.1, 0), Amount(0.005, 0))
        """
        return _price(self.name, _promise(cost))

    def guarantee(self, amount: Amount, neighbours: Neighbours) -> Money:
        """The guarantee that an amount of this currency is."""
        return self.kind(amount.main, amount.delta, neighbours=neighbours)

    def words(self, amount: Amount) -> str:
        """The amount for people, δ always shown."""
        return f"{self.symbol} {readable(amount.main)}, δ {readable(amount.delta)}"


EPSILON = Flavour("epsilon", "ε", ApproxDP)
RHO = Flavour("rho", "ρ", ZCDP)
FLAVOURS = {flavour.name: flavour for flavour in (EPSILON, RHO)}


def flavour_of(total: Promise) -> Flavour:
    """The flavour of a ledger whose total is this guarantee: ρ for a `ZCDP`, ε for anything that is (ε,δ)-DP."""
    return RHO if total.kind == ZCDP.kind else EPSILON


def readable(number: Fraction) -> str:
    """A number for people: exact when short, otherwise six digits, rounded up."""
    exact = text(number)
    if len(exact) <= 12 and "/" not in exact:
        return exact
    return f"{Context(prec=6, rounding=ROUND_CEILING).divide(Decimal(number.numerator), Decimal(number.denominator)):g}"


def _text(exact: Fraction) -> str:
    """`text`, faster for the numbers that prices mostly are: up to four decimals."""
    top, bottom = exact.numerator, exact.denominator
    if bottom == 1:
        return str(top)
    if 10_000 % bottom == 0 and top < 10**10:
        whole, rest = divmod(top * (10_000 // bottom), 10_000)
        return f"{whole}.{rest:04}".rstrip("0")
    return text(exact)


def square_of(price: Amount) -> Fraction:
    """ε²/2 of a price, never less.

    >>> square_of(Amount.of("0.03", 0))
    Fraction(9, 20000)
    """
    return _on_grid(half_square(price.main))


def in_grains(exact: Fraction) -> int:
    """How many grains this is; every amount in a ledger is a whole number of them."""
    grains, rest = divmod(exact.numerator * GRAINS, exact.denominator)
    if rest:
        allowed = "a decimal number of at most 340 places, or p/q with q up to 1000"
        raise InvalidParameter("cap", given=text(exact), allowed=allowed)
    return int(grains)


def _promise(cost: object) -> Promise:
    """The promise of a mechanism or a guarantee; a loss distribution has to be evaluated first."""
    promise = getattr(cost, "guarantee", cost)
    if isinstance(promise, Promise):
        return promise
    if callable(getattr(promise, "epsilon", None)):
        reason = (
            "A loss distribution prices a plan that is fixed in advance; prices in a ledger are chosen as one goes."
        )
        hint = "Charge its evaluated value to an ε ledger: ApproxDP(loss.epsilon(1e-9), 1e-9)."
        raise NotPrivate(f"{reason} {hint} Nothing was spent.")
    allowed = "a guarantee such as PureDP(0.1), or a mechanism that states one"
    raise InvalidParameter("cost", given=cost, allowed=allowed, hint="Nothing was spent.")


@lru_cache(maxsize=256)
def _price(flavour: str, promise: Promise) -> Amount:
    exact = FLAVOURS[flavour].amount(promise)
    return Amount(_on_grid(exact.main), _on_grid(exact.delta))


def _on_grid(exact: Fraction) -> Fraction:
    """The number itself if its denominator is one the ledger keeps, otherwise the next one up with 30 digits."""
    if GRAINS % exact.denominator == 0:
        return exact
    rounded = _UPWARDS.divide(Decimal(exact.numerator), Decimal(exact.denominator))
    if int(rounded.as_tuple().exponent) < -_DECIMALS:
        rounded = rounded.quantize(_GRANULE, context=_WIDE)
    return Fraction(rounded)
