"""The generated tables on which the settings of linear and additive models were found, and how good these are on them.

A census of made-up people (five numbers, eight categories, a label that follows curves, levels and one interaction) and
correlated normal columns. No benchmark's rows were looked at for the settings; this shows what was.
"""

import argparse
import time
from statistics import fmean
from typing import Any

import numpy as np

from tables import Column, Table, publish, seconds

COLUMNS = (
    Column("table", "table"),
    Column("what", "what"),
    Column("epsilon", "ε", "{:g}".format),
    Column("value", "accuracy", "{:.4f}".format),
    Column("area", "AUC", "{:.4f}".format),
    Column("plain", "without privacy", "{:.4f}".format),
    Column("cpu", "CPU", seconds),
)
Made = tuple[dict[str, Any], dict[str, Any], dict[str, list[str]], Any]
SIZES = (7, 16, 7, 14, 6, 5, 2, 41)


def census(seed: int, count: int = 45_000, positives: float = 0.25) -> Made:
    """Columns, bounds, categories and labels of made-up people; public, seeded."""
    rng = np.random.default_rng(1000 + seed)
    hidden = rng.normal(size=(count, 4))

    def mixed(part: float, rest: float) -> Any:
        weights = rng.normal(size=4)
        return part * (hidden @ weights) / np.linalg.norm(weights) + rest * rng.normal(size=count)

    age = np.clip(18 + 20 * np.exp(0.45 * mixed(0.6, 0.8)), 17, 95).round()
    margin = -rng.uniform(0.5, 1.1) * ((age - rng.uniform(40, 60)) / 18) ** 2
    years = np.clip((10 + 2.6 * mixed(0.7, 0.7)).round(), 1, 16)
    margin += rng.uniform(0.2, 0.4) * (years - 10)
    gain = np.where(mixed(0.4, 0.9) > 1.35, np.round(np.exp(rng.normal(8.2, 1, size=count)), -2), 0)
    margin += np.where(gain > rng.uniform(4000, 6500), 4.0, np.where(gain > 0, -0.3, 0))
    lost = np.round(rng.normal(1850, 350, size=count), -1).clip(100, 2500)
    loss = np.where(rng.normal(size=count) > 1.65, lost, 0)
    margin += np.where((loss > 1780) & (loss < 2050), 1.9, 0) + np.where(loss > 0, -0.4, 0)
    hours = np.where(rng.random(count) < 0.47, 40, np.clip(40 + 12 * mixed(0.5, 0.85), 1, 80).round())
    margin += rng.uniform(0.6, 1.2) * np.tanh((hours - 40) / 15)
    frame = {"age": age, "years": years, "gain": gain.clip(0, 10_000), "loss": loss, "hours": hours}
    bounds = {"age": (0, 100), "years": (0, 16), "gain": (0, 10_000), "loss": (0, 2_500), "hours": (0, 80)}
    categories = {}
    for place, size in enumerate(SIZES):
        common = -np.log(np.arange(1, size + 1)) * rng.uniform(0.8, 2.2)
        pull = hidden @ (rng.normal(size=(4, size)) * rng.uniform(0.4, 1.2))
        code = (pull + common + rng.gumbel(size=(count, size))).argmax(axis=1)
        margin += (rng.normal(size=size) * rng.uniform(0.15, 0.9))[code]
        categories[f"c{place}"] = [f"v{value}" for value in range(size)]
        frame[f"c{place}"] = np.array(categories[f"c{place}"], dtype=object)[code]
    margin += np.where(frame["c2"] == "v0", 0.25 * (years - 10) + 0.4, -0.3)
    total = 1.1 * margin + rng.logistic(size=count)
    return frame, bounds, categories, total > np.quantile(total, 1 - positives)


def normals(seed: int, count: int = 30_000, width: int = 20, positives: float = 0.3) -> Made:
    """Correlated normal columns, ten of which matter, three of them in a curve."""
    rng = np.random.default_rng(5000 + seed)
    table = 0.7 * rng.normal(size=(count, width))
    table += 0.7 * rng.normal(size=(count, 6)) @ rng.normal(size=(6, width)) / np.sqrt(6)
    weights = rng.normal(size=width) * (np.arange(width) < 10)
    margin = 2 * (table @ weights) / np.linalg.norm(weights) + rng.logistic(size=count)
    margin += 0.6 * (table[:, 0] ** 2 - table[:, 1] ** 2) + np.sin(2 * table[:, 2])
    frame = {f"x{place}": table[:, place] for place in range(width)}
    return frame, dict.fromkeys(frame, (-4, 4)), {}, margin > np.quantile(margin, 1 - positives)


def measured(name: str, made: Made, runs: int) -> list[dict[str, Any]]:
    import pandas as pd
    from sklearn.linear_model import LogisticRegression as PlainLogistic
    from sklearn.metrics import roc_auc_score

    from tacit.learn import AdditiveClassifier, LinearSVC, LogisticRegression

    frame, bounds, categories, labels = made
    table, cut = pd.DataFrame(frame), int(0.8 * len(labels))
    scaled = [(table[n] - bounds[n][0]) / (bounds[n][1] - bounds[n][0]) for n in bounds]
    dense = np.column_stack([*scaled, *(table[n] == v for n in categories for v in categories[n])]).astype(float)
    plain = PlainLogistic(max_iter=500).fit(dense[:cut], labels[:cut]).score(dense[cut:], labels[cut:])
    rows = []
    for what, kind in (("logistic", LogisticRegression), ("additive", AdditiveClassifier), ("hinge", LinearSVC)):
        for epsilon in (0.1, 1, 3):
            right, area, cpu = [], [], []
            for _ in range(runs):
                model = kind(epsilon=epsilon, delta="1e-5", bounds=bounds, categories=categories)
                start = time.process_time()
                model.fit(table[:cut], labels[:cut])
                cpu.append(time.process_time() - start)
                margins = model.decision_function(table[cut:])
                right.append(float(((margins > 0) == labels[cut:]).mean()))
                area.append(float(roc_auc_score(labels[cut:], margins)))
            rows.append(
                {
                    "table": name,
                    "what": what,
                    "epsilon": epsilon,
                    "value": fmean(right),
                    "area": fmean(area),
                    "plain": plain if what == "logistic" else None,
                    "cpu": min(cpu),
                    "runs": runs,
                }
            )
            print(rows[-1], flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    tables = [("census", census), ("normal", normals)]
    rows: list[dict[str, Any]] = []
    for seed in range(1 if quick else 2):
        for name, make in tables:
            rows += measured(f"{name} {seed}", make(seed), 1 if quick else 5)
    publish("learning_settings", [Table("Generated tables, δ = 1e-5, defaults", COLUMNS, rows)], quick=quick)


if __name__ == "__main__":
    main()
