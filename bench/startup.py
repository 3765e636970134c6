"""What it takes to begin: CPU time of the import, of the command and of a question, and megabytes on disk.

Import time is measured inside fresh interpreters, which take turns: CPU from just before the `import`
statement to just after it, so that the start of Python itself does not flatter the ratio. A question is asked of a
small CSV by the command, next to a script that imports the same packages and runs one DuckDB query; whole processes,
in turns, with the bytecode of both compiled by a run that is not timed.
"""

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from measure import AtMost, Timing
from peers import ENVIRONMENT, ROOT
from tables import Column, Table, comparison, publish, seconds, verdict

IMPORT_LIMIT = AtMost(1.6)
ASK_LIMIT = AtMost(1.6)
SIZE_LIMIT = 225.0  # MB over an empty environment, DuckDB and sqlglot included
ENGINES = ("duckdb", "sqlglot")
TACIT = (str(Path(sys.executable).parent / "tacit"),)

TIMED = "import time; start = time.process_time(); import {}; print(time.process_time() - start)"
LOADED = (
    "import sys; before = set(sys.modules); import tacit; "
    "print(*sorted({m.partition('.')[0] for m in sys.modules.keys() - before} - sys.stdlib_module_names))"
)

COUNT = "SELECT COUNT(*) AS n FROM visits"
BY_CITY = "SELECT city, COUNT(*) AS visits, AVG(spend) AS spend FROM visits GROUP BY city"
POLICY = """
version = 1
source = "visits.csv"
table = "visits"
unit = "user_id"
[budget]
epsilon = 1000
least = { epsilon = 1e-300 }
delta = 1e-6
[limits]
groups = 2
rows = 3
[columns]
user_id = { type = "text", role = "identifier" }
city = { type = "text", role = "private" }
spend = { type = "real", role = "private", bounds = [0, 100] }
"""
SCRIPT = """
import click, cryptography.hazmat.primitives.ciphers, duckdb, flint, numpy, sqlglot, sqlite3
print(duckdb.connect().execute({sql!r}).fetchall())
"""

VERDICT = (Column("target", "target"), Column("met", "met", verdict), Column("note", "note"))
TIMES = (Column("who", ""), Column("best", "CPU", seconds), Column("tacit", "tacit"), *VERDICT)
SIZES = (Column("who", ""), Column("size", "MB", "{:.0f}".format), *VERDICT)


def python(*arguments: str) -> str:
    """What a fresh interpreter prints."""
    command = [sys.executable, "-W", "ignore", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def import_seconds(module: str) -> float:
    return float(python("-c", TIMED.format(module)))


def child_seconds(command: list[str], folder: str | None = None) -> float:
    """CPU of a whole process, from start to end; it may write the bytecode of what it imports."""
    surroundings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, capture_output=True, check=True, cwd=folder, env=surroundings)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def imports(rounds: int) -> Table:
    subjects = ("tacit", "numpy")
    laps = [[import_seconds(subject) for subject in subjects] for _ in range(rounds)]
    ours, floor = (
        Timing(name, f"best of {rounds} interpreters", min(lap[i] for lap in laps), laps[0][i], rounds)
        for i, name in enumerate(("import tacit", "import numpy"))
    )
    loaded = {"who": "packages that import tacit loads", "note": python("-c", LOADED).strip()}
    rows = [comparison(ours, ours, None), comparison(ours, floor, IMPORT_LIMIT), loaded]
    return Table("import", TIMES, rows)


def commands(rounds: int) -> Table:
    """The whole process, the start of Python included."""
    subjects: dict[str, list[str]] = {
        "tacit --help": [*TACIT, "--help"],
        "python -c 'import tacit'": [sys.executable, "-c", "import tacit"],
        "python -c 'import numpy'": [sys.executable, "-c", "import numpy"],
        "python -c pass": [sys.executable, "-c", "pass"],
    }
    rows = [timed(name, partial(child_seconds, command), rounds) for name, command in subjects.items()]
    return Table("whole commands, from start to end", TIMES, rows)


def questions(rounds: int) -> Table:
    """`tacit ask` and the plain script, in turns; each question is paid for anew."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        furnish(Path(folder))
        for name, sql in (("a count", COUNT), ("count and mean by city", BY_CITY)):
            plain = sql.replace("FROM visits", "FROM 'visits.csv'")
            ask = [*TACIT, "ask", "visits.toml", sql, "--epsilon", "0.5", "--delta", "1e-9", "--fresh"]
            subjects = (ask, [sys.executable, "-c", SCRIPT.format(sql=plain)])
            laps = [[child_seconds(subject, folder) for subject in subjects] for _ in range(rounds + 1)][1:]
            ours, floor = (
                Timing(who, f"best of {rounds} processes", min(lap[i] for lap in laps), laps[0][i], rounds)
                for i, who in enumerate((f"tacit ask: {name}", "a script with one DuckDB query"))
            )
            rows += [comparison(ours, ours, None), comparison(ours, floor, ASK_LIMIT)]
    return Table("a question to a CSV of a thousand rows, from start to end", TIMES, rows)


def furnish(folder: Path) -> None:
    """visits.csv, of 300 people in eight cities, and visits.toml."""
    chance = random.Random(1)
    rows = [f"u{i % 300},city_{chance.randrange(8)},{chance.uniform(0, 100):.2f}" for i in range(1000)]
    (folder / "visits.csv").write_text("\n".join(["user_id,city,spend", *rows, ""]), encoding="utf-8")
    (folder / "visits.toml").write_text(POLICY, encoding="utf-8")


def timed(name: str, action: Callable[[], float], rounds: int) -> dict[str, Any]:
    try:
        return {"who": name, "best": min(action() for _ in range(rounds)), "note": f"best of {rounds}"}
    except subprocess.CalledProcessError as error:
        last = (error.stderr or b"").decode().strip().splitlines()[-1:]
        return {"who": name, "note": f"failed: {' '.join(last)}"}


def installed_size() -> Table:
    """A fresh environment with the base install and the engine, over the same environment when empty."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        empty = megabytes(folder)
        constraints = ["--constraint", str(ENVIRONMENT / "constraints.txt")]
        for who, packages in (
            ("base install", [str(ROOT)]),
            ("with duckdb and sqlglot", [str(ROOT), *ENGINES]),
        ):
            pip = [f"{folder}/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            done = subprocess.run([*pip, *constraints, *packages], capture_output=True, text=True, check=False)
            row: dict[str, Any] = {"who": who}
            if done.returncode:
                row["note"] = done.stderr.strip().splitlines()[-1]
            else:
                row["size"] = megabytes(folder) - empty
            rows.append(row)
        rows[-1]["target"] = f"≤ {SIZE_LIMIT:g} MB"
        if "size" in rows[-1]:
            rows[-1] |= {"met": rows[-1]["size"] <= SIZE_LIMIT, "note": largest(folder)}
    return Table("installed size over an empty environment", SIZES, rows)


def megabytes(folder: str | Path) -> float:
    path = Path(folder)
    return sum(file.lstat().st_blocks * 512 for file in (path, *path.rglob("*"))) / 1e6


def largest(folder: str) -> str:
    """The heaviest entries of site-packages."""
    packages = next(Path(folder).glob("lib/python*/site-packages"))
    sizes = {entry.name: megabytes(entry) for entry in packages.iterdir() if entry.name != "pip"}
    heavy = sorted(sizes, key=lambda name: -sizes[name])[:6]
    return ", ".join(f"{name} {sizes[name]:.0f}" for name in heavy)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    quick = parser.parse_args().quick
    rounds = 8 if quick else 40
    few = max(3, rounds // 4)
    publish("startup", [imports(rounds), commands(few), questions(few), installed_size()], quick=quick)


if __name__ == "__main__":
    main()
