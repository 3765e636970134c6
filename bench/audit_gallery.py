"""The auditor and its gallery: verdicts, ε, CPU-seconds, events at default settings; the version before beside it.

PYTHONPATH=. python bench/audit_gallery.py                       every exhibit, then the table
PYTHONPATH=. python bench/audit_gallery.py --rows rows.jsonl     goes on where another run stopped
PYTHONPATH=OLD/src:. python bench/audit_gallery.py --samples 20000 --rows before.jsonl --raw
PYTHONPATH=. python bench/audit_gallery.py --samples 20000 --rows after.jsonl --raw
PYTHONPATH=. python bench/audit_gallery.py --rows rows.jsonl --compare before.jsonl after.jsonl
"""

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

from peers import load
from tables import Column, Table, publish

COLUMNS = (
    Column("kind", ""),
    Column("name", "exhibit"),
    Column("verdict", "verdict"),
    Column("eps", "ε proven", lambda value: f"{value:.3f}"),
    Column("cpu", "CPU-s", lambda value: f"{value:.1f}"),
    Column("samples", "samples", lambda value: f"{value:,}"),
    Column("event", "event, or why blind", lambda words: words[:90]),
)
POWER = (
    Column("name", "exhibit"),
    Column("before", "ε before", lambda value: f"{value:.3f}"),
    Column("eps", "ε now", lambda value: f"{value:.3f}"),
    Column("ratio", "now / before", lambda value: f"{value:.2f}"),
)
FALSE = (Column("name", "sound subject"), Column("convicted", "convicted"), Column("audits", "audits at 95%"))
SLOW_TO_MAKE, FEW = "pandas", 5_000


def audited(kind: str, exhibit: Any, samples: int | None) -> dict[str, Any]:
    """One exhibit, as a row."""
    load("tests.auditing.gallery.exhibit").seed(7)
    few = FEW if SLOW_TO_MAKE in exhibit.name else samples
    settings = {"neighbours": exhibit.inputs(), "claim": exhibit.claim, "samples": few, **exhibit.options}
    start = time.process_time()
    found = load("tacit.auditing.audit").audit(exhibit.subject(), **settings)
    spent = time.process_time() - start
    blind = getattr(found, "blind", "")
    return {
        "kind": kind,
        "name": exhibit.name,
        "verdict": "violated" if found.violated else "blind" if blind else "not disproved",
        "eps": found.epsilon_lower,
        "cpu": spent,
        "samples": found.samples,
        "event": blind or found.event,
    }


def rows(path: Path, samples: int | None, *, old: bool) -> list[dict[str, Any]]:
    """All exhibits, those in the file not again."""
    known = read(path)
    gallery = load("tests.auditing.gallery.registry")
    for kind, room in (("broken", gallery.BROKEN), ("sound", gallery.SOUND)):
        for exhibit in room:
            if exhibit.name in known or (old and not exhibit.before):
                continue
            known[exhibit.name] = audited(kind, exhibit, samples)
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(known[exhibit.name], ensure_ascii=False) + "\n")
            print(known[exhibit.name], flush=True)
    return list(known.values())


def read(path: Path) -> dict[str, dict[str, Any]]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {row["name"]: row for row in map(json.loads, lines)}


def compared(before: Path, after: Path) -> Table:
    """What each exhibit proves now, next to what it proved, at equal samples and entropy."""
    old, new = read(before), read(after)
    both = [name for name, row in old.items() if name in new and row["eps"] > 0.05]
    found = [
        {"name": n, "before": old[n]["eps"], "eps": new[n]["eps"], "ratio": new[n]["eps"] / old[n]["eps"]}
        for n in both
        if new[n]["verdict"] != "blind"
    ]
    samples = next(iter(new.values()))["samples"]
    worst = min(found, key=lambda row: row["ratio"])
    note = f"least ratio: {worst['ratio']:.3f} ({worst['name']}); {len(found)} exhibits"
    return Table(f"power next to the version before, {samples:,} samples, the same seed", POWER, found, note)


def convictions(audits: int) -> Table:
    """Sound subjects, many times: how many are convicted."""
    hall = load("tests.auditing.convictions")
    found = [{"name": n, "convicted": hall.convicted(n, audits, 11), "audits": audits} for n in hall.SUBJECTS]
    note = f"{sum(row['convicted'] for row in found)} of {audits * len(found)}"
    return Table("false convictions at confidence 0.95", FALSE, found, note)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, help="instead of the default")
    parser.add_argument("--rows", type=Path, default=Path("gallery.jsonl"), help="where rows are kept")
    parser.add_argument("--raw", action="store_true", help="rows only, no table")
    parser.add_argument("--compare", type=Path, nargs=2, metavar=("BEFORE", "AFTER"))
    parser.add_argument("--convictions", type=int, default=0, metavar="N", help="N audits of each sound subject")
    parser.add_argument("--quick", action="store_true", help="2,000 samples each; results are not kept")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    old = not hasattr(load("tacit.auditing.result").AuditResult, "blind")
    samples = 2_000 if options.quick else options.samples
    found = rows(options.rows, samples, old=old)
    if options.raw:
        return
    wrong = [r["name"] for r in found if r["verdict"] == {"broken": "not disproved", "sound": "violated"}[r["kind"]]]
    counts = {kind: sum(row["kind"] == kind for row in found) for kind in ("broken", "sound")}
    note = f"{counts['broken']} broken, {counts['sound']} sound; wrong: {', '.join(wrong) or 'none'}"
    order = sorted(found, key=lambda row: row["kind"])
    tables = [Table("the gallery at default settings, confidence 99.9%", COLUMNS, order, note)]
    if options.compare:
        tables.append(compared(*options.compare))
    if options.convictions:
        tables.append(convictions(options.convictions))
    publish("audit_gallery", tables, quick=options.quick)


if __name__ == "__main__":
    main()
