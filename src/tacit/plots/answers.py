"""Released answers as bars with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["bars_with_intervals"]


def bars_with_intervals(
    labels: Sequence[str],
    values: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
    *,
    title: str,
    unit: str,
) -> Any:
    """A matplotlib figure: one horizontal bar per label, its interval as a whisker."""
    from matplotlib.figure import Figure  # without pyplot: no window, no global state

    figure = Figure(figsize=(7, 0.42 * len(labels) + 1.4), layout="constrained")
    axes = figure.add_subplot()
    places = range(len(labels))
    axes.barh(places, values, color="#8fb8de", height=0.7)
    errors = [
        [value - low for value, low in zip(values, lows, strict=True)],
        [high - value for value, high in zip(values, highs, strict=True)],
    ]
    axes.errorbar(values, places, xerr=errors, fmt="none", ecolor="#1f3b57", elinewidth=1.6, capsize=4)
    axes.set_yticks(places, labels)
    axes.invert_yaxis()
    axes.set_xlabel(unit)
    axes.set_title(title, loc="left", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    return figure
