"""What a ledger has charged over time, against its cap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

__all__ = ["spending_over_time"]

_MOST_LINES = 6
_LONGEST_LABEL = 28
_COLOURS = ("#8fb8de", "#e3a857", "#7fb685", "#c58bbd", "#d9806f", "#9a9a9a")


def spending_over_time(
    charged: Mapping[str, tuple[Sequence[datetime], Sequence[float]]],
    *,
    cap: float,
    symbol: str,
    title: str,
) -> Any:
    """A matplotlib figure: charged so far, as steps, for everybody together and for those who were charged most.

    ``charged`` maps a name to times and running sums; the first is the total and is drawn strongest.
    """
    import matplotlib.dates
    from matplotlib.figure import Figure  # without pyplot: no window, no global state

    dates: Any = matplotlib.dates  # its own annotations are incomplete
    figure = Figure(figsize=(7.5, 4), layout="constrained")
    axes = figure.add_subplot()
    (total, (times, sums)), *others = charged.items()
    others.sort(key=lambda item: -item[1][1][-1])
    for (name, (moments, values)), colour in zip(others[:_MOST_LINES], _COLOURS, strict=False):
        days = dates.date2num([*moments, times[-1]])
        axes.step(days, [*values, values[-1]], where="post", color=colour, linewidth=1.4, label=_short(name))
    axes.step(dates.date2num(times), sums, where="post", color="#1f3b57", linewidth=2.2, label=total)
    axes.axhline(cap, color="#b03a2e", linestyle="--", linewidth=1.4, label=f"cap {cap:g}")
    axes.set_ylim(0, 1.08 * cap)
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
