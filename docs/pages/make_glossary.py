"""The glossary: the texts of `tacit explain`, with their examples: docs/glossary.md."""

from __future__ import annotations

from tacit.advice.words import TERMS, explain


def page() -> str:
    lines = [
        "# Glossary",
        "",
        "The texts of `tacit explain`, each with an example; `tacit explain epsilon 0.3` says it in numbers of your own. `make pages` writes this page.",
        "",
        " · ".join(f"[{name}](#{name.replace(' ', '-')})" for name in sorted(TERMS)),
    ]
    for name in sorted(TERMS):
        term = TERMS[name]
        body = explain(name).partition("\n\n")[2]
        body = body.partition("\n\nMore: ")[0]
        also = f" Also: {', '.join(term.also)}." if term.also else ""
        more = f" [More]({term.page})." if term.page else ""
        lines += ["", f"## {name}", "", f"*{term.title}.*{also}{more}", "", "```text", body, "```"]
    return "\n".join([*lines, ""])
