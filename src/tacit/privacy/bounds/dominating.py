"""Composition by loss distributions: each guarantee stands in by the worst pair of distributions that it allows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tacit.errors import InvalidParameter
from tacit.privacy.bounds.bound import Parts
from tacit.privacy.prices import float_down, round_up
from tacit.privacy.promise import Promise
from tacit.privacy.sensitivity import root_up

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution


_MOST_PARTS = 1000  # a plan of more distinct parts takes seconds, and the Rényi bound loses little on it


@dataclass(frozen=True, slots=True)
class Dominating:
    """The composition of stated losses and of the dominating pairs of pure, approximate and Gaussian DP.

    zCDP and Rényi bounds have no such pair.

    Only for plans of several kinds or prices: the optimal and the Gaussian bound are exact for one kind. Within a
    relative 1e-5 of the exact answer; parts whose losses are too large for a grid are left to the other bounds.
    """

    name: str = "loss distribution"

    def epsilon(self, parts: Parts, delta: Fraction) -> float:
        if not _worth_it(parts, delta):
            return math.inf
        try:
            loss = composed_loss(parts)
            found = math.inf if loss is None else loss.epsilon(float_down(delta))
            return round_up(Fraction(found)) if math.isfinite(found) else math.inf
        except (InvalidParameter, OverflowError):
            if any(part.only_a_loss for part, _ in parts):
                raise  # no other bound can help
            return math.inf

    def delta(self, parts: Parts, epsilon: Fraction) -> float:
        if not _worth_it(parts, None):
            return 1.0
        try:
            loss = composed_loss(parts)
            return 1.0 if loss is None else round_up(Fraction(loss.delta(max(0.0, float_down(epsilon)))))
        except InvalidParameter:
            if any(part.only_a_loss for part, _ in parts):
                raise  # no other bound can help
            return 1.0


def _worth_it(parts: Parts, delta: Fraction | None) -> bool:
    """Whether a part states its loss, or parts differ in ε or mix kinds: elsewhere an exact bound exists."""
    if any(part.stated_loss is not None for part, _ in parts):
        return True
    if delta == 0 or not 1 < len(parts) <= _MOST_PARTS:
        return False
    stated = {part.as_approx() for part, _ in parts}
    if None in stated:
        return len(stated) > 1  # Gaussian parts alone are exact already
    return len({pair[0] for pair in stated if pair is not None and pair[0]}) > 1


def dominating_loss(promise: Promise) -> LossDistribution | None:
    """The loss of the worst mechanism that keeps the promise, or None if no single pair is the worst."""
    if promise.stated_loss is not None:
        return promise.stated_loss
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


def composed_loss(parts: Parts) -> LossDistribution | None:
    """The loss of all parts together, or None if one of them has no dominating pair."""
    losses = []
    for part, often in parts:
        loss = dominating_loss(part)
        if loss is None:
            return None
        losses.append(often * loss)
    return losses[0].compose(losses) if losses else None
