"""Bars with intervals: what is drawn is what was given."""

from __future__ import annotations

import datetime
import io
import math
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


def _all(values: list[float], off: float = 5.0) -> tuple[list[float], list[float], list[float]]:
    return values, [one - off for one in values], [one + off for one in values]


DAYS = [datetime.date(2026, 1, 1) + datetime.timedelta(days=at) for at in range(90)]


def test_days_run_along_time_whatever_their_order() -> None:
    shuffled = DAYS[::-1]
    values = [float(day.toordinal() % 50) for day in shuffled]
    columns = {"n": _all(values), "m": _all(values)}
    figure = answer_picture([str(day) for day in shuffled], columns, title="t", keys={"day": shuffled})
    first, second = figure.axes
    (line,) = first.lines
    assert list(line.get_xdata()) == DAYS
    assert list(line.get_ydata()) == values[::-1]
    assert second.get_xlabel() == "day"
    drawn = _drawn(figure)
    assert drawn.startswith(b"\x89PNG")
    ticks = [tick.get_text() for tick in second.get_xticklabels()]
    assert {"Feb", "Mar"} <= set(ticks)  # months begin there
    assert len(ticks) <= 9


def test_days_and_groups_are_colours_with_a_legend() -> None:
    keys = {"day": [day for day in DAYS[:10] for _ in "ab"], "$city$": ["Łódź", None] * 10}
    values = [float(at) for at in range(20)]
    figure = answer_picture([str(at) for at in range(20)], {"n": _all(values)}, title="t", keys=keys)
    (axes,) = figure.axes
    assert [list(line.get_ydata()) for line in axes.lines] == [values[::2], values[1::2]]
    assert len({line.get_color() for line in axes.lines}) == 2
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["Łódź", "NULL"]
    assert _drawn(figure)


def test_a_line_ends_where_its_group_is_missing() -> None:
    """Nothing is known in between; and a point alone has its interval."""
    shown = [("a", 0), ("a", 1), ("a", 4), ("b", 0), ("b", 1), ("b", 2), ("b", 3), ("b", 4)]
    keys = {"day": [DAYS[at] for _, at in shown], "city": [city for city, _ in shown]}
    figure = answer_picture([str(at) for at in range(8)], {"n": _all([1.0] * 8)}, title="t", keys=keys)
    (axes,) = figure.axes
    assert [list(line.get_xdata()) for line in axes.lines] == [DAYS[:2], [DAYS[4]], DAYS[:5]]
    bands = [len(one.get_paths()[0].vertices) for one in axes.collections]
    assert len(bands) == 3
    assert min(bands) == 2  # the whisker of the point
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b"]


def test_too_many_colours_are_not_drawn() -> None:
    keys = {"day": [day for day in DAYS[:3] for _ in range(20)], "city": [f"c{at}" for at in range(20)] * 3}
    figure = answer_picture([str(at) for at in range(60)], {"n": _all([1.0] * 60)}, title="t", keys=keys)
    assert not figure.legends
    assert len(figure.axes) == 3  # a small picture for each day


def test_two_keys_are_small_pictures_on_one_scale() -> None:
    pairs = [(plan, city) for city in ("Lund", "Oslo", "Rome", "Łódź") for plan in ("free", "pro")]
    pairs.remove(("pro", "Rome"))
    values = [float(at + 1) for at in range(len(pairs))]
    keys = {"plan": [plan for plan, _ in pairs], "city": [city for _, city in pairs]}
    figure = answer_picture(["x"] * len(pairs), {"n": _all(values)}, title="t", keys=keys)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["plan: free", "plan: pro"]
    first, second = figure.axes
    assert [bar.get_width() for bar in first.patches] == [1, 3, 5, 6]
    assert [bar.get_width() for bar in second.patches][:2] == [2, 4]
    assert math.isnan(second.patches[2].get_width())  # nobody was released there
    assert first.get_xlim() == second.get_xlim()
    assert [tick.get_text() for tick in first.get_yticklabels()] == ["Lund", "Oslo", "Rome", "Łódź"]
    assert _drawn(figure)


def test_many_bars_stand_in_columns_with_their_labels() -> None:
    labels = [f"place {at}" for at in range(150)]
    figure = answer_picture(labels, {"n": _all([float(at) for at in range(150)])}, title="t", keys={"place": labels})
    assert len(figure.axes) == 3
    shown = [tick.get_text() for axes in figure.axes for tick in axes.get_yticklabels()]
    assert shown == labels
    assert len({axes.get_xlim() for axes in figure.axes}) == 1
    height = figure.get_size_inches()[1]
    assert height / 50 > 0.22  # inches to a bar: its label of 8 points fits


def test_a_notebook_shows_a_figure_as_a_picture() -> None:
    figure = bars_with_intervals(("a", "東"), (1, 2), (0, 1), (2, 3), title="t", unit="n")
    assert figure._repr_png_().startswith(b"\x89PNG")
