"""What `make demo` installs: the part of requirements.lock that Tacit with plots, and building it, need.

Written by `make lock` from the environment that it pins; tests/architecture/test_locks.py holds it against both.
"""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
WHOLE, PART = ROOT / "requirements.lock", ROOT / "requirements-demo.lock"
BEGUN = ("tacit-dp[plots]", "hatchling", "editables")


def part() -> str:
    """The text of the smaller lock."""
    needed = _needed()
    pinned = _blocks(WHOLE.read_text(encoding="utf-8"))
    return "".join(one for one in pinned if canonicalize_name(one.partition("==")[0]) in needed)


def _blocks(text: str) -> list[str]:
    """The package, its version and its hashes, each package by itself."""
    return re.findall(r"^[A-Za-z0-9].*\n(?: .*\n)*", text, re.MULTILINE)


def _needed() -> set[str]:
    """The names of all that is needed, on any system."""
    found, waiting = set[str](), [Requirement(one) for one in BEGUN]
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        key = f"{name}{sorted(one.extras)}"
        if key in found:
            continue
        found |= {name, key}
        try:
            listed = [Requirement(text) for text in requires(name) or ()]
        except PackageNotFoundError:  # of another system
            continue
        waiting += [inner for inner in listed if _is_meant(inner, one.extras)]
    return found


def _is_meant(requirement: Requirement, extras: set[str]) -> bool:
    asked = re.findall(r'extra == "([^"]+)"', str(requirement.marker or ""))
    return not asked or any(one in extras for one in asked)


if __name__ == "__main__":
    PART.write_text(part(), encoding="utf-8")
