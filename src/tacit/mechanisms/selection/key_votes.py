"""Which groups may be named, by votes: a unit of few keys has more of a say in each than a unit of many.

What one unit can move in L2 is the same however many keys it has, so Gaussian noise stays what it is while most keys
are pushed further above the threshold. Proof: docs/proofs/key_votes.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar

import numpy as np

from tacit.errors import InvalidParameter
from tacit.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from tacit.mechanisms.selection.key_selection import GaussianKeySelection, Kept, Units, gaussian_law
from tacit.mechanisms.shared.tails import least_step, near_quantile
from tacit.noise.entropy import BitSource
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.gaussian import GaussianDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.privacy.prices import times
from tacit.privacy.rounding import decimal_down
from tacit.privacy.sensitivity import L2

__all__ = ["MOST_GROUPS", "VOTE", "VotedKeySelection", "Weights", "best_gaussian"]

VOTE = 1024
"""What each key gets of a unit that has as many keys as it may; nobody gives a key less."""
MOST_GROUPS = 10**6
"""So many keys of a unit are weighed: votes of all units then fit into 64 bits."""
_SINGLY = 16
"""Up to so many keys every number has a weight of its own; beyond, some numbers share that of the largest of them."""

Weights = tuple[tuple[int, int], ...]
"""(m, w): a unit of at most m keys, and of more than the entry before says, gives w votes to each."""


class VotedKeySelection(GaussianKeySelection):
    """Shows a key if its votes plus Gaussian noise reach a threshold that the votes of one unit hardly ever reach.

    A unit of m ≤ p keys gives each of them w(m) votes, m·w(m)² ≤ p·w(p)²: votes for keys move by as much in L2 as if
    every unit had p keys. Of `GaussianKeySelection` it is the better one for every table: w(m) ≥ w(p), and noise and
    threshold are w(p) times those of numbers of units.

    >>> rule = VotedKeySelection(promise=ZCDP(0.1, 1e-6), groups=4)
    >>> rule.guarantee, rule.threshold, [round(votes / VOTE, 3) for _, votes in rule.weights]
    (ZCDP(0.1, 1e-06), 24, [2.0, 1.414, 1.154, 1.0])
    """

    __slots__ = ("_level", "_tail", "_variance", "_weights", "least_votes")

    proof: ClassVar[str] = "proofs/key_votes.md"

    def _set(self, promise: ApproxDP | ZCDP | None, inner: Guarantee, slip: Fraction, groups: int, least: int) -> None:
        self.groups = times(groups, "groups", least=1)
        if self.groups > MOST_GROUPS or least != 1:
            allowed = f"at most {MOST_GROUPS:,} keys of a unit, and no least number of units"
            raise InvalidParameter("groups", given=(groups, least), allowed=allowed)
        self.least = 1
        self._promise, self._parts = promise, (inner, slip)
        reach = L2.sqrt(self.groups * VOTE**2)
        self._noise = DiscreteGaussian(promise=inner, sensitivity=reach)
        self._variance, self._tail = gaussian_law(self._noise, reach, inner)
        self._weights: Weights | None = None
        self.least_votes = VOTE + 1 + self._furthest(self.groups)
        """What votes with noise must reach: those of a unit of p keys do so for any of them with the slip at most."""
        self._threshold = -(-self.least_votes // VOTE)

    def _slips(self, keys: int) -> Decimal:
        """Twice what each of so many keys may slip through with."""
        return decimal_down(2 * self._parts[1] / keys)

    def _furthest(self, keys: int) -> int:
        """The least t with ½·P[|noise| > t] ≤ slip/keys."""
        level = self._slips(keys)
        guess = math.sqrt(float(self._variance)) * near_quantile(level) - 0.5
        return least_step(lambda m: self._tail(self._variance, m), level, guess)

    @property
    def weights(self) -> Weights:
        """The votes that a unit gives each of its keys, by how many it has; made when they are first needed."""
        if self._weights is None:
            self._weights = tuple((keys, self._weight(keys)) for keys in _numbers(self.groups))
        return self._weights

    def _weight(self, keys: int) -> int:
        """The most that keeps m·w² ≤ p·w(p)² and the chance that any of m keys of one unit is shown below the slip."""
        most = math.isqrt(self.groups * VOTE**2 // keys)
        left = self.least_votes - most - 1  # P[w + noise ≥ T] = ½·P[|noise| > T - w - 1]
        if left >= 0 and self._tail(self._variance, left) <= self._slips(keys):
            return most
        return max(min(most, self.least_votes - 1 - self._furthest(keys)), VOTE)

    def keep(self, units: Units, *, entropy: BitSource | None = None) -> Kept:
        """Which keys are shown, by the votes for them; a key without votes never is."""
        votes = np.maximum(units, 0)
        noisy = self._noise.release(votes, entropy=entropy)
        kept: Kept = np.asarray((noisy >= self.least_votes) & (votes > 0), dtype=np.bool_)
        return kept

    def explain(self) -> str:
        """The rule in a sentence."""
        scale, few = f"{self._noise.scale / VOTE:.4g}", -(-self.least_votes // self.weights[0][1])
        return (
            f"a group is named if its units with Gaussian noise of scale {scale} reach {self.threshold}; "
            f"units of fewer than {self.groups} groups count for more: {few} that are in no other are enough"
        )

    def __repr__(self) -> str:
        return f"VotedKeySelection(promise={self.guarantee!r}, groups={self.groups})"


def best_gaussian(
    promise: ApproxDP | ZCDP | GaussianDP, slip: Fraction | None = None, groups: int = 1, least: int = 1
) -> GaussianKeySelection:
    """By votes where units may have several keys, otherwise by their number; from a promise, or from noise and a slip.

    >>> best_gaussian(ZCDP(0.1, 1e-6), groups=4)
    VotedKeySelection(promise=ZCDP(0.1, 1e-06), groups=4)
    """

    def made(kind: type[GaussianKeySelection]) -> GaussianKeySelection:
        if isinstance(promise, GaussianDP):
            return kind.of_noise(promise, slip or Fraction(0), groups, least)
        return kind(promise=promise, groups=groups, least=least)

    if not (1 < groups <= MOST_GROUPS and least == 1):
        return made(GaussianKeySelection)
    try:
        return made(VotedKeySelection)
    except InvalidParameter:  # noise that is 1024 times as large may be too large
        return made(GaussianKeySelection)


def _numbers(most: int) -> Iterator[int]:
    """Numbers of keys up to the most: each up to 16, then in steps of at most a sixth."""
    keys = 1
    while keys < most:
        yield keys
        keys += max(1, keys // 6) if keys >= _SINGLY else 1
    yield most
