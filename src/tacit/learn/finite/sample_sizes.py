"""How many examples suffice to learn a finite class privately, with explicit constants."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tacit.errors import InvalidParameter
from tacit.mechanisms.selection.scores import read_count
from tacit.mechanisms.shared.tails import read_beta
from tacit.privacy import ADD_REMOVE, REPLACE, Neighbours
from tacit.privacy.neighbours import relation
from tacit.privacy.prices import Price, positive, price

__all__ = ["SampleSize", "agnostic_sample", "realisable_sample", "textbook_sample"]

_UP = 1 + 1e-12
"""Floats are rounded up by this much before the next whole number is taken."""


@dataclass(frozen=True, slots=True)
class SampleSize:
    """So many examples suffice; so many would without privacy, by the same argument."""

    examples: int
    statistics: int
    privacy: int
    """What privacy asks for: the first number, or a term of it, as the argument has it."""

    @property
    def binds(self) -> str:
        """Which of the two the number is due to: "privacy" or "statistics"."""
        return "privacy" if self.examples > self.statistics else "statistics"


def agnostic_sample(
    hypotheses: int, alpha: Price, beta: Price, *, epsilon: Price, neighbours: Neighbours = REPLACE
) -> SampleSize:
    """Examples with which `FiniteClassLearner` is within α of the error of the best hypothesis, with chance 1 - β.

    ln(|C|/β)/-ln(cosh c - α·sinh c) with c the smaller of the learner's factor per mistake and atanh α. Where ε/2
    is at least atanh α, privacy costs nothing. Proof: docs/proofs/learnability.md.

    >>> agnostic_sample(1000, 0.1, 0.05, epsilon=0.1)
    SampleSize(examples=2635, statistics=1971, privacy=2635)
    >>> agnostic_sample(1000, 0.1, 0.05, epsilon=1).binds
    'statistics'
    """
    _, share, log = _read(hypotheses, alpha, beta)
    factor = _factor(epsilon, neighbours)
    best = math.atanh(share)

    def enough(c: float) -> int:
        return _whole(log, -math.log1p(2 * math.sinh(c / 2) ** 2 - share * math.sinh(c)))

    needed = enough(min(factor, best))
    return SampleSize(needed, enough(best), needed)


def realisable_sample(
    hypotheses: int, alpha: Price, beta: Price, *, epsilon: Price, neighbours: Neighbours = REPLACE
) -> SampleSize:
    """Examples with which the learner's error is at most α with probability 1 - β, if some hypothesis is never wrong.

    ln(|C|/β)/-ln(1 - α(1 - e^(-c))), c being the learner's factor per mistake.

    >>> realisable_sample(1000, 0.1, 0.05, epsilon=0.1)
    SampleSize(examples=2026, statistics=94, privacy=2026)
    """
    _, share, log = _read(hypotheses, alpha, beta)
    factor = _factor(epsilon, neighbours)
    needed = _whole(log, -math.log1p(share * math.expm1(-factor)))
    return SampleSize(needed, _whole(log, -math.log1p(-share)), needed)


def textbook_sample(hypotheses: int, alpha: Price, beta: Price, *, epsilon: Price) -> SampleSize:
    """The larger of two terms, a third of α and half of β for each of their parts: the argument of textbooks.

    ln(2|C|/(β/2))/2(α/3)² for the empirical errors of all hypotheses, (2/ε)·ln(|C|/(β/2))/(α/3) for the choice.

    >>> textbook_sample(1000, 0.1, 0.05, epsilon=0.1)
    SampleSize(examples=6358, statistics=5081, privacy=6358)
    >>> textbook_sample(1000, 0.1, 0.05, epsilon=1)
    SampleSize(examples=5081, statistics=5081, privacy=636)
    """
    size, share, _ = _read(hypotheses, alpha, beta)
    half, third = float(read_beta(beta)) / 2, share / 3
    statistics = _whole(math.log(2 * size / half), 2 * third**2)
    privacy = _whole(math.log(size / half), third * float(positive(epsilon, "epsilon")) / 2)
    return SampleSize(max(statistics, privacy), statistics, privacy)


def _read(hypotheses: int, alpha: Price, beta: Price) -> tuple[int, float, float]:
    """The size of the class, α, and ln(|C|/β)."""
    size = read_count(hypotheses, "hypotheses")
    allowed = "an error strictly between 0 and 1"
    share = price(alpha, "alpha", allowed=allowed)
    if not 0 < share < 1:
        raise InvalidParameter("alpha", given=alpha, allowed=allowed)
    return size, float(share), math.log(size) - math.log(read_beta(beta))


def _factor(epsilon: Price, neighbours: Neighbours) -> float:
    """The learner's factor per mistake: ε, or ε/2 where an example is replaced."""
    exact = float(positive(epsilon, "epsilon"))
    return min(exact if relation(neighbours) is ADD_REMOVE else exact / 2, 700.0)


def _whole(needed: float, per_example: float) -> int:
    if per_example <= 0 or needed / per_example > 1e15:
        allowed = "values for which 10^15 examples suffice"
        raise InvalidParameter("alpha", given="α and ε so small", allowed=allowed)
    return max(1, math.ceil(needed / per_example * _UP))
