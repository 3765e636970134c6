"""Tables: printed as plain aligned text, kept as JSON next to where they came from."""

import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from machine import provenance
from measure import Faster, Target, Timing

RESULTS = Path(__file__).resolve().parent / "results"


@dataclass(frozen=True, slots=True)
class Column:
    key: str
    heading: str
    show: Callable[[Any], str] = str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows are plain values by column key; a missing or `None` value prints as blank."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Mapping[str, Any]]
    note: str = ""

    def text(self) -> str:
        cells = [[c.heading for c in self.columns]]
        cells += [[_cell(c, row.get(c.key)) for c in self.columns] for row in self.rows]
        widths = [max(len(line[i]) for line in cells) for i in range(len(self.columns))]
        lines = ["  ".join(t.ljust(w) for t, w in zip(line, widths, strict=True)).rstrip() for line in cells]
        rule = "-" * max(map(len, lines))
        return "\n".join([self.title, rule, lines[0], rule, *lines[1:], *([self.note] if self.note else [])])

    def json(self) -> dict[str, Any]:
        return {"title": self.title, "note": self.note, "rows": [_plain(row) for row in self.rows]}


def _cell(column: Column, value: Any) -> str:
    return "" if value is None else column.show(value)


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    return {k: _finite(v) for k, v in row.items() if v is not None}


def _finite(value: Any) -> Any:
    """JSON knows no infinity: such a number is written as text."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def seconds(value: float) -> str:
    """A duration with three digits and a unit one can read."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}" if value < 1000 * size else f"{value / size:.0f} {unit}"
    return f"{value * 1e9:.3g} ns"


def digits(value: float) -> str:
    """Three digits, without an exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:#.3g}"


def verdict(met: bool) -> str:
    return "yes" if met else "NO"


def comparison(ours: Timing, theirs: Timing, target: Target | None) -> dict[str, Any]:
    """One row about `theirs`: its time, how Tacit compares within this run, and the target if any."""
    row: dict[str, Any] = {"who": theirs.name, "note": theirs.note or None}
    if target:
        row["target"] = str(target)
    if not theirs.ok:
        return row | {"note": theirs.failure}
    row |= {"best": theirs.best, "first": theirs.first, "rounds": theirs.rounds}
    if not ours.ok or theirs is ours:
        return row
    factor = theirs.best / ours.best
    faster = isinstance(target, Faster) or (target is None and factor >= 1)
    row["factor"] = factor
    row["tacit"] = f"{digits(factor)}× faster" if faster else f"takes {digits(1 / factor)}×"
    return row | ({"met": target.met(ours.best, theirs.best)} if target else {})


def short(commit: str) -> str:
    """`4f2c81…-dirty` with eight digits of the hash."""
    head, mark, state = commit.partition("-")
    return head[:8] + mark + state


def tally(rows: Sequence[Mapping[str, Any]]) -> str:
    met = [row["met"] for row in rows if "met" in row]
    unknown = f", {len(rows) - len(met)} not measured" if len(met) < len(rows) else ""
    return f"{sum(met)} of {len(rows)} targets met{unknown}"


def publish(name: str, tables: Sequence[Table], *, quick: bool) -> None:
    """Print the tables and write `results/<name>.json` (`<name>.quick.json`, not kept, for a quick run)."""
    origin = provenance()
    machine = origin["machine"]
    print(f"{name}: {machine['cpu']}, {machine['cores']} cores, {machine['ram_gb']} GB, ", end="")
    print(f"Python {origin['python']}, commit {short(origin['commit'])}{', quick' if quick else ''}\n")
    for table in tables:
        print(table.text(), end="\n\n")
    print(tally([row for table in tables for row in table.rows if row.get("target")]), end="\n\n")
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / (f"{name}.quick.json" if quick else f"{name}.json")
    content = {"name": name, "quick": quick, **origin, "tables": [table.json() for table in tables]}
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.flush()
