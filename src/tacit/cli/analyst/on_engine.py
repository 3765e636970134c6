"""What a question would be on an engine, and how much it would move there: from public numbers alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import click

from tacit.errors import InvalidParameter
from tacit.privacy.sensitivity import exact_number
from tacit.report.numbers import number
from tacit.tables.engines.estimate import Moved, moved
from tacit.tables.engines.registry import ENGINES
from tacit.tables.plan.plan import Plan

__all__ = ["OnEngine", "engine_options", "on_engine"]

_MOVES = "spark"


@dataclass(frozen=True, slots=True)
class OnEngine:
    """The statements of a plan on one engine, and what each moves; None where nothing leaves the server or process."""

    engine: str
    rows: int
    partitions: int
    statements: tuple[str, ...]
    moved: tuple[Moved | None, ...]

    def lines(self) -> list[str]:
        """For people."""
        found = [f"On {self.engine}, {number(self.rows)} rows:"]
        for sql, one in zip(self.statements, self.moved, strict=True):
            found.append(sql)
            if one is None:
                found.append("Rows are read where they are: none is moved, and integers come back.")
                continue
            found.append(
                f"Shuffled once, by unit: {number(one.rows)} rows, about {_size(one.bytes)}; largest of "
                f"{number(self.partitions)} tasks: {number(one.task_rows)} rows, about {_size(one.task_bytes)}. "
                "Estimated from the numbers given, before any WHERE."
            )
        return found

    def values(self) -> dict[str, Any]:
        """As JSON."""
        each = [
            {"sql": sql}
            | (
                {"rows_shuffled": 0, "bytes_shuffled": 0}
                if one is None
                else {
                    "rows_shuffled": one.rows,
                    "bytes_shuffled": one.bytes,
                    "largest_task_rows": one.task_rows,
                    "largest_task_bytes": one.task_bytes,
                }
            )
            for sql, one in zip(self.statements, self.moved, strict=True)
        ]
        return {"name": self.engine, "rows": self.rows, "partitions": self.partitions, "statements": each}


def on_engine(engine: str, plan: Plan, rows: int, partitions: int, largest: str) -> OnEngine:
    """A plan's statements on an engine; refuses what the engine has no form for."""
    share = Fraction(exact_number(largest, "largest-unit"))
    if rows < 1 or partitions < 1 or not 0 <= share <= 1:
        allowed = "at least one row and one partition, and a share from 0 to 1"
        raise InvalidParameter("engine", given=f"{rows} rows, {partitions} partitions, {largest}", allowed=allowed)
    backend, kinds = ENGINES[engine], {one.name: one.kind for one in plan.policy.columns.values()}
    passes = plan.passes.bounded
    sizes = [moved(one, kinds, rows, partitions, share) if engine == _MOVES else None for one in passes]
    return OnEngine(engine, rows, partitions, tuple(backend.explain(one, plan.policy) for one in passes), tuple(sizes))


def engine_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--engine, and the public numbers that it reckons with."""
    for option in (
        click.option(
            "--largest-unit", metavar="SHARE", default="0", help="With --engine: the share of one unit's rows."
        ),
        click.option("--partitions", metavar="N", type=int, default=200, help="With --engine: of Spark; 200."),
        click.option("--table-rows", metavar="N", type=int, default=10**7, help="With --engine: how many; 10,000,000."),
        click.option("--engine", type=click.Choice(tuple(ENGINES)), help="Its statement, and what it would move."),
    ):
        command = option(command)
    return command


def _size(count: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"
