"""Bars with intervals: what is drawn is what was given."""

from __future__ import annotations

import io
from typing import Any

import pytest

from tacit.errors import InvalidParameter
from tacit.plots.answers import answer_picture, bars_with_intervals, save


def test_bars_and_whiskers_are_where_the_numbers_say() -> None:
    figure = bars_with_intervals(("a", "ß"), (10, -2), (7, -5), (13, 1), title="t", unit="people")
    (axes,) = figure.axes
    assert [bar.get_width() for bar in axes.patches] == [10, -2]
    (whiskers,) = axes.collections
    ends = [[point[0] for point in segment] for segment in whiskers.get_segments()]
    assert ends == [[7, 13], [-5, 1]]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "ß"]
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    assert buffer.getvalue().startswith(b"\x89PNG")


def _drawn(figure: Any) -> bytes:
    buffer = io.BytesIO()
    save(figure, buffer)
    return buffer.getvalue()


def test_a_panel_for_each_column_and_labels_as_they_are() -> None:
    labels = ["Łódź", "$cost$_x^2", "東京", "NULL", "x" * 60, "a\x00b"]
    columns = {"visits": ([3.0] * 6, [2.0] * 6, [4.0] * 6), "$pend$": ([-1.0] * 6, [-2.0] * 6, [0.5] * 6)}
    figure = answer_picture(labels, columns, title="$title$")
    first, second = figure.axes
    shown = [label.get_text() for label in first.get_yticklabels()]
    assert shown[:2] == ["Łódź", "$cost$_x^2"]
    assert shown[4].endswith("…")
    assert "\x00" not in shown[5]
    assert [bar.get_width() for bar in second.patches] == [-1.0] * 6
    assert _drawn(figure).startswith(b"\x89PNG")


def test_unknown_values_are_not_drawn_and_missing_ends_have_no_whisker() -> None:
    figure = bars_with_intervals("ab", (None, 2), (None, None), (None, 5), title="t", unit="n")
    (whiskers,) = figure.axes[0].collections
    assert [[point[0] for point in segment] for segment in whiskers.get_segments()][-1] == [2, 5]
    assert _drawn(figure)


@pytest.mark.parametrize("labels", [[f"town {i}" for i in range(10_000)], [str(i) for i in range(10_000)]])
def test_many_groups_are_a_band(labels: list[str]) -> None:
    values = [float((7 * i) % 1000) for i in range(10_000)]
    figure = bars_with_intervals(
        labels, values, [v - 41 for v in values], [v + 41 for v in values], title="t", unit="n"
    )
    (axes,) = figure.axes
    (line,) = axes.lines
    drawn = list(line.get_ydata())
    assert len(drawn) == 5000
    assert drawn == (values[:5000] if labels[0] == "0" else sorted(values[:5000], reverse=True))
    assert "5,000 of 10,000 groups" in figure.get_suptitle()
    assert _drawn(figure)


@pytest.mark.parametrize("rows", [0, 1])
def test_one_number_or_none(rows: int) -> None:
    assert _drawn(bars_with_intervals(["all"][:rows], [5][:rows], [4][:rows], [6][:rows], title="t", unit="n"))


def test_nothing_to_draw_is_said() -> None:
    with pytest.raises(InvalidParameter, match="a number to draw"):
        answer_picture(["a"], {}, title="t")
