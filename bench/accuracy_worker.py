"""The task that a peer answers for `accuracy.py`, and the loop that a peer's script runs; imports nothing else.

A script gets one task as JSON on standard input and prints its answers: one list per repetition, one number per group.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    """One statistic of one table at one price; the same for everybody."""

    name: str
    data: str
    """A file of comma-separated values, with a header."""
    kind: str
    """median, mean, variance, or distinct."""
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


def serve(answers: Callable[[Task], list[list[float]]]) -> None:
    task = Task(**json.load(sys.stdin))
    json.dump(answers(task), sys.stdout)
