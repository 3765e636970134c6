"""What the site needs beside the pages: the order of its sections, and the pages that lie outside of docs/.

The Markdown stays as it is read in the repository; only here `../CONTRIBUTING.md` becomes a page of the site, and links
to sources become plain text.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
OUTSIDE = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")

TUTORIALS = ("first_answer", "survey", "publication")
BY_TASK = {
    "Ask a table": ("asking", "notebooks", "batches", "mistakes"),
    "Own a table": ("policy", "discovery", "databases", "spark", "growing", "ledger", "service"),
    "Choose a mechanism": ("advice", "noise", "why_these_noises", "selection", "streams", "following", "sensitivity"),
    "Understand the promise": ("meaning_of_epsilon", "guarantees", "plan_cost", "adaptive", "who_is_hurt"),
    "Publish": ("twelve_steps", "publishing", "synthesis", "anonymity", "worked_examples"),
    "Without a curator": ("local",),
    "Learn, play, audit": ("learning", "learnability", "games", "audit", "paying"),
}
REFERENCE = ("commands", "mechanisms", "names", "sql", "google_syntax", "questions", "growth", "benchmarks", "measured")


def on_config(config: Any) -> Any:
    config.nav = navigation()
    return config


def navigation() -> list[Any]:
    """Every page of docs/, each once; what is in no list here comes at the end of its section."""
    listed = {name for names in BY_TASK.values() for name in names}
    others = [name for name in _names("guides") if name not in listed]
    tasks: list[Any] = [{task: [f"guides/{name}.md" for name in names]} for task, names in BY_TASK.items()]
    if others:
        tasks.append({"More": [f"guides/{name}.md" for name in others]})
    pages = [f"reference/{name}.md" for name in REFERENCE]
    pages += [f"reference/{name}.md" for name in _names("reference") if name not in REFERENCE]
    return [
        {"Home": ["README.md", "glossary.md", "threat_model.md", "known_issues.md", *OUTSIDE]},
        {"Tutorials": [f"tutorial/{name}.md" for name in TUTORIALS]},
        {"Guides": tasks},
        {"Reference": [*pages, {"From docstrings": _all("reference/api")}]},
        {"Proofs": _all("proofs")},
        {"How it is built": ["architecture.md", *_all("decisions")]},
    ]


def _names(folder: str) -> list[str]:
    return sorted(path.stem for path in (DOCS / folder).glob("*.md"))


def _all(folder: str) -> list[str]:
    """The pages of a folder, its list first."""
    names = [name for name in _names(folder) if name != "README"]
    first = [f"{folder}/README.md"] if (DOCS / folder / "README.md").is_file() else []
    return first + [f"{folder}/{name}.md" for name in names]


def on_files(files: Any, config: Any) -> Any:
    from mkdocs.structure.files import File

    for name in OUTSIDE:
        files.append(File.generated(config, name, content=(ROOT / name).read_text(encoding="utf-8")))
    return files


FIRST = ("tutorial/", "guides/", "glossary.md")
"""What the search shows before proofs and docstrings that have the same words."""


UNSEARCHED = ("reference/measured.md",)
"""Tables of numbers that have every word, and answer no question."""

WIDE = ("reference/mechanisms.md", "reference/growth.md", "reference/names.md", "reference/questions.md")
"""Pages of one or two wide tables: they need no list of headings beside them."""


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    where = page.file.src_uri
    if where.startswith(FIRST):
        page.meta["search"] = {"boost": 4 if where == "glossary.md" else 2}
    if where in UNSEARCHED:
        page.meta["search"] = {"exclude": True}
    if where in WIDE:
        page.meta["hide"] = ["toc"]
    if where == "glossary.md":  # prose, as a terminal shows it
        markdown = markdown.replace("```text\n", "``` { .text .wrapped }\n")
    return rewritten(with_lists(as_sessions(markdown)), where)


def with_lists(markdown: str) -> str:
    """A blank line before each list that begins right below a line of text: there it would be text, too.

    >>> with_lists("Weighed:\\n- this\\n- that")
    'Weighed:\\n\\n- this\\n- that'
    """
    told: list[str] = []
    fenced = listed = False
    for line in markdown.split("\n"):
        fenced ^= line.lstrip().startswith("```")
        if line.startswith("- ") and not fenced:
            if not listed and told and told[-1]:
                told.append("")
            listed = True
        elif not line:
            listed = False
        told.append(line)
    return "\n".join(told)


def as_sessions(markdown: str) -> str:
    """Examples with prompts coloured as what they are, and empty lines of answers empty."""
    return _EXAMPLE.sub(lambda found: "```pycon\n" + found[1].replace("<BLANKLINE>\n", "\n"), markdown)


_EXAMPLE = re.compile(r"^```python\n((?=>>> ).*?^```$)", re.MULTILINE | re.DOTALL)


def rewritten(markdown: str, where: str) -> str:
    """Links as the site has them."""
    if where in OUTSIDE:
        return re.sub(r"\]\((docs/)?([^)\s]+)\)", lambda found: _from_root(found[1], found[2]), markdown)
    return re.sub(r"\[([^\]]*)\]\(((?:\.\./)+)([^)\s]+)\)", lambda found: _from_docs(found, where), markdown)


def _from_root(docs: str | None, target: str) -> str:
    inside = docs is not None or target.startswith(("http", "#")) or target in OUTSIDE
    return f"]({target})" if inside else "](README.md)"


def _from_docs(found: re.Match[str], where: str) -> str:
    text, up, target = found.groups()
    beyond = up.count("../") > where.count("/")
    if not beyond:
        return found[0]
    name = target.partition("#")[0]
    if name in OUTSIDE:
        return f"[{text}]({up[3:]}{target})"
    return text if text.startswith("`") else f"{text} (`{name}`)"
