"""On the package index `tacit` belongs to somebody else: nothing of ours may tell anybody to install it from there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

import tacit
from tacit.cli.main import cli
from tacit.errors import MissingPackage
from tacit.version import DISTRIBUTION, VERSION

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FOLDERS = ("src", "tests", "docs", "bench", ".ci")
KINDS = {"", ".py", ".pyi", ".md", ".toml", ".txt", ".json", ".yml", ".yaml"}

INSTALLED = re.compile(r"\b(?:install|add|uvx|pipx run)\b[^\n]*[\s\"'=]tacit(?![-\w./])")
LOOKED_UP = re.compile(r"(?:version|distribution|metadata|package_name)(?:\(|=)\s*[\"']tacit[\"']")
EXTRA = re.compile(r"(?<![-\w.])tacit\\?\[[a-z{]")


def theirs(text: str) -> list[str]:
    """The lines that name the distribution `tacit`, which is not ours."""
    return [line for line in text.splitlines() if any(one.search(line) for one in (INSTALLED, LOOKED_UP, EXTRA))]


def files() -> list[Path]:
    inside = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*")]
    here = [*inside, *ROOT.glob("*.md"), ROOT / "Makefile", ROOT / "pyproject.toml"]
    return [path for path in here if path.suffix in KINDS and path.is_file() and path != Path(__file__)]


def test_no_file_names_the_distribution_of_somebody_else() -> None:
    assert len(files()) > 500
    found = {str(path.relative_to(ROOT)): theirs(path.read_text(encoding="utf-8")) for path in files()}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "line",
    [
        "pip install tacit",
        'pip install "tacit[plots]"',
        "uv add tacit",
        "metadata.version('tacit')",
        "needs `tacit[frames]`",
    ],
)
def test_the_check_sees_such_a_line(line: str) -> None:
    assert theirs(f"before\n{line}\nafter") == [line]


@pytest.mark.parametrize("line", ["pip install tacit-dp", 'pip install "tacit-dp[plots]"', "tacit ask", "import tacit"])
def test_the_check_lets_ours_pass(line: str) -> None:
    assert theirs(line) == []


def test_the_project_has_one_name_and_one_version() -> None:
    assert PROJECT["name"] == DISTRIBUTION == "tacit-dp"
    assert PROJECT["scripts"] == {"tacit": "tacit.cli.main:command"}
    assert tacit.__version__ == VERSION
    assert CliRunner().invoke(cli, ["--version"]).output == f"tacit {VERSION}\n"


def test_every_extra_that_is_hinted_at_exists() -> None:
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    hinted = set(re.findall(r"MissingPackage\([^)]*extra=\"(\w+)\"", sources))
    assert hinted
    assert hinted <= set(PROJECT["optional-dependencies"])
    for extra in hinted:
        assert str(MissingPackage("it", extra=extra)).endswith(f'pip install "tacit-dp[{extra}]".')
