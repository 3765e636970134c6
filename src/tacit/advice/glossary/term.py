"""One word of the glossary: its names, the number it can be told for, and its text."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from tacit.errors import InvalidParameter
from tacit.privacy.prices import price

__all__ = ["Number", "Term", "factor", "once_in", "plain", "up"]


@dataclass(frozen=True, slots=True)
class Number:
    """What number a word takes: an example, and which ones are allowed."""

    example: str
    allowed: str
    fits: Callable[[Fraction], bool]

    def read(self, name: str, given: object) -> Fraction:
        """The number that was given, or the example."""
        if given is None:
            return price(self.example, name, allowed=self.allowed)
        try:
            exact = price(given, name, allowed=self.allowed)
        except InvalidParameter:
            exact = None
        if exact is None or not self.fits(exact):
            raise self.refusal(name, given, self.allowed)
        if exact and abs(exact) < _LEAST:
            raise self.refusal(name, given, f"{self.allowed}, and 1e-300 at least")
        return exact

    def refusal(self, name: str, given: object, allowed: str) -> InvalidParameter:
        """What to say of a number that cannot be told, and what to type instead."""
        return InvalidParameter(name, given=given, allowed=allowed, hint=f"tacit explain {name} {self.example}")


@dataclass(frozen=True, slots=True)
class Term:
    """A word, what else it is called, and what it means; ``text`` takes the number, where there is one."""

    name: str
    also: tuple[str, ...]
    title: str
    text: Callable[[float], str]
    number: Number | None = None
    page: str = ""
    """Where more is said, below docs/."""


ABOVE_ZERO = Number("1", "a number above 0, at most 1000", lambda x: 0 < x <= 1000)
_LEAST = Fraction(1, 10**300)
CHANCE = Number("0.05", "a probability strictly between 0 and 1", lambda x: 0 < x < 1)


def up(value: float, digits: int = 3) -> str:
    """Rounded up to some digits, as people read it: a promise never sounds better than it is.

    >>> up(1.6487), up(62.2459), up(3.4e20)
    ('1.65', '62.3', '10^21')
    """
    if not math.isfinite(value):
        return "10^308 and more"
    if value > 1e15:
        return f"10^{math.ceil(math.log10(value))}"
    if value == 0:
        return "0"
    step = 10.0 ** (math.floor(math.log10(abs(value))) - digits + 1)
    return plain(math.ceil(value / step - 1e-9) * step)


def factor(epsilon: float) -> str:
    """e^ε, rounded up, also where no float holds it.

    >>> factor(0.5), factor(1000)
    ('1.65', '10^435')
    """
    return up(math.exp(epsilon)) if epsilon < 34 else f"10^{math.ceil(epsilon / math.log(10))}"


def once_in(chance: float) -> str:
    """Of how many tries one, rounded down: a chance never sounds smaller than it is.

    >>> once_in(1e-6), once_in(1e-300)
    ('1,000,000', '10^300')
    """
    return plain(1 / chance) if chance > 1e-15 else f"10^{math.floor(-math.log10(chance) + 1e-9)}"


def plain(value: float) -> str:
    """A number of three digits or so without an exponent where that can be read."""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.3g}" if 1e-4 <= abs(value) < 1000 else (f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}")
