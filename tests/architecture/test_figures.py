"""Every figure of the documentation is what its numbers give, drawn again now."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
FIGURES = DOCS / "figures"
sys.path.insert(0, str(FIGURES))

pytest.importorskip("matplotlib")
import make_figures  # noqa: E402


@pytest.mark.parametrize("name", make_figures.FIGURES)
@pytest.mark.thorough
def test_a_figure_is_what_its_numbers_give(name: str) -> None:
    kept = (FIGURES / f"{name}.svg").read_text(encoding="utf-8")
    assert make_figures.same(kept, make_figures.drawn(name)), f"run: python docs/figures/make_figures.py {name}"


def test_every_figure_has_a_maker_and_a_page() -> None:
    kept = {path.stem for path in FIGURES.glob("*.svg")}
    shown = {one for page in DOCS.rglob("*.md") for one in re.findall(r"figures/(\w+)\.svg", page.read_text("utf-8"))}
    assert kept == set(make_figures.FIGURES) == shown
    assert not [path for path in DOCS.rglob("*") if path.suffix in (".png", ".jpg", ".gif") or _elsewhere(path)]


def _elsewhere(path: Path) -> bool:
    return path.suffix == ".svg" and path.parent != FIGURES


def test_another_number_is_noticed_and_another_version_of_the_drawing_library_is_not() -> None:
    kept = (FIGURES / "error_by_dimension.svg").read_text(encoding="utf-8")
    path = re.search(r"M (\d+\.\d+) (\d+\.\d+) \nL", kept)
    assert path is not None
    moved = kept.replace(path[0], path[0].replace(path[2], f"{float(path[2]) + 1:.6f}"), 1)
    assert not make_figures.same(kept, moved)
    assert not make_figures.same(kept, kept.replace("<!-- ", "<!-- not ", 1))
    assert make_figures.same(kept, re.sub(r"Matplotlib v[\d.]+", "Matplotlib v9.9", kept))
