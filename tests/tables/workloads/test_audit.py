"""Margins and ranges under the auditor: all numbers that one price buys, seen together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.privacy import ApproxDP
from tacit.tables.release.draw import finest
from tacit.tables.session.table import Table
from tacit.tables.workloads.workload import Workload
from tests.tables.attacks.faults import each_the_whole_price, every_row, levels_like_cells
from tests.tables.attacks.nodes import open_worst
from tests.tables.session.test_statement_audit import CONFIDENCE

SAMPLES = 60_000
WORKLOADS: dict[str, Callable[[Table], Workload]] = {
    "margins": lambda table: table.margins([], ["plan"], ["plan", "old"], old=tacit.col("age") > 3),
    "ranges": lambda table: table.ranges("hour", hour=tacit.col("at").hour(), branching=5),
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> tuple[Table, Table]:
    folder = tmp_path_factory.mktemp("worst")
    pair = open_worst(folder, None), open_worst(folder, "at one end")
    for one in pair:
        one._engine_now()._key = "one key"  # type: ignore[attr-defined]  # the same rows are chosen in both
    return pair


def audited(tables: tuple[Table, Table], name: str, claim: ApproxDP) -> Any:
    """What is measured at every level, joined into one line: what is released follows from it."""
    made = [WORKLOADS[name](table) for table in tables]
    plan = made[0].plan(epsilon=claim.eps, delta=0)
    found = [plan.integers([table._engine_now().run(one) for one in plan.passes.bounded]) for table in tables]

    def answer(which: Any) -> Any:
        levels = []
        for part, integers in zip(plan.parts, found[int(which[0])], strict=True):
            (cells,), level = finest(part, integers), part.demand.level
            assert level is not None
            exact = np.array(cells.summed(level.added).tolist(), dtype=np.int64)
            (line,) = part.lines
            levels.append(line.mechanisms[0].release(np.tile(exact, (len(which), 1))))
        return np.concatenate(levels, axis=1)

    return tacit.audit(
        answer, neighbours=(0, 1), claim=claim, samples=SAMPLES, batch=SAMPLES // 2, confidence=CONFIDENCE
    )


@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.thorough
def test_a_workload_keeps_its_price(name: str, tables: tuple[Table, Table]) -> None:
    found = audited(tables, name, ApproxDP(2, 0))
    assert not found.violated, found


@pytest.mark.parametrize("fault", [each_the_whole_price, levels_like_cells, every_row], ids=lambda one: one.__name__)
@pytest.mark.thorough
def test_the_auditor_sees_planted_holes(
    fault: Callable[[pytest.MonkeyPatch], None], tables: tuple[Table, Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)
    found = audited(tables, "margins", ApproxDP(2, 0))
    assert found.violated
