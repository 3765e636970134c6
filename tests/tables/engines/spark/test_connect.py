"""Frames of Spark Connect: another client of the same cluster, whose session stays as it was."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.engines
CLIENT = """
import sys
from pyspark.sql import SparkSession
import tacit

spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
rows = [(i % 100, ["Bonn", "Rome", "Lund"][i % 3], float(i % 50)) for i in range(600)]
local = spark.createDataFrame(rows, "user_id bigint, city string, spend double")
local.createOrReplaceTempView("mine")
spark.conf.set("spark.sql.session.timeZone", "Asia/Kathmandu")
keys = {"city": ["Bonn", "Rome", "Lund"]}
for name, frame in (("local", local), ("seen", spark.table("mine").where("spend >= 0"))):
    with tacit.open(frame, name=name, unit="user_id", budget=tacit.PureDP(1000), keys=keys, groups=3, rows=10) as table:
        answer = table.sql(f"SELECT city, COUNT(*) AS n FROM {name} GROUP BY city", epsilon=900)
        assert all(abs(n - 200) < 6 for n in answer["n"]), list(answer["n"])
assert spark.conf.get("spark.sql.session.timeZone") == "Asia/Kathmandu"
assert not [one for one in spark.catalog.listTables() if one.name.startswith("tacit")]
print("as asked", flush=True)
spark.stop()
"""


def test_frames_of_spark_connect_are_asked(spark: Any, tmp_path: Path) -> None:
    context = spark.sparkContext
    context._jvm.org.apache.spark.sql.connect.service.SparkConnectService.start(context._jsc.sc())
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CLIENT, "sc://localhost:15002"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[4] / "src")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert ran.stdout.strip() == "as asked"
