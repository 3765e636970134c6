"""The outcomes of an audit under both neighbours, with the event that gives the mechanism away shaded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tacit.plots.canvas import empty_figure

__all__ = ["histograms"]

_FIRST, _SECOND, _GUILTY = "#1f5a8c", "#c8553d", "#f2d8a0"


def histograms(
    name: str,
    bins: Sequence[str],
    first: Sequence[int],
    second: Sequence[int],
    guilty: Sequence[float],
    *,
    edges: Sequence[float] = (),
    title: str,
    names: tuple[str, str],
) -> Any:
    """A matplotlib figure of two histograms over the same bins; ``guilty`` is the share of a bin that is shaded.

    ``edges`` places bins that are ranges of numbers on an axis; without them each bin has its label.
    """
    figure = empty_figure(7.2, 4.2)
    axes = figure.add_subplot()
    marks = list(edges) if edges else [i - 0.5 for i in range(len(bins) + 1)]
    shares = [_shares(counts) for counts in (first, second)]
    top = 1.08 * max((*shares[0], *shares[1], 1e-9))
    for i, share in enumerate(guilty):
        if share > 0:
            label = "the event" if i == next(k for k, s in enumerate(guilty) if s > 0) else None
            opacity = 0.25 + 0.75 * min(1.0, share)
            axes.axvspan(marks[i], marks[i + 1], color=_GUILTY, alpha=opacity, linewidth=0, zorder=0, label=label)
    for heights, colour, who, style in zip(shares, (_FIRST, _SECOND), names, ("-", "--"), strict=True):
        axes.stairs(heights, marks, color=colour, linewidth=1.6, linestyle=style, label=who, zorder=2)
        axes.stairs(heights, marks, color=colour, alpha=0.12, fill=True, zorder=1)
    if not edges:
        long = max((len(label) for label in bins), default=0) > 6
        axes.set_xticks(range(len(bins)), [_short(label) for label in bins], rotation=35 if long else 0, fontsize=8)
        if long:
            for tick in axes.get_xticklabels():
                tick.set_horizontalalignment("right")
    axes.set_xlim(marks[0], marks[-1])
    axes.set_ylim(0, top)
    axes.set_xlabel(name)
    axes.set_ylabel("share of the outcomes")
    axes.set_title(title, loc="left", fontsize=10, wrap=True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=9)
    return figure


def _shares(counts: Sequence[int]) -> list[float]:
    total = max(1, sum(counts))
    return [count / total for count in counts]


def _short(label: str) -> str:
    return label if len(label) <= 18 else f"{label[:16]}…"
