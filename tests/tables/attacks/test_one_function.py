"""What a statement releases is one function of integers + noise: compared at the output, with noise the test decides.

Neighbours are compared, and the same tables with every integer moved beyond 2⁵³, 2⁶², 2⁶³, 2⁶⁴ and further: if the
sums with noise are the same, so is every released value, its type, its interval, and whether there is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.mechanisms.additive.integer_mechanism import IntegerMechanism
from tacit.tables.choosing.choice import FullestMechanism, RankedMechanism
from tacit.tables.choosing.top import FullestCellsMechanism
from tacit.tables.engines.contract import Blend, Integers, Tallies
from tacit.tables.engines.sums import Sums
from tacit.tables.plan.parts import Part
from tacit.tables.plan.plan import Plan
from tacit.tables.release import draw as drawing
from tacit.tables.session.table import Table
from tests.tables.attacks.coupling import EDGES, SHIFTS, coupled, differ, outcome, shifted
from tests.tables.attacks.nodes import NODES, open_worst

SUMS = [2**53 + 1, 7, 2**63 + 2**20, -(2**63) - 1, 3, 2**62 - 1, 2**64 + 5, -(2**127) - 1, 1, *EDGES]
ALIKE = [2**64 + 5, 3 * 2**64, 2**65 + 1, 2**66, 5 * 2**63]
"""Sums beyond int64 whose ratios are those of small numbers: what means and covariances are made of."""
PERSON = "at one end"


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Table, Table]]:
    folder = tmp_path_factory.mktemp("coupled")
    return {name: (open_worst(folder, None, name), open_worst(folder, PERSON, name)) for name in ("epsilon", "rho")}


@pytest.fixture(autouse=True)
def nothing_else_is_random(monkeypatch: pytest.MonkeyPatch) -> None:
    """Choices choose the first, and private groups are those of the smaller table: only sums are compared here."""
    monkeypatch.setattr(RankedMechanism, "release", _first(lambda self: 3))
    monkeypatch.setattr(FullestMechanism, "release", _first(lambda self: 1))
    monkeypatch.setattr(FullestCellsMechanism, "release", _first(lambda self: self.choice.k))
    shown = drawing._shown

    def fixed(plan: Part, integers: Integers) -> Any:
        if plan.keys is None:
            return shown(plan, integers)
        rows = list(zip(*integers.keys, strict=True))
        at = np.array(
            [i for _, i in sorted((repr(row), i) for i, row in enumerate(rows) if not {"Porto", "Rome"} & {*row})]
        )
        keys = tuple([column[i] for i in at] for column in integers.keys)
        kept = Integers(keys, integers.units[at], tuple(one.taken(at) for one in integers.measures))
        return (kept.keys, list(kept.measures), {}) if plan.decides is None else shown(plan, kept)

    monkeypatch.setattr(drawing, "_shown", fixed)


def _first(columns: Callable[[Any], int]) -> Callable[..., Any]:
    def release(self: Any, tallies: Tallies, beta: object, *, entropy: object = None) -> Any:
        return np.ones((len(tallies), columns(self)), dtype=np.int64)

    return release


def released(table: Table, plan: Plan, by: int, sums: list[int]) -> object:
    """All columns of an answer, of integers that were moved."""
    engine = table._engine_now()
    with coupled(sums):
        found = [shifted(engine.run(one), by) for one in plan.passes.bounded]
        return outcome(lambda: _cells(drawing.draw(plan, plan.integers(found))))


def _cells(columns: Any) -> list[Any]:
    return [[one.name, one.values, one.whole, one.low, one.high] for one in columns]


def told_apart(tables: dict[str, tuple[Table, Table]], node: str, shifts: tuple[int, ...] = SHIFTS) -> list[str]:
    """Statements of which two tables release something else although integers + noise are the same."""
    found = []
    for flavour, pair in tables.items():
        for sql in NODES[node]:
            plan = pair[0].query(sql).plan(**{flavour: 1})
            moves = [(pair[0], by) for by in shifts] + [(pair[1], 0), (pair[1], 2**63)]
            for sums in (SUMS, ALIKE):
                outcomes = [released(table, plan, by, sums) for table, by in moves]
                if differ(outcomes):
                    found.append(f"{flavour}: {sql}")
    return found


@pytest.mark.parametrize("node", NODES)
@pytest.mark.thorough
def test_statements_release_one_function_of_integers_and_noise(
    node: str, tables: dict[str, tuple[Table, Table]]
) -> None:
    assert told_apart(tables, node) == []


OTHERS: dict[str, Callable[[Table, dict[str, Any]], Any]] = {
    "margins": lambda table, price: table.margins([], ["plan"], ["plan", "old"], old=tacit.col("age") > 3).ask(
        **price, fresh=True
    ),
    "ranges": lambda table, price: table.ranges("hour", hour=tacit.col("at").hour(), branching=3).ask(
        **price, fresh=True
    ),
    "bounds": lambda table, price: [table.discover.bounds("spend", **price, fresh=True).answer],
    "rows per unit": lambda table, price: [table.discover.rows_per_unit(**price, fresh=True).answer],
    "limits": lambda table, price: list(table.discover.limits("city", **price, fresh=True).answers),
    "around an answer": lambda table, price: [
        table.query(
            "SELECT plan, n, n / SUM(n) OVER () AS share, RANK() OVER (ORDER BY s) AS r, s - LAG(s) OVER "
            "(ORDER BY plan) AS d FROM (SELECT plan, COUNT(*) AS n, SUM(spend) AS s FROM visits GROUP BY plan) AS a"
        ).ask(**price, fresh=True)
    ],
    "groups per unit": lambda table, price: [table.discover.groups_per_unit("city", **price, fresh=True).answer],
    "a batch": lambda table, price: table.batch([NODES["sets of keys"][1], NODES["counts and sums"][1]]).ask(
        **price, fresh=True
    ),
}


def answered(table: Table, ask: Callable[[Table, dict[str, Any]], Any], flavour: str, by: int) -> object:
    engine: Any = table._engine_now()
    run = type(engine).run
    engine.run = lambda query: shifted(run(engine, query), by)
    try:
        with coupled(SUMS):
            return outcome(lambda: [_columns(one) for one in ask(table, {flavour: 1})])
    finally:
        del engine.run


def _columns(answer: Any) -> list[Any]:
    return [[name, list(answer[name].values), answer[name].low, answer[name].high] for name in answer.columns]


def others_told_apart(tables: dict[str, tuple[Table, Table]], name: str) -> list[str]:
    found = []
    for flavour, pair in tables.items():
        outcomes = [answered(table, OTHERS[name], flavour, by) for table in pair for by in SHIFTS]
        found += [flavour] if differ(outcomes) else []
    return found


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.thorough
def test_and_so_do_all_other_questions(name: str, tables: dict[str, tuple[Table, Table]]) -> None:
    assert others_told_apart(tables, name) == []


# the hole, planted again in each of its places


def _as_it_was(mechanism: IntegerMechanism, values: list[int], fits: bool) -> Any:
    """int64 if all fit, otherwise one Python integer after the other."""
    if fits:
        return np.asarray(mechanism.release(np.array(values, dtype=np.int64)), dtype=np.float64)
    return np.array([float(mechanism.release(value)) for value in values])


def _all_within(values: list[int], limit: int) -> bool:
    return all(-limit <= value < limit for value in values)


def in_the_engine(patch: pytest.MonkeyPatch) -> None:
    """Sums were int64 if all of them fitted."""

    def release(mechanism: Any, measure: Any, values: Any) -> Any:
        return _as_it_was(mechanism, list(values), _all_within(list(values), 2**63))

    patch.setattr(drawing, "released", release)


def in_blends(patch: pytest.MonkeyPatch) -> None:
    """The sums behind means and variances were int64 if all fitted with room to spare."""
    right = drawing.released

    def release(mechanism: Any, measure: Any, values: Any) -> Any:
        if not isinstance(measure, Blend):
            return right(mechanism, measure, values)
        narrow = mechanism.scale < 1 << 55 and _all_within(list(values), 1 << 61)
        return _as_it_was(mechanism, list(values), narrow)

    patch.setattr(drawing, "released", release)


def in_margins(patch: pytest.MonkeyPatch) -> None:
    """Totals of several groups were int64 if all of them fitted."""
    right = drawing.noised

    def noised(plan: Any, measure: Any, values: Sums) -> Any:
        def release(mechanism: Any, measure: Any, values: Sums) -> Any:
            return _as_it_was(mechanism, values.tolist(), _all_within(values.tolist(), 2**62))

        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(drawing, "released", release)
            return right(plan, measure, values)

    patch.setattr(drawing, "noised", noised)


def in_workloads(patch: pytest.MonkeyPatch) -> None:
    """Counts that add up were int64, and an error if one did not fit."""

    def release(mechanism: Any, measure: Any, values: Sums) -> Any:
        return _as_it_was(mechanism, values.tolist(), fits=True)

    patch.setattr(drawing, "released", release)


def in_discovery(patch: pytest.MonkeyPatch) -> None:
    def release(mechanism: Any, measure: Any, values: Sums) -> Any:
        return _as_it_was(mechanism, values.tolist(), fits=True)

    patch.setattr(drawing, "released", release)


@pytest.mark.parametrize(
    ("plant", "node"),
    [
        (in_the_engine, "counts and sums"),
        (in_the_engine, "covariances"),
        (in_the_engine, "options"),
        (in_the_engine, "distinct values"),
        (in_blends, "means and variances"),
        (in_margins, "sets of keys"),
    ],
)
@pytest.mark.thorough
def test_planted_fault_widths_from_values_are_seen(
    plant: Callable[[pytest.MonkeyPatch], None],
    node: str,
    tables: dict[str, tuple[Table, Table]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plant(monkeypatch)
    assert told_apart(tables, node)


@pytest.mark.parametrize(("plant", "name"), [(in_workloads, "margins"), (in_discovery, "rows per unit")])
def test_planted_fault_errors_from_values_are_seen(
    plant: Callable[[pytest.MonkeyPatch], None], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    own = {"epsilon": (open_worst(tmp_path, None), open_worst(tmp_path, PERSON))}  # lost answers lock an account
    assert others_told_apart(own, name)


def test_outcomes_have_types_and_errors() -> None:
    assert outcome(lambda: [1]) != outcome(lambda: [1.0])
    assert outcome(lambda: 1 // 0) == ("ZeroDivisionError", "integer division or modulo by zero")
    assert outcome(lambda: np.array([1])) != outcome(lambda: np.array([1], dtype=object))
