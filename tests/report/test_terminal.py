"""An answer as text: nothing lost in a pipe, nothing wider than the terminal, no colour, no control characters."""

from __future__ import annotations

import pytest

from tacit.report import words
from tacit.report.columns import Column
from tacit.report.terminal import show, text, text_width, to_text
from tests.report.examples import hostile, many, usual


def shown(width: int | None) -> list[str]:
    made = usual()
    parts = [*words.spent(made), "tacit report visits.toml 4"]
    return text(made.columns, words.footnote(made), parts, width=width).splitlines()


def test_it_looks_as_documented() -> None:
    assert shown(80) == [
        " city         visits                 spend",
        " Aarhus   1 003 ± 41   41.2 (37.1 to 45.0)",
        " Łódź       349 ± 41            12.0 ± 3.9",
        " 東京        61 ± 41                     –",
        " NULL       -12 ± 41       0.0 (-∞ to 4.0)",
        " 95% intervals for the noise; groups too small to show are left out",
        " spent ε 0.50, δ 1e-9 (so far ε 0.75 of 3.00)",
        " unit: one user_id, at most 5 groups, 3 rows each · visits.ledger #4",
        " tacit report visits.toml 4",
    ]


def test_in_a_pipe_the_last_line_is_one_line() -> None:
    assert shown(None)[-1] == (
        " spent ε 0.50, δ 1e-9 (so far ε 0.75 of 3.00) · unit: one user_id, at most 5 groups, 3 rows each · "
        "visits.ledger #4 · tacit report visits.toml 4"
    )


def test_wide_answers_are_folded_not_cut() -> None:
    columns = [Column.of("key", ["k" * 50])]
    columns += [Column.of(f"number {i}", [10**9 + i], [0], [2 * 10**9], whole=True) for i in range(6)]
    lines = text(columns, width=80).splitlines()
    assert max(text_width(line) for line in lines) <= 80
    together = "".join("".join(lines).split())
    assert together.count("k") >= 50 + 1
    assert len(text(columns).splitlines()) == 2


def test_a_terminal_shows_the_first_rows_and_says_so() -> None:
    lines = text(many(10_000).columns, width=80, most=60, everything="--csv FILE").splitlines()
    assert lines[-1] == " … and 9 940 more rows: --csv FILE"
    assert len(lines) == 62


def test_attacks_on_the_terminal_are_written_out() -> None:
    made = hostile()
    plain = text(made.columns, words.footnote(made), words.spent(made))
    assert all(letter == "\n" or letter.isprintable() for letter in plain)


def test_markup_of_the_terminal_library_is_text() -> None:
    assert "[bold red]x[/]" in text([Column.of("[link=x]", ["[bold red]x[/]"])])


def test_nothing_to_show_is_said() -> None:
    empty = [Column.of("city", []), Column.of("n", [], [], [], whole=True)]
    assert "no group is large enough to show" in text(empty, "95% intervals for the noise")


def test_asked_before_is_said() -> None:
    first = words.spent(usual(), again=True)[0]
    assert first == "spent nothing: asked before, for ε 0.50, δ 1e-9 (so far ε 0.75 of 3.00)"


def test_standard_output_in_a_pipe_has_no_escape_codes(capsys: pytest.CaptureFixture[str]) -> None:
    show(usual().columns, "95%", ["spent"], everything="--csv FILE")
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert out.splitlines()[-1] == " spent"


def test_a_whole_disclosure_has_its_lines() -> None:
    lines = to_text(usual()).splitlines()
    assert lines[:6] == shown(80)[:6]
    assert lines[6] == " rows over the limits are not counted, and not in ±: tacit discover limits helps"
    assert lines[7].startswith(" drawn ")
    assert lines[7].endswith(" UTC on version 1 of the data")
    assert lines[8:10] == shown(80)[6:8]
    assert "now they are of version 3: --fresh" in to_text(usual(), 3)
    assert "to_pandas() have all" in to_text(many(61))
