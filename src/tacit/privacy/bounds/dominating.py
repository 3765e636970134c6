"""Composition by loss distributions: each guarantee stands in by the worst pair of distributions that it allows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tacit.privacy.bounds.bound import Parts
from tacit.privacy.prices import float_down
from tacit.privacy.promise import Promise
from tacit.privacy.sensitivity import root_up

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution


@dataclass(frozen=True, slots=True)
class Dominating:
    """The composition of the dominating pairs of pure, approximate and Gaussian DP; zCDP and Rényi bounds have none.

    Only for plans of several kinds or prices: the optimal and the Gaussian bound are exact for one kind.
    """

    name: str = "loss distribution"

    def epsilon(self, parts: Parts, delta: Fraction) -> float:
        loss = _composed(parts) if delta and len(parts) > 1 else None
        return math.inf if loss is None else loss.epsilon(float_down(delta))

    def delta(self, parts: Parts, epsilon: Fraction) -> float:
        loss = _composed(parts) if len(parts) > 1 else None
        return 1.0 if loss is None else loss.delta(max(0.0, float_down(epsilon)))


def dominating_loss(promise: Promise) -> LossDistribution | None:
    """The loss of the worst mechanism that keeps the promise, or None if no single pair is the worst."""
    from tacit.privacy.loss_distribution import LossDistribution  # loads numpy: needed for this bound only

    stated = promise.as_approx()
    if stated is not None:
        return LossDistribution.approximate(_float_up(stated[0]), _float_up(stated[1]), promise.neighbours)
    mu_squared = promise.as_gaussian()
    if mu_squared is not None:
        return LossDistribution.gaussian_dp(_float_up(root_up(mu_squared)), promise.neighbours)
    return None


def _float_up(exact: Fraction) -> float:
    return -float_down(-exact)


def _composed(parts: Parts) -> LossDistribution | None:
    losses = [(dominating_loss(part), often) for part, often in parts]
    total = None
    for loss, often in losses:
        if loss is None:
            return None
        total = often * loss if total is None else total + often * loss
    return total
