"""The same bounded query on every engine: CPU seconds of the engine's own processes, next to plain window functions.

The task of `bounding.py` (count and mean by city; rows chosen, and clamped), on DuckDB in this process, on PostgreSQL
(the wheel's 18, one process a query) and on Spark (local, two tasks at a time, warm). Every engine's integers are
compared with DuckDB's before anything is timed. Run where both are installed: .venv-spark/bin/python bench/engines.py.
Also how Spark's cost grows with partitions, and with one unit that holds a tenth of the rows.
"""

import argparse
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import visits
from bounding import CHOSEN, CITIES, CLAMPED, FOLDER, GRANULE, HIGH, LOW, MD5, REACH, ROWS, SECRET
from tables import Column, Table, publish, seconds, verdict

ROOT = Path(__file__).parents[1]
TICK = os.sysconf("SC_CLK_TCK")
TIMES = (
    Column("who", ""),
    Column("best", "CPU", seconds),
    Column("wall", "clock", seconds),
    Column("duckdb", "of DuckDB's", lambda x: f"{x:.2f}×"),
    Column("plain", "of plain windows", lambda x: f"{x:.2f}×"),
    Column("target", "target"),
    Column("met", "met", verdict),
)
LIMITS = {"PostgreSQL": (5, {"clamped": 0.9, "rows chosen": 0.75}), "Spark": (8, {"clamped": 1.0, "rows chosen": 1.0})}
Measured = tuple[float, float]


def queries() -> dict[str, Any]:
    from tacit.tables.engines.contract import BoundedQuery, Measure, One, Quantised
    from tacit.tables.expressions.tree import Column as Named

    spend = Quantised(Named("spend"), Fraction(LOW), Fraction(HIGH), Fraction(100), GRANULE)
    listed = tuple((name,) for name in visits.names())

    def query(chosen: bool) -> BoundedQuery:
        measures = (Measure(One(), 0, ROWS, chosen), Measure(spend, -REACH, REACH, chosen))
        return BoundedQuery(None, (Named("city"),), listed, "user_id", CITIES, ROWS, measures)

    return {"clamped": query(False), "rows chosen": query(True)}


def of_process(pid: int, children: bool = False) -> float:
    """CPU seconds of a process; with those of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15] if children else fields[11:13])) / TICK


def measured(run: Callable[[], Any], cpu: Callable[[], float], rounds: int) -> Measured:
    best = (float("inf"), float("inf"))
    for _ in range(rounds):
        before, clock = cpu(), time.perf_counter()
        run()
        best = min(best, (cpu() - before, time.perf_counter() - clock))
    return best


def integers(engine: Any, query: Any) -> dict[Any, Any]:
    found = engine.run(query)
    return {key: tuple(int(one[i]) for one in found.measures) for i, key in enumerate(found.keys[0])}


class OnDuckDB:
    name = "DuckDB"

    def __init__(self, path: Path) -> None:
        from bounding import Held
        from tacit.tables.engines.duckdb.engine import DuckDBEngine

        self._held = Held(path)
        self.engine = DuckDBEngine(self._held, SECRET)

    def plain(self, text: str) -> Any:
        return self._held.columns(text)

    def cpu(self) -> float:
        return time.process_time()


class OnPostgres:
    name = "PostgreSQL"

    def __init__(self, path: Path, folder: Path) -> None:
        import duckdb
        import psycopg
        from tests.postgres import Servers

        from tacit.tables.engines.postgres.connection import QuietPostgres
        from tacit.tables.engines.postgres.driver import transaction
        from tacit.tables.engines.postgres.engine import PostgresEngine
        from tacit.tables.engines.postgres.source import PostgresSource
        from tacit.tables.engines.postgres.tables import TableRows

        self._servers = Servers(folder)
        server = self._servers[18]
        self.url = url = server.new_database()
        lines = folder / "visits.csv"
        with duckdb.connect(str(path), read_only=True) as held:
            held.execute(f"COPY visits TO '{lines}' (HEADER false)")
        with psycopg.connect(url, autocommit=True) as database:
            database.execute("CREATE TABLE visits (user_id bigint, city text, spend double precision)")
            with lines.open("rb") as some, database.cursor().copy("COPY visits FROM STDIN (FORMAT csv)") as copy:
                while piece := some.read(2**20):
                    copy.write(piece)
            lines.unlink()
            database.execute("VACUUM ANALYZE visits")
        source = PostgresSource(f"{url}#public.visits")
        columns = table_columns()
        self._connection = psycopg.connect(url, options="-c max_parallel_workers_per_gather=0")
        self._quiet = QuietPostgres(self._connection, SECRET)
        rows_of = TableRows({one.name: one.kind for one in columns}, {}, (source.step(columns),))
        self.engine = PostgresEngine(self._quiet, rows_of)
        self._transaction = transaction

    def few(self, users: int) -> None:
        """The rows of the first users, in a table of their own."""
        self._connection.execute(f"CREATE TABLE few_visits AS SELECT * FROM visits WHERE user_id < {users}")  # type: ignore[call-overload,unused-ignore]
        self._connection.commit()

    def plain(self, text: str) -> Any:
        """With the settings that its own planner would have."""
        text = text.replace("rows WHERE", "public.visits WHERE")
        with self._connection.transaction(force_rollback=True):
            self._connection.execute("SET LOCAL jit = off; SET LOCAL work_mem = '128MB'")
            return self._connection.execute(text).fetchall()

    def cpu(self) -> float:
        return of_process(self._connection.info.backend_pid)

    def close(self) -> None:
        self._connection.close()
        self._servers.close()


class OnSpark:
    name = "Spark"

    def __init__(self, path: Path, folder: Path, partitions: int, master: str = "local[2]") -> None:
        import duckdb

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pyspark.sql import SparkSession

        from tacit.tables.engines.spark.connection import QuietSpark
        from tacit.tables.engines.spark.driver import beside
        from tacit.tables.engines.spark.engine import SparkEngine
        from tacit.tables.engines.spark.rows import rows_step
        from tacit.tables.engines.spark.tables import TableRows

        self.place = folder / "visits.parquet"
        if not self.place.exists():
            with duckdb.connect(str(path), read_only=True) as held:
                held.execute(f"COPY visits TO '{self.place}' (FORMAT parquet, ROW_GROUP_SIZE 250000)")
        builder = SparkSession.builder.master(master)
        settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.memory": "3g"}
        for name, value in settings.items():
            builder = builder.config(name, value)
        self.user = builder.getOrCreate()
        self.user.sparkContext.setLogLevel("OFF")
        self._session = beside(self.user, {"spark.sql.shuffle.partitions": str(partitions)})
        frame = self._session.read.parquet(f"file://{self.place}")
        columns = table_columns()
        types = {one.name: one.dataType.simpleString() for one in frame.schema.fields}
        steps = (rows_step("visits", types, columns),)
        rows = TableRows({one.name: one.kind for one in columns}, {}, steps)
        self.engine = SparkEngine(QuietSpark(self._session, {"visits": frame}, SECRET), rows)
        self._java = self.user.sparkContext._gateway.proc.pid

    def plain(self, text: str) -> Any:
        text = text.replace("rows WHERE", "visits WHERE").replace("floor((", "floor((0D + ")
        return self._session.sql(text).collect()

    def cpu(self) -> float:
        return of_process(_java_of(self._java))


def _java_of(pid: int) -> int:
    """The JVM itself: what starts it is a shell at first."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(children[0]) if children and "java" not in Path(f"/proc/{pid}/comm").read_text() else pid


def table_columns() -> tuple[Any, ...]:
    from tacit.tables.expressions.kinds import Kind
    from tacit.tables.policy.policy import ColumnPolicy, Role

    kinds = {"user_id": Kind.INTEGER, "city": Kind.TEXT, "spend": Kind.REAL}
    return tuple(ColumnPolicy(name, kind, Role.PRIVATE) for name, kind in kinds.items())


def compare(form: str, text: str, engines: list[Any], rounds: int, rows: int) -> Table:
    query, lines = queries()[form], []
    first = engines[0]
    wanted, base = integers(first.engine, query), 0.0
    for one in engines:
        if integers(one.engine, query) != wanted:
            raise SystemExit(f"{one.name} gives other integers")
        cpu, wall = measured(lambda one=one: one.engine.run(query), one.cpu, rounds)
        one.plain(text)
        plain, _ = measured(lambda one=one: one.plain(text), one.cpu, rounds)
        base = base or cpu
        line = {"who": f"tacit on {one.name}", "best": cpu, "wall": wall, "duckdb": cpu / base, "plain": cpu / plain}
        if one.name in LIMITS:
            most, windows = LIMITS[one.name]
            line |= {"target": f"≤ {most}×, ≤ {windows[form]}×"}
            line["met"] = cpu / base <= most and cpu / plain <= windows[form]
        lines.append(line)
        print(line, file=sys.stderr, flush=True)
    return Table(f"count and mean by city, {form}: {rows:,} rows, CPU", TIMES, lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="10⁵ rows instead of 10⁷")
    parser.add_argument("--users", type=int, help="a tenth of the rows")
    parser.add_argument("--without", action="append", default=[], metavar="ENGINE")
    parser.add_argument("--partitions", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    users = arguments.users or (10**4 if arguments.quick else 10**6)
    FOLDER.mkdir(exist_ok=True)
    path = visits.write(FOLDER, users)
    sys.path.insert(0, str(ROOT))
    with tempfile.TemporaryDirectory(prefix="tpg-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        engines: list[Any] = [OnDuckDB(path)]
        if "postgres" not in arguments.without:
            engines.append(OnPostgres(path, folder))
        if "spark" not in arguments.without:
            engines.append(OnSpark(path, folder, arguments.partitions))
        texts = {"clamped": CLAMPED.format(**MD5), "rows chosen": CHOSEN.format(**MD5)}
        tables = [compare(form, text, engines, arguments.rounds, 10 * users) for form, text in texts.items()]
        for one in engines[1:]:
            getattr(one, "close", lambda: None)()
    publish("engines", tables, quick=arguments.quick)


if __name__ == "__main__":
    main()
