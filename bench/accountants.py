"""How each accountant is asked for the same price. Every function answers one plan with one number."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

from peers import load


@dataclass(frozen=True, slots=True)
class Repeated:
    """One mechanism of sensitivity 1, `times` over: what is ε at `delta`?"""

    scale: float
    times: int
    delta: float
    sampling: float = 1.0

    def nudged(self, step: float) -> Self:
        """Nearly the same plan, so that nothing remembered from an earlier call helps."""
        return replace(self, scale=self.scale * (1 + step * 1e-9))


@dataclass(frozen=True, slots=True)
class Calibration:
    """Sampled Gaussians, `times` over: what is the least σ that keeps (ε, δ)?"""

    epsilon: float
    delta: float
    times: int
    sampling: float

    def nudged(self, step: float) -> Self:
        nudge = 1 + step * 1e-9
        return replace(self, epsilon=self.epsilon * nudge, delta=self.delta * nudge, sampling=self.sampling * nudge)


# Tacit


def tacit_laplace(plan: Repeated, tolerance: float) -> float:
    one = load("tacit").Laplace.of_scale(plan.scale, sensitivity=1).loss
    return (plan.times * one).epsilon(plan.delta, tolerance=tolerance)


def tacit_gaussian(plan: Repeated, tolerance: float) -> float:
    one = load("tacit").Gaussian.of_scale(plan.scale, sensitivity=1).loss
    return (plan.times * one).epsilon(plan.delta, tolerance=tolerance)


def tacit_sampled(plan: Repeated, tolerance: float) -> float:
    one = load("tacit").Gaussian.of_scale(plan.scale, sensitivity=1).loss.sampled(plan.sampling)
    return (plan.times * one).epsilon(plan.delta, tolerance=tolerance)


def tacit_calibration(plan: Calibration, tolerance: float) -> float:
    tacit = load("tacit")
    target = tacit.ApproxDP(plan.epsilon, plan.delta)
    found = tacit.calibrate(
        tacit.Gaussian, steps=plan.times, sampling=plan.sampling, target=target, tolerance=tolerance
    )
    return found.scale


# dp-accounting: loss distributions that connect the dots, and Rényi curves


def pld_laplace(plan: Repeated, grid: float) -> float:
    distributions = load("dp_accounting.pld.privacy_loss_distribution")
    one = distributions.from_laplace_mechanism(plan.scale, value_discretization_interval=grid)
    return one.self_compose(plan.times).get_epsilon_for_delta(plan.delta)


def pld_gaussian(plan: Repeated, grid: float) -> float:
    distributions = load("dp_accounting.pld.privacy_loss_distribution")
    one = distributions.from_gaussian_mechanism(
        plan.scale, sampling_prob=plan.sampling, value_discretization_interval=grid
    )
    return one.self_compose(plan.times).get_epsilon_for_delta(plan.delta)


def rdp_laplace(plan: Repeated) -> float:
    event = load("dp_accounting").LaplaceDpEvent(plan.scale)
    return load("dp_accounting.rdp").RdpAccountant().compose(event, plan.times).get_epsilon(plan.delta)


def rdp_gaussian(plan: Repeated) -> float:
    dp = load("dp_accounting")
    event = dp.PoissonSampledDpEvent(plan.sampling, dp.GaussianDpEvent(plan.scale))
    return load("dp_accounting.rdp").RdpAccountant().compose(event, plan.times).get_epsilon(plan.delta)


def pld_calibration(plan: Calibration, grid: float) -> float:
    make = load("dp_accounting.pld").PLDAccountant
    return _search(plan, lambda: make(value_discretization_interval=grid))


def rdp_calibration(plan: Calibration) -> float:
    return _search(plan, load("dp_accounting.rdp").RdpAccountant)


def _search(plan: Calibration, accountant: Callable[[], Any]) -> float:
    dp = load("dp_accounting")

    def event(sigma: float) -> Any:
        one = dp.PoissonSampledDpEvent(plan.sampling, dp.GaussianDpEvent(sigma))
        return dp.SelfComposedDpEvent(one, plan.times)

    return dp.calibrate_dp_mechanism(accountant, event, plan.epsilon, plan.delta)


# autodp: Rényi curves


def autodp_laplace(plan: Repeated) -> float:
    one = load("autodp.mechanism_zoo").LaplaceMechanism(b=plan.scale)
    return load("autodp.transformer_zoo").Composition()([one], [plan.times]).get_approxDP(plan.delta)


def autodp_gaussian(plan: Repeated) -> float:
    one = load("autodp.mechanism_zoo").GaussianMechanism(plan.scale)
    return load("autodp.transformer_zoo").Composition()([one], [plan.times]).get_approxDP(plan.delta)


def autodp_exact_gaussian(plan: Repeated) -> float:
    one = load("autodp.mechanism_zoo").ExactGaussianMechanism(plan.scale)
    return load("autodp.transformer_zoo").ComposeGaussian()([one], [plan.times]).get_approxDP(plan.delta)


def autodp_sampled(plan: Repeated) -> float:
    make = load("autodp.mechanism_zoo").NoisySGD_Mechanism
    return make(prob=plan.sampling, sigma=plan.scale, niter=plan.times).get_approxDP(plan.delta)


def autodp_calibration(plan: Calibration) -> float:
    make = load("autodp.mechanism_zoo").NoisySGD_Mechanism
    search = load("autodp.calibrator_zoo").eps_delta_calibrator()

    def family(sigma: float) -> Any:
        return make(prob=plan.sampling, sigma=sigma, niter=plan.times)

    return search(family, plan.epsilon, plan.delta, [0.5, 5]).params["sigma"]


# prv-accountant: the upper value, which is the bound


def prv_laplace(plan: Repeated, error: float) -> float:
    return _prv(load("prv_accountant").LaplaceMechanism(1 / plan.scale), plan, error)


def prv_gaussian(plan: Repeated, error: float) -> float:
    return _prv(load("prv_accountant").GaussianMechanism(plan.scale), plan, error)


def prv_sampled(plan: Repeated, error: float) -> float:
    make = load("prv_accountant").PoissonSubsampledGaussianMechanism
    return _prv(make(sampling_probability=plan.sampling, noise_multiplier=plan.scale), plan, error)


def _prv(variable: Any, plan: Repeated, error: float) -> float:
    accountant = load("prv_accountant").PRVAccountant(
        prvs=[variable],
        max_self_compositions=[plan.times],
        eps_error=error,
        delta_error=plan.delta / 1000,
    )
    return accountant.compute_epsilon(plan.delta, [plan.times])[2]


def prv_calibration(plan: Calibration, error: float) -> float:
    find = load("prv_accountant.dpsgd").find_noise_multiplier
    return find(plan.sampling, plan.times, plan.epsilon, plan.delta, eps_error=error)
