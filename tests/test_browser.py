"""The browser of the tests: it draws, it tells what is wrong, and where it is missing CI fails."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import browser as ours

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def test_a_page_is_drawn(page: Page, tmp_path: Path) -> None:
    page.set_content("<h1 style='width:300px'>Seen</h1><script>document.title = 'run'</script>")
    assert page.title() == "run"
    box = page.locator("h1").bounding_box()
    assert box is not None
    assert box["width"] == 300
    assert page.screenshot(path=tmp_path / "seen.png").startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("<script>throw new Error('broken')</script>", "broken"),
        ("<script>console.error('odd')</script>", "odd"),
        ("<script>console.warn('half typed')</script>", "half typed"),
        ("<img src='http://example.invalid/a.png'>", "example.invalid"),
    ],
)
def test_what_goes_wrong_in_a_page_fails_the_test(browser: Browser, content: str, said: str) -> None:
    steps = ours.watched(browser)
    tab = next(steps)
    tab.set_content(content)
    tab.wait_for_timeout(1)
    with pytest.raises(AssertionError, match=said):
        next(steps)


@pytest.mark.parametrize(("content", "ends"), [("console.warn('half typed')", True), ("console.error('half')", False)])
def test_a_warning_that_is_known_passes_and_an_error_never_does(browser: Browser, content: str, ends: bool) -> None:
    steps = ours.watched(browser, passing=("half",))
    tab = next(steps)
    tab.set_content(f"<script>{content}</script>")
    tab.wait_for_timeout(1)
    with pytest.raises(StopIteration if ends else AssertionError):
        next(steps)


@pytest.mark.parametrize(("ci", "outcome"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)])
def test_without_chromium_tests_are_skipped_and_fail_in_ci(
    monkeypatch: pytest.MonkeyPatch, ci: str, outcome: type[BaseException]
) -> None:
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr(ours.shutil, "which", lambda _: None)
    with pytest.raises(outcome, match="apt-get install chromium"):
        ours.chromium()
