"""Tables of text: as wide as they need to be, never wider than the screen, nothing lost; stressed on terminals only."""

from __future__ import annotations

import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.report.columns import Column
from tacit.report.terminal import BOLD, RED, Marked, Screen, grid, show, text_width

LETTERS = st.text("abc xyzŁ東🙂e\u0301-", max_size=30)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return Terminal()


def test_columns_are_set_left_or_right() -> None:
    rows = [["Lund", "1 003"], ["東京", "7"]]
    assert grid(["city", "n"], rows, right=[False, True]) == [" city       n", " Lund   1 003", " 東京       7"]
    assert grid((), [["a", "b"], ["long", "c"]], margin=0, gap=2) == ["a     b", "long  c"]


@given(st.integers(2, 4).flatmap(lambda n: st.lists(st.lists(LETTERS, min_size=n, max_size=n), min_size=1)))
def test_folded_it_keeps_to_the_width_and_loses_nothing(rows: list[list[str]]) -> None:
    names = [f"c{at}" for at in range(len(rows[0]))]
    lines = grid(names, rows, width=40)
    assert all(text_width(line) <= 40 for line in lines)
    letters = sorted("".join([*names, *(one for row in rows for one in row)]).replace(" ", ""))
    assert sorted("".join(lines).replace(" ", "")) == letters


def test_the_widest_columns_give_first_and_words_stay_whole() -> None:
    lines = grid(["#", "question"], [["1", "how many people live in each of the cities"]], width=24, whole=("#",))
    assert lines == [" #   question", " 1   how many people", "     live in each of the", "     cities"]


def test_a_terminal_sees_what_is_stressed_a_pipe_does_not(terminal: Terminal) -> None:
    Screen(terminal).grid(["verdict"], [[Marked("violated", RED)], ["not disproved"]])
    assert terminal.getvalue() == " \x1b[1mverdict\x1b[0m\n \x1b[1;31mviolated\x1b[0m\n not disproved\n"
    pipe = io.StringIO()
    Screen(pipe).line("so far", BOLD)
    assert pipe.getvalue() == "so far\n"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_who_wants_no_styles_gets_none(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    Screen(terminal).grid(["n"], [["1"]])
    assert terminal.getvalue() == " n\n 1\n"


def test_in_a_pipe_a_line_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    pipe = io.StringIO()
    Screen(pipe).grid(["text"], [["word " * 100]])
    assert len(pipe.getvalue().splitlines()) == 2


def test_what_is_said_under_an_answer_is_folded_between_words(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", terminal)
    long = "a " + "word " * 30 + "end"
    show([Column.of("n", [1], [0], [2], whole=True)], long, ["spent"], everything="", notes=[long])
    lines = terminal.getvalue().replace("\x1b[2m", "").replace("\x1b[0m", "").replace("\x1b[1m", "").splitlines()
    assert max(map(len, lines)) <= 40
    assert all(line.endswith(("word", "end", "n", "1 ± 1", "spent")) for line in lines)
