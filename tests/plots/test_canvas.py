"""Every picture says how to get matplotlib where it is missing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from tacit.errors import MissingPackage
from tacit.plots.accounting import trade_off
from tacit.plots.answers import bars_with_intervals
from tacit.plots.audit import histograms
from tacit.plots.noise import error_by_dimension
from tacit.plots.spending import spending_over_time

ONCE = ([datetime(2026, 1, 1, tzinfo=UTC)], [1.0])
PICTURES: dict[str, Callable[[], Any]] = {
    "accounting": lambda: trade_off([0, 1], [1, 0], title="t"),
    "answers": lambda: bars_with_intervals(["a"], [1], [0], [2], title="t", unit="n"),
    "audit": lambda: histograms("n", ["a"], [1], [2], [0.0], title="t", names=("x", "y")),
    "noise": lambda: error_by_dimension([1, 2], {"a": [1, 2]}, {"a": [1, 2]}, rows=3, epsilon=1, delta=0),
    "spending": lambda: spending_over_time({"all": ONCE}, cap=ONCE, symbol="ε", title="t"),
}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_drawn_or_says_what_is_missing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert PICTURES[name]().axes
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingPackage, match=r'pip install "tacit-dp\[plots\]"'):
        PICTURES[name]()
