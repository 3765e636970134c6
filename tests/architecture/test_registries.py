"""Registries have one shape: one mapping from a name to what is registered, in `registry.py`; a suite runs on it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src"
REGISTRIES = sorted(".".join(path.relative_to(SRC).with_suffix("").parts) for path in SRC.rglob("registry.py"))


def mapping_of(module: str) -> tuple[str, object]:
    """The name of the one constant that a registry has, and its value."""
    home = import_module(module)
    names = [name for name in home.__all__ if name.isupper()]
    assert len(names) == 1, f"{module} must name one registry in __all__, not {names}"
    return names[0], getattr(home, names[0])


def test_there_are_registries_of_the_things_that_can_be_added() -> None:
    expected = {"tacit.examples", "tacit.ledger", "tacit.tables.estimators", "tacit.auditing"}
    assert expected <= {name.removesuffix(".registry") for name in REGISTRIES}


@pytest.mark.parametrize("module", REGISTRIES)
def test_a_registry_is_a_mapping_from_names(module: str) -> None:
    name, registry = mapping_of(module)
    assert isinstance(registry, Mapping), f"{module}.{name}: write a mapping from a name to what is registered"
    assert registry
    assert all(re.fullmatch(r"[a-z][a-z _-]*", key) for key in registry), f"{module}.{name}: {list(registry)}"


@pytest.mark.parametrize("module", REGISTRIES)
def test_a_suite_runs_on_everything_that_joins(module: str) -> None:
    name, _ = mapping_of(module)
    users = [path for path in (ROOT / "tests").rglob("test_*.py") if path != Path(__file__)]
    used = re.compile(rf"from {re.escape(module)} import [^\n]*\b{name}\b")
    assert any(used.search(path.read_text(encoding="utf-8")) for path in users), f"no test goes over {module}.{name}"
