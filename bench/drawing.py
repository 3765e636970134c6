"""What drawing apart costs: small questions of one open table, drawn in another process and in this one, in turns.

CPU is that of both processes together. The first question includes the start of the process.
"""

import argparse
import os
import random
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import tacit
from measure import AtMost, Timing
from startup import BY_CITY, COUNT, furnish
from tables import Column, Table, comparison, publish, seconds, verdict
from tacit.tables.engines import access
from tacit.work.apart import Apart

LIMIT = AtMost(1.2)
COLUMNS = (
    Column("who", ""),
    Column("best", "CPU", seconds),
    Column("tacit", "tacit"),
    Column("target", "target"),
    Column("met", "met", verdict),
    Column("note", "note"),
)


def cpu(table: Any) -> float:
    """Of this process and of the one that draws, if there is one."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    total = used.ru_utime + used.ru_stime
    worker = table._access._worker
    if isinstance(worker, Apart) and worker._child is not None:
        fields = Path(f"/proc/{worker._child.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def opened(folder: Path, apart: bool) -> Any:
    """A table whose first question has been asked."""
    access.APART = apart
    table = tacit.open(folder / "visits.toml", ledger=tacit.InMemory(), analyst="bench")
    table.sql(COUNT, epsilon="0.01")
    return table


def asked(table: Any, sql: str, times: int) -> tuple[float, float]:
    """CPU and wall of one question, over a number of them: the other process tells its time in hundredths only."""
    before, began = cpu(table), time.perf_counter()
    for _ in range(times):
        table.sql(sql, epsilon="0.01", delta="1e-9", fresh=True)
    return (cpu(table) - before) / times, (time.perf_counter() - began) / times


def questions(rounds: int, times: int) -> Table:
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        furnish(Path(folder))
        tables = [opened(Path(folder), True), opened(Path(folder), False)]
        for name, sql in (("a count", COUNT), ("count and mean by city", BY_CITY)):
            laps = [[asked(table, sql, times) for table in tables] for _ in range(rounds)]
            ours, here = (
                Timing(
                    who,
                    f"best of {rounds} rounds of {times}",
                    min(lap[at][0] for lap in laps),
                    laps[0][at][0],
                    rounds,
                    wall=min(lap[at][1] for lap in laps),
                )
                for at, who in enumerate((f"{name}, drawn by another process", f"{name}, drawn here"))
            )
            rows += [comparison(ours, ours, None), comparison(ours, here, LIMIT)]
        for table in tables:
            table.close()
    return Table("questions to an open table of a thousand rows", COLUMNS, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    quick = parser.parse_args().quick
    random.seed(1)
    publish("drawing", [questions(3 if quick else 8, 20 if quick else 50)], quick=quick)


if __name__ == "__main__":
    main()
