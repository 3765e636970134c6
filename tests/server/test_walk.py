"""A person at the page: sign in, type, practise, run, look; an owner's key; phone, dark, keyboard; axe finds nothing.

Screenshots are kept where TACIT_SCREENSHOTS says.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser import watched
from tests.postgres import missing
from tests.server.conftest import Serve, Served
from tests.server.test_connect import listening

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture
def place(serve: Serve) -> Iterator[tuple[Served, str]]:
    served = serve(rows=400)
    for address in listening(served):
        yield served, address


def kept(page: Page, name: str) -> None:
    folder = os.environ.get("TACIT_SCREENSHOTS")
    if folder:
        page.screenshot(path=f"{folder}/{name}.png", full_page=True, caret="initial", animations="allow")


def sign_in(page: Page, address: str, key: str) -> None:
    page.goto(address)
    page.get_by_label("Your key").fill(key)
    page.get_by_role("button", name="Sign in").click()


def axe(page: Page) -> list[Any]:
    """What axe-core finds against WCAG A and AA; it comes in a package of Python, of which its file alone is used."""
    home = find_spec("axe_playwright_python")
    if home is None or home.origin is None:
        missing("axe-core is not installed: make test installs it (contrast and labels are not looked at without it)")
    source = Path(home.origin).with_name("axe.min.js").read_text(encoding="utf-8")
    page.context.new_cdp_session(page).send("Page.setBypassCSP", {"enabled": True})
    page.reload()
    page.evaluate(source)
    found = page.evaluate("axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa']})")
    page.context.new_cdp_session(page).send("Page.setBypassCSP", {"enabled": False})
    return [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found["violations"]]


def type_sql(page: Page, sql: str) -> None:
    editor = page.locator(".cm-content")
    editor.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(sql)
    page.keyboard.press("Escape")


def test_an_analyst_asks(browser: Browser, place: tuple[Served, str]) -> None:
    served, address = place
    for page in watched(browser):
        sign_in(page, address, served.ada)
        page.wait_for_selector(".cm-content")
        about = page.locator("#about")
        about.get_by_text("It would cost").wait_for()
        before = about.inner_text()
        type_sql(page, "SELECT AVG(spend) AS average FROM visits")
        page.wait_for_function("before => document.querySelector('#about').innerText !== before", arg=before)
        assert "say how many you expect" in about.inner_text()
        before = about.inner_text()
        page.get_by_label("Rows per group").fill("1000")
        page.wait_for_function("before => document.querySelector('#about').innerText !== before", arg=before)
        assert "average: ±" in about.inner_text()
        before = about.inner_text()
        type_sql(page, "SELECT plan, COUNT(*) AS n FROM visits GROUP BY plan")
        page.wait_for_function("before => document.querySelector('#about').innerText !== before", arg=before)
        moved = about.inner_text()
        page.get_by_label("Price, ε").fill("0.5")
        page.wait_for_function("before => document.querySelector('#about').innerText !== before", arg=moved)
        assert "ε 0.50" in about.inner_text()
        kept(page, "1-ask")
        type_sql(page, "SELECT AVG(age) FROM visits")
        about.get_by_role("alert").wait_for()
        assert "age" in about.inner_text()
        kept(page, "2-refused")
        type_sql(page, "SELECT plan, COUNT(*) AS n FROM visits GROUP BY plan")
        page.get_by_role("button", name="Practise").click()
        page.get_by_text("These numbers are about nobody").wait_for()
        page.wait_for_load_state("networkidle")  # what the page asks for by itself does not take its place
        assert page.get_by_text("These numbers are about nobody").is_visible()
        kept(page, "3-practice")
        page.get_by_role("button", name="Run", exact=True).click()
        page.wait_for_load_state("networkidle")
        page.get_by_role("button", name="and run").click()
        page.get_by_text("are within the noise").wait_for()
        assert page.locator("svg.picture").count() == 1
        kept(page, "4-answer")
        page.get_by_role("link", name="Budget").click()
        page.get_by_text("paid by ada").wait_for()
        assert "ε 0.50" in page.locator(".promise").inner_text()
        kept(page, "5-budget")
        page.get_by_role("link", name="Learn").click()
        page.get_by_text("Two neighbours").wait_for()
        page.wait_for_load_state("networkidle")  # its script has run, and hears what is moved
        shown = page.locator("#pictures").inner_text()
        page.get_by_label("ε: how much").press("ArrowRight")
        page.wait_for_function("before => document.querySelector('#pictures').innerText !== before", arg=shown)
        kept(page, "6-learn")


def test_an_owner_makes_and_revokes_a_key(browser: Browser, place: tuple[Served, str]) -> None:
    served, address = place
    for page in watched(browser):
        sign_in(page, address, served.owner)
        page.get_by_role("link", name="Owner").click()
        page.get_by_label("Name").fill("bob")
        page.get_by_role("button", name="Make a key").click()
        text = page.locator("#new-key").inner_text()
        assert served.call(text, "GET", "/v1/me").json()["name"] == "bob"
        kept(page, "7-owner")
        page.get_by_role("button", name="Revoke the key of bob").click()
        page.get_by_text("revoked").wait_for()
        assert served.call(text, "GET", "/v1/me").status_code == 401


PATHS = ("/tables/visits", "/tables/visits/answers/1", "/tables/visits/budget", "/owner", "/learn")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_phone_contrast_and_keyboard(browser: Browser, place: tuple[Served, str], scheme: Any) -> None:
    served, address = place
    assert served.ask(served.owner).status_code == 200
    for page in watched(browser, viewport={"width": 375, "height": 700}, color_scheme=scheme):
        sign_in(page, address, served.owner)
        for path in PATHS:
            page.goto(address + path)
            wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert wide <= 0, f"{path} is {wide} pixels too wide for a phone"
            kept(page, f"8-phone-{scheme}{path.replace('/', '-')}")
            assert axe(page) == [], path
        page.goto(f"{address}/tables/visits")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the content"


def test_without_a_script_a_form_asks(browser: Browser, place: tuple[Served, str]) -> None:
    served, address = place
    for page in watched(browser, java_script_enabled=False):
        sign_in(page, address, served.ada)
        page.get_by_label("Question in SQL").fill("SELECT COUNT(*) AS n FROM visits")
        page.get_by_label("Price, ε").fill("0.25")
        page.get_by_role("button", name="Run", exact=True).click()
        page.get_by_role("button", name="and run").click()
        page.get_by_text("Ask the same elsewhere").wait_for()


def test_a_page_that_keeps_people_out_is_noticed(browser: Browser, place: tuple[Served, str]) -> None:
    """axe runs: a label that is taken away and a grey that is too light are found."""
    for page in watched(browser):
        page.goto(place[1])
        assert axe(page) == []
        page.evaluate("document.querySelector('label[for=key]').remove()")
        page.evaluate("document.querySelector('.note').style.color = '#bbb'")
        found = {one["id"] for one in page.evaluate("axe.run(document)")["violations"]}
        assert {"label", "color-contrast"} <= found
