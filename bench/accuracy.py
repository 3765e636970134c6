"""How far private answers are off: ours next to the peers', on the same tables, at the same price.

Everybody gets the same rows, unit, contribution limits, bounds, public keys and ε; the tables keep the limits, so that
nobody's choice of rows matters and the exact statistic is the truth for all. Answers of everybody are clipped to what
the bounds allow. The error is the mean absolute one over the repetitions (and the groups). Ours is asked through a
session each time, with its interval, which the peers do not give; where an interval costs a share of the price, as
with a median, both are measured, and what is compared is the answer without one.
"""

import argparse
import csv
import json
import math
import statistics
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import visits
from accuracy_worker import Task
from bounding import FOLDER
from peers import ROOT, Unavailable, environment
from tables import Column, Table, digits, publish, verdict

ADULT = ROOT.parent / "shared" / "data" / "adult.data"
ADULT_COLUMNS = ("age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation")
ADULT_COLUMNS += ("relationship", "race", "sex", "capital_gain", "capital_loss", "hours", "country", "income")
USERS, CITIES, GROUPS, ROWS = 5000, 20, 3, 2
DELTA = 1e-6
PRICES = (1.0, 0.1)
REPETITIONS, THEIRS, SLOW, QUICK = 400, 100, 50, 20
WITH_INTERVAL = "tacit, interval paid for too"
ALLOWANCE = 3.0
"""Standard errors of the difference: within so many of them two errors are the same as far as this run can tell."""
LIMIT = 3000
ERRORS = (
    Column("who", ""),
    Column("error", "mean error", digits),
    Column("spread", "±", digits),
    Column("ratio", "next to tacit", lambda r: f"{digits(r)}×"),
    Column("repetitions", "asked"),
    Column("target", "target"),
    Column("met", "met", verdict),
    Column("note", "note"),
)
PEERS = {
    "OpenDP": ("opendp", "accuracy_opendp.py"),
    "PipelineDP": ("pipeline_dp", "accuracy_pipelinedp.py"),
    "SmartNoise": ("snsql", "accuracy_smartnoise.py"),
    "Tumult": ("tmlt", "accuracy_tumult.py"),
}


@dataclass(frozen=True)
class Measured:
    """The error of one contestant, or why there is none."""

    who: str
    error: float = math.nan
    spread: float = math.nan
    repetitions: int = 0
    note: str = ""


def adult(folder: Path) -> list[Task]:
    """Each row is a person. A statistic of each kind of Adult's 32 561 rows."""
    if not ADULT.exists():
        return []
    path = folder / "adult.csv"
    with ADULT.open(encoding="utf-8", newline="") as file:
        rows = [[cell.strip() for cell in row] for row in csv.reader(file) if len(row) == len(ADULT_COLUMNS)]
    written(path, ADULT_COLUMNS, rows)
    keys = sorted({row[ADULT_COLUMNS.index("education")] for row in rows})
    base = Task("", str(path), "", "", None, 1, 1, None, [], 0, 0, 1, 1, DELTA, REPETITIONS)
    age, hours, weight = {"low": 17, "high": 90}, {"low": 1, "high": 99}, {"low": 0, "high": 1_500_000, "step": 50}
    return [
        replace(base, name="Adult: median weight", kind="median", column="fnlwgt", **weight),
        replace(base, name="Adult: mean age", kind="mean", column="age", **age),
        replace(base, name="Adult: variance of age", kind="variance", column="age", **age),
        replace(base, name="Adult: distinct ages", kind="distinct", column="age", **age),
        replace(
            base, name="Adult: mean hours by education", kind="mean", column="hours", by="education", keys=keys, **hours
        ),
    ]


def visited(folder: Path) -> list[Task]:
    """A person has up to three cities with up to two rows each: the table of the other benches, cut to that."""
    made = visits.arrays(USERS)
    names, path = visits.names(), folder / "few_visits.csv"
    held: dict[int, dict[int, int]] = {}
    rows = []
    for user, city, spend in zip(made["user_id"].tolist(), made["city"].tolist(), made["spend"].tolist(), strict=True):
        own = held.setdefault(user, {})
        if city >= CITIES or (city not in own and len(own) == GROUPS) or own.get(city, 0) == ROWS:
            continue
        own[city] = own.get(city, 0) + 1
        rows.append((user, names[city], spend))
    written(path, ("user_id", "city", "spend"), rows)
    base = Task("", str(path), "", "spend", "user_id", 1, GROUPS * ROWS, None, [], 0, 200, 0.01, 1, DELTA, REPETITIONS)
    by_city = replace(base, by="city", keys=names[:CITIES], groups=GROUPS, rows=ROWS)
    return [
        replace(base, name="visits: median spend", kind="median"),
        replace(base, name="visits: mean spend", kind="mean"),
        replace(base, name="visits: variance of spend", kind="variance"),
        replace(base, name="visits: distinct people", kind="distinct", column="user_id"),
        replace(base, name="visits: distinct cities", kind="distinct", column="city"),
        replace(by_city, name="visits: mean spend by city", kind="mean"),
    ]


def written(path: Path, header: tuple[str, ...], rows: list[Any]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def truth(task: Task) -> list[float]:
    """The exact statistic of the rows."""
    with open(task.data, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    if task.kind == "distinct":
        return [float(len({row[task.column] for row in rows}))]
    exact = {"median": np.median, "mean": np.mean, "variance": np.var}[task.kind]
    parts = [[row for row in rows if row[task.by] == key] for key in task.keys] if task.by else [rows]
    return [float(exact(np.clip([float(row[task.column]) for row in part], task.low, task.high))) for part in parts]


def policy(task: Task) -> str:
    """What the peers are told too: the unit, the limits, the bounds, the step of the values, the keys."""
    columns = {} if task.unit is None else {task.unit: 'type = "integer", role = "identifier"'}
    if task.by:
        columns[task.by] = f'type = "text", role = "public", keys = {json.dumps(task.keys, ensure_ascii=False)}'
    if task.kind != "distinct":
        kind = "integer" if task.step >= 1 else "real"
        bounds = f"bounds = [{task.low:g}, {task.high:.10g}], granule = {task.step:g}"
        columns[task.column] = f'type = "{kind}", role = "private", {bounds}'
    columns.setdefault(task.column, 'type = "text", role = "private"')
    lines = [f'version = 1\nsource = "{Path(task.data).name}"\ntable = "rows"', f'unit = "{task.unit or "row"}"']
    lines += [f"[limits]\ngroups = {task.groups}\nrows = {task.rows}"] if task.unit else []
    lines += [f"[budget]\nepsilon = {1000 * task.epsilon:g}\ndelta = 0.5\nquestion_delta = {task.delta:g}\n[columns]"]
    return "\n".join([*lines, *(f"{name} = {{ {said} }}" for name, said in columns.items())]) + "\n"


def ours(task: Task, *, interval: bool) -> list[list[float]]:
    """Asked through a session, afresh each time."""
    import tacit

    statistic = {
        "median": f"MEDIAN({task.column}{'' if interval else ', interval_share => 0'})",
        "mean": f"AVG({task.column})",
        "variance": f"VAR_POP({task.column})",
        "distinct": f"COUNT(DISTINCT {task.column})",
    }[task.kind]
    written_down = Path(task.data).with_suffix(".toml")
    written_down.write_text(policy(task), encoding="utf-8")
    table = tacit.open(written_down, ledger=tacit.InMemory())
    tail = f" GROUP BY {task.by}" if task.by else ""
    sql = f"SELECT {f'{task.by}, ' if task.by else ''}{statistic} AS answer FROM {table.policy.table}{tail}"
    made = []
    for _ in range(task.repetitions):
        rows = table.sql(sql, epsilon=str(task.epsilon), fresh=True).rows()
        found = {row[task.by] if task.by else "all": float(row["answer"]) for row in rows}
        made.append([found[key] for key in task.keys or ["all"]])
    table.close()
    return made


def theirs(peer: str, task: Task) -> list[list[float]]:
    package, script = PEERS[peer]
    command = [str(environment(package)), "-W", "ignore", str(ROOT / "bench" / script)]
    done = subprocess.run(
        command, input=json.dumps(asdict(task)), capture_output=True, text=True, check=False, timeout=LIMIT
    )
    if done.returncode:
        raise Unavailable((done.stderr.strip().splitlines() or ["no reason given"])[-1][:200])
    found: list[list[float]] = json.loads(done.stdout)
    return found


def measured(who: str, task: Task, released: list[list[float]]) -> Measured:
    """The mean absolute error and its standard error."""
    exact = np.array(truth(task))
    low, high = (0.0, math.inf) if task.kind == "distinct" else (task.low, task.high)
    if task.kind == "variance":
        low, high = 0.0, ((task.high - task.low) / 2) ** 2
    off = np.abs(np.clip(np.array(released), low, high) - exact).mean(axis=1)
    return Measured(who, float(off.mean()), float(off.std(ddof=1)) / math.sqrt(len(off)), len(off))


def contestants(task: Task, quick: bool) -> Iterator[Measured]:
    own = replace(task, repetitions=QUICK if quick else REPETITIONS)
    yield measured("tacit", task, ours(own, interval=task.kind != "median"))
    if task.kind == "median":
        yield measured(WITH_INTERVAL, task, ours(own, interval=True))
    for peer in PEERS:
        times = QUICK if quick else THEIRS if peer == "OpenDP" else SLOW
        try:
            yield measured(peer, task, theirs(peer, replace(task, repetitions=times)))
        except (Unavailable, subprocess.TimeoutExpired) as failure:
            yield Measured(peer, note=str(failure).removeprefix("NotImplementedError: "))


def compared(task: Task, quick: bool) -> Table:
    """One line per contestant. The target: not worse than the best peer, as far as chance allows to tell."""
    print(f"{task.name}, ε {task.epsilon:g}", file=sys.stderr, flush=True)
    own, *others = contestants(task, quick)
    rows = [row(own, own)]
    known = [one for one in others if one.repetitions and one.who in PEERS]
    best = min(known, key=lambda one: one.error, default=None)
    for one in others:
        rows.append(row(one, own))
        if one is best:
            slack = ALLOWANCE * math.hypot(own.spread, one.spread)
            rows[-1] |= {"target": "error ≤ this", "met": own.error <= one.error + slack}
    return Table(f"{task.name}, ε {task.epsilon:g}, δ {task.delta:g}; exact: {shown(truth(task))}", ERRORS, rows)


def row(one: Measured, own: Measured) -> dict[str, Any]:
    if not one.repetitions:
        return {"who": one.who, "note": one.note}
    made = {"who": one.who, "error": one.error, "spread": one.spread, "repetitions": one.repetitions}
    return made if one is own else made | {"ratio": one.error / own.error if own.error else math.inf}


def shown(exact: list[float]) -> str:
    return f"{exact[0]:.6g}" if len(exact) == 1 else f"{len(exact)} groups, {statistics.fmean(exact):.4g} on average"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--task", action="append", default=[], help="only tasks with this in their name; not kept")
    arguments = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    tasks = [*adult(FOLDER), *visited(FOLDER)]
    if not ADULT.exists():
        print(f"Adult is skipped: there is no {ADULT}")
    chosen = [task for task in tasks if not arguments.task or any(part in task.name for part in arguments.task)]
    tables = [compared(replace(task, epsilon=epsilon), arguments.quick) for epsilon in PRICES for task in chosen]
    publish("accuracy", tables, quick=arguments.quick or bool(arguments.task))


if __name__ == "__main__":
    main()
