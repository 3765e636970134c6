"""What a plan costs, as pictures: the privacy profile, ε against the number of steps, and the trade-off curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tacit.plots.canvas import axes_with_grid

__all__ = ["epsilon_by_steps", "privacy_profile", "trade_off"]

_COLOURS = ("#1f5a8c", "#c8553d", "#588157", "#8e6c8a", "#b08900", "#4a4e69", "#2a9d8f")


def privacy_profile(epsilons: Sequence[float], curves: Mapping[str, Sequence[float]], *, title: str) -> Any:
    """A matplotlib figure of δ(ε), one curve per name, δ on a logarithmic scale."""
    figure, axes = axes_with_grid(title, "ε", "δ (log scale)")
    for (name, deltas), colour in zip(curves.items(), _cycle(len(curves)), strict=True):
        seen = [(e, d) for e, d in zip(epsilons, deltas, strict=True) if d > 0]
        axes.plot([e for e, _ in seen], [d for _, d in seen], label=name, color=colour, linewidth=1.8)
    axes.set_yscale("log")
    axes.legend(frameon=False)
    return figure


def epsilon_by_steps(
    steps: Sequence[int], curves: Mapping[str, Sequence[float]], *, best: str, title: str, delta: float
) -> Any:
    """A matplotlib figure of ε against the number of steps, one curve per method, the best one drawn boldly."""
    figure, axes = axes_with_grid(title, "steps", f"ε at δ = {delta:g}")
    for (name, values), colour in zip(curves.items(), _cycle(len(curves)), strict=True):
        chosen = name == best
        finite = [(s, v) for s, v in zip(steps, values, strict=True) if v < float("inf")]
        axes.plot(
            [s for s, _ in finite],
            [v for _, v in finite],
            label=f"{name} (best)" if chosen else name,
            color=colour,
            linewidth=2.6 if chosen else 1.3,
            linestyle="-" if chosen else "--",
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.legend(frameon=False)
    return figure


def trade_off(levels: Sequence[float], misses: Sequence[float], *, title: str) -> Any:
    """A matplotlib figure of the trade-off curve: no attack has both error rates inside the shaded region."""
    figure, axes = axes_with_grid(title, "false positive rate of an attack", "false negative rate")
    axes.fill_between(levels, 0, misses, color="#c9d9e8", label="no attack gets here")
    axes.plot(levels, misses, color=_COLOURS[0], linewidth=1.8, label="guarantee")
    axes.plot([0, 1], [1, 0], color="#888888", linewidth=1, linestyle=":", label="guessing")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_aspect("equal")
    axes.legend(frameon=False, loc="upper right")
    return figure


def _cycle(count: int) -> list[str]:
    return [_COLOURS[i % len(_COLOURS)] for i in range(count)]
