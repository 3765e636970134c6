"""What one column adds to a model, as a picture: steps for a number, bars for categories, with a band."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tacit.plots.canvas import axes_with_grid

__all__ = ["shape_figure"]


def shape_figure(
    column: str, edges: Sequence[Any], levels: Sequence[float], low: Sequence[float], high: Sequence[float]
) -> Any:
    """Levels between edges (one edge more than levels), or one for each category.

    >>> figure = shape_figure("age", [0, 50, 100], [-1.0, 1.0], [-1.5, 0.5], [-0.5, 1.5])
    >>> figure.axes[0].get_xlabel()
    'age'
    """
    figure, axes = axes_with_grid(f"What {column} adds", column, "added to the margin")
    if len(edges) == len(levels) + 1:
        axes.stairs(list(high), list(edges), baseline=list(low), fill=True, color="#9ecae1", alpha=0.6, linewidth=0)
        axes.stairs(list(levels), list(edges), baseline=None, color="#08519c")
        return figure
    names = [str(edge) for edge in edges]
    around = [[m - a for m, a in zip(levels, low, strict=True)], [b - m for m, b in zip(levels, high, strict=True)]]
    axes.errorbar(range(len(names)), list(levels), yerr=around, fmt="o", color="#08519c", ecolor="#9ecae1")
    axes.set_xticks(range(len(names)), names, rotation=30, ha="right")
    return figure
