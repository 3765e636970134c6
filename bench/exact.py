"""The exact prices that `accounting.py` compares with, by a route no accountant takes. Run it to see them.

For a loss L with moment generating function M, k uses and any c > 0,

    δ(ε) = 1/2πi ∫ M(z)^k e^(-zε) / (z (z + 1)) dz    along the line from c - i∞ to c + i∞,

summed by the trapezoidal rule, which converges exponentially here. Halving the step and the range moves none
of the ten digits printed. Needs SciPy: `.venv-bench/bin/python bench/exact.py`, about a minute.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq

Moments = Callable[[Any], Any]
Span = tuple[float, float]


def delta(moments: Moments, times: int, epsilon: float, line: float, step: float, reach: float) -> float:
    block, total = 10**6, 0.0
    for start in range(0, int(reach / step), block):
        z = line + 1j * step * np.arange(start, min(start + block, int(reach / step)))
        terms = (np.exp(times * np.log(moments(z)) - z * epsilon) / (z * (z + 1))).real
        total += terms.sum() - (terms[0] / 2 if start == 0 else 0)
    return step * total / np.pi


def epsilon(moments: Moments, times: int, at: float, within: Span, line: float, step: float, reach: float) -> float:
    def gap(candidate: float) -> float:
        return np.log(delta(moments, times, candidate, line, step, reach) / at)

    return brentq(gap, *within, xtol=1e-12)


def laplace(scale: float) -> Moments:
    e = 1 / scale

    def moments(z: Any) -> Any:
        w = z + 0.5
        between = np.exp(-e / 2) * (np.exp(w * e) - np.exp(-w * e)) / (4 * w)
        return (np.exp(z * e) + np.exp(-e - z * e)) / 2 + between

    return moments


def gaussian(sigma: float) -> Moments:
    return lambda z: np.exp((z + z * z) / (2 * sigma**2))


def sampled_gaussian(sigma: float, rate: float, removal: bool) -> Moments:
    """The moments of the loss when a unit is removed, or added: the price is the larger of the two."""
    x = np.arange(-16, 22, 0.01)
    weights = 0.01 * np.exp(-x * x / 2) / np.sqrt(2 * np.pi)
    log_ratio = np.log1p(rate * np.expm1((2 * sigma * x - 1) / (2 * sigma**2)))
    return lambda z: np.exp(((z + 1) if removal else -z)[:, None] * log_ratio) @ weights


def training(sigma: float, within: Span, line: float) -> float:
    """ε of DP-SGD at sampling 0.01, 10⁴ steps, δ = 10⁻⁵."""
    return max(
        epsilon(sampled_gaussian(sigma, 0.01, removal), 10_000, 1e-5, within, line, 0.05, 40)
        for removal in (True, False)
    )


def main() -> None:
    print(f"Laplace    {epsilon(laplace(100), 1000, 1e-6, (1.3628, 1.3630), 13, 0.1, 2e6):.10f}")
    print(f"million    {epsilon(laplace(1000), 10**6, 1e-6, (4.88, 4.89), 4.4, 0.05, 2000):.10f}")
    print(f"Gaussian   {epsilon(gaussian(50), 1000, 1e-6, (2.9, 2.95), 5, 0.05, 100):.10f}")
    print(f"DP-SGD     {training(1, (4, 8), 3):.10f}")
    print(f"DP-SGD σ   {brentq(lambda s: training(s, (2, 4), 5) - 3, 1.55, 1.58, xtol=1e-11):.10f}")


if __name__ == "__main__":
    main()
