"""DuckDB's own account of a statement that it has run, as counts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tacit.tables.engines.work import Work

__all__ = ["PROFILED", "work_of"]

PROFILED = "EXPLAIN (ANALYZE, FORMAT JSON) "
"""Before a statement: runs it, and gives the counts of its operators instead of its rows."""


def work_of(profile: str) -> Work:
    """From the engine's own JSON."""
    whole = json.loads(profile)
    return Work(
        rows=int(whole["cumulative_cardinality"]),
        scanned=int(whole["cumulative_rows_scanned"]),
        memory=int(whole["total_memory_allocated"]),
        steps=sum(1 for _ in _operators(whole)),
    )


def _operators(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for child in node["children"]:
        yield child
        yield from _operators(child)
