"""What PipelineDP answers, on its local backend: run in its own environment by `accuracy.py`."""

import csv
from typing import Any

import pipeline_dp

from accuracy_worker import Task, serve, sets

METRICS = pipeline_dp.Metrics
SEVERAL = {
    "count and mean": ([METRICS.COUNT, METRICS.MEAN], ("count", "mean")),
    "moments": (
        [METRICS.COUNT, METRICS.SUM, METRICS.MEAN, METRICS.VARIANCE],
        ("count", "sum", "mean", "variance"),
    ),
    "quartiles": (
        [METRICS.PERCENTILE(25), METRICS.PERCENTILE(50), METRICS.PERCENTILE(75)],
        ("percentile_25", "percentile_50", "percentile_75"),
    ),
}


def answers(task: Task) -> list[Any]:
    if task.kind == "cube":
        return [list(one) for one in zip(*(answers(one) for one in sets(task)), strict=True)]
    with open(task.data, encoding="utf-8", newline="") as file:
        listed = list(csv.DictReader(file))
    if task.by == "city_kind":
        listed = [row | {"city_kind": f"{row['city']}|{row['kind']}"} for row in listed]
    rows = [
        (row[task.unit] if task.unit else number, row[task.by] if task.by else "all", float(row[task.column] or 0))
        if task.kind != "distinct"
        else (row[task.unit] if task.unit else number, "all", 0.0)
        for number, row in enumerate(listed)
    ]
    return [released(task, rows) for _ in range(task.repetitions)]


def released(task: Task, rows: list[tuple[object, str, float]]) -> list[Any]:
    metrics = {
        "count": pipeline_dp.Metrics.COUNT,
        "median": pipeline_dp.Metrics.PERCENTILE(50),
        "mean": pipeline_dp.Metrics.MEAN,
        "variance": pipeline_dp.Metrics.VARIANCE,
        "distinct": pipeline_dp.Metrics.PRIVACY_ID_COUNT,
    }
    if task.kind == "distinct" and task.column != task.unit:
        raise NotImplementedError("counts people only, not the values of a column")
    keys = task.keys or ["all"]
    budget = pipeline_dp.NaiveBudgetAccountant(total_epsilon=task.epsilon, total_delta=task.delta)
    engine = pipeline_dp.DPEngine(budget, pipeline_dp.LocalBackend())
    bounds = {} if task.kind == "distinct" else {"min_value": task.low, "max_value": task.high}
    parameters = pipeline_dp.AggregateParams(
        metrics=SEVERAL[task.kind][0] if task.kind in SEVERAL else [metrics[task.kind]],
        noise_kind=pipeline_dp.NoiseKind.LAPLACE,
        max_partitions_contributed=task.groups,
        max_contributions_per_partition=task.rows,
        **bounds,
    )
    extract = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
        value_extractor=lambda row: row[2],
    )
    result = engine.aggregate(rows, parameters, extract, public_partitions=keys)
    budget.compute_budgets()
    found = dict(result)
    if task.kind in SEVERAL:
        return [[float(getattr(found[key], name)) for key in keys] for name in SEVERAL[task.kind][1]]
    return [float(found[key][0]) for key in keys]


if __name__ == "__main__":
    serve(answers)
