"""The best adaptive analyst against a rule of payment, by exhaustion and in exact fractions.

Rounds are randomized responses whose e^ε is a fraction, with a chance of leaking everything: every (ε, δ)-DP pair is a
processing of one (Kairouz, Oh & Viswanath 2015). Which is asked next, and whether any, may depend on all that was seen;
only the ratio of the likelihoods and the charges so far matter for the best choice: a table over these suffices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tacit.privacy.lasting import Spent, half_square
from tacit.privacy.rounding import decimal_up, ln_up


@dataclass(frozen=True, slots=True)
class Round:
    """A question: it answers 1 with odds ``ratio`` in one world, and 0 with these odds in the other; or it leaks."""

    ratio: Fraction
    leak: Fraction = Fraction(0)

    @property
    def price(self) -> Spent:
        """ε = ln ratio, rounded up; its half square."""
        epsilon = Fraction(ln_up(decimal_up(self.ratio)))
        return Spent(epsilon, self.leak, half_square(epsilon))


def most_delta(menu: Sequence[Round], allows: Callable[[Sequence[int]], bool], top: Fraction, longest: int) -> Fraction:
    """The largest Σ max(0, P-top·Q) over all adaptive ways to ask questions of the menu as often as ``allows`` lets.

    ``allows`` is given how often each question was asked, this one included.
    """
    known: dict[tuple[Fraction, tuple[int, ...]], Fraction] = {}

    def value(ratio: Fraction, asked: tuple[int, ...]) -> Fraction:
        """Per unit of probability in the second world."""
        if (ratio, asked) in known:
            return known[ratio, asked]
        best = max(ratio - top, Fraction(0))
        for k, one in enumerate(menu):
            more = (*asked[:k], asked[k] + 1, *asked[k + 1 :])
            if sum(more) > longest or not allows(more):
                continue
            yes = 1 / (1 + one.ratio)  # in the second world
            split = yes * value(ratio * one.ratio, more) + (1 - yes) * value(ratio / one.ratio, more)
            best = max(best, (1 - one.leak) * split + one.leak * ratio)
        known[ratio, asked] = best
        return best

    return value(Fraction(1), (0,) * len(menu))


def charged(menu: Sequence[Round], asked: Sequence[int]) -> Spent:
    """What so many of each question cost together."""
    total = Spent()
    for one, count in zip(menu, asked, strict=True):
        price = one.price
        total += Spent(count * price.epsilon, count * price.delta, count * price.squares)
    return total
