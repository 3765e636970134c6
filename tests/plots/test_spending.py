"""Spending over time: what is drawn is what was given."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta

from matplotlib.dates import date2num

from tacit.plots.spending import spending_over_time

START = datetime(2026, 3, 1, tzinfo=UTC)
DAYS = [START + timedelta(days=day) for day in range(4)]


def test_the_steps_are_where_the_numbers_say() -> None:
    charged = {
        "all": (DAYS[1:], [0.1, 0.3, 0.4]),
        "by ada": ([DAYS[1], DAYS[3]], [0.1, 0.2]),
        "by bob": ([DAYS[2]], [0.2]),
    }
    figure = spending_over_time(charged, cap=([DAYS[0], DAYS[2]], [1.0, 2.0]), symbol="ε", title="t")
    (axes,) = figure.axes
    drawn = {line.get_label(): line for line in axes.get_lines()}
    assert list(drawn) == ["by ada", "by bob", "all", "cap, now 2"]
    assert list(drawn["all"].get_ydata()) == [0.1, 0.3, 0.4, 0.4]
    assert list(drawn["all"].get_xdata())[:3] == list(date2num(DAYS[1:]))
    assert list(drawn["cap, now 2"].get_ydata()) == [1.0, 2.0, 2.0]
    assert list(drawn["by ada"].get_ydata()) == [0.1, 0.2, 0.2]
    ends = {line.get_xdata()[-1] for line in drawn.values()}
    assert ends == {axes.get_xlim()[1]}
    assert ends.pop() > date2num(DAYS[3])  # the last step can be seen
    assert all(line.get_drawstyle() == "steps-post" for line in drawn.values())


def test_one_payment_of_nothing_can_be_drawn() -> None:
    figure = spending_over_time({"all": ([START], [0.0])}, cap=([START], [0.0]), symbol="ρ", title="$x")
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    assert buffer.getvalue().startswith(b"\x89PNG")


def test_only_the_largest_accounts_are_drawn() -> None:
    charged = {"all": ([START], [36.0]), **{f"by {name}": ([START], [float(name)]) for name in range(9)}}
    figure = spending_over_time(charged, cap=([START], [50.0]), symbol="ε", title="t")
    labels = [line.get_label() for line in figure.axes[0].get_lines()]
    assert labels == [*(f"by {name}" for name in (8, 7, 6, 5, 4, 3)), "all", "cap, now 50"]
