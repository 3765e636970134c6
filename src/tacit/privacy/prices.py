"""Prices are decimal: the float ``0.1`` typed as a price means exactly 1/10.

A price is a privacy parameter (ε, δ, ρ, μ, α) that a person typed. Ten prices of 0.1 are a budget of 1, to the last
bit, because every price is held as the exact fraction of its shortest decimal. Sensitivities and data are *not*
prices: there a float is the binary number it is (`tacit.privacy.sensitivity`).
"""

from __future__ import annotations

import math
import numbers
import sys
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from tacit.errors import InvalidParameter

Price: TypeAlias = int | float | str | Decimal | Fraction

_MOST = 10**18
_SMALLEST_EXPONENT, _LARGEST_EXPONENT = -1000, 300  # "1e999999999" would build a number of a gigabyte
_LONGEST_TEXT = 20_000


def price(value: object, name: str = "price", *, allowed: str = "a finite number") -> Fraction:
    """The exact fraction that a typed number means: a float stands for its shortest decimal.

    >>> price(0.1), price("1e-6"), price(2)
    (Fraction(1, 10), Fraction(1, 1000000), Fraction(2, 1))
    >>> price(float("nan"), "epsilon")
    Traceback (most recent call last):
    ...
    tacit.errors.InvalidParameter: epsilon: given nan; allowed: a finite number.
    """
    kind = type(value)
    try:
        if kind is float or kind is int or kind is str:
            return _read_cached(value)
        return _read(value)
    except (ValueError, OverflowError, ZeroDivisionError, TypeError):
        raise InvalidParameter(name, given=value, allowed=allowed) from None


def positive(value: object, name: str) -> Fraction:
    """A price above zero."""
    allowed = "a finite number above 0"
    exact = price(value, name, allowed=allowed)
    if exact <= 0:
        raise InvalidParameter(name, given=value, allowed=allowed)
    return _sensible(exact, value, name)


def non_negative(value: object, name: str) -> Fraction:
    """A price of zero or more."""
    allowed = "a finite number, 0 or more"
    exact = price(value, name, allowed=allowed)
    if exact.numerator < 0:
        raise InvalidParameter(name, given=value, allowed=allowed)
    return _sensible(exact, value, name)


def failure_probability(value: object, name: str = "delta") -> Fraction:
    """A δ: at least 0 and below 1, because (ε, 1) promises nothing."""
    allowed = "a number from 0 up to, but not including, 1"
    exact = price(value, name, allowed=allowed)
    if not 0 <= exact.numerator < exact.denominator:
        raise InvalidParameter(name, given=value, allowed=allowed)
    return exact


def order(value: object, name: str = "alpha") -> Fraction:
    """A Rényi order: finite and above 1."""
    allowed = "a finite order above 1"
    exact = price(value, name, allowed=allowed)
    if exact <= 1:
        hint = "Order 1 bounds the mean loss only and implies no (ε, δ); for order ∞ use PureDP."
        raise InvalidParameter(name, given=value, allowed=allowed, hint=hint)
    return _sensible(exact, value, name)


def times(value: object, name: str = "k", *, least: int = 0) -> int:
    """A whole number of repetitions, at least ``least``."""
    try:
        count = int(value) if isinstance(value, numbers.Integral) and not isinstance(value, bool) else None
    except TypeError:  # numpy's timedelta64 calls itself integral and is not
        count = None
    if count is None or not least <= count <= _MOST:
        raise InvalidParameter(name, given=value, allowed=f"a whole number from {least} to 10^18")
    return count


@lru_cache(maxsize=4096)
def round_up(exact: Fraction) -> float:
    """The smallest float whose shortest decimal is at least ``exact``; infinity beyond the largest float.

    >>> round_up(Fraction(3, 10)), round_up(Fraction(1, 3))
    (0.3, 0.33333333333333337)
    """
    guess = max(_nearest(exact), -sys.float_info.max)
    while math.isfinite(guess) and _shortest(guess) < exact:
        guess = math.nextafter(guess, math.inf)
    below = math.nextafter(guess, -math.inf)
    while math.isfinite(below) and _shortest(below) >= exact:
        guess, below = below, math.nextafter(below, -math.inf)
    return guess


@lru_cache(maxsize=4096)
def round_down(exact: Fraction) -> float:
    """The largest float whose shortest decimal is at most ``exact``.

    >>> round_down(Fraction(3, 10)), round_down(Fraction(2, 3))
    (0.3, 0.6666666666666666)
    """
    return -round_up(-exact) if exact else 0.0


def float_down(exact: Fraction) -> float:
    """The largest float that, as the binary number it is, does not exceed ``exact``: for code that takes floats.

    >>> float_down(Fraction(1, 10)) <= Fraction(1, 10)
    True
    """
    guess = _nearest(exact)
    return math.nextafter(guess, -math.inf) if math.isinf(guess) or Fraction(guess) > exact else guess


def read_up(bound: float) -> Fraction:
    """The price of a bound that was computed as a binary float: its shortest decimal, moved up if that is smaller.

    >>> read_up(0.25), read_up(0.1)
    (Fraction(1, 4), Fraction(5000000000000001, 50000000000000000))
    """
    return _shortest(bound if _shortest(bound) >= Fraction(bound) else math.nextafter(bound, math.inf))


def six_digits(exact: Fraction) -> Fraction:
    """The number rounded up to six digits.

    >>> six_digits(Fraction(1, 3))
    Fraction(166667, 500000)
    """
    return Fraction(_SIX_DIGITS.divide(Decimal(exact.numerator), Decimal(exact.denominator)))


_SIX_DIGITS = Context(prec=6, rounding=ROUND_CEILING)


def text(exact: Fraction) -> str:
    """The exact text of a price: as a float prints if that says it, otherwise a longer decimal or ``p/q``.

    >>> text(Fraction(1, 10)), text(Fraction(2)), text(Fraction(1, 3)), text(Fraction(1, 10**400))
    ('0.1', '2', '1/3', '1E-400')
    """
    if exact.denominator == 1 and abs(exact.numerator) < 10**16:
        return str(exact.numerator)
    guess = _nearest(exact)
    if math.isfinite(guess) and _shortest(guess) == exact:
        return repr(guess)
    return _decimal_text(exact) or f"{Decimal(exact.numerator)}/{Decimal(exact.denominator)}"


def source(exact: Fraction) -> str:
    """The price as it is written in Python, quoted when a plain number could not say it."""
    written = text(exact)
    plain = written.isdecimal() or _shortest(float(written)) == exact if "/" not in written else False
    return written if plain else f'"{written}"'


@lru_cache(maxsize=4096, typed=True)
def _read_cached(value: object) -> Fraction:
    return _read(value)


def _read(value: object) -> Fraction:
    """The fraction meant by a number; ValueError, TypeError or the like for anything else."""
    if type(value) is Fraction:
        return _small(value)
    if isinstance(value, bool):
        raise TypeError
    if isinstance(value, float):
        return Fraction(float.__repr__(value))
    if isinstance(value, numbers.Rational):
        return _small(Fraction(int(value.numerator), int(value.denominator)))
    if isinstance(value, str):
        return _read_text(value)
    if isinstance(value, Decimal):
        return _read_decimal(value)
    if isinstance(value, numbers.Real):  # numpy's float16, float32, longdouble: str is their shortest decimal
        return _read_text(str(value))
    raise TypeError


def _read_text(written: str) -> Fraction:
    if len(written) > _LONGEST_TEXT:
        raise ValueError
    try:
        parts = [Decimal(part) for part in written.split("/")]  # no limit on the digits of an int
    except ArithmeticError:  # decimal.InvalidOperation
        raise ValueError from None
    if len(parts) == 1:
        return _read_decimal(parts[0])
    top, bottom = parts
    return _small(_read_decimal(top, largest=_LONGEST_TEXT) / _read_decimal(bottom, largest=_LONGEST_TEXT))


def _read_decimal(value: Decimal, *, largest: int = _LARGEST_EXPONENT) -> Fraction:
    if not value.is_finite() or not _SMALLEST_EXPONENT <= value.adjusted() <= largest:
        raise ValueError
    return Fraction(value)


def _decimal_text(exact: Fraction) -> str:
    """The exact decimal, if there is one."""
    twos = (exact.denominator & -exact.denominator).bit_length() - 1
    rest, fives = exact.denominator >> twos, 0
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest != 1:
        return ""
    places = max(twos, fives)
    digits = Decimal(exact.numerator * 10**places // exact.denominator).as_tuple().digits
    return str(Decimal((int(exact < 0), digits, -places)))


def _sensible(exact: Fraction, value: object, name: str) -> Fraction:
    """Refuse what is far beyond 10¹⁰⁰: it promises nothing, and its squares and multiples would overflow later."""
    if exact.numerator.bit_length() - exact.denominator.bit_length() > 400:
        raise InvalidParameter(name, given=value, allowed="a number below 10^100")
    return exact


def _small(exact: Fraction) -> Fraction:
    """Refuse what no float can hold."""
    if exact.numerator.bit_length() - exact.denominator.bit_length() > 1000:
        raise OverflowError
    return exact


@lru_cache(maxsize=4096)
def _shortest(value: float) -> Fraction:
    return Fraction(float.__repr__(value))


def _nearest(exact: Fraction) -> float:
    try:
        return exact.numerator / exact.denominator
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
