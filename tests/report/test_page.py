"""The page: well formed, complete, self-contained, and deaf to what strangers write into it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tacit.report.columns import Column
from tacit.report.disclosure import Amount, Disclosure
from tacit.report.markup import element
from tacit.report.page import MOST_ROWS, to_html
from tests.report.examples import ATTACKS, hostile, many, usual
from tests.report.reading import Page

if TYPE_CHECKING:
    from playwright.sync_api import Page as BrowserPage

ALLOWED = {
    "html",
    "head",
    "meta",
    "title",
    "style",
    "body",
    "section",
    "h1",
    "h2",
    "h3",
    "p",
    "pre",
    "b",
    "span",
    "div",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "dl",
    "dt",
    "dd",
    "ul",
    "li",
    "code",
    "details",
    "summary",
    "svg",
    "line",
    "rect",
    "text",
}


@pytest.mark.parametrize(
    "disclosure",
    [usual(), hostile(), many(3), many(2000), replace(usual(), columns=(), noise=(), clamps=())],
    ids=["usual", "hostile", "few", "many", "empty"],
)
def test_it_is_well_formed_and_holds_only_what_we_put_there(disclosure: Disclosure) -> None:
    page = Page(to_html(disclosure))
    assert page.unbalanced == []
    assert page.tags <= ALLOWED
    for _, attributes in page.elements:
        assert not any(name.startswith("on") or name in ("src", "href", "action") for name in attributes)


def test_nothing_is_loaded_from_anywhere() -> None:
    text = to_html(usual())
    assert "http" not in text.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    assert "url(" not in text
    assert "@import" not in text
    policy = next(attributes for tag, attributes in Page(text).elements if "http-equiv" in attributes)
    assert (policy["content"] or "").startswith("default-src 'none'")


def test_what_strangers_write_is_text() -> None:
    text = to_html(hostile())
    shown = Page(text).text
    for attack in ATTACKS[:6]:
        assert attack in shown
    assert "<script" not in text
    assert "<img" not in text
    assert "\x00" not in text
    assert "\u202e" not in text


def test_the_check_sees_an_attack_that_works() -> None:
    broken = to_html(usual()).replace("Aarhus", ATTACKS[0])
    assert "script" in Page(broken).tags
    assert element("p", ATTACKS[0]).count("<") == 2


def test_it_says_everything_a_disclosure_must_say() -> None:
    shown = " ".join(Page(to_html(usual())).text.split())
    for said in (
        "SELECT city, COUNT(*) AS visits",
        "ada",
        "one user_id",
        "add-remove",
        "ε 0.50, δ 1e-9",
        "ε 3.00, δ 1e-8",
        "ε 0.75, δ 2e-9 charged so far",
        "At most 5 groups, 3 rows each",
        "threshold 87 units",
        "δ 1e-9 of the price",
        "discrete Gaussian",
        "375 (L2)",
        "1 234",
        "0 to 100, per row",
        "multiples of 0.01",
        "tacit 0.1.0",
        "visits.ledger, answer 4 (entry 7)",
        "3f9a8c1d",
        "1:0123456789abcdef",
        "95% intervals for the noise; groups too small to show are left out",
        *usual().not_covered,
    ):
        assert said.casefold() in shown.casefold(), said


def test_numbers_intervals_and_relative_errors_are_in_the_table() -> None:
    cells = Page(to_html(usual())).cells
    start = cells.index("Aarhus")
    assert cells[start : start + 5] == ["Aarhus", "1 003 ± 41", "4.1%", "41.2 (37.1 to 45.0)", "9.8%"]
    assert cells[cells.index("NULL") + 1 :][:2] == ["-12 ± 41", "342%"]


def test_many_groups_are_cut_and_it_says_so() -> None:
    text = to_html(many(10_000))
    assert f"the first {MOST_ROWS // 1000} 000 of 10 000 groups are shown" in text
    assert "the JSON form of this page has all" in text
    assert len(text) < 500_000
    assert len(Page(text).cells) < 5 * MOST_ROWS
    assert "the JSON form" not in to_html(many(5))


def test_a_rho_ledger_shows_the_epsilon_it_means() -> None:
    disclosure = replace(
        usual(), flavour="rho", price=Amount("0.01", "0", (0.53, "1e-06")), cap=Amount("0.5", "0", (4.91, "1e-06"))
    )
    shown = Page(to_html(disclosure)).text
    assert "ρ 0.01, δ 0" in shown
    assert "ε 0.53 at δ 1e-6" in shown
    assert "ε 4.91 at δ 1e-6" in shown


def test_bars_are_where_the_numbers_say() -> None:
    column = Column.of("n", [100, -50], [80, -70], [120, -30], whole=True)
    disclosure = replace(usual(), columns=(Column.of("city", ["a", "b"]), column))
    marks = [(tag, attributes) for tag, attributes in Page(to_html(disclosure)).elements if tag in ("rect", "line")]
    wide = [float(attributes["width"] or 0) for tag, attributes in marks if tag == "rect"]
    assert wide[0] == pytest.approx(2 * wide[1], abs=0.3)
    whiskers = [
        abs(float(attributes["x2"] or 0) - float(attributes["x1"] or 0))
        for tag, attributes in marks
        if attributes["class"] == "whisker" and attributes["x1"] != attributes["x2"]
    ]
    assert whiskers == pytest.approx([0.4 * wide[0]] * 2, abs=0.3)


def test_groups_beyond_the_first_are_shown_on_demand(page: BrowserPage) -> None:
    page.set_content(to_html(many(120)))
    folded = page.locator("details")
    hidden = folded.first.locator("svg .label")
    assert folded.count() == 1
    assert hidden.count() == 80
    assert not hidden.first.is_visible()
    folded.first.locator("summary").click()
    assert hidden.last.is_visible()
    assert "show 41 to 120 too" in folded.first.locator("summary").inner_text()
    widths = [page.locator("svg").nth(at).bounding_box()["width"] for at in (0, 1)]  # type: ignore[index]
    assert widths[0] == widths[1]
