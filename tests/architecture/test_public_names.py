"""Every public name is importable, documented, and the same for Python and for editors; nothing else is public."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

import pytest

import tacit

ROOT = Path(__file__).resolve().parents[2]
STUB = ROOT / "src" / "tacit" / "__init__.pyi"


@pytest.mark.parametrize("name", tacit.__all__)
def test_a_public_name_is_importable_and_documented(name: str) -> None:
    value = getattr(tacit, name)
    if inspect.isclass(value) or inspect.isfunction(value):
        assert (value.__doc__ or "").strip(), f"tacit.{name} has no docstring"
        assert not (value.__doc__ or "").startswith(f"{name}("), f"tacit.{name} has only a generated docstring"


def test_the_stub_lists_the_same_names() -> None:
    listed = set()
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            listed |= {alias.asname for alias in node.names if not str(alias.asname).startswith("_")}
        elif isinstance(node, ast.Assign):
            listed |= {ast.unparse(target) for target in node.targets}
    modules = {name for name in listed if name in tacit._MODULES}
    assert listed - modules == set(tacit.__all__)
    assert modules == set(tacit._MODULES)


def test_the_stub_names_the_right_homes() -> None:
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if str(alias.asname).startswith("_"):
                    assert f"{node.module}.{alias.name}" in tacit._MODULES.values()
                elif alias.asname in tacit._MODULES:
                    assert tacit._MODULES[alias.asname] == f"{node.module}.{alias.name}"
                else:
                    assert getattr(import_module(str(node.module)), alias.name) is getattr(tacit, str(alias.asname))


def test_completion_shows_names_before_they_are_loaded() -> None:
    assert set(tacit.__all__) <= set(dir(tacit))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Laplaze'"):
        tacit.Laplaze  # noqa: B018


def test_every_public_name_is_used_in_the_documentation() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    missing = unmentioned(tacit.__all__, text)
    assert not missing, f"no page of the documentation mentions {missing}"


def unmentioned(names: Iterable[str], text: str) -> list[str]:
    words = set(re.findall(r"\w+", text))
    return [name for name in names if name not in words]
