"""Proving leaks of a learner from one run: canaries put in by secret coins, and guesses which of them were."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.auditing.canary_bounds import chance_of_so_many, epsilon_refuted
from tacit.auditing.claims import Point, read_claim
from tacit.errors import InvalidParameter
from tacit.noise.coins import bernoulli
from tacit.noise.entropy import BitSource, system_entropy

__all__ = ["CanaryAudit", "audit_canaries"]

Scores = npt.NDArray[np.float64]
_HALVINGS = 6
_LEAST_GUESSES = 10


@dataclass(frozen=True, slots=True)
class CanaryAudit:
    """What one run proves against a claim: of so many guesses, so many were right."""

    claim: Any
    epsilon_lower: float
    """At ``delta``, at least this ε is leaked."""
    epsilon: float
    delta: float
    """The point of the claim that was tested: it implies (epsilon, delta)-DP."""
    canaries: int
    guesses: int
    right: int
    confidence: float
    """The chance that no learner that keeps its promise is called a liar."""

    @property
    def violated(self) -> bool:
        """Whether the claim is disproved. False is no proof of privacy."""
        return self.epsilon_lower > self.epsilon

    @property
    def verdict(self) -> str:
        """The verdict in one sentence."""
        at = f" at δ = {self.delta:.3g}" if self.delta else ""
        shown = f"{self.right} of {self.guesses} guesses about {self.canaries} canaries were right"
        proven = f"ε ≥ {self.epsilon_lower:.4g}{at} is proven"
        if self.violated:
            return f"{self.claim!r} is violated: {shown}, {proven}"
        return f"{self.claim!r} is not disproved: {shown}, {proven}, {self.epsilon:.4g} is claimed"


def audit_canaries(
    run: Callable[[npt.NDArray[np.bool_]], Any],
    score: Callable[[Any], Sequence[float] | Scores],
    *,
    canaries: int,
    claim: Any,
    guesses: int | None = None,
    confidence: float = 0.999,
    entropy: BitSource | None = None,
) -> CanaryAudit:
    """The most that one run proves leaked, against a claim under add-remove (Steinke, Nasr & Jagielski 2023).

    ``run(included)`` runs once, with those canaries in the data whose coin is True, and gives what is released.
    ``score(released)`` gives a number for each canary, larger where it looks as if it were in; it sees no coin. Each
    canary is one unit. Guesses are made about the canaries of the largest and the smallest scores: ``guesses`` of them
    in all, by default the best of a few numbers, which the confidence pays for. A learner that keeps its claim is
    called a liar with probability at most 1 - ``confidence``. Proof: docs/proofs/canaries.md.

    >>> import numpy as np
    >>> from tacit import PureDP
    >>> from tacit.testing import seeded
    >>> honest = audit_canaries(lambda coins: np.zeros(500), lambda released: released,
    ...     canaries=500, claim=PureDP(1), entropy=seeded(7))
    >>> honest.violated
    False
    >>> copied = audit_canaries(lambda coins: coins, lambda released: released,
    ...     canaries=500, claim=PureDP(1), entropy=seeded(7))
    >>> copied.violated, round(copied.epsilon_lower, 1)
    (True, 3.3)
    """
    count = _whole("canaries", canaries, 2)
    failure = _failure(confidence)
    point = _point(claim, failure / (20 * count))
    tried = _tried(count) if guesses is None else [_whole("guesses", guesses, 1, most=count)]
    bits = system_entropy() if entropy is None else entropy
    included = bernoulli(Fraction(1, 2), count, bits)
    given = included.copy()
    scores = _scores(score(run(given)), count)
    order = np.argsort(scores, kind="stable")
    best: CanaryAudit | None = None
    for number in tried:
        right = _right(order, included, number)
        lower = epsilon_refuted(count, number, right, point.delta, failure / len(tried))
        if lower <= point.epsilon < lower + 1e-6 and (
            chance_of_so_many(count, number, right, point.epsilon, point.delta) <= failure / len(tried)
        ):
            lower = math.nextafter(point.epsilon, math.inf)
        found = CanaryAudit(claim, lower, point.epsilon, point.delta, count, number, right, confidence)
        best = found if best is None or lower > best.epsilon_lower else best
    assert best is not None
    return best


def _right(order: npt.NDArray[np.intp], included: npt.NDArray[np.bool_], guesses: int) -> int:
    """How many guesses are right: "in" for the upper half of them, "out" for the lower."""
    up = (guesses + 1) // 2
    down = guesses - up
    inside = int(included[order[order.size - up :]].sum())
    outside = down - int(included[order[:down]].sum())
    return inside + outside


def _tried(canaries: int) -> list[int]:
    halved = [canaries >> i for i in range(_HALVINGS)]
    return [number for number in halved if number >= _LEAST_GUESSES] or [canaries]


def _point(claim: Any, small: float) -> Point:
    """Where the claim is tested: at its own δ; on a whole curve at the least ε whose δ is too small to matter."""
    points = read_claim(claim).points
    unseen = [point for point in points if point.delta <= small]
    if unseen:
        return min(unseen, key=lambda point: point.epsilon)
    return min(points, key=lambda point: point.delta)


def _scores(given: Any, count: int) -> Scores:
    scores = np.asarray(given, dtype=np.float64)
    if scores.shape != (count,):
        raise InvalidParameter("score", given=scores.shape, allowed=f"a number for each of the {count} canaries")
    return np.nan_to_num(scores, nan=0.0)


def _whole(name: str, given: object, least: int, most: int = 10**7) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or not least <= given <= most:
        raise InvalidParameter(name, given=given, allowed=f"a whole number from {least} to {most}")
    return given


def _failure(confidence: float) -> float:
    if not isinstance(confidence, float) or not 0.5 <= confidence < 1:
        raise InvalidParameter("confidence", given=confidence, allowed="a number from 0.5 up to, not including, 1")
    return 1 - confidence
