"""Statements that people type, of several statistics each: ours before and now, next to every peer that can.

As in `accuracy.py`: the same rows, unit, limits, bounds, public keys and ε for everybody, and tables that keep the
limits, so that the exact statistic is the truth for all. Answers are clipped to what the bounds allow. Errors are mean
absolute ones over repetitions and groups. Peers give no intervals; where they have no statement of several statistics
or sets of keys, ε is divided evenly. "Before" is the commit named, asked in the same way (`--before` is its folder).
"""

import argparse
import csv
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

import visits
from accuracy import CITIES, DELTA, GROUPS, LIMIT, PEERS, ROWS, USERS, written
from accuracy_worker import Task
from bounding import FOLDER
from peers import ROOT, Unavailable, environment
from tables import Column, Table, digits, publish

REPETITIONS, SLOW, QUICK, SLOW_QUICK = 50, 20, 10, 5
Answers = Callable[[Task], Any]
LEVELS = (0.25, 0.5, 0.75)
KINDS = ("new", "old")
COLUMNS = (
    Column("statistic", ""),
    Column("who", ""),
    Column("error", "mean error", digits),
    Column("ratio", "next to tacit", lambda r: f"{digits(r)}×"),
    Column("wide", "interval", digits),
    Column("covered", "holds", lambda one: f"{one:.1%}"),
    Column("note", "note"),
)
STATISTICS = {
    "count and mean": ("count", "mean"),
    "moments": ("count", "sum", "mean", "variance"),
    "quartiles": ("first quartile", "median", "third quartile"),
    "cube": ("count by city and kind", "count by city", "count by kind", "count"),
}
STATEMENTS = {
    "count and mean": "SELECT city, COUNT(*) AS a0, AVG(spend) AS a1 FROM rows GROUP BY city",
    "moments": "SELECT city, COUNT(spend) AS a0, SUM(spend) AS a1, AVG(spend) AS a2, VAR_POP(spend) AS a3 FROM rows "
    "GROUP BY city",
    "quartiles": "SELECT "
    + ", ".join(f"PERCENTILE_CONT({level}) WITHIN GROUP (ORDER BY spend) AS a{at}" for at, level in enumerate(LEVELS))
    + " FROM rows",
    "cube": "SELECT city, kind, COUNT(*) AS n FROM rows GROUP BY CUBE (city, kind)",
}


def tasks(folder: Path) -> list[Task]:
    """The table of visits: a person is new or old, and has up to three cities with up to two rows each."""
    made, names, path = visits.arrays(USERS), visits.names(), folder / "typed_visits.csv"
    held: dict[int, dict[int, int]] = {}
    rows = []
    for user, city, spend in zip(made["user_id"].tolist(), made["city"].tolist(), made["spend"].tolist(), strict=True):
        own = held.setdefault(user, {})
        if city >= CITIES or (city not in own and len(own) == GROUPS) or own.get(city, 0) == ROWS:
            continue
        own[city] = own.get(city, 0) + 1
        rows.append((user, names[city], KINDS[user % 2], spend))
    written(path, ("user_id", "city", "kind", "spend"), rows)
    base = Task("", str(path), "", "spend", "user_id", GROUPS, ROWS, "city", names[:CITIES], 0, 200, 0.01, 1, DELTA, 0)
    whole = replace(base, groups=1, rows=GROUPS * ROWS, by=None, keys=[])
    return [
        replace(base, name="count and mean by city", kind="count and mean"),
        replace(base, name="count, sum, mean and variance by city", kind="moments"),
        replace(whole, name="three quartiles", kind="quartiles"),
        replace(base, name="cube of city and kind", kind="cube"),
    ]


def sets(task: Task) -> list[tuple[str, ...]]:
    return [("city", "kind"), ("city",), ("kind",), ()]


def groups(task: Task) -> list[list[tuple[str, ...]]]:
    """The names of the groups of each statistic, in the order in which everybody gives them."""
    if task.kind == "cube":
        both = [(city, kind) for city in task.keys for kind in KINDS]
        return [both, [(city,) for city in task.keys], [(kind,) for kind in KINDS], [()]]
    own = [(key,) for key in task.keys] or [()]
    return [own for _ in STATISTICS[task.kind]]


def truth(task: Task) -> list[list[float]]:
    """The exact statistics of the rows, group by group."""
    with open(task.data, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found = []
    for at, names in enumerate(groups(task)):
        by = sets(task)[at] if task.kind == "cube" else ("city",) if task.by else ()
        parts: dict[tuple[str, ...], list[float]] = {name: [] for name in names}
        for row in rows:
            parts[tuple(row[one] for one in by)].append(min(max(float(row["spend"]), task.low), task.high))
        found.append([_exact(task, at, values) for values in parts.values()])
    return found


def _exact(task: Task, at: int, values: list[float]) -> float:
    if task.kind == "quartiles":
        return sorted(values)[math.ceil(LEVELS[at] * len(values)) - 1]
    what = "count" if task.kind == "cube" else STATISTICS[task.kind][at]
    made = {"count": len, "sum": math.fsum, "mean": np.mean, "variance": np.var}[what]
    return float(made(values))


def policy(task: Task) -> str:
    listed = json.dumps(task.keys or [], ensure_ascii=False)
    by = f'city = {{ type = "text", role = "public", keys = {listed} }}\n' if task.keys else ""
    return f"""version = 1
source = "{Path(task.data).name}"
table = "rows"
unit = "user_id"
[limits]
groups = {task.groups}
rows = {task.rows}
[budget]
epsilon = {1000 * task.epsilon:g}
delta = 0.5
question_delta = {task.delta:g}
[columns]
user_id = {{ type = "integer", role = "identifier" }}
{by}kind = {{ type = "text", role = "public", keys = {json.dumps(KINDS)} }}
spend = {{ type = "real", role = "private", bounds = [{task.low:g}, {task.high:g}], granule = {task.step:g} }}
"""


def ours(task: Task) -> Any:
    """Per repetition, statistic and group: the value and the two ends of its interval. Asked afresh each time."""
    import tacit

    place = Path(task.data).with_name(f"typed_{'all' if task.by is None else 'by_city'}_{os.getpid()}.toml")
    place.write_text(policy(task), encoding="utf-8")
    made = []
    with tacit.open(place, ledger=tacit.InMemory()) as table:
        for _ in range(task.repetitions):
            columns = {
                one.name: one for one in table.sql(STATEMENTS[task.kind], epsilon="1", fresh=True)._disclosure.columns
            }
            made.append(_of_cube(task, columns) if task.kind == "cube" else _plain(task, columns))
    place.unlink()
    return made


def _numbers(column: Any) -> list[list[float]]:
    return [list(map(float, one)) for one in zip(column.values, column.low, column.high, strict=True)]


def _plain(task: Task, columns: dict[str, Any]) -> list[list[list[float]]]:
    order = list(range(1)) if task.by is None else [columns["city"].values.index(key) for key in task.keys]
    return [[_numbers(columns[f"a{at}"])[i] for i in order] for at in range(len(STATISTICS[task.kind]))]


def _of_cube(task: Task, columns: dict[str, Any]) -> list[list[list[float]]]:
    names = zip(columns["city"].values, columns["kind"].values, strict=True)
    found = dict(
        zip([tuple(one for one in name if one is not None) for name in names], _numbers(columns["n"]), strict=True)
    )
    return [[found[name] for name in own] for own in groups(task)]


def before(task: Task, folder: Path) -> Any:
    """The same by the code of another commit, in a process of its own."""
    script = Path(__file__).with_name("accuracy_before.py")
    return _run([str(folder / ".venv" / "bin" / "python"), "-W", "ignore", str(script)], task)


def theirs(peer: str, task: Task) -> Any:
    package, script = PEERS[peer]
    made = _run([str(environment(package)), "-W", "ignore", str(ROOT / "bench" / script)], task)
    return [[[[value] for value in own] for own in one] for one in made]


def _run(command: list[str], task: Task) -> list[Any]:
    given = json.dumps(asdict(task))
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False, timeout=LIMIT)
    if done.returncode:
        raise Unavailable((done.stderr.strip().splitlines() or ["no reason given"])[-1][:200])
    found: list[Any] = json.loads(done.stdout)
    return found


def measured(who: str, task: Task, released: Any) -> list[dict[str, Any]]:
    """One line per statistic."""
    rows = []
    for at, (name, exact) in enumerate(zip(STATISTICS[task.kind], truth(task), strict=True)):
        found, right = np.array([one[at] for one in released]), np.array(exact)
        values = np.clip(found[:, :, 0], *_ends(task, name))
        row = {"statistic": name, "who": who, "error": float(np.abs(values - right).mean()), "note": ""}
        if found.shape[2] == 3:
            row["wide"] = float(np.median(found[:, :, 2] - found[:, :, 1]))
            row["covered"] = float(((found[:, :, 1] <= right + 1e-6) & (right - 1e-6 <= found[:, :, 2])).mean())
        rows.append(row)
    return rows


def _ends(task: Task, name: str) -> tuple[float, float]:
    if name == "variance":
        return 0.0, ((task.high - task.low) / 2) ** 2
    return (0.0, math.inf) if name.startswith(("count", "sum")) else (task.low, task.high)


def contestants(task: Task, quick: bool, others: Mapping[str, Answers]) -> Iterator[list[dict[str, Any]]]:
    yield measured("tacit", task, ours(replace(task, repetitions=QUICK if quick else REPETITIONS)))
    for who, asked in others.items():
        try:
            yield measured(who, task, asked(task))
        except (Unavailable, subprocess.TimeoutExpired) as failure:
            yield [{"who": who, "statistic": "", "note": str(failure).removeprefix("NotImplementedError: ")}]


def everybody(chosen: Sequence[Task], quick: bool, folder: Path | None, without: Sequence[str]) -> dict[str, Answers]:
    """Whom to ask. Tumult takes minutes for each task, and is asked meanwhile."""

    def not_asked(task: Task) -> Any:
        raise Unavailable("not asked in this run")

    def times(task: Task, most: int) -> Task:
        return replace(task, repetitions=SLOW_QUICK if quick else most)

    def of_peer(peer: str) -> Answers:
        return lambda task: theirs(peer, times(task, REPETITIONS if peer == "OpenDP" else SLOW))

    asked = {peer: not_asked if peer in without else of_peer(peer) for peer in PEERS}
    slow = ThreadPoolExecutor(1)
    waiting = {task.name: slow.submit(asked["Tumult"], task) for task in chosen}
    asked["Tumult"] = lambda task: waiting[task.name].result()
    if folder is None:
        return asked
    named = ["git", "-C", str(folder), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(named, capture_output=True, text=True, check=True).stdout.strip()
    return {f"tacit at {commit}": lambda task: before(times(task, REPETITIONS), folder), **asked}


def compared(task: Task, quick: bool, others: Mapping[str, Answers]) -> Table:
    print(task.name, file=sys.stderr, flush=True)
    own, *rest = contestants(task, quick, others)
    errors = {one["statistic"]: one["error"] for one in own}
    rows = [one for made in (own, *rest) for one in made]
    for one in rows:
        if one["who"] != "tacit" and "error" in one:
            one["ratio"] = one["error"] / errors[one["statistic"]] if errors[one["statistic"]] else math.inf
    rows.sort(key=lambda one: [*errors, ""].index(one["statistic"]))
    return Table(f"{task.name}, ε {task.epsilon:g}, δ {task.delta:g}", COLUMNS, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument(
        "--before", type=Path, help="a checkout of the commit to compare with, its environment in .venv"
    )
    parser.add_argument("--without", action="append", default=[], choices=PEERS, help="a peer that is not to be asked")
    parser.add_argument("--task", action="append", default=[], help="only tasks with this in their name; not kept")
    arguments = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    chosen = [one for one in tasks(FOLDER) if not arguments.task or any(part in one.name for part in arguments.task)]
    others = everybody(chosen, arguments.quick, arguments.before, arguments.without)
    tables = [compared(task, arguments.quick, others) for task in chosen]
    publish("accuracy_statements", tables, quick=arguments.quick or bool(arguments.task))


if __name__ == "__main__":
    main()
