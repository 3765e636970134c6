"""Sizes of classes and losses: what is drawn is what was given."""

from __future__ import annotations

import io

import pytest

from tacit.plots.anonymity import class_sizes, loss_against_k


def test_bars_add_up_to_the_rows_and_show_what_is_below_k() -> None:
    figure = class_sizes([(1, 7), (2, 4), (3, 3), (4, 8), (9, 9)], k=3, title="$t")
    (axes,) = figure.axes
    below, rest = axes.containers
    assert [bar.get_height() for bar in below] == [7, 4, 0, 0]
    assert [bar.get_height() for bar in rest] == [0, 3, 8, 9]
    assert [bar.get_y() for bar in rest] == [7, 4, 0, 0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "2–3", "4–7", "8–15"]


def test_losses_are_where_the_numbers_say_and_can_be_saved() -> None:
    figure = loss_against_k({"mondrian": ([2, 5, 10], [0.1, 0.2, 0.4]), "other": ([5], [0.3])}, title="t")
    (axes,) = figure.axes
    assert [list(line.get_ydata()) for line in axes.get_lines()] == [[0.1, 0.2, 0.4], [0.3]]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["2", "5", "10"]
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    assert buffer.getvalue().startswith(b"\x89PNG")


def test_nothing_to_draw_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one class"):
        class_sizes([], k=None, title="")
    with pytest.raises(ValueError, match="at least one method"):
        loss_against_k({}, title="")
    assert len(class_sizes([(1, 1)], k=None, title="").axes) == 1
