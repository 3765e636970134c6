"""The list of proofs, by their first lines: docs/proofs/README.md."""

from __future__ import annotations

from pathlib import Path

PROOFS = Path(__file__).resolve().parents[1] / "proofs"


def page() -> str:
    lines = [
        "# Proofs",
        "",
        "One page for each claim, naming the tests that check it. `make pages` writes this list.",
        "",
    ]
    for path in sorted(PROOFS.glob("*.md")):
        if path.name != "README.md":
            title = path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
            lines.append(f"- [{title}]({path.name})")
    return "\n".join([*lines, ""])
