"""k-anonymity and its kin next to pycanon, anonypy, anjana and plain DuckDB, on Adult and on rows made of it.

CPU seconds, all threads. Peers run in an environment of their own and time themselves; ours and theirs take turns. They
have the table in a pandas frame, we in a Parquet file that is open; one race begins with the CSV for both. Losses are
the mean share of leaves merged, computed here for everybody from what they release.
"""

import argparse
import csv
import itertools
import json
import subprocess
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from measure import AtMost, Contestant, Faster, Target, Timing, race, reason
from peers import ROOT, Unavailable, environment
from tables import Column, Table, comparison, digits, publish, seconds, verdict
from tacit.anonymity import FullDomain, Hierarchy, Limits, Mondrian, check, enforce, mondrian, read
from tacit.anonymity.domains import table_of

FOLDER = ROOT / ".bench-anonymity"
SHARED = ROOT.parent / "shared" / "data"
ADULT, TREES = SHARED / "adult_nine_columns.csv", SHARED / "adult_hierarchies"
QUASI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")
SECRET = "salary-class"
LIMIT = 600
TIMES = (
    Column("who", ""),
    Column("best", "CPU", seconds),
    Column("tacit", "tacit"),
    Column("target", "target"),
    Column("met", "met", verdict),
    Column("note", "note"),
)
QUALITY = (
    Column("who", ""),
    Column("classes", "classes", digits),
    Column("loss", "loss", lambda value: f"{value:.4f}"),
    Column("suppressed", "suppressed", lambda value: f"{100 * value:.1f}%"),
    Column("tried", "tried"),
    Column("target", "target"),
    Column("met", "met", verdict),
)


def peer(what: str, **more: Any) -> tuple[float, Any]:
    """CPU seconds of a peer, and what it found."""
    task = {"what": what, "data": str(ADULT), "quasi": list(QUASI), **more}
    command = [str(environment("anjana")), "-W", "ignore", str(ROOT / "bench" / "anonymity_peers.py")]
    done = subprocess.run(command, input=json.dumps(task), capture_output=True, text=True, check=False, timeout=LIMIT)
    if done.returncode:
        raise Unavailable((done.stderr.strip().splitlines() or ["no reason given"])[-1][:200])
    found = json.loads(done.stdout)
    return found["seconds"], found["value"]


def against(name: str, ours: Callable[[], Any], theirs: str, rounds: int, **more: Any) -> tuple[list[Timing], Any]:
    """Ours and a peer's task, in turns: the best of each, and the peer's answer."""
    laps: dict[str, list[float]] = {"tacit": [], name: []}
    value: Any = None
    failure = ""
    for _ in range(rounds):
        for _ in range(5):  # ours is over in milliseconds
            start = time.process_time()
            ours()
            laps["tacit"].append(time.process_time() - start)
        if not failure:
            try:
                spent, value = peer(theirs, **more)
                laps[name].append(spent)
            except Exception as error:
                failure = reason(error)
    mine = Timing("tacit", "", min(laps["tacit"]), laps["tacit"][0], len(laps["tacit"]))
    if failure:
        return [mine, Timing(name, "", failure=failure)], None
    return [mine, Timing(name, "", min(laps[name]), laps[name][0], len(laps[name]))], value


def rows_of(timed: list[Timing], target: Target | None) -> list[dict[str, Any]]:
    return [comparison(timed[0], one, target if one is not timed[0] else None) for one in timed]


def checks(path: Path, rounds: int) -> Table:
    """k, l and t; ours measures all of them whenever a sensitive column is named."""
    found: list[dict[str, Any]] = []
    with read(path) as rows:

        def alone() -> Any:
            return check(rows, quasi=QUASI)

        def everything() -> Any:
            return check(rows, quasi=QUASI, sensitive=[SECRET])

        measured = everything()
        right = {"k": measured.k, "l": measured.sensitive[SECRET].distinct_l, "t": measured.sensitive[SECRET].equal_t}
        for what, ours, target in (
            ("k", alone, Faster(10)),
            ("l", everything, Faster(50)),
            ("t", everything, Faster(100)),
        ):
            timed, value = against(f"pycanon, {what}", ours, what, rounds)
            if value is not None and abs(value - right[what]) > 1e-9:
                raise SystemExit(f"pycanon says {what} is {value}, we say {right[what]}")
            mine, theirs = rows_of(timed, target)
            found += [mine | {"who": f"tacit, {'k' if what == 'k' else f'everything, for {what}'}"}, theirs]
    timed, _ = against("pycanon, k, from the CSV", lambda: check(ADULT, quasi=QUASI), "k and reading", rounds)
    mine, theirs = rows_of(timed, None)
    found += [mine | {"who": "tacit, k, from the CSV"}, theirs]
    return Table("check of Adult: 30 162 rows, eight quasi-identifiers", TIMES, found, "the values agree")


def many(folder: Path, count: int) -> Path:
    """Adult people drawn again and again, their ages moved by up to two years: the same each time."""
    path = folder / f"many_{count}.parquet"
    if not path.exists():
        with duckdb.connect() as connection:
            connection.execute(
                f"CREATE TABLE a AS SELECT *, row_number() OVER () - 1 AS i "
                f"FROM read_csv('{ADULT}', delim = ';', all_varchar = true)"
            )
            names = ", ".join(f'"{name}"' for name in (*QUASI, SECRET) if name != "age")
            connection.execute(
                f"COPY (SELECT {names}, CAST(CAST(age AS INTEGER) + move AS VARCHAR) AS age FROM (SELECT "
                "CAST(hash(range) % 30162 AS BIGINT) AS i, CAST(hash(range + 1000000007) % 5 AS INTEGER) - 2 AS move "
                f"FROM range({count})) JOIN a USING (i)) TO '{path}'"
            )
    return path


def independent(folder: Path, count: int) -> Path:
    """As many values in each column as Adult has, but drawn by themselves: nearly every row is unique."""
    path = folder / f"independent_{count}.parquet"
    if not path.exists():
        kinds = dict(zip((*QUASI, SECRET), (2, 72, 5, 7, 16, 41, 7, 14, 2), strict=True))
        columns = (
            f'CAST(hash(range + {place * 1000000007}) % {many} AS VARCHAR) AS "{name}"'
            for place, (name, many) in enumerate(kinds.items())
        )
        with duckdb.connect() as connection:
            connection.execute(f"COPY (SELECT {', '.join(columns)} FROM range({count})) TO '{path}'")
    return path


def large(path: Path, count: int, rounds: int, what: str, target: AtMost | None) -> Table:
    by = ", ".join(f'"{name}"' for name in QUASI)

    def plain() -> Callable[[], Any]:
        connection = duckdb.connect()
        statement = f"SELECT min(n) FROM (SELECT count(*) AS n FROM '{path}' GROUP BY {by})"
        return lambda: connection.execute(statement).fetchall()

    def everything() -> Callable[[], Any]:
        rows = read(path)
        return lambda: check(rows, quasi=QUASI, sensitive=[SECRET])

    timed = race(
        [
            Contestant("tacit, everything", everything, rounds=rounds),
            Contestant("DuckDB, plain GROUP BY", plain, rounds=rounds),
        ]
    )
    return Table(f"check of {count:,} {what}", TIMES, rows_of(timed, target))


def loss_of_parts(parts: list[list[int]], codes: list[Any], is_number: list[bool]) -> float:
    """The mean share of leaves merged: sets of texts, intervals of numbers."""
    lost = 0.0
    for values, number in zip(codes, is_number, strict=True):
        leaves = int(values.max())  # places from 0 on
        for part in parts:
            mine = values[part]
            wide = int(mine.max() - mine.min()) if number else len(np.unique(mine)) - 1
            lost += wide / leaves * len(part)
    return lost / len(codes) / sum(map(len, parts))


def partitions(path: Path, larger: Path, count: int, quick: bool) -> list[Table]:
    tables = {}
    for name, source in (("Adult", path), ("large", larger)):
        with read(source) as rows:
            tables[name] = table_of(rows, QUASI, [SECRET], [], {})

    def cut(name: str) -> Callable[[], Any]:
        table = tables[name]
        sizes = tuple(len(domain) for domain in table.domains)
        return lambda: mondrian.split(table.codes, sizes, 10, mondrian.strict, None, True)

    timed, parts = against("anonypy, partitions", cut("Adult"), "mondrian", 1 if quick else 2, k=10)
    found = rows_of(timed, Faster(100))
    whole = race([Contestant("tacit, from the file to labels", lambda: lambda: released(path), rounds=3)])[0]
    found.append({"who": whole.name, "best": whole.best, "rounds": whole.rounds})
    bigger = race([Contestant(f"tacit, {count:,} rows", lambda: cut("large"), rounds=2)])[0]
    factor = bigger.best / timed[0].best
    target = f"≤ 60× the time of 30 162 (k = 10, {count:,} rows)"
    found.append(
        {
            "who": bigger.name,
            "best": bigger.best,
            "tacit": f"takes {digits(factor)}×",
            "target": target,
            "met": factor <= 60,
        }
    )
    with ADULT.open(encoding="utf-8") as file:
        people = list(csv.DictReader(file, delimiter=";"))
    codes = []
    for name in QUASI:
        values = [int(one[name]) if name == "age" else one[name] for one in people]
        places = {value: place for place, value in enumerate(sorted(set(values)))}
        codes.append(np.array([places[value] for value in values]))
    made = enforce(path, quasi=QUASI, sensitive=[SECRET], limits=Limits(k=10))
    quality: list[dict[str, Any]] = [
        {"who": "tacit", "classes": made.loss.classes, "loss": made.loss.share, "suppressed": 0.0}
    ]
    if parts is not None:
        loss = loss_of_parts(parts, codes, [name == "age" for name in QUASI])
        better = made.loss.classes >= len(parts) and made.loss.share <= loss
        target = "no fewer classes, no more loss"
        quality.append(
            {"who": "anonypy", "classes": len(parts), "loss": loss, "suppressed": 0.0, "target": target, "met": better}
        )
    return [
        Table("Mondrian to k = 10", TIMES, found),
        Table("Mondrian to k = 10 on Adult: what is lost", QUALITY, quality),
    ]


def released(path: Path) -> Any:
    return enforce(path, quasi=QUASI, sensitive=[SECRET], limits=Limits(k=10), method=Mondrian())


def try_all(
    lines: dict[str, list[list[str]]], people: list[dict[str, str]], k: int, most: Fraction
) -> tuple[float, float, int]:
    """Every combination of levels, grouped row by row: the least loss, the share it suppresses, how many were tried."""
    codes, nodes, losses = [], [], []
    for name in QUASI:
        places = {line[0]: place for place, line in enumerate(lines[name])}
        codes.append(np.array([places[one[name]] for one in people]))
        levels = []
        for level in range(len(lines[name][0])):
            _, node, count = np.unique([line[level] for line in lines[name]], return_inverse=True, return_counts=True)
            levels.append((node, (count[node] - 1) / (len(node) - 1)))
        nodes.append([node for node, _ in levels])
        losses.append([lost[codes[-1]] for _, lost in levels])
    best, share, tried = 2.0, 0.0, 0
    for levels_ in itertools.product(*(range(len(one)) for one in nodes)):
        tried += 1
        key = np.zeros(len(people), dtype=np.int64)
        for column, level in enumerate(levels_):
            node = nodes[column][level]
            key = key * (int(node.max()) + 1) + node[codes[column]]
        _, place, count = np.unique(key, return_inverse=True, return_counts=True)
        bad = count[place] < k
        if bad.sum() <= int(most * len(people)):
            each = sum(losses[column][level] for column, level in enumerate(levels_)) / len(QUASI)
            lost = float(np.where(bad, 1.0, each).mean())
            if lost < best:
                best, share = lost, float(bad.mean())
    return best, share, tried


def full_domain(path: Path, quick: bool) -> list[Table]:
    trees = {name: Hierarchy.read(TREES / f"{name}.csv") for name in QUASI}
    lines = {name: [list(line) for line in tree.lines] for name, tree in trees.items()}
    with ADULT.open(encoding="utf-8") as file:
        people = list(csv.DictReader(file, delimiter=";"))
    method = FullDomain(trees, suppress=0.1)
    made = enforce(path, quasi=QUASI, limits=Limits(k=5), method=method)
    optimum: tuple[float, float, int] = (float("nan"), 0.0, 0)

    def everything() -> Callable[[], Any]:
        def run() -> None:
            nonlocal optimum
            optimum = try_all(lines, people, 5, Fraction(1, 10))

        return run

    ours = Contestant(
        "tacit, from the file to labels", lambda: lambda: enforce(path, quasi=QUASI, limits=Limits(k=5), method=method)
    )
    timed = race([ours, *([] if quick else [Contestant("all combinations", everything, rounds=1)])])
    found = rows_of(timed, AtMost(1))
    row: dict[str, Any] = {"who": "tacit", "classes": made.loss.classes, "loss": made.loss.share}
    row |= {
        "suppressed": made.loss.suppressed_rows / len(people),
        "tried": f"{made.tried[0]} of {made.tried[1]}" if made.tried else "",
    }
    quality = [row | {"target": "loss ≤ 0.2284", "met": made.loss.share <= 0.2284}]
    if not quick:
        target = "the same loss"
        met = abs(optimum[0] - made.loss.share) < 1e-9
        quality.append(
            {
                "who": "all combinations",
                "loss": optimum[0],
                "suppressed": optimum[1],
                "tried": str(optimum[2]),
                "target": target,
                "met": met,
            }
        )
    for allowed in (10, 50):
        name = f"anjana, at most {allowed}% suppressed"
        try:
            spent, columns = peer("full-domain", k=5, suppress=allowed, hierarchies=str(TREES))
        except Exception as error:
            found.append({"who": name, "note": reason(error)})
            continue
        found.append({"who": name, "best": spent, "rounds": 1})
        quality.append({"who": name, **loss_of_labels(columns, lines, len(people))})
    return [
        Table("full-domain to k = 5, at most 10% suppressed", TIMES, found),
        Table("full-domain to k = 5 on Adult: what is lost", QUALITY, quality),
    ]


def loss_of_labels(columns: dict[str, list[str]], lines: dict[str, list[list[str]]], rows: int) -> dict[str, Any]:
    """What labels of hierarchies lose: each stands for the leaves below it."""
    kept = len(next(iter(columns.values())))
    lost = float(rows - kept) * len(QUASI)
    for name, labels in columns.items():
        below = {text: sum(text in line for line in lines[name]) for text in set(labels)}
        lost += sum((below[text] - 1) / (len(lines[name]) - 1) for text in labels)
    classes = len(set(zip(*columns.values(), strict=True)))
    return {"classes": classes, "loss": lost / len(QUASI) / rows, "suppressed": (rows - kept) / rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    if not ADULT.exists():
        raise SystemExit(f"{ADULT} is not here: this bench is about it")
    FOLDER.mkdir(exist_ok=True)
    adult = FOLDER / "adult.parquet"
    if not adult.exists():
        with duckdb.connect() as connection:
            scan = f"read_csv('{ADULT}', delim = ';', all_varchar = true)"
            connection.execute(f"COPY (SELECT * FROM {scan}) TO '{adult}'")
    rows, half = (10**6, 10**5) if quick else (10**7, 10**6)
    publish(
        "anonymity",
        [
            checks(adult, 1 if quick else 3),
            large(many(FOLDER, rows), rows, 1 if quick else 3, "rows", AtMost(2)),
            large(independent(FOLDER, half), half, 3, "rows of independent columns, nearly all of them unique", None),
            *partitions(adult, many(FOLDER, half), half, quick),
            *full_domain(adult, quick),
        ],
        quick=quick,
    )


if __name__ == "__main__":
    main()
