"""The page of names is what the code says."""

from __future__ import annotations

import runpy
from pathlib import Path

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"


def test_the_page_of_names_is_up_to_date() -> None:
    made = runpy.run_path(str(REFERENCE / "make_names.py"))["page"]()
    written = (REFERENCE / "names.md").read_text(encoding="utf-8")
    assert made == written, "run: .venv/bin/python docs/reference/make_names.py"


def test_the_page_of_the_gallery_is_what_was_measured() -> None:
    made = runpy.run_path(str(REFERENCE / "make_gallery.py"))["page"]()
    written = (REFERENCE / "gallery.md").read_text(encoding="utf-8")
    assert made == written, "run: .venv/bin/python docs/reference/make_gallery.py"
