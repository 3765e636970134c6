"""What OpenDP answers: run in its own environment by `accuracy.py`, one task per line of the job.

A statement takes seconds, so that repetitions are groups of one statement: the table is repeated, and the people of
each copy are others. A person is in one copy only, and each copy gets the noise it would get by itself. A mean is a
sum over a count, a variance three sums: OpenDP's own mean and variance want a public number of rows.
"""

from typing import Any

import opendp.prelude as dp
import polars as pl

from accuracy_worker import Task, serve, sets

dp.enable_features("contrib")
COPIES = 50


SEVERAL = ("count and mean", "moments", "quartiles")


def answers(task: Task) -> list[Any]:
    if task.kind == "cube":
        return [list(one) for one in zip(*(answers(one) for one in sets(task)), strict=True)]
    frame = pl.read_csv(task.data)
    if task.by == "city_kind":
        frame = frame.with_columns((pl.col("city") + "|" + pl.col("kind")).alias("city_kind"))
    if task.kind != "distinct":
        frame = frame.with_columns(pl.col(task.column).cast(pl.Float64))
    made: list[Any] = []
    while len(made) < task.repetitions:
        made += released(task, frame, min(COPIES, task.repetitions - len(made)))
    return made


def released(task: Task, frame: Any, copies: int) -> list[Any]:
    keys = task.keys or ["all"]
    place = pl.col(task.by) if task.by else pl.lit("all")
    frame = frame.unique(task.column) if task.column == task.unit else frame
    parts = [frame.with_columns((pl.lit(f"{copy}|") + place).alias("place")) for copy in range(copies)]
    places = pl.LazyFrame({"place": [f"{copy}|{key}" for copy in range(copies) for key in keys]})
    context = dp.Context.compositor(
        data=pl.concat(parts).lazy(),
        privacy_unit=dp.unit_of(contributions=limits(task)),
        privacy_loss=dp.loss_of(epsilon=task.epsilon),
        split_evenly_over=1,
        margins=[dp.polars.Margin(by=["place"], max_length=10**6, max_groups=copies * len(keys))],
    )
    made = context.query().group_by("place").agg(*expressions(task)).with_keys(places).release().collect()
    lines = dict(zip(made["place"].to_list(), made.drop("place").rows(named=True), strict=True))
    made = [[finish(task, lines[f"{copy}|{key}"]) for key in keys] for copy in range(copies)]
    return [list(zip(*one, strict=True)) for one in made] if task.kind in SEVERAL else made


def limits(task: Task) -> Any:
    """What a person adds at most: the table keeps to it. (Truncation to some groups drops most rows in 0.16.)"""
    rows = 1 if task.column == task.unit else task.rows
    return [dp.polars.Bound(by=["place"], num_groups=task.groups, per_group=rows)] if task.unit else 1


def expressions(task: Task) -> list[Any]:
    value = pl.col(task.column)
    if task.kind == "distinct":
        return [value.dp.n_unique().alias("answer")]
    value = value.fill_nan(task.low).fill_null(task.low)
    if task.kind == "median":
        steps = round((task.high - task.low) / task.step)
        candidates = [task.low + task.step * i for i in range(steps + 1)]
        return [value.dp.median(candidates).alias("answer")]
    if task.kind == "count":
        return [dp.len().alias("answer")]
    if task.kind == "quartiles":
        steps = round((task.high - task.low) / task.step)
        candidates = [task.low + task.step * i for i in range(steps + 1)]
        return [value.dp.quantile(level, candidates).alias(f"q{level}") for level in (0.25, 0.5, 0.75)]
    sums = [dp.len().alias("n"), value.dp.sum((task.low, task.high)).alias("x")]
    if task.kind in ("variance", "moments"):
        square = (pl.col(task.column) * pl.col(task.column)).fill_nan(0.0).fill_null(0.0)
        sums.append(square.dp.sum((task.low**2, task.high**2)).alias("xx"))
    return sums


def finish(task: Task, line: dict[str, float]) -> Any:
    if task.kind in ("distinct", "median", "count"):
        return float(line["answer"])
    if task.kind == "quartiles":
        return [float(line[f"q{level}"]) for level in (0.25, 0.5, 0.75)]
    rows = max(line["n"], 1)
    mean = line["x"] / rows
    if task.kind == "count and mean":
        return [float(line["n"]), mean]
    if task.kind == "moments":
        return [float(line["n"]), float(line["x"]), mean, line["xx"] / rows - mean**2]
    return mean if task.kind == "mean" else line["xx"] / rows - mean**2


if __name__ == "__main__":
    serve(answers)
