"""Writes every page that is made from something else: `make pages`; with --check it only says which are stale."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import make_api
import make_commands
import make_glossary
import make_growth
import make_measured
import make_mechanisms
import make_proofs
import make_readme

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent

PAGES: dict[str, Callable[[], str]] = {
    "reference/commands.md": make_commands.page,
    "reference/mechanisms.md": make_mechanisms.page,
    "reference/growth.md": make_growth.page,
    "reference/measured.md": make_measured.page,
    "reference/names.md": lambda: str(runpy.run_path(str(DOCS / "reference" / "make_names.py"))["page"]()),
    "glossary.md": make_glossary.page,
    "proofs/README.md": make_proofs.page,
}


def made() -> dict[Path, str]:
    """Every page and what it should say."""
    pages = {DOCS / name: make() for name, make in PAGES.items()}
    pages |= {DOCS / name: text for name, text in make_api.pages().items()}
    readme = ROOT / "README.md"
    return pages | {readme: make_readme.whole(readme.read_text(encoding="utf-8"))}


def stale(pages: dict[Path, str]) -> list[Path]:
    """Those that say something else, and those that nothing makes any more."""
    differ = [path for path, text in pages.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    gone = [path for path in (DOCS / "reference" / "api").glob("*.md") if path not in pages]
    return differ + gone


def main() -> int:
    pages = made()
    found = stale(pages)
    names = ", ".join(str(path.relative_to(ROOT)) for path in found)
    if "--check" in sys.argv[1:]:
        if found:
            print(f"stale: {names}. Run: make pages")
        return 1 if found else 0
    for path in found:
        if path in pages:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(pages[path], encoding="utf-8")
        else:
            path.unlink()
    print(f"wrote {names}" if found else "all pages are as they should be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
