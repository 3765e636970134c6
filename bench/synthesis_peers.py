"""What a peer does for `synthesis.py`, in its own environment; imports nothing of ours.

Gets one task as JSON on standard input, writes the rows it made as an array, prints its CPU seconds and its memory.
"""

import contextlib
import io
import json
import math
import resource
import sys
import tempfile
import time
import warnings
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd


def main() -> None:
    task = json.load(sys.stdin)
    frame = pd.read_csv(task["data"])
    domain = json.loads(Path(task["domain"]).read_text(encoding="utf-8"))
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        start = time.process_time()
        made = PEERS[task["peer"]](frame, domain, task)
        own = time.process_time() - start
    below = resource.getrusage(resource.RUSAGE_CHILDREN)
    np.save(task["out"], made[list(frame.columns)].to_numpy().astype(np.int64), allow_pickle=False)
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    json.dump({"seconds": own + below.ru_utime + below.ru_stime, "megabytes": megabytes}, sys.stdout)


def dpmm(frame: Any, domain: Any, task: dict[str, Any]) -> Any:
    """Columns as categories, so that nothing is spent beyond the stated ε."""
    import dpmm.pipelines

    kind = getattr(dpmm.pipelines, f"{task['method']}Pipeline")
    pipeline = kind(epsilon=task["epsilon"], delta=task["delta"], n_jobs=1, disable_processing=True)
    pipeline.fit(frame, domain=domain)
    return pipeline.generate(n_records=len(frame))


def data_synthesizer(frame: Any, domain: Any, task: dict[str, Any]) -> Any:
    """PrivBayes at a pure ε, with at most two parents; every column a category."""
    from DataSynthesizer.DataDescriber import DataDescriber
    from DataSynthesizer.DataGenerator import DataGenerator

    with tempfile.TemporaryDirectory() as folder:
        source, told = str(Path(folder, "rows.csv")), str(Path(folder, "told.json"))
        frame.to_csv(source, index=False)
        describer = DataDescriber(category_threshold=max(domain.values()) + 1)
        describer.describe_dataset_in_correlated_attribute_mode(
            source, k=2, epsilon=task["epsilon"], attribute_to_is_categorical=dict.fromkeys(domain, True)
        )
        describer.save_dataset_description_to_file(told)
        generator = DataGenerator()
        generator.generate_dataset_in_correlated_attribute_mode(len(frame), told)
        return generator.synthetic_dataset


class Mbi:
    """MST (McKenna et al. 2021) and AIM (2022) on mbi's estimation, whose package brings no mechanisms.

    Settings are the papers': thirds of ρ and supports of three deviations for MST; 16 rounds a column, a tenth of each
    for choices, for AIM, with the largest model given in megabytes. Noise from numpy.
    """

    def __init__(self, frame: Any, domain: dict[str, int], task: dict[str, Any]) -> None:
        import jax
        import mbi

        jax.config.update("jax_enable_x64", True)
        self.mbi, self.random, self.forget = mbi, np.random.default_rng(), jax.clear_caches
        self.domain = mbi.Domain(tuple(domain), tuple(domain.values()))
        self.data = mbi.Dataset({name: frame[name].to_numpy() for name in domain}, self.domain)
        self.rho, self.megabytes = rho_of(task["epsilon"], task["delta"]), task.get("megabytes", 1.0)

    def measured(self, data: Any, columns: tuple[str, ...], spread: float) -> Any:
        counts = np.asarray(data.project(columns).datavector())
        return self.mbi.LinearMeasurement(counts + self.random.normal(0, spread, counts.size), columns, spread)

    def chosen(self, scores: dict[Any, float], epsilon: float) -> Any:
        names, values = list(scores), np.array(list(scores.values()))
        odds = np.exp(epsilon / 2 * (values - values.max()))
        return names[int(self.random.choice(len(names), p=odds / odds.sum()))]

    def mst(self) -> Any:
        names = self.domain.attributes
        spread = math.sqrt(3 * len(names) / (2 * self.rho))
        ones = [self.measured(self.data, (name,), spread) for name in names]
        weights = np.array([1 / len(one.noisy_measurement) for one in ones])
        total = float(weights @ [one.noisy_measurement.sum() for one in ones] / weights.sum())  # else it takes 1
        kept = {one.clique[0]: np.asarray(one.noisy_measurement) >= 3 * spread for one in ones}
        bins = {name: np.where(mask, np.cumsum(mask) - 1, mask.sum()) for name, mask in kept.items()}
        coarse = self.data.compress(bins)
        ones = [one.compress(bins, self.domain) for one in ones]
        solver = self.mbi.estimation.MirrorDescent()
        first = solver.estimate(coarse.domain, ones, known_total=total, iters=2500)
        scores = {
            pair: float(np.abs(coarse.project(pair).datavector() - first.project(pair).datavector()).sum())
            for pair in combinations(names, 2)
        }
        part, tree = {name: name for name in names}, []
        for _ in range(len(names) - 1):
            open_ = {pair: score for pair, score in scores.items() if part[pair[0]] != part[pair[1]]}
            pair = self.chosen(open_, math.sqrt(8 * self.rho / 3 / (len(names) - 1)))
            tree.append(pair)
            old, new = part[pair[1]], part[pair[0]]
            part = {name: new if root == old else root for name, root in part.items()}
        spread = math.sqrt(3 * len(tree) / (2 * self.rho))
        twos = [self.measured(coarse, pair, spread) for pair in tree]
        model = solver.estimate(coarse.domain, ones + twos, known_total=total, iters=10_000)
        made = model.synthetic_data(self.data.records)
        return pd.DataFrame({name: self.fine(made.data[name], kept[name]) for name in names})

    def fine(self, codes: Any, kept: Any) -> Any:
        """Codes of the whole domain: those of the merged values at random among them."""
        inside, outside = np.flatnonzero(kept), np.flatnonzero(~kept)
        codes, rest = np.asarray(codes), np.asarray(codes) == kept.sum()
        found = np.append(inside, -1)[codes]
        if len(outside):
            found[rest] = self.random.choice(outside, int(rest.sum()))
        return found

    def aim(self) -> Any:
        names, mbi = self.domain.attributes, self.mbi
        pairs = [pair for pair in combinations(names, 2) if self.domain.size(pair) <= 10_000]
        candidates = {(name,): float(len(names) - 1) for name in names}
        candidates |= {pair: float(2 * len(names) - 2) for pair in pairs}  # columns shared with the pairs asked for
        true = {table: np.asarray(self.data.project(table).datavector()) for table in candidates}
        spread = math.sqrt(16 * len(names) / (1.8 * self.rho))
        epsilon = math.sqrt(0.8 * self.rho / (16 * len(names)))
        tables = [self.measured(self.data, (name,), spread) for name in names]
        used = len(names) / (2 * spread**2)
        solver, last = mbi.estimation.MirrorDescent(), False
        model = solver.estimate(self.domain, tables, iters=1000)
        while not last:
            left = self.rho - used
            if left < 2 * (1 / (2 * spread**2) + epsilon**2 / 8):
                spread, epsilon, last = math.sqrt(1 / (1.8 * left)), math.sqrt(0.8 * left), True
            used += 1 / (2 * spread**2) + epsilon**2 / 8
            have = [table.clique for table in tables]
            room = self.megabytes * used / self.rho
            size = mbi.junction_tree.hypothetical_model_size
            open_ = [one for one in candidates if one in have or size(self.domain, [*have, one]) <= room]
            scores = {}
            for one in open_:
                far = float(np.abs(true[one] - np.asarray(model.project(one).datavector())).sum())
                noise = math.sqrt(2 / math.pi) * spread * self.domain.size(one)
                scores[one] = candidates[one] * (far - noise) / max(candidates.values())
            table = self.chosen(scores, epsilon)
            before = np.asarray(model.project(table).datavector())
            tables.append(self.measured(self.data, table, spread))
            model = solver.estimate(self.domain, tables, iters=1000, warm_start=model)
            self.forget()  # or what was compiled for each size of the model fills the memory
            moved = float(np.abs(np.asarray(model.project(table).datavector()) - before).sum())
            if moved <= math.sqrt(2 / math.pi) * spread * self.domain.size(table):
                spread, epsilon = spread / 2, epsilon * 2
        return pd.DataFrame({name: np.asarray(c) for name, c in model.synthetic_data(self.data.records).data.items()})


def rho_of(epsilon: float, delta: float) -> float:
    """The largest ρ within (ε, δ), by the conversion of Canonne, Kamath & Steinke (2020)."""
    orders = 1 + np.logspace(-2, 6, 4000)
    low, high = 0.0, epsilon + 1
    for _ in range(100):
        rho = (low + high) / 2
        logs = (orders - 1) * (orders * rho - epsilon) + orders * np.log1p(-1 / orders) - np.log(orders - 1)
        low, high = (rho, high) if logs.min() <= math.log(delta) else (low, rho)
    return low


PEERS = {
    "dpmm": dpmm,
    "mbi": lambda frame, domain, task: getattr(Mbi(frame, domain, task), task["method"].lower())(),
    "DataSynthesizer": data_synthesizer,
}


if __name__ == "__main__":
    main()
