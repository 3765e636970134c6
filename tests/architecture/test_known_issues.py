"""Every hole on docs/known_issues.md, and every attempt in the threat model, names a test that is there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("known_issues.md", "threat_model.md")
_NAMED = re.compile(r"`(tests/[\w/]+\.py)(?:::(test_\w+))?`")


def named(text: str) -> list[tuple[str, str]]:
    """The files and tests that a text names."""
    return _NAMED.findall(text)


@cache
def _tests_in(file: str) -> frozenset[str]:
    path = ROOT / file
    if not path.is_file():
        return frozenset()
    found = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return frozenset({"", *(one.name for one in found if isinstance(one, ast.FunctionDef))})


def missing(text: str) -> list[str]:
    return [f"{file}::{test}" for file, test in named(text) if test not in _tests_in(file)]


def holes() -> list[str]:
    """A paragraph each, which begins with what was wrong in bold."""
    text = (ROOT / "docs" / "known_issues.md").read_text(encoding="utf-8")
    return [part for part in text.split("\n\n") if part.startswith("**")]


@pytest.mark.parametrize("page", PAGES)
def test_every_test_that_is_named_exists(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert named(text)
    assert not missing(text)


@pytest.mark.parametrize("hole", holes(), ids=lambda hole: hole.split("**")[1][:50])
def test_every_hole_names_the_test_that_keeps_it_shut(hole: str) -> None:
    assert "Shut by" in hole
    assert named(hole.partition("Shut by")[2])


def test_a_test_that_is_not_there_is_seen() -> None:
    here = "tests/architecture/test_known_issues.py"
    assert not missing(f"`{here}::test_a_test_that_is_not_there_is_seen` and `{here}`")
    assert missing(f"`{here}::test_that_nobody_wrote`, `tests/nowhere.py`") == [
        f"{here}::test_that_nobody_wrote",
        "tests/nowhere.py::",
    ]
