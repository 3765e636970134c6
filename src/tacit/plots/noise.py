"""What noise looks like: its histogram, how often it exceeds its bound, how its error grows with the dimension."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from tacit.plots.canvas import axes_with_grid

__all__ = ["accuracy_theorem", "error_by_dimension", "noise_histograms"]

_COLOURS = ("#1f5a8c", "#c8553d", "#588157", "#8e6c8a")
_BINS = 161
_WIDTH = 6.8


def noise_histograms(
    laplace: Sequence[float],
    gaussian: Sequence[float],
    *,
    laplace_scale: float,
    gaussian_scale: float,
    epsilon: float,
    delta: float,
) -> Any:
    """A matplotlib figure of two samples of noise, Laplace and Gaussian, each with the density it is drawn from."""
    reach = 4 * max(gaussian_scale, laplace_scale)
    step = 2 * reach / _BINS
    edges = [-reach + step * i for i in range(_BINS + 1)]
    places = [-reach + 2 * reach * i / 800 for i in range(801)]
    densities = (
        [math.exp(-abs(x) / laplace_scale) / (2 * laplace_scale) for x in places],
        [math.exp(-0.5 * (x / gaussian_scale) ** 2) / (gaussian_scale * math.sqrt(2 * math.pi)) for x in places],
    )
    labels = (f"Laplace, b = {laplace_scale:.3g}", f"Gaussian, σ = {gaussian_scale:.3g}")
    figure, axes = axes_with_grid(
        f"Noise on one number of sensitivity 1, at ε = {epsilon:g} (Gaussian: δ = {delta:g})",
        "noise, in units of the sensitivity",
        "density",
        width=_WIDTH,
    )
    for sample, density, label, colour in zip((laplace, gaussian), densities, labels, _COLOURS, strict=False):
        weights = [1 / (len(sample) * step)] * len(sample)
        axes.hist(sample, bins=edges, weights=weights, color=colour, alpha=0.35, label=f"{label}: drawn")
        axes.plot(places, density, color=colour, linewidth=1.8, label=f"{label}: density")
    axes.set_xlim(-reach, reach)
    axes.legend(frameon=False, fontsize=9, loc="upper right")
    return figure


def accuracy_theorem(
    betas: Sequence[float], shares: Mapping[int, Sequence[float]], *, trials: int, exact: Mapping[int, Sequence[float]]
) -> Any:
    """A matplotlib figure of the share of k-dimensional releases beyond the stated error, over the stated share β.

    ``shares`` are measured and ``exact`` computed, by k; whiskers are two standard errors of ``trials`` releases.
    """
    figure, axes = axes_with_grid(
        "Laplace releases in k dimensions with an error above ln(k/β)·Δ/ε",
        "β, the share that the theorem allows",
        "share seen, divided by β",
        width=_WIDTH,
    )
    count = len(shares)
    for place, ((k, seen), colour) in enumerate(zip(shares.items(), _COLOURS, strict=False)):
        spread = 1 + 0.06 * (place - (count - 1) / 2)  # side by side, so that whiskers do not cover each other
        ratios = [share / beta for share, beta in zip(seen, betas, strict=True)]
        whiskers = [2 * math.sqrt(s * (1 - s) / trials) / beta for s, beta in zip(seen, betas, strict=True)]
        at = [beta * spread for beta in betas]
        axes.errorbar(at, ratios, yerr=whiskers, fmt="o", markersize=4.5, capsize=3, color=colour, label=f"k = {k}")
        curve = [share / beta for share, beta in zip(exact[k], betas, strict=True)]
        axes.plot(betas, curve, color=colour, linewidth=1, alpha=0.7)
    axes.axhline(1, color="#333333", linewidth=1.4, linestyle="--", label="the theorem's bound")
    axes.set_xscale("log")
    axes.set_xticks(betas, [f"{beta:g}" for beta in betas])
    axes.minorticks_off()
    axes.set_ylim(0.8, 1.12)
    axes.legend(frameon=False, fontsize=9, ncols=2, loc="lower left", title="points: measured; lines: exact")
    return figure


def error_by_dimension(
    dimensions: Sequence[int],
    measured: Mapping[str, Sequence[float]],
    expected: Mapping[str, Sequence[float]],
    *,
    rows: int,
    epsilon: float,
    delta: float,
) -> Any:
    """A matplotlib figure of the mean error of a coordinate as the number of coordinates grows, a line per noise."""
    figure, axes = axes_with_grid(
        f"Mean of {rows} rows of d bits, at ε = {epsilon:g} (Gaussian: δ = {delta:g})",
        "d, bits per row",
        "mean error of each of the d means",
        width=_WIDTH,
    )
    for (name, errors), colour in zip(measured.items(), _COLOURS, strict=False):
        axes.plot(dimensions, expected[name], color=colour, linewidth=1.6)
        axes.plot(dimensions, errors, "o", color=colour, markersize=5, label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.legend(frameon=False, title="points: measured; lines: expected")
    return figure
