"""The task that a peer answers for `accuracy.py`, and the loop that a peer's script runs; imports nothing else.

A script gets one task as JSON on standard input and prints its answers: one list per repetition, one number per group.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Task:
    """One statistic of one table at one price; the same for everybody."""

    name: str
    data: str
    """A file of comma-separated values, with a header."""
    kind: str
    """median, mean, variance, or distinct; of `accuracy_statements.py` count and mean, moments, quartiles, or cube."""
    column: str
    unit: str | None
    """The column that names a person; None where each row is one."""
    groups: int
    """A person is in at most so many groups,"""
    rows: int
    """with at most so many rows in each. The table keeps both limits, so that nobody's choice of rows matters."""
    by: str | None
    keys: list[str]
    low: float
    high: float
    step: float
    """Values are multiples of it."""
    epsilon: float
    delta: float
    repetitions: int


KINDS = ["new", "old"]


def sets(task: Task) -> list[Task]:
    """The counts that a cube of city and kind is made of, at a quarter of ε each; who has one kind keeps to it."""
    each = replace(task, kind="count", epsilon=task.epsilon / 4)
    in_all = {"groups": 1, "rows": task.groups * task.rows}
    both = replace(each, by="city_kind", keys=[f"{city}|{kind}" for city in task.keys for kind in KINDS])
    return [both, each, replace(each, by="kind", keys=KINDS, **in_all), replace(each, by=None, keys=[], **in_all)]


def serve(answers: Callable[[Task], list[Any]]) -> None:
    task = Task(**json.load(sys.stdin))
    json.dump(answers(task), sys.stdout)
