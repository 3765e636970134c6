"""Every name of `tacit.local` is importable, documented, and the same for editors."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

from tacit import local

STUB = Path(local.__file__).with_name("__init__.pyi")


@pytest.mark.parametrize("name", local.__all__)
def test_a_name_is_importable_and_documented(name: str) -> None:
    value = getattr(local, name)
    assert inspect.isclass(value) or inspect.isfunction(value)
    assert (value.__doc__ or "").strip()
    assert not (value.__doc__ or "").startswith(f"{name}(")


def test_the_stub_lists_the_same_names_and_homes() -> None:
    listed = {}
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            listed |= {str(alias.asname): node.module for alias in node.names}
    assert listed == local._HOME_OF
    assert set(local.__all__) <= set(dir(local))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        local.Nothing  # noqa: B018


def test_every_name_is_used_in_the_documentation() -> None:
    docs = Path(__file__).resolve().parents[2] / "docs"
    text = "\n".join(page.read_text(encoding="utf-8") for page in sorted(docs.rglob("*.md")))
    classes = [name for name in local.__all__ if hasattr(getattr(local, name), "proof")]
    assert not [name for name in classes if name not in text]
