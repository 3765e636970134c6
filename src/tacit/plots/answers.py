"""Released answers as pictures: bars with intervals, along time where a key is a time, side by side for two keys."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any, BinaryIO

from tacit.errors import InvalidParameter
from tacit.plots.canvas import empty_figure
from tacit.plots.series import MOST_SERIES, Series, along_time, in_panels, is_time

__all__ = ["answer_picture", "bars_with_intervals", "save"]

_BAR, _WHISKER, _GRID = "#8fb8de", "#1f3b57", "#dddddd"
_MOST_LABELLED, _MOST_BARS = 60, 5000
_MOST_BESIDE = 4
"""Columns of bars with labels, for an answer of one number per group."""
_LONGEST_LABEL = 32

Ends = tuple[float, float, float]
"""A value, and the lower and the upper end of its interval."""


def bars_with_intervals(
    labels: Sequence[str],
    values: Sequence[float | None],
    lows: Sequence[float | None],
    highs: Sequence[float | None],
    *,
    title: str,
    unit: str,
) -> Any:
    """A matplotlib figure: one horizontal bar per label, its interval as a whisker."""
    return answer_picture(labels, {unit: (values, lows, highs)}, title=title)


def answer_picture(
    labels: Sequence[str],
    columns: Mapping[str, tuple[Sequence[float | None], Sequence[float | None], Sequence[float | None]]],
    *,
    title: str,
    keys: Mapping[str, Sequence[object]] | None = None,
) -> Any:
    """A matplotlib figure of released columns (values, lower ends, upper ends); None stands for what is not known.

    ``keys`` are the columns that name the groups. Where one of them is a day or a moment, numbers run along time, in
    one colour for each value of a second key (up to 8, with a legend). Two other keys are small pictures side by side,
    one for each value of the key that has fewer (up to 12). Otherwise groups are bars with labels: up to 60, of one
    column up to 240 in four columns of bars; beyond that a line within a band, and at most 5000 of them.
    """
    if not columns:
        raise InvalidParameter("answer", given="columns without noise only", allowed="a number to draw")
    shown = labels[:_MOST_BARS]
    cut = f", the first {len(shown):,} of {len(labels):,} groups" if len(labels) > len(shown) else ""
    found = {name: _all_ends(*one, len(shown)) for name, one in columns.items()}
    named = {name: list(values[: len(shown)]) for name, values in (keys or {}).items()}
    figure = _by_keys(named, found) or _by_labels([_short(label) for label in shown], found)
    figure.suptitle(title + cut, x=0.01, ha="left", fontsize=11, parse_math=False)
    return figure


def _by_keys(keys: Mapping[str, list[object]], columns: Mapping[str, list[Ends]]) -> Any | None:
    """Along time, or in small pictures; None where keys do not lend themselves to it."""
    times = [name for name, values in keys.items() if len(set(values)) > 1 and all(is_time(one) for one in values)]
    others = [name for name in keys if name not in times[:1]]
    if times and len(others) <= 1:
        groups = keys[others[0]] if others else [""] * len(keys[times[0]])
        if len(set(groups)) <= MOST_SERIES:
            moments: list[date] = [one for one in keys[times[0]] if isinstance(one, date)]
            names = [_key(one) for one in groups]
            return along_time(times[0], moments, others[0] if others else "", names, columns, _short)
    if len(keys) == 2 and len(next(iter(columns.values()))) > 3:
        (first, ones), (second, twos) = keys.items()
        if len(set(ones)) < len(set(twos)):
            first, ones, second, twos = second, twos, first, ones
        series = [Series(_key(panel), _key(bar)) for bar, panel in zip(ones, twos, strict=True)]
        return in_panels(second, first, series, columns, _bars, _short)
    return None


def _by_labels(labels: Sequence[str], columns: Mapping[str, list[Ends]]) -> Any:
    beside = -(-len(labels) // _MOST_LABELLED)
    if 1 < beside <= _MOST_BESIDE and len(columns) == 1:
        return _in_columns(labels, columns, beside)
    crowded = len(labels) > _MOST_LABELLED
    height = 4.2 if crowded else max(1.9, 0.36 * len(labels) + 1.5)
    figure = empty_figure(max(7.0, 1.6 + 4.2 * len(columns)), height)
    panels = figure.subplots(1, len(columns), squeeze=False)[0]
    for place, (axes, (name, ends)) in enumerate(zip(panels, columns.items(), strict=True)):
        (_band if crowded else _bars)(axes, labels, ends, place == 0)
        (axes.set_ylabel if crowded else axes.set_xlabel)(_short(name), parse_math=False)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_axisbelow(True)
    return figure


def _in_columns(labels: Sequence[str], columns: Mapping[str, list[Ends]], beside: int) -> Any:
    """Bars with labels, in several columns on one scale: read down, then across."""
    ((name, ends),) = columns.items()
    size = -(-len(labels) // beside)
    figure = empty_figure(3.6 * beside, 0.24 * size + 1.3)
    for place, axes in enumerate(figure.subplots(1, beside, sharex=True)):
        part = slice(place * size, (place + 1) * size)
        _bars(axes, labels[part], ends[part], True)
        axes.set_ylim(size - 0.4, -0.6)
        axes.tick_params(axis="y", labelsize=8)
        axes.set_xlabel(_short(name), parse_math=False)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_axisbelow(True)
    return figure


def save(figure: Any, target: Path | BinaryIO) -> None:
    """Write a figure to a file; what its name ends in says which format, and PNG if it has no name."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)  # a label in a script that the font does not have
        figure.savefig(target, dpi=150)


def _bars(axes: Any, labels: Sequence[str], ends: Sequence[Ends], labelled: bool) -> None:
    places = range(len(labels))
    values = [value for value, _, _ in ends]
    axes.barh(places, values, color=_BAR, height=0.7)
    errors = [[value - low for value, low, _ in ends], [high - value for value, _, high in ends]]
    axes.errorbar(values, places, xerr=errors, fmt="none", ecolor=_WHISKER, elinewidth=1.6, capsize=4)
    axes.set_yticks(places, labels if labelled else [""] * len(labels), parse_math=False)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.grid(axis="x", color=_GRID, linewidth=0.6)
    axes.locator_params(axis="x", nbins=6)
    if any(low < 0 for _, low, _ in ends):
        axes.axvline(0, color="#666666", linewidth=0.8)


def _band(axes: Any, labels: Sequence[str], ends: Sequence[Ends], labelled: bool) -> None:
    """Too many groups for labels: a line within the band of the intervals, along a scale or from large to small."""
    scale = all(_is_on_a_scale(label) for label in labels)
    order = (
        range(len(ends)) if scale else sorted(range(len(ends)), key=lambda i: (ends[i][0] != ends[i][0], -ends[i][0]))
    )
    values, lows, highs = ([ends[i][part] for i in order] for part in range(3))
    axes.fill_between(range(len(ends)), lows, highs, color=_BAR, alpha=0.7, lw=0)
    axes.plot(range(len(ends)), values, color=_WHISKER, linewidth=0.9)
    words = f"groups, from {labels[0]} to {labels[-1]}" if scale else "groups, from the largest value to the smallest"
    axes.set_xlabel(words, parse_math=False)
    axes.grid(axis="y", color=_GRID, linewidth=0.6)
    axes.margins(x=0.01)


def _is_on_a_scale(label: str) -> bool:
    """Whether a label is a number or a day, so that its neighbours in the answer are near it in meaning."""
    readings: tuple[Callable[[str], object], ...] = (float, datetime.fromisoformat)
    for reading in readings:
        try:
            reading(label)
        except ValueError:
            continue
        return True
    return False


def _all_ends(
    values: Sequence[float | None], lows: Sequence[float | None], highs: Sequence[float | None], size: int
) -> list[Ends]:
    return [_ends(*one) for one in zip(values[:size], lows, highs, strict=False)]


def _ends(value: float | None, low: float | None, high: float | None) -> Ends:
    """A value and its ends as matplotlib takes them: an unknown value is not drawn, a missing end has no whisker."""
    if value is None:
        return float("nan"), float("nan"), float("nan")
    return value, value if low is None else low, value if high is None else high


def _key(value: object) -> str:
    return "NULL" if value is None else str(value)


def _short(label: str) -> str:
    clean = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in label)
    return clean if len(clean) <= _LONGEST_LABEL else f"{clean[: _LONGEST_LABEL - 1]}…"
