"""Privacy amplification: by Poisson sampling, by sampling without replacement, by shuffling.

Each theorem has its own neighbour relation and sampler, and is never lent to another: Poisson with add-remove, without
replacement with replace, shuffling with replace and public n. Proofs: ``docs/proofs/amplification.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from tacit.errors import InvalidParameter
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.losses.clones import clone_delta
from tacit.privacy.losses.numbers import Real, failure_probability, not_negative, whole
from tacit.privacy.losses.pair import LARGEST_LOSS
from tacit.privacy.neighbours import REPLACE, Neighbours


def sampled(loss: LossDistribution, rate: Real) -> LossDistribution:
    """``loss`` on a Poisson sample: every unit in it by its own fresh, secret coin (add-remove only).

    >>> round(sampled(LossDistribution.pure(1), 0.1).epsilon(0), 4)  # ln(1 + 0.1·(e-1))
    0.1586
    """
    return loss.sampled(rate)


def sampled_without_replacement(loss: LossDistribution, chosen: int, population: int) -> LossDistribution:
    """``loss`` on ``chosen`` of ``population`` units, drawn afresh without replacement (replace only, n public)."""
    return loss.sampled_without_replacement(chosen, population)


@dataclass(frozen=True, slots=True)
class Shuffled:
    """n reports of an ε₀-DP local randomizer, shuffled before anyone sees them; the promise is on the shuffled view.

    The loss of the clone pair of Feldman, McMillan & Talwar (2021), computed exactly; ``closed_form`` is their theorem.
    """

    epsilon0: float
    n: int

    @property
    def neighbours(self) -> Neighbours:
        """One person's value replaced; how many there are is public."""
        return REPLACE

    def delta(self, epsilon: Real) -> float:
        """A δ that the shuffled view proves at this ε."""
        at = not_negative("epsilon", epsilon)
        if at >= self.epsilon0:
            return 0.0
        scale = 1e-30
        while (found := clone_delta(self.epsilon0, self.n, at, scale)) < scale * 1e-3 and scale > 1e-280:
            scale = max(scale * scale, 1e-280)  # what was left out of the count of clones is not small beside δ
        return found

    def epsilon(self, delta: Real) -> float:
        """An ε that the shuffled view proves at this δ, within a relative 1e-5 of what the clone pair gives."""
        goal = failure_probability(delta)
        if goal == 0 or self.n == 1 or self.epsilon0 == 0:
            return self.epsilon0

        def excess(epsilon: float) -> float:
            value = clone_delta(self.epsilon0, self.n, epsilon, max(goal, 1e-280))
            return math.log(value / goal) if value > 0 else -700.0

        if excess(0.0) <= 0:
            return 0.0
        low = high = self.closed_form(goal)
        while high < self.epsilon0 and excess(high) > 0:
            low, high = high, min(4 * high, self.epsilon0)
        while excess(low) <= 0:  # from above: tails near the middle, at far too small an ε, are slow to compute
            low, high = low / 4, min(low, high)
        return falling_root(excess, low, high)

    def closed_form(self, delta: Real) -> float:
        """The closed form of 2021 as printed; ε₀ itself where its condition ε₀ ≤ ln(n / (16 ln(2/δ))) fails."""
        goal = failure_probability(delta)
        if goal == 0 or math.log(self.n) - math.log(16 * math.log(2 / goal)) < self.epsilon0:
            return self.epsilon0
        grown = math.exp(self.epsilon0)
        inner = 8 * math.sqrt(grown * math.log(4 / goal) / self.n) + 8 * grown / self.n
        return min(self.epsilon0, math.log1p(math.tanh(self.epsilon0 / 2) * inner) * (1 + 1e-12))


def shuffled(randomizer: object, n: int) -> Shuffled:
    """What shuffling the reports of ``n`` people buys; ``randomizer`` is its ε₀, or its pure guarantee.

    >>> round(shuffled(1, n=100_000).epsilon(1e-6), 6)
    0.015282
    """
    as_pure = getattr(randomizer, "as_pure", None)
    epsilon0 = as_pure() if callable(as_pure) else randomizer
    allowed = f"a pure ε₀ of at most {LARGEST_LOSS:g}: the 2021 theorem is for ε₀-DP randomizers"
    if epsilon0 is None:
        raise InvalidParameter("randomizer", given=randomizer, allowed=allowed)
    size = not_negative("epsilon", epsilon0)
    if size > LARGEST_LOSS:
        raise InvalidParameter("randomizer", given=randomizer, allowed=allowed)
    return Shuffled(size, whole("n", n, least=1))


def falling_root(f: Callable[[float], float], low: float, high: float, *, within: float = 1e-7) -> float:
    """A point where the falling ``f`` is at most 0, within a relative distance above its root; f(low) > 0 ≥ f(high)."""
    at_low, at_high = f(low), -700.0
    turn = 0
    while high - low > within * high:
        turn += 1
        middle = low + (high - low) * at_low / (at_low - at_high) if turn % 3 else (low + high) / 2
        middle = min(max(middle, low + 0.4 * within * high), high - 0.4 * within * high)
        value = f(middle)
        if value > 0:
            low, at_low = middle, value
        else:
            high, at_high = middle, value
    return high


__all__ = ["Shuffled", "falling_root", "sampled", "sampled_without_replacement", "shuffled"]
