"""Bounding a table of ten million rows and a million users, next to plain window functions and the peers.

The task: count and mean by city (of 200), where a user counts in at most 5 cities, with at most 3 rows each (rows
chosen), or with what a user adds to a city clamped to what 3 rows could add (clamped). Ours is the engine alone:
integers, before noise.
The straightforward SQL ranks every row with window functions by the same kind of keyed hash (MD5); a line shows it with
DuckDB's own hash, which no other engine has. CPU seconds, all threads; beside the peers also the clock on the wall, by
which their targets are judged: waiting is what a user does, and PipelineDP's local backend waits on one core.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import visits
from measure import AtMost, Contestant, Faster, Target, Timing, peak_bytes, race
from peers import load
from tables import Column, Table, comparison, publish, seconds, verdict

USERS, QUICK_USERS = 10**6, 10**4
CITIES, ROWS = 5, 3
LOW, HIGH, CENTRE, GRANULE = 0, 200, 100, Fraction(1, 100)
REACH = int(ROWS * (HIGH - CENTRE) / GRANULE)
SECRET = "0123456789abcdef0123456789abcdef"
MOST_MEMORY = 2.5e9
FIRST = "keeps the first cities; its own sampling of them fails on this Polars"
FOLDER = Path(tempfile.gettempdir()) / "tacit-bench"
TIMES = (
    Column("who", ""),
    Column("best", "CPU", seconds),
    Column("tacit", "tacit, next to it"),
    Column("target", "target"),
    Column("met", "met", verdict),
    Column("note", "note"),
)


class Held:
    """The table as the engine wants it: a connection with a view ``rows``."""

    def __init__(self, path: Path) -> None:
        import duckdb

        self.database = duckdb.connect(str(path), read_only=True)
        self.database.execute("SET memory_limit = '2GB'; SET enable_progress_bar = false; SET threads = 2")
        self.database.execute("CREATE TEMP VIEW rows AS SELECT * FROM visits")

    def columns(self, sql: str) -> dict[str, Any]:
        return self.database.execute(sql).fetchnumpy()

    def close(self) -> None:
        self.database.close()


def ours(path: Path, form: str) -> Callable[[], Any]:
    from tacit.tables.engines.contract import BoundedQuery, Measure, One, Quantised
    from tacit.tables.engines.duckdb.engine import DuckDBEngine
    from tacit.tables.expressions.tree import Column as Named

    chosen = form != "clamped"
    spend = Quantised(Named("spend"), Fraction(LOW), Fraction(HIGH), Fraction(CENTRE), GRANULE)
    count, total = Measure(One(), 0, ROWS, chosen), Measure(spend, -REACH, REACH, chosen)
    listed = tuple((name,) for name in visits.names()) if form != "private keys" else None
    if form == "count":
        query = BoundedQuery(None, (), None, "user_id", 1, ROWS, (count,))
    else:
        query = BoundedQuery(None, (Named("city"),), listed, "user_id", CITIES, ROWS, (count, total))
    engine = DuckDBEngine(Held(path), SECRET)
    return lambda: engine.run(query)


QUANTISED = f"CAST(floor((least(greatest(spend, {LOW}), {HIGH}) - {CENTRE}) / {float(GRANULE)} + 0.5) AS BIGINT)"
MD5 = {"city": f"md5('{SECRET}' || user_id || city)", "row": f"md5('{SECRET}' || user_id || city || v)"}
OWN = {"city": f"hash('{SECRET}', user_id, city)", "row": f"hash('{SECRET}', user_id, city, v)"}
CLAMPED = f"""
WITH picked AS (SELECT user_id, city, {QUANTISED} AS v FROM rows WHERE user_id IS NOT NULL),
ranked AS (SELECT *, dense_rank() OVER (PARTITION BY user_id ORDER BY {{city}}, city) AS place FROM picked),
pairs AS (SELECT user_id, city, count(*) AS n, sum(v) AS v FROM ranked WHERE place <= {CITIES} GROUP BY user_id, city)
SELECT city, count(*) AS units, sum(least(n, {ROWS})) AS n, sum(least(greatest(v, -{REACH}), {REACH})) AS v
FROM pairs GROUP BY city"""
CHOSEN = f"""
WITH picked AS (SELECT user_id, city, {QUANTISED} AS v FROM rows WHERE user_id IS NOT NULL),
ranked AS (SELECT *, dense_rank() OVER (PARTITION BY user_id ORDER BY {{city}}, city) AS place,
                     row_number() OVER (PARTITION BY user_id, city ORDER BY {{row}}, v) AS number FROM picked)
SELECT city, count(DISTINCT user_id) AS units, count(*) AS n, sum(v) AS v
FROM ranked WHERE place <= {CITIES} AND number <= {ROWS} GROUP BY city"""
COUNT = f"""
SELECT sum(least(n, {ROWS}))
FROM (SELECT user_id, count(*) AS n FROM rows WHERE user_id IS NOT NULL GROUP BY user_id)"""


def sql(path: Path, text: str) -> Callable[[], Any]:
    held = Held(path)
    return lambda: held.columns(text)


def opendp(path: Path) -> Callable[[], Any]:
    dp, pl = load("opendp.prelude"), load("polars")
    dp.enable_features("contrib")
    frame = pl.DataFrame(Held(path).columns("SELECT * FROM rows")).lazy()
    known = pl.LazyFrame({"city": visits.names()})

    def run() -> Any:
        context = dp.Context.compositor(
            data=frame,
            privacy_unit=dp.unit_of(contributions=1, identifier="user_id"),
            privacy_loss=dp.loss_of(epsilon=1.0),
            split_evenly_over=1,
            margins=[dp.polars.Margin(by=["city"], max_length=10 * USERS, max_groups=visits.CITIES)],
        )
        query = (
            context.query().truncate_per_group(ROWS, by=["city"]).truncate_num_groups(CITIES, by=["city"], keep="first")
        )
        spend = pl.col("spend").fill_nan(0.0).fill_null(0.0).dp.sum((float(LOW), float(HIGH)))
        return query.group_by("city").agg(dp.len(), spend).with_keys(known).release().collect()

    return run


def pipeline_dp(path: Path) -> Callable[[], Any]:
    pipeline = load("pipeline_dp")
    held = Held(path).columns("SELECT * FROM rows")
    rows = list(zip(held["user_id"].tolist(), held["city"].tolist(), held["spend"].tolist(), strict=True))

    def run() -> Any:
        budget = pipeline.NaiveBudgetAccountant(total_epsilon=1, total_delta=1e-6)
        engine = pipeline.DPEngine(budget, pipeline.LocalBackend())
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
        result = engine.aggregate(rows, parameters, extract, public_partitions=visits.names())
        budget.compute_budgets()
        return list(result)

    return run


def contest(title: str, own: Contestant, others: list[tuple[Contestant, Target | None]], note: str = "") -> Table:
    timings = race([own, *(other for other, _ in others)])
    rows = [comparison(timings[0], timings[0], None)]
    rows += [comparison(timings[0], t, target) for t, (_, target) in zip(timings[1:], others, strict=True)]
    return Table(title, TIMES, rows, note)


def side_by_side(path: Path, rounds: int) -> list[Table]:
    def against(form: str, text: str, limit: float) -> Table:
        return contest(
            f"count and mean by city, {form}: {10 * USERS:,} rows" if path.name.endswith(f"_{USERS}.duckdb") else form,
            Contestant("tacit", lambda: ours(path, form), rounds=rounds),
            [
                (
                    Contestant("window functions, MD5", lambda: sql(path, text.format(**MD5)), rounds=rounds),
                    AtMost(limit),
                ),
                (
                    Contestant("window functions, DuckDB's hash", lambda: sql(path, text.format(**OWN)), rounds=rounds),
                    None,
                ),
            ],
        )

    found = contest(
        "count and mean by city, rows chosen, keys listed or found in the table",
        Contestant("tacit, keys listed", lambda: ours(path, "rows chosen"), rounds=rounds),
        [(Contestant("tacit, keys not listed", lambda: ours(path, "private keys"), rounds=rounds), None)],
    )
    count = contest(
        "a private count, at most 3 rows of a user",
        Contestant("tacit", lambda: ours(path, "count"), rounds=2 * rounds),
        [(Contestant("DuckDB, bounded count", lambda: sql(path, COUNT), rounds=2 * rounds), AtMost(2))],
    )
    return [against("clamped", CLAMPED, 0.5), against("rows chosen", CHOSEN, 0.7), found, count]


def peers(path: Path) -> Table:
    """Our rows chosen next to what the peers do on the same rows, by the clock."""
    others = [
        (Contestant("OpenDP on Polars", lambda: opendp(path), rounds=1, note=FIRST), Faster(5)),
        (Contestant("PipelineDP, local backend", lambda: pipeline_dp(path), rounds=1), Faster(50)),
    ]
    ours_timed, *theirs = race(
        [Contestant("tacit, rows chosen", lambda: ours(path, "rows chosen"), rounds=2), *(c for c, _ in others)]
    )
    targets = [None, *(target for _, target in others)]
    rows = [
        _by_the_clock(ours_timed, timing, target) for timing, target in zip([ours_timed, *theirs], targets, strict=True)
    ]
    return Table("the peers, the same rows, known keys", (TIMES[0], Column("wall", "clock", seconds), *TIMES[1:]), rows)


def _by_the_clock(ours_timed: Timing, theirs: Timing, target: Target | None) -> dict[str, Any]:
    def clocked(timing: Timing) -> Timing:
        return replace(timing, best=timing.wall)

    if theirs is ours_timed or not (ours_timed.ok and theirs.ok):
        return comparison(ours_timed, theirs, target) | ({"wall": theirs.wall} if theirs.ok else {})
    row = comparison(clocked(ours_timed), clocked(theirs), target)
    return row | {"wall": theirs.wall, "best": theirs.best, "cpu factor": theirs.best / ours_timed.best}


PEAK = (Column("who", ""), Column("peak", "peak", lambda b: f"{b / 1e9:.2f} GB"), *TIMES[3:5])


def memory(path: Path) -> Table:
    rows = []
    for form in ("clamped", "rows chosen", "private keys"):
        command = [sys.executable, "-W", "ignore", __file__, "--peak", form, "--path", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        peak = json.loads(done.stdout)
        rows.append({"who": f"tacit, {form}", "peak": peak, "target": "< 2.5 GB", "met": peak < MOST_MEMORY})
    return Table("peak memory of the whole process, DuckDB limited to 2 GB", PEAK, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument(
        "--peak", metavar="FORM", help="run one form once and print the peak memory; for the bench itself"
    )
    parser.add_argument("--path", type=Path)
    arguments = parser.parse_args()
    if arguments.peak:
        ours(arguments.path, arguments.peak)()
        print(peak_bytes())
        return
    FOLDER.mkdir(exist_ok=True)
    path = visits.write(FOLDER, QUICK_USERS if arguments.quick else USERS)
    tables = [*side_by_side(path, 2), memory(path), peers(path)]
    publish("bounding", tables, quick=arguments.quick)


if __name__ == "__main__":
    main()
