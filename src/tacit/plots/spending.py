"""What a ledger has charged over time, against its cap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from tacit.plots.canvas import empty_figure

__all__ = ["spending_over_time"]

_MOST_LINES = 6
_LONGEST_LABEL = 28
_COLOURS = ("#8fb8de", "#e3a857", "#7fb685", "#c58bbd", "#d9806f", "#9a9a9a")


def spending_over_time(
    charged: Mapping[str, tuple[Sequence[datetime], Sequence[float]]],
    *,
    cap: tuple[Sequence[datetime], Sequence[float]],
    symbol: str,
    title: str,
) -> Any:
    """A matplotlib figure: charged so far, as steps, for everybody together and for those who were charged most.

    ``charged`` maps a name to times and running sums; the first is the total and is drawn strongest. ``cap`` has the
    times from which each total cap holds: an amendment shows as a step.
    """
    figure = empty_figure(7.5, 4)
    import matplotlib.dates  # after the figure, which says how to get matplotlib

    dates: Any = matplotlib.dates  # its own annotations are incomplete
    axes = figure.add_subplot()
    (total, (times, sums)), *others = charged.items()
    cap_days, caps = dates.date2num(cap[0]), list(cap[1])
    first, last = min(cap_days[0], dates.date2num(times[0])), max(cap_days[-1], dates.date2num(times[-1]))
    margin = 0.03 * (last - first) or 1 / 1440  # so that the first and the last step can be seen

    def steps(days: Any, values: Sequence[float], **style: Any) -> None:
        axes.step([*days, last + margin], [*values, values[-1]], where="post", **style)

    others.sort(key=lambda item: -item[1][1][-1])
    for (name, (moments, values)), colour in zip(others[:_MOST_LINES], _COLOURS, strict=False):
        steps(dates.date2num(moments), values, color=colour, linewidth=1.4, label=_short(name))
    steps(dates.date2num(times), sums, color="#1f3b57", linewidth=2.2, label=total)
    steps(cap_days, caps, color="#b03a2e", linestyle="--", linewidth=1.4, label=f"cap, now {caps[-1]:g}")
    axes.set_xlim(first - margin, last + margin)
    axes.set_ylim(0, 1.08 * max(*caps, *sums) or 1)
    locator = dates.AutoDateLocator()
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))
    axes.set_ylabel(f"{symbol} charged so far")
    axes.set_title(title, loc="left", fontsize=11, parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    legend = axes.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1.0, 0.5))
    for text in legend.get_texts():
        text.set_parse_math(False)  # a name may contain a dollar sign
    return figure


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_LABEL else f"{name[: _LONGEST_LABEL - 1]}…"
