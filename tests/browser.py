"""A browser for tests that look at what a person sees: Debian's chromium, driven by playwright, off the network.

A test asks for `page` (a fresh tab; errors of its scripts and messages in its console fail the test, nothing but this
machine is reached) or for `browser`. Where chromium is missing such tests are skipped and say so; in CI (CI=true) they
fail.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page, Route

HERE = ("file:", "data:", "blob:", "about:", "http://127.0.0.1", "http://localhost")
"""What a page may load: files, itself, and servers on this machine."""

MISSING = "chromium is not installed: apt-get install chromium (pages are not looked at without it)"


def chromium() -> str:
    """Where chromium is; where it is not, the test is skipped, and fails in CI."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for the tests of a file. Its driver runs an event loop in this thread until the file is done."""
    program = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(
            executable_path=program,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage"],
        )
        yield opened
        opened.close()


def watched(browser: Browser, passing: tuple[str, ...] = (), **more: Any) -> Iterator[Page]:
    """A tab in a context of its own (no cookies of other tests), 1280 by 800; what goes wrong is raised at the end.

    So is all that its console says, but for warnings that begin with one of ``passing``.
    """
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **more})
    wrong: list[str] = []

    def local_only(route: Route) -> None:
        if route.request.url.startswith(HERE):
            route.continue_()
        else:
            wrong.append(f"loads {route.request.url}")
            route.abort()

    context.route("**/*", local_only)
    context.set_default_timeout(180_000)  # however slow the machine is
    tab = context.new_page()
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("console", lambda said: _may_pass(said, passing) or wrong.append(f"{said.type}: {said.text}"))
    yield tab
    context.close()
    assert not wrong, wrong


def _may_pass(said: ConsoleMessage, passing: tuple[str, ...]) -> bool:
    return said.type == "warning" and said.text.startswith(passing)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh tab; what goes wrong in it fails the test."""
    yield from watched(browser)
