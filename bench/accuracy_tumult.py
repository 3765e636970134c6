"""What Tumult Analytics answers, on Spark: run in its own environment by `accuracy.py`.

A statement takes seconds here, so that repetitions are groups of one statement: the table is repeated, and the people
of each copy are others. A person is in one copy only, and each copy gets the noise it would get by itself.
"""

import os
import sys
import tempfile
from typing import Any

os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["PYSPARK_SUBMIT_ARGS"] = (
    "--driver-memory 3g --conf spark.ui.enabled=false --conf spark.sql.shuffle.partitions=4 "
    "--driver-java-options --add-opens=java.base/sun.nio.ch=ALL-UNNAMED\\ "
    "--add-opens=java.base/java.nio=ALL-UNNAMED\\ --add-opens=java.base/java.lang=ALL-UNNAMED\\ "
    "--add-opens=java.base/java.util=ALL-UNNAMED pyspark-shell"
)

import pandas as pd
from pyspark.sql import SparkSession
from tmlt.analytics import (
    AddOneRow,
    AddRowsWithID,
    KeySet,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    PureDPBudget,
    QueryBuilder,
    Session,
)

from accuracy_worker import Task, serve, sets

COPIES = 25


SEVERAL = ("count and mean", "moments", "quartiles")


def answers(task: Task) -> list[Any]:
    if task.kind == "cube":
        return [list(one) for one in zip(*(answers(one) for one in sets(task)), strict=True)]
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.sql.warehouse.dir", tempfile.mkdtemp())
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    frame = pd.read_csv(task.data)
    if task.by == "city_kind":
        frame["city_kind"] = frame["city"] + "|" + frame["kind"]
    kept = list(dict.fromkeys(name for name in (task.unit, task.by, task.column) if name))
    frame = frame[kept]
    if task.kind != "distinct":
        frame[task.column] = frame[task.column].astype(float)
    made: list[Any] = []
    while len(made) < task.repetitions:
        made += released(task, spark, frame, min(COPIES, task.repetitions - len(made)))
    return made


def released(task: Task, spark: SparkSession, frame: pd.DataFrame, copies: int) -> list[Any]:
    keys = task.keys or ["all"]
    parts = []
    for copy in range(copies):
        part = frame.copy()
        part["place"] = f"{copy}|" + (part[task.by] if task.by else "all")
        if task.unit:
            part["person"] = f"{copy}|" + part[task.unit].astype(str)
        parts.append(part.drop(columns=[name for name in (task.by,) if name]))
    whole = spark.createDataFrame(pd.concat(parts)).cache()
    session = Session.from_dataframe(
        privacy_budget=PureDPBudget(task.epsilon),
        source_id="rows",
        dataframe=whole,
        protected_change=AddRowsWithID("person") if task.unit else AddOneRow(),
    )
    places = KeySet.from_dict({"place": [f"{copy}|{key}" for copy in range(copies) for key in keys]})
    query = QueryBuilder("rows")
    if task.unit:
        query = query.enforce(MaxGroupsPerID("place", task.groups)).enforce(MaxRowsPerGroupPerID("place", task.rows))
    grouped = query.groupby(places)
    if task.kind in SEVERAL:
        several = {
            "count and mean": [grouped.count("answer"), grouped.average(task.column, task.low, task.high, "answer")],
            "moments": [
                grouped.count("answer"),
                grouped.sum(task.column, task.low, task.high, "answer"),
                grouped.average(task.column, task.low, task.high, "answer"),
                grouped.variance(task.column, task.low, task.high, "answer"),
            ],
            "quartiles": [
                grouped.quantile(task.column, level, task.low, task.high, "answer") for level in (0.25, 0.5, 0.75)
            ],
        }[task.kind]
        each = [
            session.evaluate(one, PureDPBudget(task.epsilon / len(several))).toPandas().set_index("place")["answer"]
            for one in several
        ]
        whole.unpersist()
        return [[[float(one[f"{copy}|{key}"]) for key in keys] for one in each] for copy in range(copies)]
    asked = {
        "count": lambda: grouped.count(name="answer"),
        "median": lambda: grouped.median(task.column, task.low, task.high, name="answer"),
        "mean": lambda: grouped.average(task.column, task.low, task.high, name="answer"),
        "variance": lambda: grouped.variance(task.column, task.low, task.high, name="answer"),
        "distinct": lambda: grouped.count_distinct([task.column if task.column != task.unit else "person"], "answer"),
    }[task.kind]()
    found = session.evaluate(asked, PureDPBudget(task.epsilon)).toPandas().set_index("place")["answer"]
    whole.unpersist()
    return [[float(found[f"{copy}|{key}"]) for key in keys] for copy in range(copies)]


if __name__ == "__main__":
    serve(answers)
