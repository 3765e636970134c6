"""How much Gaussian noise a promise takes: shared by the mechanism on reals and the one on integers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tacit.errors import InvalidParameter
from tacit.mechanisms.shared.lazy_losses import loss_distribution
from tacit.privacy.composition import Guarantee
from tacit.privacy.conversion import largest_gaussian
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.gaussian import GaussianDP
from tacit.privacy.guarantees.renyi import RenyiDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.privacy.prices import Price, failure_probability, positive
from tacit.privacy.rounding import UP, decimal_up, ln_up
from tacit.privacy.sensitivity import Sensitivity

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution

__all__ = ["ACCEPTS", "classic_variance", "gaussian_loss", "variance_for"]

ACCEPTS: tuple[type[Guarantee], ...] = (ApproxDP, ZCDP, GaussianDP, RenyiDP)

_VARIANCE: dict[type[Guarantee], Callable[[Any, Fraction], Fraction]] = {
    ZCDP: lambda promise, square: square / (2 * promise.rho),
    RenyiDP: lambda promise, square: promise.alpha * square / (2 * promise.eps),
    GaussianDP: lambda promise, square: square / promise.mu_squared,
    ApproxDP: lambda promise, square: square / _gaussian_of(promise),
}


def variance_for(promise: Guarantee, sensitivity: Sensitivity) -> Fraction:
    """The smallest σ², rounded up where irrational, with which Gaussian noise keeps the promise (spec 3.2)."""
    return _VARIANCE[type(promise)](promise, sensitivity.square)


def classic_variance(epsilon: Price, delta: Price, sensitivity: Sensitivity) -> Fraction:
    """σ² = 2 ln(1.25/δ)·Δ²/ε², rounded up (Dwork & Roth 2014, Theorem A.1): only for ε ≤ 1."""
    exact = positive(epsilon, "epsilon")
    if exact > 1:
        hint = (
            "Gaussian(epsilon=, delta=, sensitivity=) uses the analytic calibration, valid for any epsilon and tighter."
        )
        raise InvalidParameter("epsilon", given=epsilon, allowed="at most 1 for the classic formula", hint=hint)
    leak = failure_probability(delta)
    if not leak:
        raise InvalidParameter("delta", given=delta, allowed="above 0 and below 1")
    log = ln_up(decimal_up(Fraction(5, 4) / leak))
    return Fraction(UP.multiply(log, decimal_up(2 * sensitivity.square / exact**2)))


def gaussian_loss(variance: Fraction, sensitivity: Sensitivity) -> LossDistribution:
    """The loss of continuous Gaussian noise in any dimension, from μ = Δ/σ rounded up."""
    mu = GaussianDP.of_square(sensitivity.square / variance).mu
    return loss_distribution().gaussian_dp(mu, sensitivity.neighbours)


def _gaussian_of(promise: ApproxDP) -> Fraction:
    """The largest μ², rounded down, that implies the promise."""
    if not promise.dlt:
        allowed = "above 0: Gaussian noise has unbounded privacy loss and keeps no pure promise"
        raise InvalidParameter("delta", given=0, allowed=allowed)
    found = largest_gaussian(promise.eps, promise.dlt)
    if not found:
        raise InvalidParameter("promise", given=promise, allowed="a promise that noise below 1e300 can keep")
    return found
