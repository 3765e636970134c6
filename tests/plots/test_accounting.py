"""Pictures of a plan's cost: the curves are the numbers given."""

from __future__ import annotations

import io
import math

from tacit.plots.accounting import epsilon_by_steps, privacy_profile, trade_off


def test_the_profile_leaves_out_what_a_logarithm_cannot_show() -> None:
    figure = privacy_profile([0, 1, 2], {"plan": [0.5, 0.1, 0.0]}, title="t")
    (line,) = figure.axes[0].lines
    assert list(line.get_ydata()) == [0.5, 0.1]


def test_the_best_method_is_bold_and_infinite_values_are_left_out() -> None:
    curves = {"good": [1.0, 2.0], "bad": [math.inf, 5.0]}
    figure = epsilon_by_steps([1, 10], curves, best="good", title="t", delta=1e-6)
    good, bad = figure.axes[0].lines
    assert good.get_linewidth() > bad.get_linewidth()
    assert list(bad.get_xdata()) == [10]
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["good (best)", "bad"]


def test_the_trade_off_curve_is_drawn_to_scale_and_saved() -> None:
    figure = trade_off([0, 0.5, 1], [1, 0.2, 0], title="t")
    assert figure.axes[0].get_aspect() == 1
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg")
    assert b"<svg" in buffer.getvalue()
