"""One word of the glossary: its names, the number it can be told for, and its text."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from tacit.errors import InvalidParameter
from tacit.privacy.prices import price

__all__ = ["Number", "Term", "plain", "up"]


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
            raise InvalidParameter(name, given=given, allowed=self.allowed, hint=f"tacit explain {name} {self.example}")
        return exact


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
CHANCE = Number("0.05", "a probability strictly between 0 and 1", lambda x: 0 < x < 1)


def up(value: float, digits: int = 3) -> str:
    """Rounded up to some digits, as people read it: a promise never sounds better than it is.

    >>> up(1.6487), up(62.2459)
    ('1.65', '62.3')
    """
    if not math.isfinite(value) or value > 1e15:
        return "10^15 and more"
    if value == 0:
        return "0"
    step = 10.0 ** (math.floor(math.log10(abs(value))) - digits + 1)
    return plain(math.ceil(value / step - 1e-9) * step)


def plain(value: float) -> str:
    """A number of three digits or so without an exponent where that can be read."""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.3g}" if 1e-4 <= abs(value) < 1000 else (f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}")
