"""Spark's own account of a statement that it has run, as counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tacit.tables.engines.spark.driver import is_connect
from tacit.tables.engines.work import Work

__all__ = ["nodes_of", "shuffles_of", "work_of"]


def work_of(frame: Any) -> Work:
    """From the metrics of a frame that was collected."""
    nodes = list(nodes_of(frame))
    rows = [one.get("numOutputRows", 0) for _, one in nodes]
    scanned = [one.get("numOutputRows", 0) for name, one in nodes if "Scan" in name]
    memory = [one.get("peakMemory", 0) + one.get("dataSize", 0) for _, one in nodes]
    return Work(sum(rows), sum(scanned), sum(memory), len(nodes))


def shuffles_of(frame: Any) -> list[tuple[int, int]]:
    """Of each exchange that moved rows: how many, and their bytes."""
    return [
        (one.get("shuffleRecordsWritten", 0), one.get("dataSize", 0))
        for name, one in nodes_of(frame)
        if name.startswith("Exchange")
    ]


def nodes_of(frame: Any) -> Iterator[tuple[str, dict[str, int]]]:
    """The operators of the plan that was run, by name, with their metrics."""
    if is_connect(frame):
        for one in frame.executionInfo.metrics:
            yield one.name, {name: int(value.value) for name, value in one.metrics.items()}
        return
    yield from _below(frame._jdf.queryExecution().executedPlan())


def _below(node: Any) -> Iterator[tuple[str, dict[str, int]]]:
    name = str(node.nodeName())
    if name == "AdaptiveSparkPlan":
        yield from _below(node.executedPlan())
        return
    if name.endswith("QueryStage"):
        yield from _below(node.plan())
        return
    yield name, _metrics(node)
    children = node.children()
    for at in range(children.size()):
        yield from _below(children.apply(at))


def _metrics(node: Any) -> dict[str, int]:
    found, names = {}, node.metrics().keysIterator()
    while names.hasNext():
        name = names.next()
        found[str(name)] = int(node.metrics().apply(name).value())
    return found
