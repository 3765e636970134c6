"""What a statement took, counted by the engine itself: the same on every machine, however fast it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["PROFILED", "Work"]

PROFILED = "EXPLAIN (ANALYZE, FORMAT JSON) "
"""Before a statement: runs it, and gives the counts of its operators instead of its rows."""


@dataclass(frozen=True, slots=True)
class Work:
    """Counts of all operators together. Private: they depend on rows as the answer does, so nobody else is told."""

    rows: int
    """Rows that operators gave to the next."""
    scanned: int
    """Rows that were read from sources."""
    memory: int
    """Bytes that were set aside."""
    steps: int
    """Operators."""

    @classmethod
    def of_profile(cls, text: str) -> Work:
        """From the engine's own JSON."""
        whole = json.loads(text)
        return cls(
            rows=int(whole["cumulative_cardinality"]),
            scanned=int(whole["cumulative_rows_scanned"]),
            memory=int(whole["total_memory_allocated"]),
            steps=sum(1 for _ in _operators(whole)),
        )

    def __add__(self, other: Work) -> Work:
        return Work(
            self.rows + other.rows,
            self.scanned + other.scanned,
            self.memory + other.memory,
            self.steps + other.steps,
        )

    def to_dict(self) -> dict[str, int]:
        """As plain JSON values."""
        return {"rows": self.rows, "scanned": self.scanned, "memory": self.memory, "steps": self.steps}


def _operators(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for child in node["children"]:
        yield child
        yield from _operators(child)
