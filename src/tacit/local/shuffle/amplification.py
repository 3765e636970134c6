"""What shuffling buys: the promise of n shuffled reports, from the randomizer's own blanket."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from tacit.errors import InvalidParameter
from tacit.local.categories.frequency import FrequencyRandomizer
from tacit.local.protocol import Randomizer
from tacit.local.shuffle.absent import honest_of
from tacit.local.shuffle.blanket import Blanket
from tacit.local.shuffle.excess import mean_excess
from tacit.mechanisms.selection.selecting import float_above
from tacit.privacy.amplification import Shuffled, falling_root, shuffled
from tacit.privacy.losses.numbers import Real, failure_probability, not_negative, whole
from tacit.privacy.neighbours import REPLACE, Neighbours
from tacit.privacy.prices import Price

__all__ = ["BlanketShuffled", "amplified", "largest_epsilon0"]

_LARGEST = 50

R = TypeVar("R", bound=Randomizer[Any])


@dataclass(frozen=True, slots=True)
class BlanketShuffled:
    """n shuffled reports of a randomizer with a known blanket; the promise is on the shuffled view (replace, n public).

    Whose reports fell outside the blanket, and what these are, is counted as known. Proof: docs/proofs/shuffling.md.
    """

    blanket: Blanket
    n: int

    @property
    def neighbours(self) -> Neighbours:
        """One person's value replaced; how many there are is public."""
        return REPLACE

    def delta(self, epsilon: Real) -> float:
        """A δ that the shuffled view proves at this ε."""
        at = not_negative("epsilon", epsilon)
        high, b = float_above(self.blanket.epsilon0), self.blanket
        if at >= high:
            return 0.0
        grown, ratio, less = math.exp(high), math.exp(at), math.expm1(at)
        values = [0.0, ratio * math.expm1(high - at), -math.expm1(at + high), -grown * less, -less]
        share = b.share * (1 - 1e-12)
        chances = [1 - share, share * b.one, share * b.one, share * b.both, share * b.neither]
        alone = b.share * b.one * values[1] * (1 + 1e-9)  # what her own report reveals, with nobody to hide among
        return min(1.0, alone, mean_excess(values, chances, self.n) / self.n)

    def epsilon(self, delta: Real) -> float:
        """An ε that the shuffled view proves at this δ, within a relative 1e-4 of the least there is."""
        goal = failure_probability(delta)
        high = float_above(self.blanket.epsilon0)
        if goal == 0 or self.n == 1 or high == 0:
            return high

        def excess(epsilon: float) -> float:
            value = self.delta(epsilon)
            return math.log(value / goal) if value > 0 else -700.0

        if excess(0.0) <= 0:
            return 0.0
        low = top = min(high, 1 / math.sqrt(self.n))
        if excess(top) > 0:
            while top < high and excess(top) > 0:
                low, top = top, min(2 * top, high)
        else:
            while excess(low) <= 0:
                low, top = low / 2, low
        return falling_root(excess, low, top, within=1e-5)


def amplified(randomizer: Randomizer[Any], n: int, *, absent: Price = 0) -> BlanketShuffled | Shuffled:
    """What shuffling the reports of ``n`` people buys, if at most the share ``absent`` of them is silent or dishonest.

    Randomizers whose reports are of two likelihoods (k-ary, hashing, Hadamard, subset) have a blanket of their own;
    others keep the clone bound, which holds for any.

    >>> from tacit.local import KaryResponse
    >>> r = KaryResponse(epsilon=4, categories=range(100))
    >>> round(amplified(r, n=1000).epsilon(1e-6), 2), round(shuffled(r.guarantee, n=1000).epsilon(1e-6), 2)
    (0.76, 3.99)
    """
    people = honest_of(whole("n", n, least=1), absent)
    blanket = randomizer.blanket if isinstance(randomizer, FrequencyRandomizer) else None
    if blanket is not None and blanket.epsilon0 > _LARGEST:
        blanket = None  # so large an ε₀ is hardly amplified, and its e^ε₀ leaves the floats
    return shuffled(randomizer.one_report, people) if blanket is None else BlanketShuffled(blanket, people)


def largest_epsilon0(
    build: Callable[[Fraction], R], n: int, *, epsilon: Real, delta: Real, absent: Price = 0, most: float = 20.0
) -> R:
    """The randomizer with the largest ε₀, to four digits, whose n shuffled reports keep (ε, δ); verified.

    >>> from tacit.local import KaryResponse
    >>> r = largest_epsilon0(lambda e: KaryResponse(epsilon=e, categories=range(100)), 10**4, epsilon=1, delta=1e-6)
    >>> r.epsilon > 5
    True
    """
    goal, at = failure_probability(delta), not_negative("epsilon", epsilon)

    def keeps(epsilon0: Fraction) -> bool:
        return amplified(build(epsilon0), n, absent=absent).delta(at) <= goal

    low, high = Fraction(at), Fraction(most)
    if not low or not keeps(low):
        raise InvalidParameter("epsilon", given=epsilon, allowed="an ε above 0 that some local ε₀ reaches")
    while high - low > low / 10**4:
        middle = Fraction(f"{float((low + high) / 2):.6g}")
        if not low < middle < high:
            break
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return build(low)
