"""How fits of synthetic tables grow: with rows, columns, and the number of values of a column; time and memory.

Columns of a hidden class of four. CPU seconds: reading and counting the rows, all else of the fit, drawing 50 000 rows.
Memory is the peak of a process of its own, above what it takes to have the frame.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np

from tables import Column, Table, publish, seconds, verdict

GROWTH = (
    Column("what", ""),
    Column("size", "size"),
    Column("method", "method"),
    Column("counting", "counting", seconds),
    Column("fitting", "fitting", seconds),
    Column("drawing", "50 000 rows", seconds),
    Column("megabytes", "MB", lambda value: f"{value:.0f}"),
    Column("target", "target"),
    Column("met", "met", verdict),
)
DRAWN = 50_000


def table(rows: int, sizes: list[int]) -> Any:
    """Columns that hang together by a hidden class of four."""
    random = np.random.default_rng(1)
    hidden = random.integers(0, 4, rows)
    made = {}
    for at, size in enumerate(sizes):
        own = random.integers(0, max(1, size // 2), rows)
        made[f"c{at}"] = ((hidden * size // 4 + own) % size).astype(np.int32)
    return made


def sizes_of(columns: int) -> list[int]:
    return [int(one) for one in np.random.default_rng(1).choice([2, 5, 10, 30, 100], columns)]


class Timed:
    """Rows that know how long they were counted."""

    def __init__(self, rows: Any) -> None:
        self._rows, self.reach, self.seconds = rows, rows.reach, 0.0

    def counted(self, tables: Any, maps: Any) -> Any:
        start = time.process_time()
        found = self._rows.counted(tables, maps)
        self.seconds += time.process_time() - start
        return found


def measured(method: str, rows: int, sizes: list[int], memory: int) -> dict[str, Any]:
    """One fit, in this process."""
    import tacit.synth
    from tacit.synth.counts.counting import FrameRows

    frame = table(rows, sizes)
    listed = (
        tacit.synth.Listed(name, tuple(range(size)), ordered=size > 20) for name, size in zip(frame, sizes, strict=True)
    )
    domain = tacit.synth.Domain(tuple(listed))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    counting = Timed(FrameRows(domain.measured(), frame))
    reading = time.process_time() - start
    made = getattr(tacit.synth, method)(epsilon=1, delta="1e-9", memory=memory).made(counting, domain)
    middle = time.process_time()
    made.sample(DRAWN, seed=1)
    end = time.process_time()
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    counted = reading + counting.seconds
    return {"counting": counted, "fitting": middle - start - counted, "drawing": end - middle, "megabytes": peak}


def apart(method: str, rows: int, sizes: list[int], memory: int = 1024) -> dict[str, Any]:
    """The same in a process of its own, so that its memory is its own."""
    task = json.dumps([method, rows, sizes, memory])
    done = subprocess.run([sys.executable, __file__, "--task", task], capture_output=True, text=True, check=True)
    print(f"{method}, {rows:,} rows, {len(sizes)} columns of at most {max(sizes):,} values: {done.stdout}", flush=True)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def growth(quick: bool) -> list[dict[str, Any]]:
    found = []
    for rows in (10**4, 10**5) if quick else (10**4, 10**5, 10**6, 10**7):
        line = apart("Pairs", rows, sizes_of(10))
        found.append({"what": "rows, 10 columns", "size": rows, "method": "Pairs"} | line)
    for columns in (10, 30) if quick else (10, 30, 100):
        line = {"what": "columns, 50 000 rows", "size": columns, "method": "Pairs"}
        line |= apart("Pairs", 50_000, sizes_of(columns))
        if columns == 100:
            line |= {"target": "≤ 60 s", "met": line["counting"] + line["fitting"] + line["drawing"] <= 60}
        found.append(line)
    for method in ("MST", "Independent"):
        line = apart(method, 50_000, sizes_of(30 if quick else 100))
        found.append({"what": "columns, 50 000 rows", "size": 30 if quick else 100, "method": method} | line)
    for size in (10, 100) if quick else (10, 100, 1000, 10_000):
        line = apart("Pairs", 50_000, [size] * 10)
        found.append({"what": "values, 10 columns", "size": size, "method": "Pairs"} | line)
    for memory in (64, 512):
        line = apart("AIM", 50_000, sizes_of(10), memory)
        found.append({"what": "memory= of AIM, 10 columns", "size": memory, "method": "AIM"} | line)
    for memory in (16, 256):
        line = apart("Pairs", 50_000, [100] * 60, memory)
        found.append({"what": "memory= of Pairs, 60 columns", "size": memory, "method": "Pairs"} | line)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--task", help="one fit, as JSON: what the bench asks of itself")
    given = parser.parse_args()
    if given.task:
        json.dump(measured(*json.loads(given.task)), sys.stdout)
        return
    publish("synthesis_growth", [Table("growth", GROWTH, growth(given.quick))], quick=given.quick)


if __name__ == "__main__":
    main()
