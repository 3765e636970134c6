"""A logistic model of a Parquet file, opened as a table: CPU seconds, peak memory, accuracy.

The fit is one request, paid from a ledger; the rows are streamed from the file to a
private folder as codes, and read again at every step. It is drawn in a process of its own: the peak is that process's
and that of the one that asks, added up.
"""

import json
import resource
import sys
from pathlib import Path

import tacit
from tacit import ApproxDP


def peak() -> tuple[int, int]:
    """Of this process and of the largest one that it started and waited for, in bytes.

    This one's is not taken from getrusage, which counts what the process that began it had at that moment.
    """
    mine = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return 1024 * int(mine.split()[1]), 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


def cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main() -> None:
    path = Path(sys.argv[1])
    names = [f"x{i}" for i in range(50)]
    start = cpu()
    people = tacit.open(
        path,
        unit=tacit.ROW,
        budget=ApproxDP(2, "1e-4"),
        bounds=dict.fromkeys(names, (-4, 4)),
        ledger=tacit.InMemory(),
        work=tacit.Work(seconds=3600),  # on a machine that does much else, a minute of CPU is many of the clock
    )
    model = tacit.learn.LogisticRegression(epsilon=1, delta="1e-5").fit(people, target="label")
    people.close()  # the process that drew has ended, and is counted
    spent = cpu() - start
    mine, theirs = peak()
    import pyarrow.parquet as pq  # after the peak was taken: only this bench needs it

    head = next(pq.ParquetFile(path).iter_batches(batch_size=50_000)).to_pandas()
    found = {
        "cpu": spent,
        "asking": mine,
        "drawing": theirs,
        "accuracy": float((model.predict(head[names]) == head["label"].to_numpy()).mean()),
        "steps": model.disclosure_["releases"][-1]["times"],
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
