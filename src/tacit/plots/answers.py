"""Released answers as bars with intervals."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from tacit.errors import InvalidParameter
from tacit.plots.canvas import empty_figure

__all__ = ["answer_picture", "bars_with_intervals", "save"]

_BAR, _WHISKER, _GRID = "#8fb8de", "#1f3b57", "#dddddd"
_MOST_LABELLED, _MOST_BARS = 60, 5000
_LONGEST_LABEL = 32


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
) -> Any:
    """A matplotlib figure with a panel per released column (values, lower ends, upper ends), side by side.

    Up to 60 groups are bars with labels; beyond that, a line within a band, and at most 5000 of them. None
    stands for a value that is not known, or for an end that does not exist.
    """
    if not columns:
        raise InvalidParameter("answer", given="columns without noise only", allowed="a number to draw")
    shown = labels[:_MOST_BARS]
    crowded = len(shown) > _MOST_LABELLED
    height = 4.2 if crowded else max(1.9, 0.36 * len(shown) + 1.5)
    figure = empty_figure(max(7.0, 1.6 + 4.2 * len(columns)), height)
    panels = figure.subplots(1, len(columns), squeeze=False)[0]
    for place, (axes, (name, (values, lows, highs))) in enumerate(zip(panels, columns.items(), strict=True)):
        ends = [_ends(*one) for one in zip(values[: len(shown)], lows, highs, strict=False)]
        draw = _band if crowded else _bars
        draw(axes, [_short(label) for label in shown], ends, place == 0)
        (axes.set_ylabel if crowded else axes.set_xlabel)(_short(name), parse_math=False)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_axisbelow(True)
    cut = f", the first {len(shown):,} of {len(labels):,} groups" if len(labels) > len(shown) else ""
    figure.suptitle(title + cut, x=0.01, ha="left", fontsize=11, parse_math=False)
    return figure


def save(figure: Any, target: Path | BinaryIO) -> None:
    """Write a figure to a file; what its name ends in says which format, and PNG if it has no name."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)  # a label in a script that the font does not have
        figure.savefig(target, dpi=150)


def _bars(axes: Any, labels: Sequence[str], ends: Sequence[tuple[float, float, float]], labelled: bool) -> None:
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


def _band(axes: Any, labels: Sequence[str], ends: Sequence[tuple[float, float, float]], labelled: bool) -> None:
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


def _ends(value: float | None, low: float | None, high: float | None) -> tuple[float, float, float]:
    """A value and its ends as matplotlib takes them: an unknown value is not drawn, a missing end has no whisker."""
    if value is None:
        return float("nan"), float("nan"), float("nan")
    return value, value if low is None else low, value if high is None else high


def _short(label: str) -> str:
    clean = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in label)
    return clean if len(clean) <= _LONGEST_LABEL else f"{clean[: _LONGEST_LABEL - 1]}…"
