"""A notebook, executed and looked at: an answer shows once, a plot is a picture, a price comes before its payment."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbclient
import nbconvert
import nbformat
import pandas
import pytest

import tacit
from tacit.errors import InvalidParameter, TacitError
from tacit.notebook import Price, answered

if TYPE_CHECKING:
    from playwright.sync_api import Page

BY_CITY = "SELECT city, COUNT(*) AS n FROM people GROUP BY city"
OPENED = """
import pandas, tacit
frame = pandas.DataFrame({"who": range(900), "city": ["Lund", "Oslo", "Łódź"] * 300})
people = tacit.open(frame, name="people", unit="who", keys={"city": ["Lund", "Oslo", "Łódź"]},
                    budget=tacit.PureDP(10), ledger=tacit.InMemory())
"""
CELLS = {
    "opened": OPENED,
    "loaded": "%load_ext tacit",
    "answer": f"answer = people.sql('{BY_CITY}', epsilon=1)\nanswer",
    "rows": "[row['city'] for row in answer]",
    "plot": "answer.plot()",
    "plan": f"people.query('{BY_CITY}').plan(epsilon=1)",
    "batch": f"people.batch(['{BY_CITY}', 'SELECT COUNT(*) AS n FROM people'])",
    "answers": f"people.batch(['{BY_CITY}', 'SELECT COUNT(*) AS n FROM people']).ask(epsilon=1)",
    "disclosure": "answer.disclosure()",
    "table": "people",
    "prices": f"%%tacit people\n{BY_CITY}",
    "price": f"%%tacit people --epsilon 0.5\n{BY_CITY}",
    "unpaid": "people.remaining",
    "paid": f"%%tacit people --epsilon 0.5 --pay --into by_city\n{BY_CITY}",
    "kept": "by_city.spent, people.remaining",
    "wrong": "%%tacit people --epsilon 0.5\nSELECT nobody FROM people",
}


@cache
def executed() -> Any:
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(one) for one in CELLS.values()])
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python", "language": "python"}
    nbclient.NotebookClient(made, timeout=120, kernel_name="python3", allow_errors=True).execute()
    return made


@pytest.fixture(scope="module")
def outputs() -> dict[str, list[Any]]:
    return {name: cell.outputs for name, cell in zip(CELLS, executed().cells, strict=True)}


def only(outputs: dict[str, list[Any]], name: str) -> dict[str, str]:
    (shown,) = outputs[name]
    assert shown.output_type == "execute_result", shown
    made: dict[str, str] = shown.data
    return made


def test_an_answer_shows_once_as_a_table(outputs: dict[str, list[Any]]) -> None:
    shown = only(outputs, "answer")
    assert shown["text/html"].count("<table>") == 1
    assert "Łódź" in shown["text/html"]
    assert "'Oslo'" in only(outputs, "rows")["text/plain"]


def test_a_plot_is_one_picture(outputs: dict[str, list[Any]]) -> None:
    assert only(outputs, "plot")["image/png"].startswith("iVBOR")


def test_plans_batches_and_disclosures_are_short_and_for_people(outputs: dict[str, list[Any]]) -> None:
    assert "├─ unit: one who" in only(outputs, "plan")["text/plain"]
    assert "[1] SELECT COUNT(*) AS n FROM people" in only(outputs, "batch")["text/plain"]
    assert only(outputs, "answers")["text/html"].count("<table>") == 2
    assert only(outputs, "disclosure")["text/plain"].startswith("question  SELECT city")
    for name in ("plan", "batch", "disclosure", "table", "unpaid"):
        shown = only(outputs, name)["text/plain"]
        assert len(shown) < 1500, name
        assert "Disclosure(" not in shown


def test_the_price_comes_before_the_payment(outputs: dict[str, list[Any]]) -> None:
    assert only(outputs, "prices")["text/html"].count("<tr>") == 6
    price = only(outputs, "price")
    assert "ε 0.5, δ 0" in price["text/plain"]
    assert "Nothing was spent. To pay it: %%tacit people --epsilon 0.5 --pay" in price["text/plain"]
    assert only(outputs, "unpaid")["text/plain"] == "ApproxDP(8, 0)"
    assert "<table>" in only(outputs, "paid")["text/html"]
    assert only(outputs, "kept")["text/plain"] == "(ApproxDP(0.5, 0), ApproxDP(7.5, 0))"


def test_a_mistake_is_one_paragraph(outputs: dict[str, list[Any]]) -> None:
    said = json.dumps(outputs["wrong"])
    assert "nobody" in said
    assert "Traceback" not in said
    assert "site-packages" not in said


def test_the_page_shows_what_a_person_should_see(page: Page, tmp_path: Path, outputs: dict[str, list[Any]]) -> None:
    html, _ = nbconvert.HTMLExporter(template_name="basic").from_notebook_node(executed())
    page.set_content(f"<html><body>{html}</body></html>")
    assert page.locator("table").count() == 1 + 2 + 1 + 1 + 1  # an answer, a batch of two, prices twice, a paid answer
    picture = page.locator("img")
    assert picture.count() == 1
    box = picture.bounding_box()
    assert box is not None
    assert box["width"] > 400
    assert page.locator("pre", has_text="├─ unit: one who").is_visible()
    assert page.get_by_text("95% intervals for the noise").first.is_visible()
    page.screenshot(path=tmp_path / "notebook.png", full_page=True)


# the words of a cell


@pytest.fixture
def names() -> dict[str, Any]:
    frame = pandas.DataFrame({"who": range(90), "city": ["Lund", "Oslo", "Rome"] * 30})
    given = {"budget": tacit.PureDP(10), "ledger": tacit.InMemory()}
    return {"people": tacit.open(frame, name="people", unit="who", keys={"city": ["Lund"]}, **given), "x": 7}  # type: ignore[arg-type]


def test_several_statements_are_a_batch(names: dict[str, Any]) -> None:
    cell = f"{BY_CITY};\nSELECT COUNT(*) AS n FROM people;"
    assert isinstance(answered("people --epsilon 1", cell, names), Price)
    assert len(answered("people --epsilon 1 --pay --into both", cell, names)) == 2
    assert len(names["both"]) == 2
    assert names["people"].remaining.main == 9


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "table"),
        ("nobody --epsilon 1", "an open table: people"),
        ("x --epsilon 1", "an open table"),
        ("people --espilon 1", "espilon"),
        ("people --epsilon 1 --rho 1", "one price"),
        ("people --pay", "price"),
        ("people --epsilon -1", "epsilon"),
        ("people --epsilon 1 --pay --into 'a b'", "--into"),
        ("people --epsilon '1", "quot"),
    ],
)
def test_wrong_words_are_refused_and_free(line: str, said: str, names: dict[str, Any]) -> None:
    with pytest.raises(TacitError, match=said):
        answered(line, BY_CITY, names)
    assert names["people"].remaining.main == 10
    assert "a b" not in names


def test_a_table_is_asked_for_where_none_is_open() -> None:
    with pytest.raises(InvalidParameter, match=r"tacit\.open"):
        answered("people --epsilon 1", BY_CITY, {})
