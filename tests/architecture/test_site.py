"""Pages are what their sources say, every link leads somewhere, every code block runs, every mechanism has a page."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import click
import pytest

from tacit.advice.growth import CLAIMS
from tacit.cli.main import cli
from tacit.examples.registry import MECHANISMS
from tacit.local.registry import RANDOMIZERS

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [*sorted(DOCS.rglob("*.md")), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def prose(text: str) -> str:
    """Without code, in which brackets are no links."""
    return re.sub(r"`[^`\n]*`", "`x`", FENCE.sub("", text))


def test_pages_that_are_made_are_as_their_sources_say() -> None:
    """Help texts, docstrings, glossary, tables of bench/results, numbers of the README."""
    ran = subprocess.run(
        [sys.executable, str(DOCS / "pages" / "make_pages.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, f"{ran.stdout}{ran.stderr}"


@cache
def anchors(page: Path) -> frozenset[str]:
    text = page.read_text(encoding="utf-8")
    found = {slug(heading) for heading in HEADING.findall(FENCE.sub("", text))}
    return frozenset(found | set(re.findall(r'id="([^"]+)"', text)))


def slug(heading: str) -> str:
    """A heading as an anchor, as the site and the repository make it."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def dead_links(page: Path) -> list[str]:
    dead = []
    for target in LINK.findall(prose(page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists() or (anchor and there.suffix == ".md" and anchor not in anchors(there)):
            dead.append(target)
    return dead


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_leads_somewhere(page: Path) -> None:
    assert not dead_links(page)


def test_a_dead_link_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A heading\n\n[a](nowhere.md) [b](#another) [c](#a-heading) `[d](x)`\n", encoding="utf-8")
    assert dead_links(page) == ["nowhere.md", "#another"]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_python_block_is_run(page: Path) -> None:
    """Blocks with prompts are doctests, which run; a Python block without any would only look as if."""
    assert page.name in ALLOWED or not silent(page.read_text(encoding="utf-8"))


def silent(text: str) -> list[str]:
    return [body for kind, body in FENCE.findall(text) if kind == "python" and ">>>" not in body]


ALLOWED = {"paying.md"}
"""Run elsewhere: the file of the guide is written out and used in tests/tables/session/test_paying.py."""


def commands(text: str) -> list[str]:
    """The lines of shell blocks that call `tacit`, comments left out."""
    found = []
    for kind, body in FENCE.findall(text):
        if kind in ("", "console", "sh", "bash"):
            found += [line.removeprefix("$ ") for line in body.splitlines() if line.startswith(("$ tacit ", "tacit "))]
    return found


def wrong(line: str) -> str:
    """What is wrong with a line, as far as names of commands and options go; nothing is run."""
    try:
        words = shlex.split(line.partition(" && ")[0].partition(" | ")[0], comments=True)[1:]
    except ValueError:
        return ""  # a line that goes on, or is cut off
    found: click.Command = cli
    while isinstance(found, click.Group) and words and not words[0].startswith("-"):
        below = found.get_command(click.Context(found), words[0])
        if below is None and found.list_commands(click.Context(found)) and re.search(r"[./|]", words[0]):
            below = found.get_command(click.Context(found), "fit")  # `tacit learn people.toml` is `tacit learn fit …`
        if below is None:
            return f"no command {words[0]}"
        found, words = below, words[1:]
    known = {option for parameter in found.params for option in (*parameter.opts, *parameter.secondary_opts)}
    for word in words:
        option = word.partition("=")[0]
        if re.fullmatch(r"--[a-z][a-z-]*", option) and option not in known | {"--help", "--version"}:
            return f"{found.name} has no {option}"
    return ""


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_command_that_is_shown_exists_with_its_options(page: Path) -> None:
    if page.name in ("commands.md", "CHANGELOG.md"):
        return
    faults = {line: wrong(line) for line in commands(page.read_text(encoding="utf-8")) if wrong(line)}
    assert not faults


def test_a_command_or_an_option_that_does_not_exist_is_noticed() -> None:
    assert wrong("tacit aks visits.toml") == "no command aks"
    assert wrong("tacit ask visits.toml 'SELECT 1' --epsilom 1") == "ask has no --epsilom"
    assert not wrong("tacit ask visits.toml 'SELECT 1' --epsilon 1")


def test_every_mechanism_is_on_the_page_at_a_glance() -> None:
    assert not left_out((DOCS / "reference" / "mechanisms.md").read_text(encoding="utf-8"))


def left_out(page: str) -> list[str]:
    central = {type(make()).__name__ for entry in MECHANISMS.values() for make in entry.examples}
    local = {entry.randomizer.__name__ for entry in RANDOMIZERS.values()}
    return [one for one in central | local if f"`{one}`" not in page and f"`local.{one}`" not in page]


def test_every_bench_is_on_the_page_of_benchmarks() -> None:
    page = (DOCS / "reference" / "benchmarks.md").read_text(encoding="utf-8")
    kept = [path.stem for path in (ROOT / "bench" / "results").glob("*.json") if not path.stem.endswith(".quick")]
    assert not [name for name in kept if f"| `{name}`" not in page]


def test_every_claim_of_growth_holds() -> None:
    """Every one is measured, and within 0.1."""
    kept = json.loads((ROOT / "bench" / "results" / "exponents.json").read_text(encoding="utf-8"))
    rows = {row["name"]: row for row in kept["tables"][0]["rows"]}
    assert set(rows) == {claim.name for claim in CLAIMS}
    for claim in CLAIMS:
        row = rows[claim.name]
        assert abs(row["time"] - claim.time) <= 0.1, (claim.name, row["time"])
        assert abs(row["memory"] - claim.memory) <= 0.1, (claim.name, row["memory"])


def test_advice_took_under_half_a_second_when_it_was_last_measured() -> None:
    kept = json.loads((ROOT / "bench" / "results" / "advice.json").read_text(encoding="utf-8"))
    rows = kept["tables"][0]["rows"]
    assert len(rows) >= 40
    assert not [row for row in rows if row["cpu"] > 0.5]
