"""How far one unit can move an answer, as a value that knows its norm and its neighbour relation."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import lru_cache

from tacit.errors import InvalidParameter, NotPrivate
from tacit.privacy.neighbours import ADD_REMOVE, REPLACE, Neighbours, relation
from tacit.privacy.prices import price, source, times

_ROOT_BITS = 128  # a square root that is irrational is rounded up by at most this many bits


class Norm(Enum):
    """How a change of several coordinates is measured; calling a norm states a sensitivity in it.

    >>> L1(3), L2.sqrt(2), LInf("0.5", neighbours=REPLACE)
    (L1(3), L2.sqrt(2), LInf(0.5, neighbours=Neighbours.REPLACE))
    """

    L1 = "L1"
    L2 = "L2"
    LINF = "LInf"

    def __call__(self, value: object, *, neighbours: Neighbours = ADD_REMOVE) -> Sensitivity:
        """The sensitivity ``value`` in this norm; a float is the binary number it is."""
        return _stated(self, value, "sensitivity", relation(neighbours))

    def sqrt(self, square: object, *, neighbours: Neighbours = ADD_REMOVE) -> Sensitivity:
        """The sensitivity √square in this norm: the square is kept exactly."""
        return Sensitivity(self, _above_zero(square, "square"), neighbours=neighbours)

    def __repr__(self) -> str:
        return self.value

    __str__ = __repr__


L1 = Norm.L1
L2 = Norm.L2
LInf = Norm.LINF

# How often a norm must be multiplied by √dimension to bound another one, from Cauchy-Schwarz: ‖v‖₁ ≤ √k‖v‖₂ ≤ k‖v‖∞.
_RANK = {Norm.L1: 0, Norm.L2: 1, Norm.LINF: 2}


@dataclass(frozen=True, slots=True, repr=False)
class Sensitivity:
    """The largest distance between the answers on two neighbouring data sets, in one norm, exactly.

    The square is exact even where the value is not (√2); ``value`` is the exact value, or an upper bound on an
    irrational one that is off by less than 10⁻³⁵ of it. Stated by the caller, who has proved it (or used
    `tacit.privacy.query_sensitivity`); everything else in Tacit trusts it.

    >>> L1(3).value, L2.sqrt(2).square, L2.sqrt(2).value > 1
    (Fraction(3, 1), Fraction(2, 1), True)
    >>> L1(2) == L1.sqrt(4)
    True
    """

    norm: Norm
    square: Fraction
    neighbours: Neighbours = field(default=ADD_REMOVE, kw_only=True)
    value: Fraction = field(init=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.norm, Norm):
            raise InvalidParameter("norm", given=self.norm, allowed="L1, L2 or LInf")
        if type(self.square) is not Fraction or self.square <= 0:
            raise InvalidParameter("square", given=self.square, allowed="a Fraction above 0")
        relation(self.neighbours)
        object.__setattr__(self, "value", root_up(self.square))

    @staticmethod
    def of(value: object, *, norm: Norm, name: str = "sensitivity") -> Sensitivity:
        """What a mechanism proved for ``norm`` accepts: a number is in that norm, add-remove; another norm is refused.

        >>> Sensitivity.of(3, norm=L1)
        L1(3)
        >>> Sensitivity.of(L2(3), norm=L1)
        Traceback (most recent call last):
        ...
        tacit.errors.InvalidParameter: sensitivity: given L2(3); allowed: a sensitivity in the L1 norm. \
State L1(...), or convert with .to(L1, dimension=k) if the answer has k coordinates (k = 1: one number).
        """
        if isinstance(value, Sensitivity):
            if value.norm is norm:
                return value
            hint = (
                f"State {norm}(...), or convert with .to({norm}, dimension=k) if the answer has k coordinates"
                " (k = 1: one number)."
            )
            raise InvalidParameter(name, given=value, allowed=f"a sensitivity in the {norm} norm", hint=hint)
        return _stated(norm, value, name, ADD_REMOVE)

    def to(self, norm: Norm, *, dimension: int) -> Sensitivity:
        """The sensitivity in another norm of an answer with ``dimension`` coordinates: the best that always holds.

        One coordinate: all norms agree. Otherwise ‖v‖₁ ≤ √k·‖v‖₂ ≤ k·‖v‖∞, and downwards the value stays.

        >>> L2(3).to(L1, dimension=1), L2(3).to(L1, dimension=4), L1(3).to(L2, dimension=4)
        (L1(3), L1(6), L2(3))
        """
        k = times(dimension, "dimension", least=1)
        steps = max(0, _RANK[self.norm] - _RANK[norm])
        return Sensitivity(norm, self.square * k**steps, neighbours=self.neighbours)

    def scaled(self, factor: object) -> Sensitivity:
        """The sensitivity of the answer times ``factor`` (not zero)."""
        allowed = "a finite number other than 0"
        exact = exact_number(factor, "factor", allowed=allowed)
        if not exact:
            raise InvalidParameter("factor", given=factor, allowed=allowed)
        return Sensitivity(self.norm, self.square * exact * exact, neighbours=self.neighbours)

    def group(self, k: int) -> Sensitivity:
        """The sensitivity when ``k`` units change at once: the triangle inequality, k times the value."""
        return self.scaled(times(k, "k", least=1))

    def to_replace(self) -> Sensitivity:
        """The sensitivity under replacement of one unit: at most twice that of adding or removing one."""
        if self.neighbours is REPLACE:
            raise NotPrivate("This sensitivity is already for the replace relation; leave .to_replace() out.")
        return Sensitivity(self.norm, 4 * self.square, neighbours=REPLACE)

    @property
    def is_exact(self) -> bool:
        """Whether ``value`` is the sensitivity itself and not an upper bound on an irrational number."""
        return self.value * self.value == self.square

    def __repr__(self) -> str:
        number = source(self.value) if self.is_exact else source(self.square)
        where = "" if self.neighbours is ADD_REMOVE else f", neighbours={self.neighbours!r}"
        return f"{self.norm}{'' if self.is_exact else '.sqrt'}({number}{where})"


@lru_cache(maxsize=1024)
def root_up(square: Fraction) -> Fraction:
    """√square where it is rational, otherwise a fraction just above it.

    >>> root_up(Fraction(9, 4)), root_up(Fraction(2)) ** 2 > 2
    (Fraction(3, 2), True)
    """
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if top * top == square.numerator and bottom * bottom == square.denominator:
        return Fraction(top, bottom)
    # √(p/q) = √(p·q)/q, and isqrt rounds down: one more is above.
    shift = _ROOT_BITS
    product = (square.numerator * square.denominator) << (2 * shift)
    return Fraction(math.isqrt(product) + 1, square.denominator << shift)


def root_down(square: Fraction) -> Fraction:
    """√square where it is rational, otherwise a fraction just below it.

    >>> root_down(Fraction(9, 4)), root_down(Fraction(2)) ** 2 < 2
    (Fraction(3, 2), True)
    """
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if top * top == square.numerator and bottom * bottom == square.denominator:
        return Fraction(top, bottom)
    shift = max(128, 64 + square.denominator.bit_length())
    return Fraction(math.isqrt((square.numerator << 2 * shift) // square.denominator), 1 << shift)


def whole_steps(sensitivity: Sensitivity) -> Sensitivity:
    """Refuse a sensitivity that whole numbers cannot have: their distances are whole (L1, L∞) or roots of such (L2)."""
    if sensitivity.square.denominator != 1 or (sensitivity.norm is L1 and sensitivity.value.denominator != 1):
        hint = "Whole numbers move by whole steps. For reals use the mechanism without Discrete in its name."
        raise InvalidParameter("sensitivity", given=sensitivity, allowed="a whole number", hint=hint)
    return sensitivity


def exact_number(value: object, name: str, *, allowed: str = "a finite number") -> Fraction:
    """The exact value of a number that is data: a float is the binary number it is, text and decimals what they say.

    >>> exact_number(0.1, "low") == Fraction(1, 10), exact_number("0.1", "low") == Fraction(1, 10)
    (False, True)
    """
    ratio = getattr(value, "as_integer_ratio", None)
    if ratio is None or isinstance(value, numbers.Rational | Decimal):
        return price(value, name, allowed=allowed)
    try:
        return Fraction(*ratio())  # floats, and numpy's float32 and its kin
    except (ValueError, OverflowError):
        raise InvalidParameter(name, given=value, allowed=allowed) from None


def _stated(norm: Norm, value: object, name: str, neighbours: Neighbours) -> Sensitivity:
    plain = type(value) is int or type(value) is float
    return (_stated_before if plain else _state)(norm, value, name, neighbours)


def _state(norm: Norm, value: object, name: str, neighbours: Neighbours) -> Sensitivity:
    return Sensitivity(norm, _above_zero(value, name) ** 2, neighbours=neighbours)


_stated_before = lru_cache(maxsize=1024, typed=True)(_state)  # values are immutable, and the same few are stated often


def _above_zero(value: object, name: str) -> Fraction:
    allowed = "a finite number above 0, or L1(...), L2(...), LInf(...)"
    exact = exact_number(value, name, allowed=allowed)
    if exact <= 0:
        raise InvalidParameter(name, given=value, allowed=allowed)
    return exact
