"""What a peer does for `synthesis.py`, in its own environment; imports nothing of ours.

Gets one task as JSON on standard input, writes the rows it made as an array, prints its CPU seconds.
"""

import contextlib
import io
import json
import sys
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd


def main() -> None:
    task = json.load(sys.stdin)
    frame = pd.read_csv(task["data"])
    with open(task["domain"], encoding="utf-8") as file:
        domain = json.load(file)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        start = time.process_time()
        made = dpmm(frame, domain, task)
        seconds = time.process_time() - start
    np.save(task["out"], made[list(frame.columns)].to_numpy().astype(np.int64), allow_pickle=False)
    json.dump({"seconds": seconds}, sys.stdout)


def dpmm(frame: Any, domain: Any, task: dict[str, Any]) -> Any:
    """Columns as categories, so that nothing is spent beyond the stated ε."""
    import dpmm.pipelines

    kind = getattr(dpmm.pipelines, f"{task['method']}Pipeline")
    pipeline = kind(epsilon=task["epsilon"], delta=task["delta"], n_jobs=1, disable_processing=True)
    pipeline.fit(frame, domain=domain)
    return pipeline.generate(n_records=len(frame))


if __name__ == "__main__":
    main()
