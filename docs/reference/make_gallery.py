"""Writes docs/reference/gallery.md from bench/results/audit_gallery.json: what the auditor says of each exhibit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parents[1] / "bench" / "results" / "audit_gallery.json"
_SHOWN = 70


def page() -> str:
    found = json.loads(RESULTS.read_text(encoding="utf-8"))
    return "\n\n".join([_HEAD, *(_section(table) for table in found["tables"])]) + "\n"


_HEAD = """# The auditor's gallery

Written by `docs/reference/make_gallery.py` from `bench/results/audit_gallery.json`, which `bench/audit_gallery.py`
measures. The exhibits are in `tests/auditing/gallery/`; what a verdict means is [proven](../proofs/auditing.md).
ε is what was proven leaked; the claim is ε = 1 unless the exhibit says otherwise. CPU-seconds are those of a machine
that others used too."""


def _section(table: dict[str, Any]) -> str:
    keys = [key for key in _COLUMNS if any(key in row for row in table["rows"])]
    lines = [
        "| " + " | ".join(_COLUMNS[key] for key in keys) + " |",
        "|" + "---|" * len(keys),
        *("| " + " | ".join(_cell(key, row.get(key)) for key in keys) + " |" for row in table["rows"]),
    ]
    title = table["title"][0].upper() + table["title"][1:]
    return "\n\n".join([f"## {title}", table["note"], "\n".join(lines)]).replace("\n\n\n", "\n")


_COLUMNS = {
    "kind": "",
    "name": "exhibit",
    "verdict": "verdict",
    "before": "ε before",
    "eps": "ε",
    "ratio": "ratio",
    "error": "±",
    "seeds": "seeds",
    "least": "least ε",
    "mean": "mean ε",
    "sniper": "DP-Sniper",
    "below": "audits below that",
    "cpu": "CPU-s",
    "samples": "samples",
    "convicted": "convicted",
    "audits": "audits",
    "event": "event, or why blind",
}
_DIGITS = {"before": 3, "eps": 3, "ratio": 2, "error": 2, "cpu": 1, "least": 2, "mean": 2}


def _cell(key: str, value: Any) -> str:
    if value is None:
        return ""
    if key in _DIGITS:
        return f"{value:.{_DIGITS[key]}f}"
    if key == "samples":
        return f"{value:,}"
    said = str(value).replace("|", "\\|").replace("<", "\\<").replace("*", "\\*")
    return said if len(said) <= _SHOWN else f"{said[: _SHOWN - 1]}…"


if __name__ == "__main__":
    (HERE / "gallery.md").write_text(page(), encoding="utf-8")
