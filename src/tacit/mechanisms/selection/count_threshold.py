"""Which groups may be named, by the count that is released of them: one noise both decides and is shown.

A key that only one unit has would give it away by appearing at all. Its count is at most what one unit adds to a group,
and the threshold is so far above that that noise lifts it there with probability δ at most. Proof:
docs/proofs/released_counts.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import NotPrivate
from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.guarantees.zcdp import ZCDP

__all__ = ["CountThreshold"]

_MOST = Fraction(1, 2)
"""Of what may slip: a rule that lets every second key through is none."""


@dataclass(frozen=True, slots=True)
class CountThreshold:
    """Shows a key where its count with noise reaches a threshold: that of one unit does so with ``slip`` at most.

    ``noise`` is for all keys together, of which one unit touches at most ``groups`` and adds at most ``most`` to each.

    >>> from tacit import DiscreteLaplace
    >>> rule = CountThreshold(DiscreteLaplace(epsilon=1, sensitivity=2), most=1, slip=Fraction(1, 10**6), groups=2)
    >>> rule.guarantee, rule.threshold
    (ApproxDP(1, 1e-06), 30)
    """

    noise: AdditiveMechanism
    most: int
    slip: Fraction
    groups: int = 1

    proof: ClassVar[str] = "proofs/released_counts.md"

    def __post_init__(self) -> None:
        if not self.slip:
            raise NotPrivate("Private keys cannot be shown at δ = 0: one unit's key must stay hidden but for a δ.")

    @property
    def guarantee(self) -> Guarantee:
        """What the decisions and the counts promise together."""
        promise = self.noise.guarantee
        if isinstance(promise, PureDP):
            return ApproxDP(promise.eps, self.slip)
        if isinstance(promise, ZCDP):
            return ZCDP(promise.rho, self.slip)
        return ApproxDP(Fraction(promise.epsilon(self.slip)), 2 * self.slip)

    @property
    def threshold(self) -> int:
        """What the noisy count must reach: P[most + noise ≥ T] = ½·P[|noise| > T - most - 1] is at most slip/groups."""
        return self.most + 1 + int(self.noise.accuracy(2 * min(self.slip, _MOST / 2) / self.groups))

    def keep(self, units: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Which keys are shown, by their counts with noise."""
        kept: npt.NDArray[np.bool_] = np.asarray(units) >= self.threshold
        return kept

    def explain(self) -> str:
        """The rule in a sentence."""
        return f"a group is named where its count, with the noise it is shown with, reaches {self.threshold}"
