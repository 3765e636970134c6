"""Bars with intervals: what is drawn is what was given."""

from __future__ import annotations

import io

from tacit.plots.answers import bars_with_intervals


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
