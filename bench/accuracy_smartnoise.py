"""What SmartNoise SQL answers, on pandas: run in its own environment by `accuracy.py`.

Its ε is of each statistic inside a statement, so it is divided until the cost that SmartNoise itself reports is the
task's.
"""

from typing import Any

import pandas as pd
from snsql import Privacy, from_df

from accuracy_worker import Task, serve, sets

SEVERAL = {
    "count and mean": ("COUNT({})", "AVG({})"),
    "moments": ("COUNT({})", "SUM({})", "AVG({})", "VAR({})"),
}


def answers(task: Task) -> list[Any]:
    if task.kind == "cube":
        return [list(one) for one in zip(*(answers(one) for one in sets(task)), strict=True)]
    frame = pd.read_csv(task.data)
    if task.by == "city_kind":
        frame["city_kind"] = frame["city"] + "|" + frame["kind"]
    if task.unit is None:
        frame["row_number"] = range(len(frame))
    unit = task.unit or "row_number"
    metadata = described(task, unit, frame)
    sql = statement(task, unit)
    share = task.epsilon
    for _ in range(3):
        reader = opened(frame, metadata, share, task.delta)
        share *= task.epsilon / reader.get_privacy_cost(sql)[0]
    reader = opened(frame, metadata, share, task.delta)
    assert reader.get_privacy_cost(sql)[0] <= task.epsilon * 1.001
    return [numbers(task, reader.execute(sql)) for _ in range(task.repetitions)]


def opened(frame: Any, metadata: dict[str, Any], epsilon: float, delta: float) -> Any:
    return from_df(frame, metadata=metadata, privacy=Privacy(epsilon=epsilon, delta=delta))


def statement(task: Task, unit: str) -> str:
    if task.kind in ("median", "quartiles"):
        raise NotImplementedError("has no quantiles")
    if task.kind == "distinct" and task.column != unit:
        raise NotImplementedError("counts people only: of another column it returns the number of rows")
    if task.kind in SEVERAL:
        several = ", ".join(f"{one.format(task.column)} AS a{at}" for at, one in enumerate(SEVERAL[task.kind]))
        return f"SELECT {task.by}, {several} FROM bench.rows GROUP BY {task.by}"
    made = {
        "count": f"COUNT({task.column})",
        "mean": f"AVG({task.column})",
        "variance": f"VAR({task.column})",
        "distinct": f"COUNT(DISTINCT {unit})",
    }
    tail = f" GROUP BY {task.by}" if task.by else ""
    return f"SELECT {f'{task.by}, ' if task.by else ''}{made[task.kind]} AS answer FROM bench.rows{tail}"


def described(task: Task, unit: str, frame: Any) -> dict[str, Any]:
    columns: dict[str, Any] = {
        "max_ids": task.groups * task.rows,
        "rows": len(frame),
        "censor_dims": False,
        "clamp_counts": False,
        "clamp_columns": True,
        unit: {"type": "int", "private_id": True},
    }
    if task.kind != "distinct":
        columns[task.column] = {"type": "float", "lower": task.low, "upper": task.high, "nullable": False}
    if task.by:
        columns[task.by] = {"type": "string"}
    return {"": {"bench": {"rows": columns}}}


def numbers(task: Task, released: list[Any]) -> list[Any]:
    body = released[1:]
    if task.kind in SEVERAL:
        lines = {row[0]: list(map(float, row[1:])) for row in body}
        nothing = [0.0] * len(SEVERAL[task.kind])
        return [list(one) for one in zip(*(lines.get(key, nothing) for key in task.keys), strict=True)]
    if not task.by:
        return [float(body[0][0])]
    found = {row[0]: float(row[1]) for row in body}
    return [found.get(key, task.low) for key in task.keys]


if __name__ == "__main__":
    serve(answers)
