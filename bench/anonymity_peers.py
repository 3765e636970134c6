"""What a peer does for `anonymity.py`, in its own environment; imports nothing of ours.

Gets one task as JSON on standard input, prints its CPU seconds and what it found.
"""

import contextlib
import csv
import io
import json
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd

SECRET = "salary-class"


def main() -> None:
    task = json.load(sys.stdin)
    quasi: list[str] = task["quasi"]
    frame = pd.read_csv(task["data"], sep=";")
    action = ACTIONS[task["what"]](frame, quasi, task)
    with contextlib.redirect_stdout(io.StringIO()):  # anjana prints as it goes
        start = time.process_time()
        found = action()
        seconds = time.process_time() - start
        value = AFTER.get(task["what"], lambda _frame, _quasi, found, _task: float(found))(frame, quasi, found, task)
    json.dump({"seconds": seconds, "value": value}, sys.stdout)


def canon(name: str) -> Any:
    def prepare(frame: Any, quasi: list[str], task: dict[str, Any]) -> Any:
        import pycanon.anonymity

        measure = getattr(pycanon.anonymity, name)
        return (lambda: measure(frame, quasi)) if name == "k_anonymity" else (lambda: measure(frame, quasi, [SECRET]))

    return prepare


def canon_read(frame: Any, quasi: list[str], task: dict[str, Any]) -> Any:
    import pycanon.anonymity

    return lambda: pycanon.anonymity.k_anonymity(pd.read_csv(task["data"], sep=";"), quasi)


def mondrian(frame: Any, quasi: list[str], task: dict[str, Any]) -> Any:
    from anonypy.mondrian import Mondrian

    for name in quasi:
        if name != "age":
            frame[name] = frame[name].astype("category")
    return lambda: Mondrian(frame, quasi, SECRET).partition(task["k"])


def parts(frame: Any, quasi: list[str], found: Any, task: dict[str, Any]) -> list[list[int]]:
    return [part.tolist() for part in found]


def full_domain(frame: Any, quasi: list[str], task: dict[str, Any]) -> Any:
    from anjana.anonymity import k_anonymity

    frame["age"] = frame["age"].astype(str)
    trees = {}
    for name in quasi:
        with (Path(task["hierarchies"]) / f"{name}.csv").open(encoding="utf-8") as file:
            lines = list(csv.reader(file, delimiter=";"))
        trees[name] = {level: [line[level] for line in lines] for level in range(len(lines[0]))}
    return lambda: k_anonymity(frame, [], quasi, task["k"], task["suppress"], trees)


def levels(frame: Any, quasi: list[str], found: Any, task: dict[str, Any]) -> dict[str, Any]:
    """The rows that remain, as they are written."""
    return {name: found[name].astype(str).tolist() for name in quasi}


ACTIONS = {
    "k": canon("k_anonymity"),
    "l": canon("l_diversity"),
    "t": canon("t_closeness"),
    "k and reading": canon_read,
    "mondrian": mondrian,
    "full-domain": full_domain,
}
AFTER = {"mondrian": parts, "full-domain": levels}

if __name__ == "__main__":
    main()
