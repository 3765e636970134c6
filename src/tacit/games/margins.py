"""How often is the wrong one chosen, if the best leads by so much? Said beforehand: no data, no randomness."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tacit.errors import InvalidParameter
from tacit.mechanisms.selection.exponential import Exponential
from tacit.mechanisms.selection.noisy_max import EXPONENTIAL, GUMBEL, NoisyMax
from tacit.mechanisms.selection.permute_and_flip import PermuteAndFlip
from tacit.mechanisms.selection.scores import read_count
from tacit.mechanisms.shared.tails import read_beta
from tacit.privacy.prices import Price, non_negative

__all__ = ["chance_of_wrong_winner", "margin_for"]

_UP = 1 + 1e-12
"""Floats are rounded up by this much: what is said here is an upper bound."""


def chance_of_wrong_winner(mechanism: Any, margin: Price, *, candidates: int) -> float:
    """The largest chance that one who trails by at least ``margin`` is chosen, over all scores with such a leader.

    ``mechanism`` is any selection. It is reached, where all the others trail by exactly the margin, for the
    exponential mechanism and permute-and-flip; for others it is what their accuracy implies.
    Proof: docs/proofs/margins.md.

    >>> vote = Exponential(epsilon=1, sensitivity=1)
    >>> round(1 - chance_of_wrong_winner(vote, 1, candidates=2), 4)                  # 30 to 29: 1/(1+e^(-1/2))
    0.6225
    >>> round(chance_of_wrong_winner(PermuteAndFlip(epsilon=1, sensitivity=1), 10, candidates=100), 3)
    0.271
    """
    lead = float(non_negative(margin, "margin"))
    others = read_count(candidates, "candidates") - 1
    if not others:
        return 0.0
    return min(1.0, _law(mechanism)(lead, others) * _UP)


def margin_for(mechanism: Any, beta: Price, *, candidates: int) -> float:
    """The least lead with which the wrong one is chosen with probability at most β.

    >>> vote = PermuteAndFlip(epsilon=1, sensitivity=1, monotone=True)
    >>> round(margin_for(vote, 0.05, candidates=3), 3)
    2.979
    """
    level = float(read_beta(beta))
    if read_count(candidates, "candidates") == 1:
        return 0.0

    def enough(lead: float) -> bool:
        return chance_of_wrong_winner(mechanism, lead, candidates=candidates) <= level

    low, high = 0.0, 1.0
    while not enough(high):
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _law(mechanism: Any) -> Callable[[float, int], float]:
    """(lead, number of others) → the chance, for this mechanism."""
    noise = getattr(mechanism, "noise", None) if isinstance(mechanism, NoisyMax) else None
    plain = getattr(mechanism, "_base", None) is None
    if noise == GUMBEL or (isinstance(mechanism, Exponential) and plain):
        return lambda lead, others: _exponential(lead / mechanism.scale, others)
    if noise == EXPONENTIAL or isinstance(mechanism, PermuteAndFlip):
        return lambda lead, others: _flipped(lead / mechanism.scale, others)
    if not hasattr(mechanism, "accuracy"):
        allowed = "a selection: Exponential, PermuteAndFlip, NoisyMax, or one with accuracy(beta, candidates=)"
        raise InvalidParameter("mechanism", given=mechanism, allowed=allowed)
    return lambda lead, others: _by_accuracy(mechanism, lead, others)


def _exponential(lead: float, others: int) -> float:
    """k - 1 others at weight e^(-lead) against one at 1."""
    weight = math.exp(-lead) * others
    return weight / (1 + weight)


def _flipped(lead: float, others: int) -> float:
    """The others before the leader in the random order all have to lose coins of p = e^(-lead).

    1 - mean over j = 0 … k-1 of (1-p)^j; for small p by its series, where the difference would lose digits.
    """
    p = math.exp(-lead)
    k = others + 1
    if k * p < 1e-4:
        return p * others / 2
    return 1 + math.expm1(k * math.log1p(-p)) / (k * p) if p < 1 else 1 - 1 / k


def _by_accuracy(mechanism: Any, lead: float, others: int) -> float:
    """The least β whose accuracy is within the lead, to a thousandth of itself."""
    low, high = -700.0, 0.0
    while high - low > 1e-3:
        middle = (low + high) / 2
        within = mechanism.accuracy(math.exp(middle), candidates=others + 1) < lead
        low, high = (low, middle) if within else (middle, high)
    return math.exp(high)
