"""The site as somebody sees it who opens it: three widths, light and dark, by keyboard, nothing from elsewhere."""

from __future__ import annotations

import http.server
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser import watched

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).resolve().parents[2]
WIDTHS = (360, 800, 1400)
PAGES = (
    "index.html",
    "tutorial/first_answer.html",
    "guides/advice.html",
    "reference/mechanisms.html",
    "reference/commands.html",
    "glossary.html",
)
FOCUS = "[document.activeElement.tagName, document.activeElement.innerText, document.activeElement.href]"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *said: object) -> None:
        pass


def build(where: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """As `make docs` does it."""
    (line,) = re.findall(r"\$\(BIN\)/mkdocs (build [^#\n]*)", (ROOT / "Makefile").read_text(encoding="utf-8"))
    command = [sys.executable, "-m", "mkdocs", *line.split(), "--site-dir", str(out)]
    told = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=where, env=told, capture_output=True, text=True, check=False)


def test_a_dead_link_and_a_dead_anchor_fail_the_build(tmp_path: Path) -> None:
    for name in ("mkdocs.yml", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    page = tmp_path / "docs" / "guides" / "noise.md"
    page.write_text(f"{page.read_text(encoding='utf-8')}\n[a](nowhere.md) [b](advice.md#nothing)\n", encoding="utf-8")
    built = build(tmp_path, tmp_path / "site")
    assert built.returncode != 0
    assert "nowhere.md" in built.stderr
    assert "'#nothing'" in built.stderr


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The site, built and served by this machine."""
    out = tmp_path_factory.mktemp("site")
    built = build(ROOT, out)
    assert built.returncode == 0, built.stderr
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=out))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_every_width_and_load_nothing_from_elsewhere(browser: Browser, site: str, scheme: str) -> None:
    for page in watched(browser):  # what another host is asked for, and what the console says, fails at the end
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        backgrounds = set()
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            for name in PAGES:
                page.goto(f"{site}/{name}")
                assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
                backgrounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        (background,) = backgrounds
        shade = sum(int(part) for part in background.strip("rgb()").split(",")[:3]) / 3
        assert (shade < 100) if scheme == "dark" else (shade > 200)


def test_examples_are_set_as_sessions_and_prose_of_the_glossary_fits_a_telephone(page: Page, site: str) -> None:
    page.goto(f"{site}/guides/advice.html")
    shown = page.locator("code").filter(has_text=">>> import tacit").first
    assert "<BLANKLINE>" not in shown.inner_text()
    assert shown.locator(".gp").count() > 1  # prompts are prompts, and answers no Python
    assert "each number's own error" in " ".join(shown.locator(".go").all_inner_texts())
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto(f"{site}/glossary.html")
    wide = "[...document.querySelectorAll('pre code')].filter(one => one.scrollWidth > one.clientWidth + 1).length"
    assert page.evaluate(wide) == 0


def test_lists_below_a_line_of_text_are_lists(page: Page, site: str) -> None:
    for name in ("CHANGELOG.html", "decisions/site.html", "proofs/local_frequencies.html"):
        page.goto(f"{site}/{name}")
        paragraphs = page.evaluate("[...document.querySelectorAll('article p')].map(one => one.textContent)")
        assert paragraphs
        assert not [one for one in paragraphs if re.search(r"\n- ", one)], name


def test_the_first_key_offers_to_skip_to_the_text(page: Page, site: str) -> None:
    page.goto(f"{site}/guides/advice.html")
    page.keyboard.press("Tab")
    tag, text, _ = page.evaluate(FOCUS)
    assert (tag, text.strip()) == ("A", "Skip to content")
    page.keyboard.press("Enter")
    assert page.url.endswith("guides/advice.html#which-mechanism-should-i-use")


HALF_TYPED = ("Invalid query", "TypeError: Cannot read properties of undefined (reading '_index')")
"""What the theme's search warns of, in the console alone, where a word is looked for after each letter: "k-"."""


@pytest.fixture
def searched(browser: Browser) -> Iterator[Page]:
    yield from watched(browser, passing=HALF_TYPED)


@pytest.mark.parametrize(
    ("word", "first"),
    [
        ("epsilon", "guides/"),
        ("sparse vector", "guides/"),
        ("permute-and-flip", "proofs/permute_and_flip"),
        ("ledger", "guides/"),
        ("which mechanism", "guides/advice"),
        ("k-anonymity", "guides/anonymity"),
        ("left out", "guides/mistakes"),
    ],
)
def test_the_search_is_used_without_a_mouse(searched: Page, site: str, word: str, first: str) -> None:
    """A slash opens it, words find pages for readers before proofs, arrows choose, Enter goes there."""
    page = searched
    page.goto(f"{site}/index.html")
    page.wait_for_function("document.readyState == 'complete'")
    search = page.locator("input[name=query]")
    page.wait_for_timeout(300)
    page.keyboard.press("/")
    page.wait_for_function("document.activeElement.name == 'query'")
    page.keyboard.type(word)
    page.wait_for_selector(".md-search-result__item a", timeout=60_000)
    page.wait_for_timeout(500)
    assert search.input_value() == word
    page.keyboard.press("ArrowDown")
    _, _, chosen = page.evaluate(FOCUS)
    assert f"{site}/{first}" in chosen or "glossary" in chosen, chosen
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    assert page.evaluate(FOCUS)[2] == chosen
    page.keyboard.press("Enter")
    page.wait_for_url(chosen.partition("?")[0] + "*")


def test_words_that_nobody_wrote_find_nothing_and_escape_leaves(page: Page, site: str) -> None:
    page.goto(f"{site}/index.html")
    page.wait_for_timeout(300)
    page.keyboard.press("/")
    page.keyboard.type("zzqqxy")
    page.wait_for_function(
        "document.querySelector('.md-search-result__meta').innerText.includes('No matching')", timeout=60_000
    )
    page.keyboard.press("Escape")
    page.wait_for_function("document.activeElement.name != 'query'")
