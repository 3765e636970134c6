"""Sums of numbers in the shuffle model: everybody's noisy number in random shares, which together say only the sum."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.local.categories.estimates import two_sided
from tacit.local.numeric.numbers import Bounds, read_reals, rounded
from tacit.local.shuffle.absent import honest_of
from tacit.local.shuffle.messages import MessageProtocol, read_messages
from tacit.mechanisms.shared.base import bits_from, meaning
from tacit.mechanisms.shared.estimate import BETA
from tacit.mechanisms.shared.promise import PriceLike
from tacit.mechanisms.shared.tails import read_beta
from tacit.noise.entropy import BitSource
from tacit.noise.polya import polya_differences
from tacit.privacy import REPLACE, ApproxDP
from tacit.privacy.losses.numbers import whole
from tacit.privacy.prices import Price, positive, round_up
from tacit.privacy.rounding import ONE, UP, decimal_up, exp_up

__all__ = ["LEAST_HONEST", "ShuffledSum", "SumEstimate", "polya_epsilon", "shares_needed"]

LEAST_HONEST = 19
"""The theorem on mixing is for this many honest people at least."""

_WRAP = 2.0**-40


@dataclass(frozen=True, slots=True)
class SumEstimate:
    """A sum, unbiased, and the standard error of its noise and rounding."""

    value: float
    standard_error: float
    refused: int = 0
    """Messages that nobody who follows the protocol sends; left out, and with each of them the sum is lost."""

    def interval(self, beta: Price = BETA) -> tuple[float, float]:
        """Misses with probability about β at most: as wide as for Laplace noise or for a normal, whichever is wider.

        The noise is Laplace's or nearer to a normal, and so is its sum with what rounding adds.
        """
        exact = read_beta(beta)
        z = max(two_sided(exact), -math.log(exact) / math.sqrt(2))
        return self.value - z * self.standard_error, self.value + z * self.standard_error


class ShuffledSum(MessageProtocol):
    """Split and mix (Ishai et al. 2006; Balle et al. 2020): m shares of each noisy number, shuffled with all others.

    The noise of the least number of honest people alone, h, is discrete Laplace and keeps ε: each adds a difference of
    two Pólya numbers of shape 1/h. The shuffled shares say no more than the sum but for 2^-``security``, which costs
    δ = (1+e^ε)·2^-security. Share count, modulus and h are stated. Proof: docs/proofs/shuffling.md.

    >>> s = ShuffledSum(n=10_000, bounds=(0, 1), steps=1000, epsilon=1)
    >>> s.shares, s.modulus_bits, s.honest
    (11, 24, 9000)
    >>> total = s.estimate(s.messages(np.full(10_000, 0.25)))
    >>> abs(total.value - 2500) < 100
    True
    """

    __slots__ = ("_bounds", "_guarantee", "_honest", "_modulus_bits", "_n", "_security", "_steps")

    proof: ClassVar[str] = "proofs/shuffling.md"

    def __init__(
        self,
        *,
        n: int,
        bounds: object,
        epsilon: PriceLike,
        steps: int = 1 << 10,
        absent: Price = "0.1",
        security: int = 40,
        unknown: Any = None,
    ) -> None:
        self._n = whole("n", n, least=1)
        self._bounds = Bounds.read(bounds, unknown)
        self._steps = whole("steps", steps, least=1)
        self._security = whole("security", security, least=1)
        self._honest = honest_of(self._n, absent)
        if self._honest < LEAST_HONEST:
            allowed = f"enough people that at least {LEAST_HONEST} are honest"
            raise InvalidParameter("n", given=f"{n}, of whom {self._honest} are honest", allowed=allowed)
        price = positive(epsilon, "epsilon")
        self._modulus_bits = self._least_bits(price)
        if self._modulus_bits > 62:
            allowed = "so that sums fit into 62 bits: fewer steps, or a larger ε"
            raise InvalidParameter("steps", given=steps, allowed=allowed)
        if price >= self._security * Fraction(69, 100):  # 2^-security·(1 + e^ε) would be no δ
            allowed = f"less than {self._security * 0.69:g}, or a larger security="
            raise InvalidParameter("epsilon", given=epsilon, allowed=allowed)
        factor = UP.add(ONE, exp_up(decimal_up(price)))
        self._guarantee = ApproxDP(price, Fraction(factor) / 2**self._security, neighbours=REPLACE)

    @property
    def guarantee(self) -> ApproxDP:
        """What is promised about the shuffled shares, if at least ``honest`` people follow the protocol."""
        return self._guarantee

    @property
    def honest(self) -> int:
        """The least number of people who follow the protocol for the promise to hold."""
        return self._honest

    @property
    def modulus_bits(self) -> int:
        """Shares are numbers modulo 2 to this; a sum leaves the range with probability at most 2⁻⁴⁰."""
        return self._modulus_bits

    @property
    def shares(self) -> int:
        """How many messages each person sends."""
        return shares_needed(self._honest, self._modulus_bits, self._security)

    @property
    def message_bytes(self) -> int:
        """The length of each message."""
        return -(-self._modulus_bits // 8)

    @property
    def standard_error(self) -> float:
        """Of the sum, if everybody takes part: noise, and at most the rounding to steps."""
        step = float(self._bounds.width) / self._steps
        return step * math.sqrt(self._noise_variance(float(self._guarantee.eps)) + self._n / 4)

    def _noise_variance(self, epsilon: float) -> float:
        """Of all people's noise, in steps: n/h times that of discrete Laplace."""
        lost = -math.expm1(-epsilon / self._steps)
        return 2 * self._n / self._honest * (1 - lost) / lost**2

    def _least_bits(self, price: Fraction) -> int:
        """The least modulus that holds the sum and, but for 2⁻⁴⁰, its noise (Chernoff at e^(x/2), x = ε/steps).

        E[e^(xX/2)] of a Pólya sum of shape r is at most (1 + e^(-x/2))^r ≤ 2^r; so P[|X| > t] ≤ 2^(1+r)·e^(-xt/2).
        """
        shape = self._n / self._honest
        reach = 2 * ((1 + shape) * math.log(2) - math.log(_WRAP)) * self._steps / float(price)
        return max(2, math.ceil(self._n * self._steps + 2 * reach + 2).bit_length())

    def messages(self, values: Any, *, entropy: BitSource | None = None) -> npt.NDArray[np.uint64]:
        """The shares of each person, uniform but for their sum. NaN and non-numbers count as the stated point."""
        bits = bits_from(entropy)
        flat, _ = read_reals(values)
        steps = rounded(self._bounds.units(flat), self._steps, bits)
        noise = polya_differences(Fraction(1, self._honest), self._guarantee.eps / self._steps, flat.size, bits)
        mask = (1 << self._modulus_bits) - 1
        hidden = np.array([(int(x) + int(z)) & mask for x, z in zip(steps, noise, strict=True)], dtype=np.uint64)
        shares = bits.words(flat.size * self.shares).reshape(flat.size, self.shares) & np.uint64(mask)
        shares[:, -1] = (hidden - shares[:, :-1].sum(axis=1, dtype=np.uint64)) & np.uint64(mask)
        return shares

    def estimate(self, messages: Any) -> SumEstimate:
        """The sum from all messages, in any order. Those who stayed silent count at the lower bound.

        A share that is missing or made up makes the sum any number: ``refused`` says how many could not be shares.
        """
        size = 1 << self._modulus_bits
        found, refused = read_messages(messages, size)
        total = int(found.sum(dtype=np.uint64)) % size
        spare = (size - self._n * self._steps) // 2
        if total >= size - spare:
            total -= size
        width = float(self._bounds.width)
        value = self._n * float(self._bounds.low) + total * width / self._steps
        return SumEstimate(value, self.standard_error, refused)

    def remaining(self, absent: Price) -> ApproxDP:
        """What the same messages still promise if this share of people is absent.

        Once fewer than ``honest`` are left, ε and δ grow: less than a whole Laplace noise is steeper in its middle, and
        fewer people mix less.
        """
        left = honest_of(self._n, absent)
        if left >= self._honest:
            return self._guarantee
        if left < LEAST_HONEST:
            allowed = f"a share that leaves {LEAST_HONEST} honest people"
            raise InvalidParameter("absent", given=absent, allowed=allowed)
        found = polya_epsilon(left / self._honest, float(self._guarantee.eps), self._steps) * (1 + 1e-6)
        mixing = ((self.shares - 2) * (math.log2(left) - math.log2(math.e)) - self._modulus_bits) / 2
        delta = min((1 + math.exp(found)) * 2.0**-mixing * (1 + 1e-9), 1 - 2.0**-53)
        return ApproxDP(round_up(Fraction(found)), round_up(Fraction(delta)), neighbours=REPLACE)

    def explain(self) -> str:
        """Two sentences for someone who has to decide."""
        return (
            f"Whatever a person's value, it changes the chance of any shuffled view {meaning(self._guarantee)}."
            f" Each person sends {self.shares} messages of {self.message_bytes} bytes; at least {self._honest} people"
            " must follow the protocol."
        )

    def __repr__(self) -> str:
        return (
            f"<sum of {self._n} numbers, {self._honest} honest, {self._steps} steps, {self.shares} shares modulo"
            f" 2^{self._modulus_bits}, {self._guarantee!r}>"
        )


def shares_needed(honest: int, modulus_bits: int, security: int) -> int:
    """⌈2 + (2σ + log₂ q)/(log₂ h - log₂ e)⌉, for at least 19 honest people (Balle et al. 2020).

    >>> shares_needed(10_000, 32, 40)
    12
    """
    if honest < LEAST_HONEST:
        raise InvalidParameter("honest", given=honest, allowed=f"at least {LEAST_HONEST}")
    return math.ceil(2 + (2 * security + modulus_bits) / (math.log2(honest) - math.log2(math.e)))


def polya_epsilon(shape: float, epsilon: float, steps: int) -> float:
    """The largest |ln P[X = k]/P[X = k+s]|, s ≤ ``steps``, of a Pólya difference of this shape, sized for ε at shape 1.

    For shape 1 it is ε. Below that the middle is steeper: the loss is largest between 0 and ``steps``.

    >>> [round(polya_epsilon(shape, 1.0, 1), 3) for shape in (1.0, 0.9, 0.5)]
    [1.0, 1.099, 1.675]
    """
    alpha = math.exp(-epsilon / steps)
    reach = math.ceil(60 * steps / epsilon) + steps
    k = np.arange(1, reach)
    logs = np.concatenate([[0.0], np.cumsum(np.log((k - 1 + shape) / k))]) - epsilon / steps * np.arange(reach)
    law = np.exp(logs + shape * math.log1p(-alpha))
    # P[X = s] is the sum of law[j]·law[j + s]: nothing cancels, so that the smallest chances keep their digits.
    return math.log(float(law @ law)) - math.log(float(law[:-steps] @ law[steps:]))
