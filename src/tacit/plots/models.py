"""Central, shuffle and local: what the error of a count is in each model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tacit.plots.canvas import empty_figure

__all__ = ["errors_by_model", "protocol_errors"]

_COLOURS = {"central": "#1f5a8c", "shuffle": "#588157", "local": "#c8553d"}


def errors_by_model(
    people: Sequence[int],
    by_people: Mapping[str, Sequence[float]],
    epsilons: Sequence[float],
    by_epsilon: Mapping[str, Sequence[float]],
    *,
    titles: tuple[str, str],
) -> Any:
    """A matplotlib figure of two panels: standard errors over the number of people and over ε, on logarithmic axes."""
    figure = empty_figure(9.6, 4.2)
    panels = (figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2))
    data = ((people, by_people, "people", titles[0]), (epsilons, by_epsilon, "ε", titles[1]))
    for axes, (across, lines, name, title) in zip(panels, data, strict=True):
        for model, errors in lines.items():
            axes.plot(across, errors, marker="o", markersize=3.5, label=model, color=_COLOURS[model])
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(name)
        axes.set_ylabel("standard error of a count, people")
        axes.set_title(title, loc="left", fontsize=11)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="#e3e3e3", linewidth=0.6)
        axes.legend(frameon=False)
    return figure


def protocol_errors(names: Sequence[str], measured: Sequence[float], expected: Sequence[float], *, title: str) -> Any:
    """A matplotlib figure of the measured errors of protocols as bars, with marks where theory puts them."""
    figure = empty_figure(7.2, 4.2)
    axes = figure.add_subplot()
    places = list(range(len(names)))
    axes.bar(places, measured, color="#9db8cf", label="measured")
    axes.plot(places, expected, "_", color="#c8553d", markersize=22, markeredgewidth=2, label="theory")
    axes.set_xticks(places, names)
    axes.set_ylabel("root mean squared error of a share")
    axes.set_title(title, loc="left", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return figure
