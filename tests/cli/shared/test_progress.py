"""A wheel turns on a terminal alone, and is gone afterwards."""

from __future__ import annotations

import io
import signal
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from tacit.cli.shared.progress import bar, waiting, waiting_for_another


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


Waiting = Callable[[str, float], AbstractContextManager[None]]


@pytest.mark.parametrize("wait", [waiting, waiting_for_another])
def test_on_a_terminal_it_turns_and_is_wiped(wait: Waiting, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with wait("reading", 0.01):
        while "reading" not in screen.getvalue():
            time.sleep(0.01)
    assert screen.getvalue().endswith(" \r")
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL


@pytest.mark.parametrize("wait", [waiting, waiting_for_another])
def test_what_is_quick_or_in_a_pipe_is_silent(wait: Waiting, monkeypatch: pytest.MonkeyPatch) -> None:
    for screen in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stderr", screen)
        with wait("reading", 60.0 if screen.isatty() else 0.0):
            pass
        assert screen.getvalue() == ""


def test_a_bar_fills_and_is_wiped(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with bar() as show:
        show(0.0, "one")
        show(0.5, "two")
    shown = screen.getvalue().split("\r")
    assert "two ━━━━━━━━━━━━━━━" in shown[2]
    assert " 50%" in shown[2]
    assert shown[3].strip() == ""
    silent = io.StringIO()
    monkeypatch.setattr(sys, "stderr", silent)
    with bar() as show:
        show(0.5, "two")
    assert silent.getvalue() == ""
