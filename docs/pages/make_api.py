"""The reference of every public name, from docstrings: docs/reference/api/*.md."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Any

import tacit

ROOT_PAGES = (
    ("mechanisms", "Mechanisms", "tacit.mechanisms."),
    ("promises", "Promises and their arithmetic", "tacit.privacy"),
    ("tables", "Tables, questions and answers", "tacit.tables"),
    ("ledger", "The ledger", "tacit.ledger"),
    ("auditing", "Auditing", "tacit.auditing"),
    ("advice", "Advice", "tacit.advice"),
    ("errors", "Errors", "tacit.errors"),
    ("others", "Secret bits, limits of work, and other names", "tacit"),
)
MODULES = ("local", "learn", "synth", "games", "anonymity", "amplify", "advice", "auditing", "testing")


def pages() -> dict[str, str]:
    """Path below docs/ → text."""
    left = {name: home for home, names in tacit._HOMES.items() for name in names}
    made: dict[str, list[str]] = {}
    for page, title, home in ROOT_PAGES:
        named = [name for name in sorted(left) if left[name].startswith(home)]
        made[page] = [f"# {title}", "", "From the docstrings; `make pages` writes this page."]
        for name in named:
            made[page] += _entry(f"tacit.{name}", getattr(tacit, name))
            del left[name]
    assert not left, f"in no page: {', '.join(left)}"
    for module in MODULES:
        lines = made.setdefault(
            module, [f"# `tacit.{module}`", "", "From the docstrings; `make pages` writes this page."]
        )
        lines += _module(module)
    listed = [f"- [{lines[0].removeprefix('# ')}]({page}.md)" for page, lines in sorted(made.items())]
    index = ["# Reference from docstrings", "", "Every public name, by its home.", "", *listed]
    made["README"] = index
    return {f"reference/api/{page}.md": "\n".join([*lines, ""]) for page, lines in made.items()}


def _module(name: str) -> list[str]:
    module = import_module(tacit._MODULES[name])
    lines: list[str] = []
    for public in sorted(getattr(module, "__all__", ())):
        value = getattr(module, public)
        if (inspect.isclass(value) or inspect.isroutine(value)) and getattr(tacit, public, None) is not value:
            lines += _entry(f"tacit.{name}.{public}", value)
    return lines


def _entry(name: str, value: Any) -> list[str]:
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return ["", f"## `{name}`", "", f"`{value!r}`"]
    lines = ["", f"## `{name}`", "", "```text", f"{name.rpartition('.')[2]}{_signature(value)}", "```"]
    lines += ["", *_body(inspect.getdoc(value) or "")]
    if inspect.isclass(value):
        lines += _members(value)
    return lines


def _members(kind: type) -> list[str]:
    rows = []
    for name in sorted(dir(kind)):
        if name.startswith("_"):
            continue
        raw = inspect.getattr_static(kind, name)
        told = inspect.getdoc(raw.__func__ if isinstance(raw, classmethod | staticmethod) else raw)
        if isinstance(raw, property | classmethod | staticmethod) or inspect.isfunction(raw):
            rows.append(f"| `{name}{'' if isinstance(raw, property) else '(…)'}` | {_first(told or '')} |")
    return ["", "| member | what it is |", "|---|---|", *rows] if rows else []


def _first(text: str) -> str:
    return _safe(" ".join(text.split("\n\n")[0].split())).replace("|", "\\|")


def _signature(value: Any) -> str:
    try:
        shown = str(inspect.signature(value))
    except (TypeError, ValueError):
        return "(…)"
    shown = re.sub(r"'([^']*)'", r"\1", shown).replace(" -> None", "")
    return re.sub(r"<[^>]* at 0x[0-9a-f]+>", "…", shown)


def _body(doc: str) -> list[str]:
    """The text, and its examples as plain code: they are run where they stand, in the docstring."""
    lines: list[str] = []
    code = False
    for line in doc.splitlines():
        prompt = line.lstrip().startswith((">>> ", "... "))
        if prompt and not code:
            lines += ["```text"]
            code = True
        if code and not line.strip():
            lines += ["```"]
            code = False
        lines.append((line.strip()[4:] if prompt else f"# {line.strip()}") if code else _safe(line.strip()))
    return [*lines, "```"] if code else lines


def _safe(line: str) -> str:
    """Docstrings are plain text: what Markdown would read as a link or as emphasis is escaped outside of code."""
    parts = re.split(r"(``[^`]*``|`[^`]*`)", line)
    return "".join(part if part.startswith("`") else re.sub(r"([\[\]*_<|])", r"\\\1", part) for part in parts)
