"""Coins of a fixed probability at array speed: sixteen secret bits each, more only where those do not decide."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tacit.noise.entropy import BitSource
from tacit.noise.exact import flint, rational, working_precision

__all__ = ["ExactTruth", "OddsTruth", "Truth"]

Booleans = npt.NDArray[np.bool_]

_FIRST_BITS = 16
_WORD = (1 << 64) - 1


class Truth(Protocol):
    """A coin that shows True with one fixed probability."""

    @property
    def probability(self) -> float: ...

    def draw(self, count: int, entropy: BitSource) -> Booleans: ...

    def prefix(self, bits: int) -> int:
        """The first ``bits`` binary digits of the probability, as a whole number."""

    def ends(self, bits: int) -> bool:
        """Whether no digit after the first ``bits`` is 1."""


@dataclass(frozen=True, slots=True)
class ExactTruth:
    """A rational probability in [0, 1)."""

    chance: Fraction

    @property
    def probability(self) -> float:
        return float(self.chance)

    def draw(self, count: int, entropy: BitSource) -> Booleans:
        return _coins(self, count, entropy)

    def prefix(self, bits: int) -> int:
        return int(self.chance * (1 << bits))

    def ends(self, bits: int) -> bool:
        return (self.chance.numerator << bits) % self.chance.denominator == 0

    def __repr__(self) -> str:
        return str(self.chance)


@dataclass(frozen=True, slots=True)
class OddsTruth:
    """e^x/(e^x + others), others > 0 rational: irrational for rational x ≠ 0."""

    exponent: Fraction
    others: int | Fraction
    _float: float = field(init=False)

    def __post_init__(self) -> None:
        with working_precision(128):
            object.__setattr__(self, "_float", float(self._ball()))

    def prefix(self, bits: int) -> int:
        return _odds_prefix(self.exponent, Fraction(self.others), bits)

    def ends(self, bits: int) -> bool:
        return not self.exponent and ExactTruth(1 / (1 + Fraction(self.others))).ends(bits)

    def _ball(self) -> Any:
        return _odds(self.exponent, Fraction(self.others))

    @property
    def probability(self) -> float:
        return self._float

    def draw(self, count: int, entropy: BitSource) -> Booleans:
        return _coins(self, count, entropy)


def _odds(exponent: Fraction, others: Fraction) -> Any:
    """e^x/(e^x + others) as a ball at the working precision."""
    arb = flint().arb
    return 1 / (1 + arb(rational(others)) * (-arb(rational(exponent))).exp())


@lru_cache(maxsize=1024)
def _odds_prefix(exponent: Fraction, others: Fraction, bits: int) -> int:
    """The first ``bits`` digits of e^x/(e^x + others); irrational, or rational at x = 0: they are soon decided."""
    if not exponent:
        return int((1 << bits) / (1 + others))
    precision = 128 + bits
    while True:
        precision *= 2
        with working_precision(precision):
            chance = _odds(exponent, others)
            found = (chance * (1 << bits)).floor().unique_fmpz()
            if found is not None:
                return int(found)
            if bool(chance < 1) is False:
                return (1 << bits) - 1  # below 1 by less than the precision


def _coins(truth: Truth, count: int, entropy: BitSource) -> Booleans:
    """True where the first bits lie below those of the probability; where they are equal, further bits say."""
    words = entropy.words(-(-count // 4)).view(np.uint16)[:count]
    first = truth.prefix(_FIRST_BITS)
    coins: Booleans = words < first
    for i in np.flatnonzero(words == first):
        coins[i] = _settled(truth, entropy)
    return coins


def _settled(truth: Truth, entropy: BitSource) -> bool:
    """Whether a uniform number that begins like the probability lies below it, 64 bits at a time."""
    known = _FIRST_BITS
    while not truth.ends(known):
        known += 64
        digits, word = truth.prefix(known) & _WORD, entropy.word()
        if word != digits:
            return word < digits
    return False
