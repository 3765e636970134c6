"""What befalls a cluster: an executor that is killed costs nothing, a driver that is killed costs the answer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest

from tacit.errors import InvalidParameter
from tacit.tables.engines.spark.driver import checked

pytestmark = pytest.mark.engines
STORY = """
import logging, os, signal, sys, threading, time
from pathlib import Path
import tacit
from tacit.tables.engines.backend import TableSources
from tacit.tables.engines.contract import BoundedQuery, Measure, One
from tacit.tables.engines.registry import ENGINES
from tacit.tables.engines.spark.connection import QuietSpark
from tacit.tables.expressions.tree import Column

said = []
class Heard(logging.Handler):
    def emit(self, record):
        said.append(record.getMessage())
logging.getLogger("tacit").addHandler(Heard())
logging.getLogger("tacit").propagate = False  # pyspark gives the logger above it a stream

folder = sys.argv[1]
asked = dict(unit="user_id", budget=tacit.PureDP(1000), keys={"city": ["c0", "c1"]}, groups=2, rows=3)
table = tacit.open(folder, reading={"engine": "spark"}, **asked)
spark = ENGINES["spark"]
source = spark.source(folder, {"engine": "spark"})
measures = (Measure(One(), 0, 3, True),)
query = BoundedQuery(None, (Column("city"),), None, "user_id", 2, 3, measures)

def integers(engine):
    found = engine.run(query)
    return sorted(zip(found.keys[0], found.units.tolist(), map(int, found.measures[0]), strict=True))

def processes(name):
    for one in Path("/proc").iterdir():
        try:
            words = (one / "cmdline").read_bytes().split(b"\\0")
            mine = (one / "environ").read_bytes().find(os.environ["TACIT_FAULTS"].encode()) >= 0
        except OSError:
            continue
        if one.name.isdigit() and mine and words[0].endswith(b"java") and any(name in word for word in words):
            yield int(one.name)

engine = spark.engine(TableSources(source, table.policy, {}), "secret")
before = integers(engine)
found = []
thread = threading.Thread(target=lambda: found.append(integers(engine)))
thread.start()
while not engine.progress():
    time.sleep(0.01)
victim = next(processes(b"CoarseGrainedExecutorBackend"))
os.kill(victim, signal.SIGKILL)
assert thread.is_alive(), "it was over before"
thread.join(200)
assert found == [before], "other integers"
assert sum(units for _, units, _ in before) > 1000
print("an executor was killed, and the integers are the same", flush=True)

plain = QuietSpark.columns
def columns(self, sql):
    def kill():
        while self.progress() is None:
            time.sleep(0.01)
        for one in processes(b"SparkSubmit"):
            os.kill(one, signal.SIGKILL)
    threading.Thread(target=kill).start()
    return plain(self, sql)
QuietSpark.columns = columns
try:
    table.sql("SELECT city, COUNT(*) AS n FROM visits GROUP BY city", epsilon=10)
except tacit.errors.AnswerLost as error:
    assert error.__cause__ is None and error.__context__ is None
    assert table.remaining == tacit.ApproxDP(990, 0), table.remaining
    print("the driver was killed, and the payment stands", flush=True)
try:
    table.sql("SELECT COUNT(*) AS n FROM visits", epsilon=10)
except tacit.errors.InvalidParameter as error:
    assert "Nothing was spent" in str(error) and error.__context__ is None
    assert table.remaining == tacit.ApproxDP(990, 0), table.remaining
    print("what comes after is refused, and nothing is spent", flush=True)
assert not [one for one in said if "entry" not in one], said
os._exit(0)
"""
TOLD = [
    "an executor was killed, and the integers are the same",
    "the driver was killed, and the payment stands",
    "what comes after is refused, and nothing is spent",
]


def test_a_killed_executor_costs_nothing_and_a_killed_driver_the_answer(tmp_path: Path) -> None:
    """With two executors in processes of their own; nothing of Spark's words in any stream or log."""
    folder = tmp_path / "visits"
    folder.mkdir()
    rows = "SELECT range % 4000 AS user_id, 'c' || (range % 7) % 2 AS city FROM range({0}, {0} + 300000)"
    for part in range(4):
        place = folder / f"{part}.parquet"
        duckdb.sql(f"COPY ({rows.format(part * 300000)}) TO '{place}'")
    settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "8", "spark.driver.memory": "1g"}
    settings |= {
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
        "spark.sql.files.maxPartitionBytes": "200000",
    }
    asked = " ".join(f"--conf {name}={value}" for name, value in settings.items())
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYSPARK_GATEWAY")}
    environment |= {
        "PYTHONPATH": str(Path(__file__).parents[4] / "src"),
        "PYSPARK_SUBMIT_ARGS": f"--master local-cluster[2,1,1024] {asked} pyspark-shell",
        "TACIT_LEDGERS": str(tmp_path / "books"),
        "TACIT_FAULTS": str(tmp_path),
    }
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", STORY, str(folder)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert (ran.stdout.splitlines(), ran.stderr.splitlines()) == (TOLD, [])


@pytest.mark.parametrize("version", ["3.5.7", "3.0.0", "2.4.8"])
def test_an_older_spark_is_refused(version: str) -> None:
    with pytest.raises(InvalidParameter, match=rf"Spark {version}.*Spark 4 or newer.*Nothing was spent"):
        checked(SimpleNamespace(version=version))


@pytest.mark.parametrize("version", ["4.0.0", "4.3.0", "5.1.0-SNAPSHOT"])
def test_a_newer_one_is_not(version: str) -> None:
    assert checked(SimpleNamespace(version=version)).version == version
