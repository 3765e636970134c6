"""The table for notebooks: escaped, balanced, short."""

from __future__ import annotations

from tacit.report.notebook import table, to_notebook
from tests.report.examples import ATTACKS, hostile, many, usual
from tests.report.reading import Page


def test_it_shows_numbers_with_intervals() -> None:
    page = Page(table(usual().columns, "95% intervals", ["spent ε 0.50", "#4"]))
    assert page.unbalanced == []
    assert "1 003 ± 41" in page.cells
    assert "spent ε 0.50 · #4" in page.texts


def test_what_strangers_write_is_text() -> None:
    made = table(hostile().columns, ATTACKS[0], [ATTACKS[1]])
    assert Page(made).tags == {"div", "table", "thead", "tbody", "tr", "th", "td"}
    assert ATTACKS[0] in Page(made).text


def test_a_long_answer_is_cut_and_says_so() -> None:
    made = table(many(10_000).columns)
    assert "and 9900 more rows" in made
    assert len(made) < 50_000


def test_a_whole_disclosure_has_its_lines() -> None:
    shown = Page(to_notebook(usual())).text
    assert "95% intervals for the noise; groups too small to show are left out" in shown
    assert "spent ε 0.50, δ 1e-9 (so far ε 0.75 of 3.00) · unit: one user_id" in shown
