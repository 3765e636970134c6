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
from tacit.privacy.prices import float_down, price

LESS = 0.999
"""The certificate is drawn at this share of the noise."""

TOLERANCE = 4e-5
"""How much more noise than needed, relatively, unless another tolerance is asked for."""

_COARSE = 3e-3  # a first search at this tolerance says where to look
_CERTIFIED = 1e-4  # from this tolerance on, the proof that less noise fails is insisted on
_STEPS = 100
_TOO_LITTLE_NOISE = frozenset({"sensitivity / scale", "epsilon", "eta", "mu", "largest loss of one use"})


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
    tolerance: float = TOLERANCE,
) -> Calibration:
    """The least noise with which ``steps`` uses, each on a fresh sample if asked, keep the target (ε, δ).

    ``family`` has ``loss_at(scale, sensitivity)``, or is a function of the scale (and of the sensitivity, if one is
    given). ``sampling`` is a Poisson rate, or (chosen, population) for sampling without replacement. ``target`` is a
    pair (ε, δ) or an approximate-DP guarantee. The scale has six digits, or more where ``tolerance``, the relative
    excess of noise that is allowed, asks for them. Above 10⁻⁴ it is found sooner, and ``tight`` may be false.

    >>> found = calibrate(LossDistribution.gaussian, target=(1, 1e-6))
    >>> round(found.scale, 4), found.tight
    (4.2247, True)
    """
    epsilon, delta = _target(target)
    count = whole("steps", steps, least=1)
    one_use = _one_use(family, sensitivity)
    _checked_sampling(sampling)

    def plan(scale: float) -> LossDistribution:
        return count * _sample(one_use(scale), sampling)

    error = positive("tolerance", tolerance)
    start, slope = 0.0, -1.0
    if error < _COARSE / 5:
        start, slope = _crossing(_excess(plan, epsilon, delta, _COARSE), start, slope, _COARSE)
    found = None
    for _ in range(4):
        log_scale, slope = _crossing(_excess(plan, epsilon, delta, error), start, slope, 0.1 * error)
        found = _proven(plan, math.exp(log_scale), epsilon, delta, error)
        if found.tight or error > _CERTIFIED:
            break
        start, error = log_scale, error / 4
    assert found is not None
    return found


def _proven(
    plan: Callable[[float], LossDistribution], least: float, epsilon: float, delta: float, tolerance: float
) -> Calibration:
    """The scale rounded up to a readable number, and both proofs."""
    scale = _rounded_up(least, tolerance)
    proven = _upper(plan, scale, delta, tolerance)
    while proven > epsilon:  # the bound is not quite monotone in the scale: to within the tolerance only
        scale = _rounded_up(scale * (1 + min(1e-6, 0.1 * tolerance)), tolerance)
        proven = _upper(plan, scale, delta, tolerance)
    less = _lower(plan, scale * LESS, delta, tolerance)
    return Calibration(scale, plan(scale), (epsilon, delta), proven, less)


def _rounded_up(scale: float, tolerance: float) -> float:
    """The scale rounded up to six digits, for people to read, or to as many as the tolerance needs."""
    digits = min(max(6, 1 + math.ceil(-math.log10(tolerance))), 17)
    context = decimal.Context(prec=digits, rounding=decimal.ROUND_CEILING)
    rounded = float(context.create_decimal_from_float(scale))
    return rounded if rounded >= scale else math.nextafter(rounded, math.inf)


def _excess(
    plan: Callable[[float], LossDistribution], epsilon: float, delta: float, tolerance: float
) -> Callable[[float], float]:
    """ln(proven ε / target) at the logarithm of a scale."""

    def excess(log_scale: float) -> float:
        reached = _upper(plan, math.exp(log_scale), delta, tolerance)
        return max(math.log(reached) - math.log(epsilon), -700.0) if reached > 0 else -700.0

    return excess


def _crossing(excess: Callable[[float], float], at: float, slope: float, close: float) -> tuple[float, float]:
    """Where a falling function comes to within ``close`` below 0, and its slope there: secants, kept in a bracket."""
    low, high = -math.inf, math.inf
    before: tuple[float, float] | None = None
    for _ in range(_STEPS):
        value = excess(at)
        if value > 0:
            low = at
        else:
            high = at
            if value > -close or high - low <= 0.2 * close:
                return at, slope
        if before is not None and at != before[0] and math.isfinite(value - before[1]):
            slope = min(max((value - before[1]) / (at - before[0]), -30.0), -0.1)
        before = at, value
        at = _next(at, value, slope, close, low, high)
        if abs(at) > 200:
            given = "an ε and δ that no noise reaches" if at > 0 else "an ε and δ met without noise"
            allowed = "a reachable target" if at > 0 else "a target that binds"
            raise InvalidParameter("target", given=given, allowed=allowed)
    return (high, slope) if math.isfinite(high) else (low + close, slope)


def _next(at: float, value: float, slope: float, close: float, low: float, high: float) -> float:
    """A secant step, aimed a little below 0; half the bracket where that would leave it."""
    stride = -(value + 0.4 * close) / slope
    after = at + min(max(stride, -1.5), 1.5)
    if math.isinf(low) or math.isinf(high):
        return after
    room = 0.1 * (high - low)
    return after if low + min(room, 0.1 * close) <= after <= high - min(room, 0.1 * close) else (low + high) / 2


def _upper(plan: Callable[[float], LossDistribution], scale: float, delta: float, tolerance: float) -> float:
    """The proven ε at a scale; ∞ where the noise is so small that nothing can be promised."""
    try:
        return plan(scale).epsilon(delta, tolerance=tolerance)
    except InvalidParameter as error:
        if error.name in _TOO_LITTLE_NOISE:
            return math.inf
        raise


def _lower(plan: Callable[[float], LossDistribution], scale: float, delta: float, tolerance: float) -> float:
    try:
        return plan(scale).epsilon_bounds(delta, tolerance=tolerance)[0]
    except InvalidParameter as error:
        if error.name in _TOO_LITTLE_NOISE:
            return math.inf
        raise


def _target(target: object) -> tuple[float, float]:
    as_approx = getattr(target, "as_approx", None)
    pair = as_approx() if callable(as_approx) else target
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise InvalidParameter("target", given=target, allowed="a pair (ε, δ), or an ApproxDP or PureDP guarantee")
    positive("epsilon", pair[0])
    failure_probability(pair[1])
    return float_down(price(pair[0])), float_down(price(pair[1]))  # what is aimed at is not passed


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
    if not isinstance(sampling, tuple):
        return loss.sampled(sampling)
    chosen, population = sampling
    return loss.sampled_without_replacement(chosen, population)


def _checked_sampling(sampling: Real | tuple[int, int] | None) -> None:
    """Refuses, before any search, a sample that no noise is needed for, and a pair that is not one."""
    allowed = "a rate above 0 and at most 1, or a pair (chosen, population)"
    wrong = len(sampling) != 2 or sampling[0] == 0 if isinstance(sampling, tuple) else sampling == 0
    if wrong:
        raise InvalidParameter("sampling", given=sampling, allowed=allowed)
