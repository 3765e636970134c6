"""A million rows in a database or on a cluster: Tacit next to what else asks there, by the clock, all started.

Count and mean by city (of 200, listed), a user in at most 5 cities with at most 3 rows each, ε = 1: a whole question,
paid, drawn and shown. Tumult Analytics and PipelineDP on their Spark, Qrlew's SQL on the same PostgreSQL; each in its
own environment, in one run. Sessions, servers and tables are there before the clock starts, and each has answered a
smaller question. Run where both are installed: .venv-spark/bin/python bench/engines_peers.py.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import visits
from bounding import CITIES, FOLDER, HIGH, LOW, ROWS
from peers import Unavailable, environment
from tables import Column, Table, publish, seconds, verdict

ROOT = Path(__file__).parents[1]
TIMES = (
    Column("who", ""),
    Column("wall", "clock", seconds),
    Column("of", "times ours", lambda x: f"{x:.1f}×"),
    Column("target", "target"),
    Column("met", "met", verdict),
    Column("note", "note"),
)
PEERS = {
    "tumult": ("tmlt", "Tumult Analytics on Spark", "spark", 10),
    "pipeline_dp": ("tmlt", "PipelineDP on Spark", "spark", 5),
    "qrlew": ("pyqrlew", "Qrlew on PostgreSQL", "postgres", 5),
}
"""Which environment has it, what it is, next to which of ours, and how many times as long it should take."""
SMALL = 10**3


def clocked(act: Callable[[], Any]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


# the peers, each run by its own interpreter


def spark_session() -> Any:
    opened = " ".join(f"--add-opens=java.base/java.{one}=ALL-UNNAMED" for one in ("nio", "lang", "util", "net"))
    opened += " --add-opens=java.base/sun.nio.ch=ALL-UNNAMED --add-opens=java.base/sun.security.action=ALL-UNNAMED"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["JDK_JAVA_OPTIONS"] = opened
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "4g").config("spark.sql.shuffle.partitions", "4")
    session = builder.config("spark.sql.warehouse.dir", tempfile.mkdtemp()).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def tumult(place: str) -> Callable[[int], Any]:
    from tmlt.analytics import (
        AddRowsWithID,
        KeySet,
        MaxGroupsPerID,
        MaxRowsPerGroupPerID,
        PureDPBudget,
        QueryBuilder,
        Session,
    )

    rows = spark_session().read.parquet(place).cache()
    rows.count()

    def ask(most: int) -> Any:
        session = Session.from_dataframe(
            privacy_budget=PureDPBudget(1),
            source_id="rows",
            dataframe=rows.where(f"user_id < {most}"),
            protected_change=AddRowsWithID("user_id"),
        )
        grouped = (
            QueryBuilder("rows").enforce(MaxGroupsPerID("city", CITIES)).enforce(MaxRowsPerGroupPerID("city", ROWS))
        )
        by_city = grouped.groupby(KeySet.from_dict({"city": visits.names()}))
        asked = (by_city.count("n"), by_city.average("spend", float(LOW), float(HIGH), "mean"))
        return [session.evaluate(one, PureDPBudget(0.5)).collect() for one in asked]

    return ask


def pipeline_dp(place: str) -> Callable[[int], Any]:
    import pipeline_dp as pipeline

    spark = spark_session()
    rows = spark.read.parquet(place).cache()
    rows.count()

    def ask(most: int) -> Any:
        budget = pipeline.NaiveBudgetAccountant(total_epsilon=1, total_delta=1e-6)
        engine = pipeline.DPEngine(budget, pipeline.SparkRDDBackend(spark.sparkContext))
        parameters = pipeline.AggregateParams(
            metrics=[pipeline.Metrics.COUNT, pipeline.Metrics.MEAN],
            max_partitions_contributed=CITIES,
            max_contributions_per_partition=ROWS,
            min_value=LOW,
            max_value=HIGH,
        )
        extract = pipeline.DataExtractors(
            privacy_id_extractor=lambda row: row[0],
            partition_extractor=lambda row: row[1],
            value_extractor=lambda row: row[2],
        )
        asked = rows.where(f"user_id < {most}").rdd
        result = engine.aggregate(asked, parameters, extract, public_partitions=visits.names())
        budget.compute_budgets()
        return result.collect()

    return ask


def qrlew(url: str) -> Callable[[int], Any]:
    """Its statement is rewritten and run by the database; groups and rows of a unit are its own limits."""
    import pyqrlew
    from sqlalchemy import create_engine, text

    where = urlsplit(url)
    socket = {"host": unquote(where.hostname or ""), "user": where.username, "dbname": where.path.strip("/")}
    engine = create_engine("postgresql+psycopg2://", connect_args=socket)
    found = pyqrlew.Dataset.from_database("rows", engine, "public")

    def ask(most: int) -> Any:
        name = "visits" if most > SMALL else "few_visits"
        dataset = found.with_range("public", name, "spend", float(LOW), float(HIGH))
        dataset = dataset.with_possible_values("public", name, "city", visits.names())
        asked = dataset.relation(f"SELECT city, COUNT(*) AS n, AVG(spend) AS mean FROM public.{name} GROUP BY city")
        rewritten = asked.rewrite_with_differential_privacy(
            dataset,
            privacy_unit=[(name, [], "user_id")],
            epsilon_delta={"epsilon": 1.0, "delta": 1e-6},
            max_multiplicity=float(ROWS),
            max_privacy_unit_groups=CITIES,
        )
        with engine.connect() as connection:
            return connection.execute(text(rewritten.relation().to_query(pyqrlew.Dialect.PostgreSql))).fetchall()

    return ask


WORKERS = {"tumult": tumult, "pipeline_dp": pipeline_dp, "qrlew": qrlew}


def work(peer: str, where: str) -> None:
    ask = WORKERS[peer](where)
    ask(SMALL)
    answered: list[Any] = []
    taken = clocked(lambda: answered.extend(ask(10**9)))
    print(json.dumps({"seconds": taken, "lines": len(answered)}))


# ours, and the table


def ours(where: Any, **more: Any) -> float:
    """A whole question, asked a second time anew, so that all is loaded."""
    import tacit

    described = {"unit": "user_id", "bounds": {"spend": (LOW, HIGH)}, "keys": {"city": visits.names()}}
    statement = "SELECT city, COUNT(*) AS n, AVG(spend) AS mean FROM visits GROUP BY city"
    with tacit.open(
        where, budget=tacit.PureDP(9), groups=CITIES, rows=ROWS, ledger=tacit.InMemory(), **described, **more
    ) as table:
        table.sql(statement, epsilon=1)
        return clocked(lambda: table.sql(statement, epsilon=1, fresh=True))


def peer_line(peer: str, where: str, own: float) -> dict[str, Any]:
    package, name, _, factor = PEERS[peer]
    line: dict[str, Any] = {"who": name, "target": f"≥ {factor}×"}
    try:
        python = environment(package)
    except Unavailable as reason:
        return line | {"note": str(reason)}
    command = [python, "-W", "ignore", __file__, "--worker", peer, "--where", where]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return line | {"note": (done.stderr.strip().splitlines() or ["ended without a word"])[-1][:200]}
    wall = json.loads(done.stdout.strip().splitlines()[-1])["seconds"]
    return line | {"wall": wall, "of": wall / own, "met": wall / own >= factor}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="10⁵ rows instead of 10⁶")
    parser.add_argument("--only", action="append", choices=PEERS, help="this peer (repeatable)")
    parser.add_argument("--worker", choices=WORKERS, help="for the bench itself")
    parser.add_argument("--where")
    arguments = parser.parse_args()
    if arguments.worker:
        work(arguments.worker, arguments.where)
        return
    sys.path.insert(0, str(ROOT))
    from engines import OnPostgres, OnSpark

    FOLDER.mkdir(exist_ok=True)
    path = visits.write(FOLDER, 10**4 if arguments.quick else 10**5)
    rows = 10**5 if arguments.quick else 10**6
    with tempfile.TemporaryDirectory(prefix="tpg-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        server, cluster = OnPostgres(path, folder), OnSpark(path, folder, 4)
        server.few(SMALL)
        places = {"spark": str(cluster.place), "postgres": server.url}
        frame = cluster.user.read.parquet(places["spark"]).cache()
        frame.count()
        own = {"spark": ours(frame, name="visits"), "postgres": ours(f"{server.url}#public.visits")}
        lines = [
            {"who": f"tacit on {name}", "wall": own[key]}
            for key, name in (("spark", "Spark"), ("postgres", "PostgreSQL"))
        ]
        cluster.user.stop()
        for peer in arguments.only or PEERS:
            lines.append(peer_line(peer, places[PEERS[peer][2]], own[PEERS[peer][2]]))
            print(lines[-1], file=sys.stderr, flush=True)
        server.close()
    table = Table(f"a question on {rows:,} rows, by the clock, all started", TIMES, lines)
    publish("engines_peers", [table], quick=arguments.quick)


if __name__ == "__main__":
    main()
