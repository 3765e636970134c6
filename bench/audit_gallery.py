"""The auditor and its gallery: verdicts, ε, CPU-seconds, events at default settings; the version before beside it.

PYTHONPATH=. python bench/audit_gallery.py                       every exhibit, then the table
PYTHONPATH=. python bench/audit_gallery.py --rows rows.jsonl     goes on where another run stopped
PYTHONPATH=OLD/src:. python bench/audit_gallery.py --samples 20000 --seeds 4 --rows before.jsonl --raw
PYTHONPATH=. python bench/audit_gallery.py --samples 20000 --seeds 4 --rows after.jsonl --raw
PYTHONPATH=. python bench/audit_gallery.py --rows rows.jsonl --compare before.jsonl after.jsonl --sparse 5
"""

import argparse
import json
import time
import warnings
from pathlib import Path
from statistics import fmean, stdev
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
    Column("error", "±", lambda value: f"{value:.2f}"),
    Column("seeds", "seeds"),
)
SPARSE = (
    Column("name", "default settings, no hint, 90%"),
    Column("least", "ε proven, least", lambda value: f"{value:.2f}"),
    Column("mean", "mean", lambda value: f"{value:.2f}"),
    Column("sniper", "DP-Sniper"),
    Column("cpu", "CPU-s, most", lambda value: f"{value:.1f}"),
    Column("seeds", "seeds"),
)
SNIPER = (3.65, 2.24, 1.52, 1.27)
FALSE = (Column("name", "sound subject"), Column("convicted", "convicted"), Column("audits", "audits at 95%"))
_SEED = 7


def audited(kind: str, exhibit: Any, samples: int | None, seed: int) -> dict[str, Any]:
    """One exhibit, as a row."""
    load("tests.auditing.gallery.exhibit").seed(seed)
    settings = {"neighbours": exhibit.inputs(), "claim": exhibit.claim, "samples": samples, **exhibit.options}
    start = time.process_time()
    found = load("tacit.auditing.audit").audit(exhibit.subject(), **settings)
    spent = time.process_time() - start
    blind = getattr(found, "blind", "")
    return {
        "kind": kind,
        "name": exhibit.name,
        "seed": seed,
        "verdict": "violated" if found.violated else "blind" if blind else "not disproved",
        "eps": found.epsilon_lower,
        "cpu": spent,
        "samples": found.samples,
        "event": blind or found.event,
    }


def rows(path: Path, samples: int | None, seeds: int, only: list[str], *, old: bool) -> list[dict[str, Any]]:
    """All exhibits, those in the file not again."""
    known = read(path)
    gallery = load("tests.auditing.gallery.registry")
    for kind, room in (("broken", gallery.BROKEN), ("sound", gallery.SOUND)):
        for exhibit in room:
            if (old and not exhibit.before) or (only and exhibit.name not in only):
                continue
            for seed in range(_SEED, _SEED + seeds):
                if (exhibit.name, seed) in known:
                    continue
                row = known[exhibit.name, seed] = audited(kind, exhibit, samples, seed)
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
                print(row, flush=True)
    return list(known.values())


def read(path: Path) -> dict[tuple[str, int], dict[str, Any]]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {(row["name"], row["seed"]): row for row in map(json.loads, lines)}


def compared(before: Path, after: Path) -> Table:
    """What each exhibit proves now, next to what it proved, at equal samples and seeds: means."""
    old, new = read(before), read(after)
    found = []
    for name in dict.fromkeys(name for name, _ in old):
        seeds = [seed for one, seed in old if one == name and (one, seed) in new]
        was, now = ([rows[name, seed]["eps"] for seed in seeds] for rows in (old, new))
        if not seeds or fmean(was) <= 0.05 or any(new[name, seed]["verdict"] == "blind" for seed in seeds):
            continue
        ratio, many = fmean(now) / fmean(was), len(seeds)
        spread = sum((stdev(one) / fmean(one)) ** 2 / many for one in (was, now)) ** 0.5 if many > 1 else 0.0
        row = {"name": name, "before": fmean(was), "eps": fmean(now), "ratio": ratio, "error": ratio * spread}
        found.append({**row, "seeds": many})
    samples = next(iter(new.values()))["samples"]
    found.sort(key=lambda row: row["ratio"])
    worst = found[0]
    note = f"least ratio: {worst['ratio']:.3f} ({worst['name']}); {len(found)} exhibits; ± is one standard error"
    return Table(f"power next to the version before, {samples:,} samples, the same seeds", POWER, found, note)


def sparse(seeds: int) -> Table:
    """Faulty sparse vectors at default settings, by neighbours of the auditor's own, next to what others proved."""
    gallery, audit = load("tests.auditing.gallery.thresholds"), load("tacit.auditing.audit").audit
    answers, pure = load("tacit.auditing.neighbours").Answers(10), load("tacit.privacy").PureDP(1)
    found = []
    for exhibit, other in zip(gallery.BROKEN[:4], SNIPER, strict=True):
        proven, spent = [], []
        for seed in range(_SEED, _SEED + seeds):
            load("tests.auditing.gallery.exhibit").seed(seed)
            start = time.process_time()
            proven.append(audit(exhibit.function, neighbours=answers, claim=pure, confidence=0.9).epsilon_lower)
            spent.append(time.process_time() - start)
        row = {"name": exhibit.name, "least": min(proven), "mean": fmean(proven), "sniper": other}
        found.append({**row, "cpu": max(spent), "seeds": seeds})
        print(found[-1], flush=True)
    return Table("faulty sparse vectors; StatDP takes 15 to 38 CPU-s", SPARSE, found)


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
    parser.add_argument("--seeds", type=int, default=1, help="audits of each exhibit")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="these exhibits")
    parser.add_argument("--sparse", type=int, default=0, metavar="N", help="N audits of each faulty sparse vector")
    parser.add_argument("--quick", action="store_true", help="2,000 samples each; results are not kept")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    old = not hasattr(load("tacit.auditing.result").AuditResult, "blind")
    samples = 2_000 if options.quick else options.samples
    found = rows(options.rows, samples, options.seeds, options.only, old=old)
    if options.raw:
        return
    wrong = [r["name"] for r in found if r["verdict"] == {"broken": "not disproved", "sound": "violated"}[r["kind"]]]
    counts = {kind: sum(row["kind"] == kind for row in found) for kind in ("broken", "sound")}
    note = f"{counts['broken']} broken, {counts['sound']} sound; wrong: {', '.join(wrong) or 'none'}"
    order = sorted(found, key=lambda row: row["kind"])
    tables = [Table("the gallery at default settings, confidence 99.9%", COLUMNS, order, note)]
    if options.compare:
        tables.append(compared(*options.compare))
    if options.sparse:
        tables.append(sparse(options.sparse))
    if options.convictions:
        tables.append(convictions(options.convictions))
    publish("audit_gallery", tables, quick=options.quick)


if __name__ == "__main__":
    main()
