"""What a bounded query costs as tables grow: 10⁵ to 10⁸ rows, Spark's partitions, one unit with a tenth of all.

The task of `engines.py`, count and mean by city with what a user adds clamped, and with rows chosen. Every size is one
table on each engine, in one run; CPU seconds of the engine's own processes and the clock.
Run where all are installed: .venv-spark/bin/python bench/engines_growth.py. PostgreSQL is left out at 10⁸ rows.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

import duckdb

import visits
from bounding import FOLDER
from engines import ROOT, OnDuckDB, OnPostgres, OnSpark, integers, measured, queries
from tables import Column, Table, publish, seconds

TIMES = (
    Column("what", ""),
    Column("who", "engine"),
    Column("cpu", "CPU, clamped", seconds),
    Column("clock", "clock", seconds),
    Column("chosen_cpu", "CPU, rows chosen", seconds),
    Column("chosen_clock", "clock", seconds),
    Column("row", "CPU a row, clamped", seconds),
)
MOST_OF_POSTGRES = 10**6


def with_a_large_unit(path: Path) -> Path:
    """The same rows, a tenth of them, at random, of one unit."""
    made = path.with_name(f"large_unit_{path.name}")
    if not made.exists():
        with duckdb.connect(str(made)) as connection:
            connection.execute(f"ATTACH '{path}' AS plain (READ_ONLY)")
            unit = "CASE WHEN hash(rowid) % 10 = 0 THEN -1 ELSE user_id END"
            connection.execute(f"CREATE TABLE visits AS SELECT {unit} AS user_id, city, spend FROM plain.visits")
    return made


def timed(what: str, rows: int, engines: list[Any], rounds: int) -> list[dict[str, Any]]:
    """A line per engine, whose integers must be those of the first."""
    wanted: dict[str, Any] = {}
    lines = []
    for one in engines:
        found = {}
        for form, query in queries().items():
            seen = integers(one.engine, query)
            if seen != wanted.setdefault(form, seen):
                raise SystemExit(f"{one.name} gives other integers")
            found[form] = measured(lambda one=one, query=query: one.engine.run(query), one.cpu, rounds)
        (cpu, clock), (chosen_cpu, chosen_clock) = found["clamped"], found["rows chosen"]
        line = {"what": what, "who": one.name, "cpu": cpu, "clock": clock, "row": cpu / rows}
        lines.append(line | {"chosen_cpu": chosen_cpu, "chosen_clock": chosen_clock})
        print(lines[-1], file=sys.stderr, flush=True)
    return lines


def on_each(path: Path, partitions: int, postgres: bool) -> list[Any]:
    """The engines on one table. Its folder stays until the process ends, as the server does."""
    folder = Path(tempfile.mkdtemp(prefix="tpg-"))
    folder.chmod(0o755)
    own = [OnPostgres(path, folder)] if postgres else []
    return [OnDuckDB(path), *own, OnSpark(path, folder, partitions)]


def close(engines: list[Any]) -> None:
    for one in engines:
        getattr(one, "close", lambda: None)()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="10⁴ and 10⁵ rows")
    parser.add_argument("--most", type=int, default=10**8, metavar="ROWS")
    parser.add_argument("--rounds", type=int, default=1)
    arguments = parser.parse_args()
    most = 10**5 if arguments.quick else arguments.most
    FOLDER.mkdir(exist_ok=True)
    sys.path.insert(0, str(ROOT))
    growth, by_partitions, large = [], [], []
    middle = min(most, 10**7)
    for rows in (one for one in (10**4, 10**5, 10**6, 10**7, 10**8) if 10 * one > (most if arguments.quick else 10**5)):
        if rows > most:
            break
        path = visits.write(FOLDER, rows // 10)
        engines = on_each(path, 8 if rows < 10**8 else 32, rows // 10 <= MOST_OF_POSTGRES)
        growth += timed(f"{rows:,} rows", rows, engines, arguments.rounds)
        close(engines)
        if rows == middle:
            for partitions in (2, 8, 32, 128):
                other = OnSpark(path, engines[-1].place.parent, partitions)
                by_partitions += timed(f"{partitions} partitions", rows, [other], arguments.rounds)
            of_one = on_each(with_a_large_unit(path), 8, True)
            large += timed("a tenth of the rows of one unit", rows, of_one, arguments.rounds)
            close(of_one)
    publish("engines_growth", tables_of(middle, growth, by_partitions, large), quick=arguments.quick)


def tables_of(middle: int, growth: list[Any], by_partitions: list[Any], large: list[Any]) -> list[Table]:
    return [
        Table("count and mean by city, as rows grow (ten a unit)", TIMES, growth),
        Table(f"Spark by partitions, {middle:,} rows", TIMES, by_partitions),
        Table(f"one unit with a tenth of {middle:,} rows", TIMES, large),
    ]


if __name__ == "__main__":
    main()
