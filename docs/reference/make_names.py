"""Writes docs/reference/names.md: every public name with the first sentence of its docstring."""

from __future__ import annotations

import inspect
from pathlib import Path

import tacit

GROUPS = (
    (
        "Mechanisms that add noise",
        "tacit.mechanisms.",
        lambda v: hasattr(v, "release") or getattr(v, "__name__", "") == "OneSidedExponential",
    ),
    ("Mechanisms that choose, watch or count", "tacit.mechanisms.", lambda v: inspect.isclass(v)),
    ("Choices to pass to them", "tacit.mechanisms.", lambda v: True),
    ("Promises and their arithmetic", "tacit.privacy", lambda v: True),
    ("The ledger", "tacit.ledger", lambda v: True),
    ("Limits of work", "tacit.work", lambda v: True),
    ("Auditing", "tacit.auditing", lambda v: True),
    ("Advice", "tacit.advice", lambda v: True),
    ("Expressions of columns", "tacit.tables.python.columns", lambda v: True),
    ("Statistics of a question", "tacit.tables.python.aggregates", lambda v: True),
    ("Groups of a question", "tacit.tables.python.group_terms", lambda v: True),
    ("Places in an answer", "tacit.tables.python.later", lambda v: True),
    ("Tables, their policies, questions and answers", "tacit.tables", lambda v: True),
    ("Tables of a service", "tacit.remote", lambda v: True),
    ("Secret bits", "tacit.noise", lambda v: True),
    ("Errors", "tacit.errors", lambda v: True),
)


def sentence(value: object) -> str:
    if not (inspect.isclass(value) or inspect.isfunction(value)):
        return f"`{value!r}`"
    text = " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())
    return text.replace("|", "\\|")


def page() -> str:
    left = {name: home for home, names in tacit._HOMES.items() for name in names}
    lines = [
        "# Every public name",
        "",
        "What `import tacit` offers; `python docs/reference/make_names.py` writes this page.",
    ]
    for title, home, belongs in GROUPS:
        named = [name for name in sorted(left) if left[name].startswith(home) and belongs(getattr(tacit, name))]
        if not named:
            continue
        lines += ["", f"## {title}", "", "| name | what it is |", "|---|---|"]
        for name in named:
            lines.append(f"| `{name}` | {sentence(getattr(tacit, name))} |")
            del left[name]
    assert not left, f"in no group: {', '.join(left)}"
    modules = ", ".join(f"`tacit.{name}`" for name in sorted(tacit._MODULES))
    return "\n".join([*lines, "", f"Modules: {modules}.", ""])


if __name__ == "__main__":
    Path(__file__).with_name("names.md").write_text(page(), encoding="utf-8")
