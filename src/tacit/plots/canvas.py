"""An empty picture to draw on: the one place that loads matplotlib, and says how to get it."""

from __future__ import annotations

import io
import warnings
from functools import partial
from typing import Any

from tacit.errors import MissingPackage

__all__ = ["axes_with_grid", "empty_figure"]


def empty_figure(width: float, height: float) -> Any:
    """A matplotlib figure of so many inches, without pyplot: no window, no global state.

    >>> empty_figure(4, 3).get_size_inches().tolist()
    [4.0, 3.0]
    """
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise MissingPackage("matplotlib", extra="plots") from None
    figure = Figure(figsize=(width, height), layout="constrained")
    figure._repr_png_ = partial(_png, figure)  # type: ignore[attr-defined]  # notebooks show it, pyplot loaded or not
    return figure


def _png(figure: Any) -> bytes:
    made = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)  # a script that the font does not have
        figure.savefig(made, format="png", dpi=100)
    return made.getvalue()


def axes_with_grid(title: str, across: str, up: str, *, width: float = 6.4) -> tuple[Any, Any]:
    """A figure and its axes, named, with a pale grid below what is drawn."""
    figure = empty_figure(width, 4.4)
    axes = figure.add_subplot()
    axes.set_title(title, loc="left", fontsize=11)
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#e3e3e3", linewidth=0.6)
    axes.set_axisbelow(True)
    return figure, axes
