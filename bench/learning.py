"""Additive, logistic and linear models on Adult by default, next to peers at their best settings; shapes; speed.

Adult without its rows of unknowns, 36 177 to learn from and 9 045 to test on, in five splits, twenty runs on each, at
δ = 10⁻⁵ (or none). Bounds are round numbers; capital gains and losses are clamped where few exceed them. The peers get
the same columns, clamped alike. Their settings are the best of a grid, chosen on the first split's test rows, which
favours them; ours are never chosen on Adult. They run in environments of their own (bench/learning_peers.py).
"""

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from learning_trees import DATA, adult, halves
from peers import Unavailable, environment
from tables import RESULTS, Column, Table, publish, seconds, short, verdict

BOUNDS = {"age": (0, 100), "years": (0, 16), "gain": (0, 10_000), "loss": (0, 2_500), "hours": (0, 80)}
WANTED = {
    ("additive", "accuracy"): (0.839, 0.853, 0.856),
    ("additive", "AUC"): (0.891, 0.909, 0.912),
    ("logistic", "accuracy"): (0.839, 0.843, 0.844),
    ("logistic, pure ε", "accuracy"): (0.815, 0.839, 0.842),
    ("linear, hours", "R²"): (0.15, 0.165, 0.166),
}
EPSILONS = (0.1, 1, 3)
ADULT = (
    Column("what", "what"),
    Column("measure", "measured"),
    Column("epsilon", "ε", "{:g}".format),
    Column("value", "mean", "{:.4f}".format),
    Column("spread", "± of a run", "{:.4f}".format),
    Column("plain", "without privacy", "{:.4f}".format),
    Column("cpu", "CPU", seconds),
    Column("target", "target"),
    Column("met", "met", verdict),
)
SHAPES = (
    Column("what", "what"),
    Column("rows", "n", "{:,}".format),
    Column("columns", "d"),
    Column("positives", "positives", "{:.2f}".format),
    Column("epsilon", "ε", "{:g}".format),
    Column("value", "accuracy", "{:.4f}".format),
    Column("majority", "majority", "{:.4f}".format),
    Column("plain", "without privacy", "{:.4f}".format),
    Column("gap", "gap", "{:.4f}".format),
    Column("met", "not below majority", verdict),
)
PEERS = (
    Column("what", "peer"),
    Column("epsilon", "ε", "{:g}".format),
    Column("value", "accuracy", "{:.4f}".format),
    Column("area", "AUC", "{:.4f}".format),
    Column("cpu", "CPU", seconds),
    Column("note", "settings"),
)
SPEED = (
    Column("what", "what"),
    Column("cpu", "CPU", seconds),
    Column("other", "next to"),
    Column("theirs", "CPU", seconds),
    Column("target", "target"),
    Column("met", "met", verdict),
)


def on_adult(frame: Any, rich: Any, splits: int, runs: int) -> list[dict[str, Any]]:
    import pandas as pd
    from sklearn.linear_model import LinearRegression as PlainLinear
    from sklearn.linear_model import LogisticRegression as PlainLogistic
    from sklearn.metrics import roc_auc_score

    from tacit.learn import AdditiveClassifier, LinearRegression, LogisticRegression

    table = pd.DataFrame(frame)
    table["rich"] = np.where(rich, "yes", "no")
    categories = {name: sorted(set(table[name])) for name in table if name not in BOUNDS}
    learn, test = halves(len(rich), 0)
    lists = {name: values for name, values in categories.items() if name != "rich"}
    dense = matrix(table, [*BOUNDS], lists)
    plain = PlainLogistic(max_iter=500).fit(dense[learn], rich[learn])
    hours = table["hours"].to_numpy()
    others = [name for name in BOUNDS if name != "hours"]
    rest = matrix(table, others, categories)
    line = PlainLinear().fit(rest[learn], hours[learn])
    exact = {
        "logistic": float(plain.score(dense[test], rich[test])),
        "logistic, pure ε": float(plain.score(dense[test], rich[test])),
        "additive": None,
        "linear, hours": float(line.score(rest[test], hours[test])),
    }
    rows = []
    for at, epsilon in enumerate(EPSILONS):
        found: dict[tuple[str, str], list[float]] = {key: [] for key in WANTED}
        cpu: dict[str, list[float]] = {what: [] for what in exact}
        for split in range(splits):
            learn, test = halves(len(rich), split)
            given, asked = table.iloc[learn], table.iloc[test]
            for _ in range(runs):
                kinds = {
                    "additive": AdditiveClassifier(epsilon=epsilon, delta="1e-5", bounds=BOUNDS, categories=lists),
                    "logistic": LogisticRegression(epsilon=epsilon, delta="1e-5", bounds=BOUNDS, categories=lists),
                    "logistic, pure ε": LogisticRegression(epsilon=epsilon, bounds=BOUNDS, categories=lists),
                }
                used = [*BOUNDS, *lists]
                for what, model in kinds.items():
                    start = time.process_time()
                    model.fit(given[used], rich[learn])
                    cpu[what].append(time.process_time() - start)
                    margins = model.decision_function(asked[used])
                    found[what, "accuracy"].append(float(((margins > 0) == rich[test]).mean()))
                    if what == "additive":
                        found[what, "AUC"].append(float(roc_auc_score(rich[test], margins)))
                model = LinearRegression(
                    epsilon=epsilon,
                    delta="1e-5",
                    bounds={name: BOUNDS[name] for name in others},
                    categories=categories,
                    target_bounds=(0, 100),
                )
                used = [*others, *categories]
                start = time.process_time()
                model.fit(given[used], hours[learn])
                cpu["linear, hours"].append(time.process_time() - start)
                found["linear, hours", "R²"].append(float(model.score(asked[used], hours[test])))
        for (what, measure), scores in found.items():
            wanted = WANTED[what, measure][at]
            rows.append(
                {
                    "what": what,
                    "measure": measure,
                    "epsilon": epsilon,
                    "value": fmean(scores),
                    "spread": float(np.std(scores)),
                    "plain": exact[what] if measure != "AUC" else None,
                    "cpu": min(cpu[what]),
                    "target": f"≥ {wanted:g}",
                    "met": fmean(scores) >= wanted,
                    "runs": len(scores),
                }
            )
            print(rows[-1], flush=True)
    return rows


def matrix(table: Any, numbers: list[str], categories: dict[str, list[str]]) -> Any:
    """Numbers scaled by their bounds, and indicators: what scikit-learn and the peers get."""
    scaled = [np.clip((table[n].to_numpy() - BOUNDS[n][0]) / (BOUNDS[n][1] - BOUNDS[n][0]), 0, 1) for n in numbers]
    shown = [table[name].to_numpy() == value for name, values in categories.items() for value in values]
    return np.column_stack([*scaled, *shown]).astype(float)


def shapes(quick: bool) -> list[dict[str, Any]]:
    from sklearn.linear_model import LogisticRegression as PlainLogistic

    from tacit.learn import LogisticRegression

    grid = [(1_000, 5), (1_000, 50), (10_000, 20), (10_000, 500), (100_000, 50), (1_000_000, 20)]
    rows = []
    for count, width in grid[:2] if quick else grid:
        for positives in (0.5, 0.01):
            table, labels = generated(count + 20_000, width, positives)
            learn, test = slice(0, count), slice(count, None)
            fast = slice(0, min(count, 100_000))
            plain = PlainLogistic(max_iter=200).fit(table[fast], labels[fast]).score(table[test], labels[test])
            share = float(labels[test].mean())
            majority = max(share, 1 - share)
            for epsilon in (0.1, 1, 3):
                scores = []
                for _ in range(3 if count < 1_000_000 else 1):
                    model = LogisticRegression(epsilon=epsilon, delta="1e-5", bounds=(-4, 4))
                    model.fit(table[learn], labels[learn])
                    scores.append(float((model.predict(table[test]) == labels[test]).mean()))
                value = fmean(scores)
                rows.append(
                    {
                        "what": "logistic",
                        "rows": count,
                        "columns": width,
                        "positives": positives,
                        "epsilon": epsilon,
                        "value": value,
                        "majority": majority,
                        "plain": plain,
                        "gap": plain - value,
                        "met": value >= majority - 3 * math.sqrt(majority * (1 - majority) / len(labels[test])) - 1e-9,
                    }
                )
                print(rows[-1], flush=True)
    return rows


def generated(count: int, width: int, positives: float) -> tuple[Any, Any]:
    """Correlated normal columns, ten of which matter; public, made by a seeded generator."""
    rng = np.random.default_rng(count + width)
    table = 0.7 * rng.normal(size=(count, width))
    table += 0.7 * rng.normal(size=(count, min(width, 20))) @ rng.normal(size=(min(width, 20), width)) / math.sqrt(20)
    weights = rng.normal(size=width) * (np.arange(width) < 10)
    margin = 3 * (table @ weights) / np.linalg.norm(weights) + rng.logistic(size=count)
    return table, (margin > np.quantile(margin, 1 - positives)).astype(int)


def from_peers(frame: Any, rich: Any, *flags: str) -> list[dict[str, Any]]:
    """What the peers measure of themselves; by ``--timed`` alone how long a fit takes at its best settings."""
    import pandas as pd

    table = pd.DataFrame(frame)
    categories = {name: sorted(set(table[name])) for name in table if name not in BOUNDS}
    dense = matrix(table, [*BOUNDS], categories)
    raw = np.column_stack(
        [np.clip(table[n], *BOUNDS[n]) for n in BOUNDS]
        + [np.array([categories[n].index(v) for v in table[n]]) for n in categories]
    )
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "adult.npz"
        splits = np.array([halves(len(rich), split)[0] for split in range(5)])
        tests = np.array([halves(len(rich), split)[1] for split in range(5)])
        np.savez(path, dense=dense, raw=raw, rich=rich.astype(int), learn=splits, test=tests, numbers=len(BOUNDS))
        bounds = json.dumps([*BOUNDS.values()])
        for package in ("interpret", "opacus"):
            try:
                python = environment(package)
            except Unavailable as reason:
                rows.append({"what": package, "note": str(reason)})
                continue
            script = Path(__file__).with_name("learning_peers.py")
            ran = subprocess.run(
                [python, "-W", "ignore", script, package, path, bounds, *flags],
                capture_output=True,
                text=True,
                check=False,
            )
            if ran.returncode:
                rows.append({"what": package, "note": ran.stderr.strip().splitlines()[-1][:120]})
            else:
                rows += json.loads(ran.stdout.strip().splitlines()[-1])
            print(rows[-1], flush=True)
    return rows


def speed(frame: Any, rich: Any) -> list[dict[str, Any]]:
    """All within a minute, so that what else the machine does slows all of them alike; ours before and after."""
    import pandas as pd
    from sklearn.linear_model import LogisticRegression as PlainLogistic
    from threadpoolctl import threadpool_limits

    table = pd.DataFrame(frame)
    categories = {name: sorted(set(table[name])) for name in table if name not in BOUNDS}
    dense = matrix(table, [*BOUNDS], categories)
    learn, _ = halves(len(rich), 0)

    def plain() -> None:
        PlainLogistic(max_iter=500).fit(dense[learn], rich[learn])

    ours = fits(table[[*BOUNDS, *categories]].iloc[learn], rich[learn], categories)
    before = [least(fit) for fit in ours]
    with threadpool_limits(1):  # kinder to it than two: a second one mostly waits, and waiting counts
        theirs = {"scikit-learn": least(plain, 3)}
    theirs |= {row["what"]: row["cpu"] for row in from_peers(frame, rich, "--timed") if "cpu" in row}
    logistic, additive = (max(pair) for pair in zip(before, [least(fit) for fit in ours], strict=True))
    rows = [versus("logistic", logistic, "scikit-learn", theirs["scikit-learn"], 1.0)]
    for peer, what, cpu, factor in (
        ("opacus logistic", "logistic", logistic, 1 / 50),
        ("private EBM, best", "additive", additive, 1.0),
    ):
        if peer in theirs:
            rows.append(versus(what, cpu, peer, theirs[peer], factor))
    return rows


def fits(given: Any, rich: Any, categories: Any) -> list[Callable[[], Any]]:
    """A logistic and an additive fit at ε = 1."""
    from tacit.learn import AdditiveClassifier, LogisticRegression

    known = {"epsilon": 1, "delta": "1e-5", "bounds": BOUNDS, "categories": categories}
    return [lambda kind=kind: kind(**known).fit(given, rich) for kind in (LogisticRegression, AdditiveClassifier)]


def least(act: Callable[[], Any], times: int = 8) -> float:
    """The fewest CPU seconds that it took."""
    found = []
    for _ in range(times):
        start = time.process_time()
        act()
        found.append(time.process_time() - start)
    return min(found)


def versus(what: str, ours: float, other: str, theirs: float, factor: float) -> dict[str, Any]:
    target = "no slower" if factor == 1 else f"≥ {1 / factor:g}× faster"
    return {
        "what": what,
        "cpu": ours,
        "other": other,
        "theirs": theirs,
        "target": target,
        "met": ours <= factor * theirs,
    }


def large(quick: bool) -> list[dict[str, Any]]:
    """A Parquet file of many rows, opened as a table: streamed from the file, never in memory at once."""
    count, width = (200_000, 50) if quick else (10_000_000, 50)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write_rows(path, count, width)
        return [large_file(path, count, width)]


def large_file(path: Path, count: int, width: int) -> dict[str, Any]:
    script = Path(__file__).with_name("learning_large.py")
    one_thread = {"OPENBLAS_NUM_THREADS": "1"}  # a second one only waits for the first, and its waiting counts as CPU
    ran = subprocess.run(
        [sys.executable, script, path], capture_output=True, text=True, check=True, env={**os.environ, **one_thread}
    )
    found = json.loads(ran.stdout.strip().splitlines()[-1])
    peak = found["asking"] + found["drawing"]
    return {
        "what": f"logistic, Parquet of {count:,} × {width}, {peak / 1e9:.2f} GB, accuracy {found['accuracy']:.3f}",
        "cpu": found["cpu"],
        "other": "",
        "target": "≤ 120 CPU-s, ≤ 1 GB",
        "met": found["cpu"] <= 120 and peak <= 1e9,
        **found,
    }


def write_rows(path: Path, count: int, width: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    for start in range(0, count, 500_000):
        rng = np.random.default_rng(start)
        table = rng.normal(size=(min(500_000, count - start), width)).astype(np.float32)
        margin = 2 * table[:, :5].sum(axis=1) / math.sqrt(5) + rng.logistic(size=len(table))
        part = pa.table({**{f"x{i}": table[:, i] for i in range(width)}, "label": margin > 0})
        writer = writer or pq.ParquetWriter(path, part.schema)
        writer.write_table(part)
    if writer:
        writer.close()


PARTS = {
    "adult": "Adult, δ = 1e-5, defaults",
    "peers": "Peers on the same splits, best settings",
    "speed": "Speed",
    "large": "A large file",
    "shapes": "Generated shapes",
}
COLUMNS = {"adult": ADULT, "peers": PEERS, "speed": SPEED, "large": SPEED, "shapes": SHAPES}


def held(quick: bool) -> dict[str, Table]:
    """The parts that an earlier run measured, by name: each says with which commit, if that was another."""
    path = RESULTS / ("learning.quick.json" if quick else "learning.json")
    if not path.is_file():
        return {}
    content = json.loads(path.read_text(encoding="utf-8"))
    kept = {table["title"]: table for table in content["tables"]}
    note = f"Measured at commit {short(content['commit'])}, {content['date']}."
    return {
        part: Table(title, COLUMNS[part], kept[title]["rows"], kept[title]["note"] or note)
        for part, title in PARTS.items()
        if title in kept
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--part", action="append", choices=PARTS, help="measure this part, keep the others as they are")
    chosen = parser.parse_args()
    quick = chosen.quick
    if not (DATA / "adult.data").is_file():
        print(f"no Adult at {DATA}: nothing measured")
        return
    splits, runs = (1, 2) if quick else (5, 20)
    frame, rich = adult()
    tables = held(quick) if chosen.part else {}
    measure = {
        "adult": lambda: on_adult(frame, rich, splits, runs),
        "peers": lambda: from_peers(frame, rich, *(["--quick"] if quick else [])),
        "speed": lambda: speed(frame, rich),
        "large": lambda: large(quick),
        "shapes": lambda: shapes(quick),
    }
    for part in chosen.part or PARTS:
        tables[part] = Table(PARTS[part], COLUMNS[part], measure[part]())
        done = [tables[one] for one in PARTS if one in tables]
        publish("learning", done, quick=quick)  # after every part: a long run that ends early keeps what it measured
    print(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


if __name__ == "__main__":
    main()
