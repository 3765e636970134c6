"""Numbers along time, in a colour for each group; and small pictures side by side, one for each group."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from tacit.plots.canvas import empty_figure

__all__ = ["MOST_PANELS", "MOST_SERIES", "Series", "along_time", "in_panels", "is_time"]

MOST_SERIES = 8
"""Colours that can be told apart."""
MOST_PANELS = 12
_COLOURS = ("#1f5a8c", "#d1662a", "#2f8f5b", "#8a4fb0", "#b0203f", "#6b6b00", "#4aa3b8", "#5a4a3f")
_GRID = "#dddddd"
_MOST_MARKED = 60
_ACROSS = 3

Ends = tuple[float, float, float]
Bars = Callable[[Any, Sequence[str], Sequence[Ends], bool], None]


@dataclass(frozen=True, slots=True)
class Series:
    """Where a group is drawn: in which small picture, and as which bar of it."""

    panel: str
    bar: str


def is_time(value: object) -> bool:
    """Whether it is a day or a moment."""
    return isinstance(value, date)


def along_time(
    time: str,
    moments: Sequence[date],
    key: str,
    groups: Sequence[str],
    columns: Mapping[str, Sequence[Ends]],
    short: Callable[[str], str],
) -> Any:
    """A panel for each column, below each other on one axis of time; a line within a band for each group.

    Where a group is missing at a moment that others have, its line ends: nothing is known in between.
    """
    figure = empty_figure(8.4, 1.2 + 2.6 * len(columns))
    panels = figure.subplots(len(columns), 1, squeeze=False, sharex=True)[:, 0]
    names, every, lines = list(dict.fromkeys(groups)), sorted(set(moments)), list[Any]()
    for axes, (name, ends) in zip(panels, columns.items(), strict=True):
        for colour, group in zip(_COLOURS, names, strict=False):
            own = sorted((moments[at], ends[at]) for at, one in enumerate(groups) if one == group)
            mark = "o" if len(own) <= _MOST_MARKED else ""
            style = {"color": colour, "linewidth": 1.3, "markersize": 3.5}
            for number, run in enumerate(_runs(own, every)):
                when, (values, lows, highs) = [moment for moment, _ in run], zip(*(one for _, one in run), strict=True)
                (line,) = axes.plot(when, values, mark + "-", **style)
                if number == 0 and axes is panels[0]:
                    lines.append(line)
                if len(run) > 1:
                    axes.fill_between(when, lows, highs, color=colour, alpha=0.22, linewidth=0)
                else:
                    axes.vlines(when, lows, highs, color=colour, alpha=0.45, linewidth=3)
        axes.set_ylabel(short(name), parse_math=False)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color=_GRID, linewidth=0.6)
        axes.set_axisbelow(True)
    _on_time(panels[-1], time, short)
    if len(names) > 1:
        legend = figure.legend(lines, [short(name) for name in names], loc="outside right upper", title=short(key))
        for text in (*legend.get_texts(), legend.get_title()):
            text.set_parse_math(False)
    return figure


def _runs(own: Sequence[tuple[date, Ends]], every: Sequence[date]) -> list[list[tuple[date, Ends]]]:
    """A group's values, apart where moments of others lie between them."""
    places = {moment: at for at, moment in enumerate(every)}
    runs: list[list[tuple[date, Ends]]] = []
    for moment, ends in own:
        if runs and places[moment] - places[runs[-1][-1][0]] <= 1:
            runs[-1].append((moment, ends))
        else:
            runs.append([(moment, ends)])
    return runs


def _on_time(axes: Any, name: str, short: Callable[[str], str]) -> None:
    """Ticks where days, months or years begin, as short as they can be told."""
    from matplotlib import dates

    made: Any = dates
    places = made.AutoDateLocator(minticks=3, maxticks=9)
    axes.xaxis.set_major_locator(places)
    axes.xaxis.set_major_formatter(made.ConciseDateFormatter(places))
    axes.set_xlabel(short(name), parse_math=False)


def in_panels(
    key: str,
    bar: str,
    series: Sequence[Series],
    columns: Mapping[str, Sequence[Ends]],
    draw: Bars,
    short: Callable[[str], str],
) -> Any | None:
    """Small pictures on one scale, one for each value of a key; of the first column. None if they would be too many."""
    panels = list(dict.fromkeys(one.panel for one in series))
    bars = list(dict.fromkeys(one.bar for one in series))
    if len(columns) > 1 or not 1 < len(panels) <= MOST_PANELS or not 1 < len(bars) <= _MOST_MARKED:
        return None
    ((name, ends),) = columns.items()
    place = {one: at for at, one in enumerate(series)}
    across = min(_ACROSS, len(panels))
    down = -(-len(panels) // across)
    figure = empty_figure(max(7.0, 3.4 * across), 0.8 + down * (0.26 * len(bars) + 0.9))
    grid = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True)
    nothing = float("nan"), float("nan"), float("nan")
    for at, axes in enumerate(grid.flat):
        if at >= len(panels):
            axes.set_visible(False)
            continue
        own = [ends[place[where]] if (where := Series(panels[at], one)) in place else nothing for one in bars]
        draw(axes, [short(one) for one in bars], own, True)
        axes.tick_params(axis="y", labelleft=at % across == 0)
        axes.tick_params(axis="x", labelbottom=True)
        axes.set_title(f"{short(key)}: {short(panels[at])}", loc="left", fontsize=9, parse_math=False)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_axisbelow(True)
    figure.supxlabel(short(name), fontsize=10, parse_math=False)
    figure.supylabel(short(bar), fontsize=10, parse_math=False)
    return figure
