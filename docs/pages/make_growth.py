"""How time and memory grow, from bench/results/exponents.json: docs/reference/growth.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tacit.advice.growth import CLAIMS, said

RESULTS = Path(__file__).resolve().parents[2] / "bench" / "results"


def page() -> str:
    kept = json.loads((RESULTS / "exponents.json").read_text(encoding="utf-8"))
    found = {row["name"]: row for row in kept["tables"][0]["rows"]}
    rows = [found.get(claim.name, {"name": claim.name, "of": claim.of}) for claim in CLAIMS]
    lines = [
        "# How time and memory grow",
        "",
        "An exponent of 1 says that ten times as much takes ten times as long, 2 a hundred times, 0 no longer at all. Fitted by `bench/exponents.py` over sizes that double up to the largest"
        " shown, with the standard error of the fit; CPU time, the best of several in turns, on a machine that was busy with other work; memory is the most that was held at once, input and output included (of tables, by a process of its own). `make pages` writes this page from"
        f" `bench/results/exponents.json` ({kept['machine']['cores']} cores, {kept['date'][:10]}).",
        "",
        "| what | grows with | up to | time ^ | claimed | memory ^ | claimed |",
        "|---|---|---|---|---|---|---|",
        *map(_row, rows),
        "",
        "Words: "
        + "; ".join(sorted({said(float(row["claimed"]), row["of"]) for row in rows if "claimed" in row}))
        + ".",
    ]
    return "\n".join([*lines, ""])


def _row(row: dict[str, Any]) -> str:
    if "time" not in row:
        return f"| `{row['name']}` | {row['of']} | not measured yet | – | – | – | – |"
    spent, kept = (
        f"{row[what]:.2f}\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}{row[f'{what}_error']:.2f}" for what in ("time", "memory")
    )
    ends = f"{row['claimed']:g} | {kept} | {row['claimed_memory']:g}"
    return f"| `{row['name']}` | {row['of']} | {row['to']:,} | {spent} | {ends} |"
