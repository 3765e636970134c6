"""What `make demo` installs is a part of what is pinned: enough for Tacit with plots, and nothing of the tests."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def packages(name: str) -> dict[str, str]:
    """The blocks of a lock by what they pin."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return {one.partition(" ")[0]: one for one in re.findall(r"^[a-z0-9].*\n(?: .*\n)*", text, re.MULTILINE)}


def test_the_lock_of_the_demo_is_what_make_lock_writes() -> None:
    written = runpy.run_path(str(ROOT / ".ci" / "demo_lock.py"))["part"]()
    assert (ROOT / "requirements-demo.lock").read_text(encoding="utf-8") == written, "make lock"


def test_it_pins_what_runs_and_no_more() -> None:
    whole, part = packages("requirements.lock"), packages("requirements-demo.lock")
    assert part.items() <= whole.items()
    assert all("--hash=sha256:" in one for one in part.values())
    names = {one.partition("==")[0] for one in part}
    assert {"numpy", "cryptography", "duckdb", "sqlglot", "python-flint", "click", "matplotlib", "hatchling"} <= names
    assert not names & {"pytest", "mypy", "pandas", "jupyter-core", "playwright", "pyspark"}
