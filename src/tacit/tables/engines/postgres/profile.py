"""PostgreSQL's own account of a statement that it has run, as counts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tacit.tables.engines.work import Work

__all__ = ["PROFILED", "work_of"]

PROFILED = "EXPLAIN (ANALYZE, TIMING OFF, BUFFERS OFF, FORMAT JSON) "
"""Before a statement: runs it, and gives the counts of its operators instead of its rows."""


def work_of(found: Mapping[str, Any]) -> Work:
    """From the engine's own JSON."""
    said = next(iter(found.values()))[0]
    whole = json.loads(said) if isinstance(said, str | bytes) else said
    nodes = list(_operators(whole[0]["Plan"]))
    return Work(
        rows=sum(_rows(one) for one in nodes),
        scanned=sum(_rows(one) + _left_out(one) for one in nodes if one["Node Type"].endswith("Seq Scan")),
        memory=sum(1024 * int(one.get("Peak Memory Usage", 0)) for one in nodes),
        steps=len(nodes),
    )


def _rows(node: Mapping[str, Any]) -> int:
    return int(node.get("Actual Rows", 0) * node.get("Actual Loops", 1))


def _left_out(node: Mapping[str, Any]) -> int:
    return int(node.get("Rows Removed by Filter", 0))


def _operators(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield node
    for child in node.get("Plans", ()):
        yield from _operators(child)
