"""The learning peers on Adult, each in its own environment: the best of a grid on the first split, then all splits."""

import itertools
import json
import sys
import time
from statistics import fmean
from typing import Any

import numpy as np

EPSILONS = (0.1, 1, 3)
DELTA = 1e-5


def scored(fit: Any, data: Any, splits: range, *, raw: bool) -> tuple[float, float, float]:
    """Mean accuracy, mean area, and CPU seconds of a fit."""
    from sklearn.metrics import roc_auc_score

    table = data["raw" if raw else "dense"]
    rich, right, area, cpu = data["rich"], [], [], []
    for split in splits:
        learn, test = data["learn"][split], data["test"][split]
        start = time.process_time()
        margins = fit(table[learn], rich[learn])
        cpu.append(time.process_time() - start)
        shown = margins(table[test])
        right.append(float(((shown > 0) == rich[test]).mean()))
        area.append(float(roc_auc_score(rich[test], shown)))
    return fmean(right), fmean(area), min(cpu)


def interpret(data: Any, bounds: list[Any], quick: bool, timed: bool) -> list[dict[str, Any]]:
    from interpret.privacy import DPExplainableBoostingClassifier

    numbers = int(data["numbers"])
    kinds = ["continuous"] * numbers + ["nominal"] * (data["raw"].shape[1] - numbers)
    spans = {i: tuple(map(float, pair)) for i, pair in enumerate(bounds)}

    def with_settings(epsilon: float, **settings: Any) -> Any:
        def fit(table: Any, rich: Any) -> Any:
            mixed = [[*row[:numbers], *(str(int(v)) for v in row[numbers:])] for row in table.tolist()]
            model = DPExplainableBoostingClassifier(
                epsilon=epsilon, delta=DELTA, feature_types=kinds, privacy_bounds=spans, n_jobs=1, **settings
            )
            frame = np.array(mixed, dtype=object)
            start = time.process_time()
            model.fit(frame, rich)
            fit.cpu = time.process_time() - start  # type: ignore[attr-defined]

            def margins(new: Any) -> Any:
                shown = [[*row[:numbers], *(str(int(v)) for v in row[numbers:])] for row in new.tolist()]
                return model.predict_proba(np.array(shown, dtype=object))[:, 1] - 0.5

            return margins

        return fit

    if timed:
        fits = [with_settings(epsilon, max_rounds=150, learning_rate=0.3, max_bins=32) for epsilon in EPSILONS]
        for fit in fits:
            scored(fit, data, range(1), raw=True)
        return [{"what": "private EBM, best", "cpu": min(fit.cpu for fit in fits)}]
    grid = list(itertools.product((10, 40, 150, 300), (0.03, 0.1, 0.3), (16, 32, 64)))
    if quick:
        grid = grid[:2]
    rows = []
    for epsilon in EPSILONS:
        fit = with_settings(epsilon)
        right, area, _ = scored(fit, data, range(1 if quick else 5), raw=True)
        rows.append(row("private EBM, default", epsilon, right, area, fit.cpu, ""))
        best, chosen = 0.0, grid[0]
        for rounds, rate, bins in grid:
            fit = with_settings(epsilon, max_rounds=rounds, learning_rate=rate, max_bins=bins)
            found, _, _ = scored(fit, data, range(1), raw=True)
            if found > best:
                best, chosen = found, (rounds, rate, bins)
        rounds, rate, bins = chosen
        fit = with_settings(epsilon, max_rounds=rounds, learning_rate=rate, max_bins=bins)
        right, area, _ = scored(fit, data, range(1 if quick else 5), raw=True)
        note = f"best of {len(grid)}: rounds {rounds}, rate {rate}, bins {bins}"
        rows.append(row("private EBM, best", epsilon, right, area, fit.cpu, note))
    return rows + diffprivlib(data, quick)


def diffprivlib(data: Any, quick: bool) -> list[dict[str, Any]]:
    from diffprivlib.models import LogisticRegression

    rows = []
    norm = float(np.sqrt((data["dense"] ** 2).sum(axis=1)).max())
    for epsilon in EPSILONS:
        best: tuple[float, float, float, float] = (0, 0, 0, 0)
        for strength in (0.01, 1.0):

            def fit(table: Any, rich: Any, strength: float = strength, epsilon: float = epsilon) -> Any:
                model = LogisticRegression(epsilon=epsilon, data_norm=norm, C=strength, max_iter=200)
                return model.fit(table, rich).decision_function

            best = max(best, (*scored(fit, data, range(1 if quick else 5), raw=False), strength))
        rows.append(row("diffprivlib logistic, pure ε", epsilon, *best[:3], f"best of two: C = {best[3]:g}"))
    return rows


def opacus(data: Any, bounds: list[Any], quick: bool, timed: bool) -> list[dict[str, Any]]:
    import torch
    from opacus import PrivacyEngine
    from torch.utils.data import DataLoader, TensorDataset

    torch.set_num_threads(1)

    def trained(epsilon: float, rate: float) -> Any:
        def fit(table: Any, rich: Any) -> Any:
            torch.manual_seed(0)
            model = torch.nn.Linear(table.shape[1], 1)
            rows = TensorDataset(torch.tensor(table, dtype=torch.float32), torch.tensor(rich, dtype=torch.float32))
            optimiser = torch.optim.SGD(model.parameters(), lr=rate)
            engine = PrivacyEngine(accountant="prv")
            epochs = 1 if quick else 10
            model, optimiser, loader = engine.make_private_with_epsilon(
                module=model,
                optimizer=optimiser,
                data_loader=DataLoader(rows, batch_size=1024),
                epochs=epochs,
                target_epsilon=epsilon,
                target_delta=DELTA,
                max_grad_norm=1.0,
            )
            loss = torch.nn.BCEWithLogitsLoss()
            for _ in range(epochs):
                for x, y in loader:
                    optimiser.zero_grad()
                    loss(model(x)[:, 0], y).backward()
                    optimiser.step()
            return lambda new: model(torch.tensor(new, dtype=torch.float32))[:, 0].detach().numpy()

        return fit

    if timed:
        cpu = min(scored(trained(epsilon, 2.0), data, range(1), raw=False)[2] for epsilon in EPSILONS)
        return [{"what": "opacus logistic", "cpu": cpu}]
    rows = []
    for epsilon in EPSILONS:
        rates = (2.0,) if quick else (0.5, 2.0, 8.0)
        rate = max(rates, key=lambda one: scored(trained(epsilon, one), data, range(1), raw=False)[0])
        right, area, cpu = scored(trained(epsilon, rate), data, range(1 if quick else 5), raw=False)
        note = f"best of {len(rates)}: rate {rate:g}; 10 epochs, batches of 1024, clip 1"
        rows.append(row("opacus logistic", epsilon, right, area, cpu, note))
    return rows


def row(what: str, epsilon: float, right: float, area: float, cpu: float, note: str) -> dict[str, Any]:
    return {"what": what, "epsilon": epsilon, "value": right, "area": area, "cpu": cpu, "note": note}


def main() -> None:
    package, path, bounds = sys.argv[1:4]
    data = dict(np.load(path))
    peer = {"interpret": interpret, "opacus": opacus}[package]
    made = peer(data, json.loads(bounds), "--quick" in sys.argv, "--timed" in sys.argv)
    print(json.dumps(made))


if __name__ == "__main__":
    main()
