"""Every table of bench/results as it was kept, but for what has a page of its own: docs/reference/measured.md."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parents[2] / "bench" / "results"
ELSEWHERE = {"audit_gallery": "gallery.md", "exponents": "growth.md"}
LEFT_OUT = ("first", "rounds", "seed", "repetitions")
"""How the numbers came about; they stay in the files."""

HEADINGS = {
    "who": "", "what": "", "name": "", "n": "size", "best": "CPU", "cpu": "CPU", "wall": "clock", "peak": "memory", "factor": "next to ours",
    "tacit": "Tacit", "met": "met", "above": "above the exact", "eps": "ε", "epsilon": "ε", "each": "each", "rate": "a second",
}  # fmt: skip


def page() -> str:
    """The page."""
    lines = [
        "# What was measured",
        "",
        "Every table of `bench/results`, as the last run kept it; `make pages` writes this page from those files, and a number that differs fails the tests. How the numbers are taken: [benchmarks](benchmarks.md)."
        " Of their own pages: [how time and memory grow](growth.md), [the auditor's gallery](gallery.md). CPU is that of all threads, the best of several rounds; compare within a table, not between runs.",
    ]
    for path in sorted(RESULTS.glob("*.json")):
        name = path.stem
        if name in ELSEWHERE or name.endswith(".quick"):
            continue
        kept = json.loads(path.read_text(encoding="utf-8"))
        lines += ["", f"## `{name}`", "", _origin(kept), *(_tables(kept) if "tables" in kept else _plainly(kept))]
    return "\n".join([*lines, ""])


def _origin(kept: Mapping[str, Any]) -> str:
    machine = kept["machine"]
    where = machine if isinstance(machine, str) else f"{machine['cores']} cores, {machine['ram_gb']} GB"
    day = f"{kept['date'][:10]}, " if "date" in kept else ""
    return f"{day}commit `{kept['commit'][:8]}`, {where}."


def _tables(kept: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    for table in kept["tables"]:
        lines += ["", f"### {table['title']}", "", *_table(table["rows"])]
        if table.get("note"):
            lines += ["", table["note"]]
    return lines


def _plainly(kept: Mapping[str, Any]) -> list[str]:
    numbers = {name: value for name, value in kept.items() if name not in ("commit", "machine", "date", "name")}
    return [
        "",
        "| | |",
        "|---|---|",
        *(f"| {name.replace('_', ' ')} | {_shown('', value)} |" for name, value in numbers.items()),
    ]


def _table(rows: list[dict[str, Any]]) -> list[str]:
    keys = list(dict.fromkeys(key for row in rows for key in row if key not in LEFT_OUT))
    if any(isinstance(row.get("tacit"), str) for row in rows):
        keys.remove("factor")  # said in words
    head = " | ".join(HEADINGS.get(key, key) for key in keys)
    return [f"| {head} |", "|" + "---|" * len(keys), *(_row(row, keys) for row in rows)]


def _row(row: Mapping[str, Any], keys: list[str]) -> str:
    cells = (_shown(key, row[key]) if key in row else "" for key in keys)
    return f"| {' | '.join(cells)} |"


def _shown(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "**no**"
    if isinstance(value, int | float) and key in _UNITS:
        return _UNITS[key](value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return str(value).replace("|", "\\|").replace("\n", " ")


def _seconds(value: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}" if value < 1000 * size else f"{value / size:,.0f} {unit}"
    return f"{value * 1e9:.3g} ns"


_UNITS: dict[str, Callable[[float], str]] = {
    "best": _seconds,
    "cpu": _seconds,
    "wall": _seconds,
    "each": _seconds,
    "peak": lambda value: f"{value / 1e9:.2f} GB",
    "factor": lambda value: f"{value:.3g}×",
    "eps": lambda value: f"{value:.4g}",
    "value": lambda value: f"{value:,.0f}" if abs(value) >= 100_000 else f"{value:.6g}",
}
