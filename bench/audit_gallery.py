"""The auditor and its gallery: verdicts, ε, CPU-seconds, events at default settings; the version before beside it.

PYTHONPATH=. python bench/audit_gallery.py                       every exhibit, then the table
PYTHONPATH=. python bench/audit_gallery.py --rows rows.jsonl     goes on where another run stopped
PYTHONPATH=OLD/src:. python bench/audit_gallery.py --samples 20000 --seeds 4 --rows before.jsonl --raw
PYTHONPATH=. python bench/audit_gallery.py --samples 20000 --seeds 4 --rows after.jsonl --raw
PYTHONPATH=. python bench/audit_gallery.py --sparse 12 --rows sparse.jsonl --raw       each audit of it is a row
PYTHONPATH=. python bench/audit_gallery.py --convictions 250 --rows sound.jsonl --raw  each subject of it is a row
PYTHONPATH=. python bench/audit_gallery.py --rows rows.jsonl --compare before.jsonl after.jsonl --more sparse.jsonl …

What was measured of the version before is kept in the results, which can stand for before.jsonl.
"""

import argparse
import json
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from peers import load
from tables import RESULTS, Column, Table, publish

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
    Column("below", "audits below that"),
    Column("cpu", "CPU-s, most", lambda value: f"{value:.1f}"),
    Column("samples", "samples, fewest", lambda value: f"{value:,}"),
    Column("seeds", "seeds"),
)
SNIPER = {"iSVT1": 3.65, "iSVT2": 2.24, "iSVT3": 1.52, "iSVT4": 1.27}
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


def before_it(path: Path) -> dict[str, dict[int | None, float]]:
    """What the version before proved, by exhibit and seed; of the results only means are known."""
    found: dict[str, dict[int | None, float]] = {}
    if path.suffix == ".json":
        tables = json.loads(path.read_text(encoding="utf-8"))["tables"]
        power = next(table for table in tables if table["title"].startswith("power"))
        return {row["name"]: {None: row["before"]} for row in power["rows"]}
    for (name, seed), row in read(path).items():
        found.setdefault(name, {})[seed] = row["eps"]
    return found


def compared(before: Path, after: Path) -> Table:
    """What each exhibit proves now, next to what it proved, at equal samples: means over seeds."""
    new = read(after)
    found = []
    for name, old in before_it(before).items():
        seeds = [seed for one, seed in new if one == name and (seed in old or None in old)]
        was = [old.get(seed, old.get(None, 0.0)) for seed in seeds]
        now = [new[name, seed]["eps"] for seed in seeds]
        if not seeds or fmean(was) <= 0.05 or any(new[name, seed]["verdict"] == "blind" for seed in seeds):
            continue
        ratio, many = fmean(now) / fmean(was), len(seeds)
        spread = sum((stdev(one) / fmean(one)) ** 2 / many for one in (was, now)) ** 0.5 if many > 1 else None
        row = {"name": name, "before": fmean(was), "eps": fmean(now), "ratio": ratio}
        found.append({**row, "error": None if spread is None else ratio * spread, "seeds": many})
    samples = next(iter(new.values()))["samples"]
    found.sort(key=lambda row: row["ratio"])
    worst = found[0]
    note = f"least ratio: {worst['ratio']:.3f} ({worst['name']}); {len(found)} exhibits; ± is one standard error"
    return Table(f"power next to the version before, {samples:,} samples", POWER, found, note)


def sparse(seeds: int) -> Iterator[dict[str, Any]]:
    """Faulty sparse vectors at default settings, by neighbours of the auditor's own: a row for each audit."""
    gallery, audit = load("tests.auditing.gallery.thresholds"), load("tacit.auditing.audit").audit
    answers, pure = load("tacit.auditing.neighbours").Answers(10), load("tacit.privacy").PureDP(1)
    for seed in range(_SEED, _SEED + seeds):
        for exhibit in gallery.BROKEN[:4]:
            load("tests.auditing.gallery.exhibit").seed(seed)
            coins = load("tacit.testing").seeded(seed)
            start = time.process_time()
            found = audit(exhibit.function, neighbours=answers, claim=pure, confidence=0.9, entropy=coins)
            spent = time.process_time() - start
            yield {
                "sparse": exhibit.name,
                "seed": seed,
                "eps": found.epsilon_lower,
                "cpu": spent,
                "samples": found.samples,
            }


def sparse_table(audits: list[dict[str, Any]]) -> Table:
    """Next to what others proved."""
    found = []
    for name in sorted({row["sparse"] for row in audits}):
        other = SNIPER[name.partition(":")[0]]
        mine = [row for row in audits if row["sparse"] == name]
        proven = [row["eps"] for row in mine]
        row = {"name": name, "least": min(proven), "mean": fmean(proven), "sniper": other}
        row |= {"below": sum(one <= other for one in proven), "cpu": max(one["cpu"] for one in mine)}
        found.append({**row, "samples": min(one["samples"] for one in mine), "seeds": len(mine), "all": proven})
    note = "StatDP takes 15 to 38 CPU-s. Seeds from 7 on; `all` in the results has what each audit proved."
    return Table("faulty sparse vectors", SPARSE, found, note)


def convictions(audits: int) -> Iterator[dict[str, Any]]:
    """Sound subjects, many times: how many are convicted."""
    hall = load("tests.auditing.convictions")
    for name in hall.SUBJECTS:
        yield {"name": name, "convicted": hall.convicted(name, audits, 11), "audits": audits}


def convictions_table(rows: list[dict[str, Any]]) -> Table:
    note = f"{sum(row['convicted'] for row in rows)} of {sum(row['audits'] for row in rows)}; 150 to 600 samples each"
    return Table("false convictions at confidence 0.95", FALSE, rows, note)


def known_tables() -> list[dict[str, Any]]:
    """What the results hold now."""
    path = RESULTS / "audit_gallery.json"
    return json.loads(path.read_text(encoding="utf-8"))["tables"] if path.exists() else []


def _same(one: str, other: str) -> bool:
    return one[:10] == other[:10]


def kept(title: str, again: set[str]) -> list[dict[str, Any]]:
    """Rows of the results that were not measured again."""
    rows = next((table["rows"] for table in known_tables() if table["title"].startswith(title)), [])
    return [{**row, "earlier": True} for row in rows if row["name"] not in again]


def gallery_table(found: list[dict[str, Any]], earlier: list[dict[str, Any]]) -> Table:
    """Every exhibit once: broken ones first."""
    order = sorted([*found, *earlier], key=lambda row: row["kind"])
    verdicts = Counter((row["kind"], row["verdict"]) for row in order)
    parts = []
    for kind in ("broken", "sound"):
        convicted, blind = verdicts[kind, "violated"], verdicts[kind, "blind"]
        left = verdicts[kind, "not disproved"]
        parts.append(f"{convicted + blind + left} {kind}: {convicted} convicted, {blind} blind, {left} not disproved")
    if earlier:
        parts.append(f"{len(earlier)} rows are of an earlier version (`earlier` in the results)")
    return Table("the gallery at default settings, confidence 99.9%", COLUMNS, order, "; ".join(parts))


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
    parser.add_argument(
        "--more", type=Path, nargs="*", default=[], metavar="FILE", help="rows of --sparse, --convictions"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.sparse or options.convictions:
        for row in sparse(options.sparse) if options.sparse else convictions(options.convictions):
            print(row, flush=True)
            with options.rows.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
        return
    old = not hasattr(load("tacit.auditing.result").AuditResult, "blind")
    samples = 2_000 if options.quick else options.samples
    found = rows(options.rows, samples, options.seeds, options.only, old=old)
    if options.raw:
        return
    tables = [gallery_table(found, kept("the gallery", {row["name"] for row in found}))]
    if options.compare:
        tables.append(compared(*options.compare))
    more = [json.loads(line) for path in options.more for line in path.read_text(encoding="utf-8").splitlines()]
    if any("sparse" in row for row in more):
        tables.append(sparse_table([row for row in more if "sparse" in row]))
    if any("convicted" in row for row in more):
        tables.append(convictions_table([row for row in more if "convicted" in row]))
    titles = [table.title for table in tables]
    tables += [
        Table(one["title"], (), one["rows"], one["note"])
        for one in known_tables()
        if not any(_same(one["title"], title) for title in titles)
    ]
    publish("audit_gallery", tables, quick=options.quick)


if __name__ == "__main__":
    main()
