"""Faults that tests plant: what a promise looks like from outside when it is not kept."""

from __future__ import annotations

from typing import Any

import pytest

from tacit.learn.spending.spending import Spending


def too_little_noise(monkeypatch: pytest.MonkeyPatch, divisor: int) -> None:
    """Every release, and every choice, as if a unit moved it so many times less."""
    buy, choice = Spending.buy, Spending.choice

    def bought(self: Any, what: str, share: Any, *, l1: int, l2_squared: int, times: int = 1) -> Any:
        l1, l2_squared = -(-l1 // divisor), -(-l2_squared // divisor**2)
        return buy(self, what, share, l1=l1, l2_squared=l2_squared, times=times)

    def chosen(self: Any, what: str, share: Any, *, sensitivity: int, **named: Any) -> Any:
        return choice(self, what, share, sensitivity=-(-sensitivity // divisor), **named)

    monkeypatch.setattr(Spending, "buy", bought)
    monkeypatch.setattr(Spending, "choice", chosen)
