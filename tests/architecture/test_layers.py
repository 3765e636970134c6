"""A module imports only from lower layers of docs/decisions/layers.md; siblings do not import each other."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[2] / "src" / "tacit"

LAYERS = {
    "version": 0,
    "errors": 0,
    "noise": 0,
    "privacy": 1,
    "plots": 1,
    "report": 1,
    "mechanisms": 2,
    "work": 2,
    "ledger": 3,
    "examples": 3,
    "tables": 4,
    "local": 4,
    "learn": 5,
    "synth": 5,
    "games": 5,
    "auditing": 5,
    "testing": 5,
    "remote": 5,
    "advice": 6,
    "server": 7,
    "cli": 8,  # `tacit serve` starts the server
    "notebook": 8,
    "__main__": 9,
}
ALONE = {"anonymity"}  # may use errors only
BELOW_ALL = {"errors", "version"}  # every layer may use them, also their own
TOP = {"__init__"}  # only names homes, as text


def imports(path: Path) -> set[str]:
    """The parts of tacit that a file imports at any depth."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
            if node.module == "tacit":
                names = [f"tacit.{alias.name}" for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("tacit.")}
    return found


def broken(part: str, used: str) -> bool:
    if used == part or used in BELOW_ALL:
        return False
    if part in ALONE or used in ALONE:
        return part in ALONE or LAYERS.get(part, 0) < 7
    return LAYERS[used] >= LAYERS[part]


FILES = sorted(path for path in SRC.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_a_module_imports_only_from_lower_layers(path: Path) -> None:
    part = path.relative_to(SRC).parts[0].removesuffix(".py")
    if part in TOP:
        assert not imports(path)
        return
    assert part in LAYERS or part in ALONE, f"{part} is in no layer: add it to LAYERS and to the decision page"
    wrong = {used for used in imports(path) if broken(part, used)}
    assert not wrong, f"{path.name} ({part}) must not import {', '.join(sorted(wrong))}"


@pytest.mark.parametrize("page", ["architecture.md", "decisions/layers.md"])
def test_the_pages_name_every_layer(page: str) -> None:
    """With the number that is held here."""
    text = (SRC.parents[1] / "docs" / page).read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:3]] for line in text.splitlines() if line.startswith("|")]
    told = {
        (name.removesuffix(".py").rstrip("/"), int(number))
        for numbers, names, *_ in rows
        for number in re.findall(r"\d+", numbers)
        for name in re.findall(r"`([\w.]+/?)`", names)
    }
    assert not [one for one in LAYERS.items() if one not in told]


def test_the_rule_catches_a_breach() -> None:
    assert broken("noise", "privacy")
    assert broken("privacy", "plots")
    assert broken("ledger", "tables")
    assert not broken("mechanisms", "noise")
    assert not broken("noise", "errors")
    assert broken("anonymity", "noise")


def test_the_rule_sees_imports_inside_functions(tmp_path: Path) -> None:
    sneaky = tmp_path / "sneaky.py"
    sneaky.write_text(
        "def f():\n    from tacit.mechanisms.additive.laplace import Laplace\n    from tacit import cli\n"
    )
    assert imports(sneaky) == {"mechanisms", "cli"}
