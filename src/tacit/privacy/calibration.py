"""How much noise a promise needs: the smallest scale whose proven ε meets the target, and a proof that less fails.

Proof: ``docs/proofs/calibration.md``.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from tacit.errors import InvalidParameter
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.losses.numbers import Real, failure_probability, positive, whole

LESS = 0.999
"""The certificate is drawn at this share of the noise."""

_CLOSE = 2e-6
_TOLERANCE = 4e-5


_SIX_DIGITS = decimal.Context(prec=6, rounding=decimal.ROUND_CEILING)


class Family(Protocol):
    """A mechanism whose loss is known at every noise scale."""

    def loss_at(self, scale: float, sensitivity: Real) -> LossDistribution:
        """The loss of one use at this scale."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A noise scale, the loss of the whole plan at it, and both proofs.

    ``epsilon`` is proven at ``scale`` and meets the target; ``epsilon_at_less`` is a *lower* bound on what 0.1% less
    noise would cost, and ``tight`` says that it exceeds the target.
    """

    scale: float
    loss: LossDistribution
    target: tuple[float, float]
    epsilon: float
    epsilon_at_less: float

    @property
    def tight(self) -> bool:
        """Whether 0.1% less noise is proven to miss the target."""
        return self.epsilon_at_less > self.target[0]


def calibrate(
    family: Family | Callable[..., LossDistribution],
    *,
    target: object,
    steps: int = 1,
    sampling: Real | tuple[int, int] | None = None,
    sensitivity: Real | None = None,
) -> Calibration:
    """The least noise with which ``steps`` uses, each on a fresh sample if asked, keep the target (ε, δ).

    ``family`` has ``loss_at(scale, sensitivity)``, or is a function of the scale (and of the sensitivity, if one is
    given). ``sampling`` is a Poisson rate, or (chosen, population) for sampling without replacement. ``target`` is a
    pair (ε, δ) or an approximate-DP guarantee.

    >>> found = calibrate(LossDistribution.gaussian, target=(1, 1e-6))
    >>> round(found.scale, 4), found.tight
    (4.2247, True)
    """
    epsilon, delta = _target(target)
    count = whole("steps", steps, least=1)
    one_use = _one_use(family, sensitivity)

    def plan(scale: float) -> LossDistribution:
        return count * _sample(one_use(scale), sampling)

    tolerance, found = _TOLERANCE, None
    for _ in range(4):
        found = _search(plan, epsilon, delta, tolerance, found.scale if found else 1.0)
        if found.tight:
            break
        tolerance /= 4
    assert found is not None
    return found


def _search(
    plan: Callable[[float], LossDistribution], epsilon: float, delta: float, tolerance: float, start: float
) -> Calibration:
    """Regula falsi (Illinois) on ln ε against ln scale, from a bracket grown around ``start``."""

    def excess(log_scale: float) -> float:
        reached = _upper(plan, math.exp(log_scale), delta, tolerance)
        return max(math.log(reached), -700.0) - math.log(epsilon) if reached > 0 else -700.0

    low, high = _bracket(excess, math.log(start))
    at_low, at_high = excess(low), excess(high)
    side = 0
    while high - low > _CLOSE:
        if math.isinf(at_low) or high - low > 1.5:
            middle = (low + high) / 2
        else:
            middle = low + (high - low) * at_low / (at_low - at_high)
            middle = min(max(middle + 0.3 * _CLOSE, low + 0.2 * _CLOSE), high - 0.2 * _CLOSE)
        value = excess(middle)
        if value > 0:
            low, at_low = middle, value
            at_high = at_high / 2 if side == 1 else at_high
            side = 1
        else:
            high, at_high = middle, value
            at_low = at_low / 2 if side == -1 else at_low
            side = -1
            if value > -_CLOSE:
                break
    scale = _six_digits_up(math.exp(high))
    proven = _upper(plan, scale, delta, tolerance)
    while proven > epsilon:  # the bound is not quite monotone in the scale: to within the tolerance only
        scale = _six_digits_up(scale * (1 + 1e-6))
        proven = _upper(plan, scale, delta, tolerance)
    less = _lower(plan, scale * LESS, delta, tolerance)
    return Calibration(scale, plan(scale), (epsilon, delta), proven, less)


def _six_digits_up(scale: float) -> float:
    """The scale rounded up to six digits, for people to read: at most a part in 10⁵ more noise."""
    rounded = float(_SIX_DIGITS.create_decimal_from_float(scale))
    return rounded if rounded >= scale else math.nextafter(rounded, math.inf)


def _bracket(excess: Callable[[float], float], start: float) -> tuple[float, float]:
    """Two points between which the excess turns from positive to not; strides double."""
    stride = 0.7
    if excess(start) > 0:
        low, high = start, start + stride
        while excess(high) > 0:
            low, stride = high, 2 * stride
            high = low + stride
            if high > 200:
                raise InvalidParameter("target", given="an ε and δ that no noise reaches", allowed="a reachable target")
        return low, high
    low, high = start - stride, start
    while not excess(low) > 0:
        high, stride = low, 2 * stride
        low = high - stride
        if low < -200:
            raise InvalidParameter("target", given="an ε and δ met without noise", allowed="a target that binds")
    return low, high


def _upper(plan: Callable[[float], LossDistribution], scale: float, delta: float, tolerance: float) -> float:
    """The proven ε at a scale; ∞ where the noise is so small that nothing can be promised."""
    try:
        return plan(scale).epsilon(delta, tolerance=tolerance)
    except InvalidParameter as error:
        if error.name in {"sensitivity / scale", "epsilon", "eta", "largest loss of one use"}:
            return math.inf
        raise


def _lower(plan: Callable[[float], LossDistribution], scale: float, delta: float, tolerance: float) -> float:
    try:
        return plan(scale).epsilon_bounds(delta, tolerance=tolerance)[0]
    except InvalidParameter as error:
        if error.name in {"sensitivity / scale", "epsilon", "eta", "largest loss of one use"}:
            return math.inf
        raise


def _target(target: object) -> tuple[float, float]:
    as_approx = getattr(target, "as_approx", None)
    pair = as_approx() if callable(as_approx) else target
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise InvalidParameter("target", given=target, allowed="a pair (ε, δ), or an ApproxDP or PureDP guarantee")
    return positive("epsilon", pair[0]), failure_probability(pair[1])


def _one_use(
    family: Family | Callable[..., LossDistribution], sensitivity: Real | None
) -> Callable[[float], LossDistribution]:
    loss_at = getattr(family, "loss_at", None)
    if callable(loss_at):
        reach = 1 if sensitivity is None else sensitivity
        return lambda scale: _checked(loss_at(scale, reach))
    if callable(family):
        if sensitivity is None:
            return lambda scale: _checked(family(scale))
        return lambda scale: _checked(family(scale, sensitivity))
    raise InvalidParameter("family", given=family, allowed="a mechanism with loss_at, or a function of the noise scale")


def _checked(loss: object) -> LossDistribution:
    if not isinstance(loss, LossDistribution):
        raise InvalidParameter("family", given=loss, allowed="a function whose result is a LossDistribution")
    return loss


def _sample(loss: LossDistribution, sampling: Real | tuple[int, int] | None) -> LossDistribution:
    if sampling is None:
        return loss
    if isinstance(sampling, tuple):
        return loss.sampled_without_replacement(*sampling)
    return loss.sampled(sampling)
