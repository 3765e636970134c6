"""Coins of a fixed probability at array speed: sixteen secret bits each, more only where those do not decide."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tacit.noise.entropy import BitSource
from tacit.noise.exact import LazyUniform, decide_sign, flint, rational, working_precision

__all__ = ["ExactTruth", "OddsTruth", "Truth"]

Booleans = npt.NDArray[np.bool_]

_FIRST_BITS = 16


class Truth(Protocol):
    """A coin that shows True with one fixed probability."""

    @property
    def probability(self) -> float: ...

    def draw(self, count: int, entropy: BitSource) -> Booleans: ...


@dataclass(frozen=True, slots=True)
class ExactTruth:
    """A rational probability in [0, 1)."""

    chance: Fraction

    @property
    def probability(self) -> float:
        return float(self.chance)

    def draw(self, count: int, entropy: BitSource) -> Booleans:
        first = int(self.chance * (1 << _FIRST_BITS))
        return _coins(count, first, self._settle, entropy)

    def _settle(self, coin: LazyUniform) -> bool:
        while True:
            edge = self.chance * (1 << coin.known)
            if coin.prefix >= edge:
                return False
            if coin.prefix + 1 <= edge:
                return True
            coin.refine()

    def __repr__(self) -> str:
        return str(self.chance)


@dataclass(frozen=True, slots=True)
class OddsTruth:
    """e^x/(e^x + others): irrational for rational x > 0."""

    exponent: Fraction
    others: int
    _first: int = field(init=False)
    _float: float = field(init=False)

    def __post_init__(self) -> None:
        first, bits = None, 128
        while first is None:  # irrational, or ½ at x = 0: the first bits are soon decided
            bits *= 2
            with working_precision(bits):
                chance = self._ball()
                first = (chance * (1 << _FIRST_BITS)).floor().unique_fmpz()
                if first is None and bool(chance < 1) is False:
                    first = (1 << _FIRST_BITS) - 1  # below 1 by less than the precision
        object.__setattr__(self, "_first", int(first))
        object.__setattr__(self, "_float", float(chance))

    def _ball(self) -> Any:
        return 1 / (1 + self.others * (-flint().arb(rational(self.exponent))).exp())

    @property
    def probability(self) -> float:
        return self._float

    def draw(self, count: int, entropy: BitSource) -> Booleans:
        return _coins(count, self._first, self._settle, entropy)

    def _settle(self, coin: LazyUniform) -> bool:
        return decide_sign(lambda u: self._ball() - u, [coin], extra_precision=128)


def _coins(count: int, first: int, settle: Any, entropy: BitSource) -> Booleans:
    """True where the first bits lie below those of the probability; where they are equal, ``settle`` says."""
    words = entropy.words(-(-count // 4)).view(np.uint16)[:count]
    coins: Booleans = words < first
    for i in np.flatnonzero(words == first):
        coins[i] = settle(LazyUniform(int(words[i]), _FIRST_BITS, entropy))
    return coins
