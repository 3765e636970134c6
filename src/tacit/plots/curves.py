"""Curves: how one number follows another, for the pages about games, learning and noise that follows the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["curves"]

_COLOURS = ("#1f5a8c", "#c8553d", "#588157", "#8e6c8a", "#b08d3c")

Line = tuple[Sequence[float], Sequence[float]]


def curves(
    lines: Mapping[str, Line],
    *,
    title: str,
    across: str,
    up: str,
    points: Mapping[str, Line] | None = None,
    log: str = "",
    marks: Mapping[str, float] | None = None,
) -> Any:
    """A matplotlib figure of lines, measured ``points`` over them, and vertical ``marks``, each by its label.

    ``log`` names the axes that are logarithmic: "x", "y", "xy" or none.
    """
    from matplotlib.figure import Figure  # without pyplot: no window, no global state

    figure = Figure(figsize=(6.8, 4.4), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title, loc="left", fontsize=11)
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#e3e3e3", linewidth=0.6)
    axes.set_axisbelow(True)
    colours = iter(_COLOURS * 3)
    for label, (xs, ys) in lines.items():
        axes.plot(xs, ys, color=next(colours), linewidth=1.8, label=label)
    for label, (xs, ys) in (points or {}).items():
        axes.plot(xs, ys, "o", color=next(colours), markersize=5, label=label)
    for label, x in (marks or {}).items():
        axes.axvline(x, color=next(colours), linewidth=1.3, linestyle="--", label=label)
    if "x" in log:
        axes.set_xscale("log")
    if "y" in log:
        axes.set_yscale("log")
    axes.legend(frameon=False, fontsize=9)
    return figure
