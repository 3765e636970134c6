"""A session of Spark for tests: two executors in processes of their own, or two threads of this one; and Spark Connect.

`make engines` has Spark, in an environment of its own; `make test` has not, and leaves these tests out by their mark.
TACIT_SPARK_MASTER says where it runs (local[2] unless said; local-cluster[2,1,1024] has executors that can be killed).
"""

from __future__ import annotations

import importlib.util
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.postgres import missing

__all__ = ["sessions"]

_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.driver.memory": "2g",
    "spark.sql.codegen.cache.maxEntries": "100",
    "spark.sql.ui.retainedExecutions": "5",
    "spark.ui.retainedJobs": "50",
    "spark.ui.retainedStages": "50",
    "spark.connect.grpc.binding.address": "localhost",
}


def sessions(folder: Path) -> Iterator[Any]:
    """What the fixture gives; see `tests/conftest.py`."""
    if importlib.util.find_spec("pyspark") is None:
        missing("Spark is not here: make engines")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(os.environ.get("TACIT_SPARK_MASTER", "local[2]"))
    for name, value in {**_SETTINGS, "spark.sql.warehouse.dir": str(folder)}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    gateway = session.sparkContext._gateway
    session.stop()
    if gateway.proc is not None:  # or its pipe would be found open at the very end, which is an error here
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(60)
