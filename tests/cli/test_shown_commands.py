"""Every command that a page shows, typed as it stands in a fresh folder with an empty home."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.shown import ELSEWHERE, FOLDERS, PAGES, Block, Folder, blocks
from tests.shell import typed

ENDLESS = {"tacit serve": "--check"}
"""What would not end by itself, and the option with which it does."""


def test_every_page_with_commands_is_typed() -> None:
    assert {page.name for page in PAGES} == {*FOLDERS, *ELSEWHERE}


def faults(text: str, folder: Path, home: Path, made: Folder, *, slow: bool) -> list[str]:
    """Commands that did not end as their page shows: refused where it shows a refusal, else as it says, or with 0."""
    words, found = made.furnish(folder) or {}, []
    for block in blocks(text):
        for line in block.line.split(" && "):
            if line.startswith("cd "):
                folder = folder / line.removeprefix("cd ")
                folder.mkdir(exist_ok=True)
            elif slow or not line.startswith(made.long):
                found += fault(Block(line, block.shown), folder, home, words)
            for start, act in made.after.items():
                if line.startswith(start):
                    act(folder)
    return found


def fault(block: Block, folder: Path, home: Path, words: Mapping[str, str]) -> list[str]:
    line = block.line
    for start, ends in ENDLESS.items():
        line = f"{line} {ends}" if line.startswith(start) else line
    given = [words.get(word, word) for word in shlex.split(line, comments=True)[1:]]
    given = [f"{home}{word[1:]}" if word.startswith("~/") else word for word in given]
    ran = typed(folder, *given, HOME=str(home), COLUMNS="200")
    said = re.search(r"#.*exit code (\d)", block.line)
    right = ran.returncode == int(said[1]) if said else (ran.returncode != 0) == block.shown.startswith("tacit: ")
    if right and "Traceback" not in ran.stderr:
        return []
    return [f"{block.line}: exit code {ran.returncode}\n{ran.stdout[-500:]}{ran.stderr[-1000:]}"]


def typed_page(page: Path, folder: Path, *, slow: bool) -> list[str]:
    home = folder / "home"
    home.mkdir()
    made = FOLDERS[page.name]
    return faults(page.read_text(encoding="utf-8"), folder, home, made, slow=slow)


@pytest.mark.parametrize("page", [page for page in PAGES if page.name in FOLDERS], ids=lambda page: page.stem)
def test_commands_end_as_their_page_shows(page: Path, tmp_path: Path) -> None:
    assert not typed_page(page, tmp_path, slow=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, made in FOLDERS.items() if made.long])
def test_so_do_those_that_take_long(name: str, tmp_path: Path) -> None:
    (page,) = (page for page in PAGES if page.name == name)
    assert not typed_page(page, tmp_path, slow=True)


PLANTED = """\
```
$ tacit explain epsilon
$ tacit explain nothing-of-the-kind
$ tacit explain another
tacit: There is no such term.
$ tacit explain delta
tacit: There is no such term.
$ tacit explain delta      # exit code 1: so it says
```
"""


def test_a_command_that_fails_or_does_not_is_noticed(tmp_path: Path) -> None:
    found = faults(PLANTED, tmp_path, tmp_path, Folder(lambda folder: None), slow=False)
    told = [one.partition(":")[0] for one in found]
    assert told == [
        "tacit explain nothing-of-the-kind",
        "tacit explain delta",
        "tacit explain delta      # exit code 1",
    ]
    assert os.environ.get("HOME") != str(tmp_path)
