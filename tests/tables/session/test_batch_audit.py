"""Whole batches and discoveries under the auditor: from rows of two tables, one unit apart, to all that is released.

Independent groups of equal integers stand for independent answers, as in test_statement_audit.py: here of every
statement of a batch at once, so that the auditor sees them together, as the price is of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.privacy import ApproxDP, Guarantee
from tacit.tables.discovery.histogram import Histogram
from tacit.tables.engines.contract import Integers
from tacit.tables.plan.parts import Line, Part
from tacit.tables.plan.plan import Plan
from tacit.tables.release.draw import draw
from tacit.tables.session.table import Table
from tests.tables.parts import changed
from tests.tables.session.test_statement_audit import CONFIDENCE, ONE_MORE, OTHERS, repeated, table

COUNT = "SELECT side, COUNT(*) AS n FROM small WHERE side = 'left' GROUP BY side"
SUM = "SELECT side, SUM(pay) AS n FROM small WHERE side = 'left' GROUP BY side"
MEAN = "SELECT side, AVG(pay) AS n FROM small WHERE side = 'left' GROUP BY side"
SPREAD = "SELECT side, VAR_POP(level) AS n FROM small WHERE side = 'left' GROUP BY side"
VALUES = "SELECT side, COUNT(DISTINCT pay) AS n FROM small WHERE side = 'left' GROUP BY side"
MEDIAN = "SELECT side, MEDIAN(level) AS n FROM small WHERE side = 'left' GROUP BY side"
KEYS = "SELECT town, COUNT(*) AS n FROM small GROUP BY town"

BATCHES: dict[str, tuple[list[str], dict[str, Any]]] = {
    "sums of ε": ([COUNT, SUM, MEAN], {"epsilon": 2, "delta": 0}),
    "together, with a δ": ([COUNT, COUNT.replace("left", "right"), SUM, VALUES], {"epsilon": 2, "delta": "1e-3"}),
    "private keys": ([KEYS, COUNT, SPREAD], {"epsilon": 3, "delta": "1e-2"}),
    "choices": ([MEDIAN, VALUES, COUNT], {"epsilon": 6, "delta": 0}),
}
SAMPLES = 20_000
FEW = 3_000
MANY = [COUNT.replace("WHERE", f"WHERE {number} < 10 AND") for number in range(8)]
"""The same count eight times, as eight statements."""


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> tuple[Table, Table]:
    tmp_path = tmp_path_factory.mktemp("audited")
    pair = table(tmp_path / "with", OTHERS + ONE_MORE), table(tmp_path / "without", OTHERS)
    for one in pair:
        one._engine_now()._key = "00"  # type: ignore[attr-defined]  # the same rows are chosen in both
    return pair


Change = Callable[[Part], Part]


def answers(
    tables: tuple[Table, Table], statements: Sequence[str], price: dict[str, Any], change: Change = lambda plan: plan
) -> tuple[Callable[[Any], Any], Guarantee]:
    """From which table (0 or 1) to a line of released numbers per answer, one number per statement."""
    plans: list[Plan] = []
    found: list[list[Integers]] = []
    for one in tables:
        plan = one.batch(list(statements)).plan(**price)
        passes = [one._engine_now().run(query) for query in plan.passes.bounded]
        plans.append(plan)
        found.append([plan.passes.integers(at, passes) for at in range(len(statements))])
    assert str(plans[0]) == str(plans[1])

    def answer(which: Any) -> Any:
        at, count = int(which[0]), len(which)
        pairs = zip(plans[at].plans, found[at], strict=True)
        return np.stack([released(_with(plan, change), integers, count) for plan, integers in pairs], axis=1)

    return answer, plans[0].cost


def _with(plan: Plan, change: Change) -> Plan:
    return replace(plan, parts=tuple(map(change, plan.parts)))


def released(plan: Plan, integers: Integers, count: int) -> Any:
    """Of one statement, one number per answer; NaN where its group is not shown."""
    wide = repeated(plan, integers, count)
    bounded = replace(plan.bounded, public_keys=None if plan.keys else tuple((i,) for i in range(count)))
    columns = list(draw(changed(plan, bounded=bounded), [wide]))
    made = np.full(count, np.nan)
    made[np.array(columns[0].values, dtype=np.intp)] = [np.nan if v is None else v for v in columns[-1].values]
    return made


def audited(function: Callable[[Any], Any], claim: Guarantee, samples: int = SAMPLES) -> Any:
    return tacit.audit(
        function, neighbours=(0, 1), claim=claim, samples=samples, batch=samples // 2, confidence=CONFIDENCE
    )


@pytest.mark.parametrize("name", BATCHES)
@pytest.mark.thorough
def test_a_batch_keeps_its_price(name: str, tables: tuple[Table, Table]) -> None:
    statements, price = BATCHES[name]
    function, cost = answers(tables, statements, price)
    found = audited(function, cost, FEW if name == "choices" else SAMPLES)
    assert not found.violated, found


def cheaper(factor: int) -> Change:
    """A plan whose noise is that of ``factor`` times its share."""

    def mechanism(line: Line, plan: Part) -> Line:
        assert plan.noise is not None
        scales = [one.scale / factor for one in line.mechanisms]
        made = [
            type(one).of_scale(Fraction(scale), sensitivity=one.sensitivity)  # type: ignore[attr-defined]
            for one, scale in zip(line.mechanisms, scales, strict=True)
        ]
        return replace(line, mechanisms=tuple(made))

    return lambda plan: replace(plan, lines=tuple(mechanism(line, plan) for line in plan.lines))


@pytest.mark.thorough
def test_the_auditor_sees_a_share_that_is_used_twice(tables: tuple[Table, Table]) -> None:
    """The planted hole: each statement of eight is drawn as if it had the price of all."""
    function, cost = answers(tables, MANY, {"epsilon": 1, "delta": 0}, cheaper(8))
    assert audited(function, cost, FEW).violated
    honest, _ = answers(tables, MANY, {"epsilon": 1, "delta": 0})
    assert not audited(honest, cost).violated


@pytest.mark.thorough
def test_the_auditor_sees_a_statement_that_is_not_charged(tables: tuple[Table, Table]) -> None:
    """The planted hole: eight statements are drawn, and the price of one of them is claimed."""
    function, cost = answers(tables, MANY, {"epsilon": 8, "delta": 0})
    assert isinstance(cost, ApproxDP)
    assert not audited(function, cost).violated
    assert audited(function, ApproxDP(cost.eps / 8, 0), FEW).violated


def test_the_auditor_sees_a_quantile_that_is_drawn_at_the_price_of_all(tables: tuple[Table, Table]) -> None:
    def dearer(plan: Part) -> Part:
        lines = [
            line
            if line.pick is None
            else replace(line, pick=(line.pick[0], line.pick[0].mechanism(tacit.PureDP(40), 1)))
            for line in plan.lines
        ]
        return replace(plan, lines=tuple(lines))

    function, cost = answers(tables, [MEDIAN, COUNT], {"epsilon": 1, "delta": 0}, dearer)
    assert audited(function, cost, FEW).violated


def test_the_auditor_sees_keys_without_a_threshold(tables: tuple[Table, Table], tmp_path: Path) -> None:
    """The planted hole: a group that only the new unit has is named whenever it is there."""
    pair = (table(tmp_path / "a", ONE_MORE), table(tmp_path / "b", []))
    function, cost = answers(pair, [KEYS, COUNT], {"epsilon": 1, "delta": "1e-3"})
    assert not audited(function, cost, FEW).violated

    class Everything:
        guarantee = cost
        threshold = 1.0

        def keep(self, units: Any) -> Any:
            return np.asarray(units) > 0

    function, _ = answers(pair, [KEYS, COUNT], {"epsilon": 1, "delta": "1e-3"}, lambda plan: _shown(plan, Everything()))
    assert audited(function, cost, FEW).violated


def _shown(plan: Part, rule: Any) -> Part:
    return plan if plan.keys is None else replace(plan, keys=rule)


# --- discovery -------------------------------------------------------------------------------------------------------


class Captured(Exception):
    def __init__(self, histogram: Histogram) -> None:
        self.histogram = histogram


DISCOVERIES: dict[str, Callable[[Table], object]] = {
    "bounds": lambda one: one.discover.bounds("pay", epsilon=1),
    "rows": lambda one: one.discover.rows_per_unit(epsilon=1),
    "rows in a group": lambda one: one.discover.rows_per_unit("town", epsilon=1),
    "groups": lambda one: one.discover.groups_per_unit("town", epsilon=1),
}


def histograms(monkeypatch: pytest.MonkeyPatch, tables: Sequence[Table], name: str) -> list[tuple[Histogram, Any]]:
    """What would be released of each table, before its noise."""

    def ask(self: Histogram, *_args: object, **_named: object) -> None:
        raise Captured(self)

    monkeypatch.setattr(Histogram, "ask", ask)
    made = []
    for one in tables:
        with pytest.raises(Captured) as caught:
            DISCOVERIES[name](one)
        engine, histogram = one._engine_now(), caught.value.histogram
        exact = histogram.counts([engine.run(query) for query in histogram.passes])
        made.append((histogram, np.array(exact.tolist(), dtype=np.int64)))
    return made


def noise_of(histogram: Histogram, one: Table) -> Any:
    (line,) = histogram.plan(one.policy, ApproxDP(1, 0)).lines
    return line.mechanisms[0]


@pytest.mark.parametrize("name", DISCOVERIES)
def test_a_discovery_keeps_its_price(name: str, tables: tuple[Table, Table], monkeypatch: pytest.MonkeyPatch) -> None:
    """The bins in which the two tables differ, with one more; in all others the law of what is released is the same."""
    made = histograms(monkeypatch, tables, name)
    mechanism = noise_of(made[0][0], tables[0])
    places = np.flatnonzero(made[0][1] != made[1][1])
    assert len(places) <= 1
    places = np.unique([*places, 0, 1])

    def answer(which: Any) -> Any:
        exact = made[int(which[0])][1][places]
        return mechanism.release(np.tile(exact, (len(which), 1)))

    assert not audited(answer, ApproxDP(1, 0)).violated


def test_the_auditor_sees_a_discovery_that_reads_exact_values(
    tables: tuple[Table, Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The planted holes: bins that are found by their exact counts, and a unit that counts with all its rows."""
    made = histograms(monkeypatch, tables, "rows")
    mechanism = noise_of(made[0][0], tables[0])

    def exact_bins(which: Any) -> Any:
        exact = made[int(which[0])][1]
        return np.tile((exact > 0).astype(np.int64), (len(which), 1))

    def every_row(which: Any) -> Any:
        exact = made[int(which[0])][1] * 7
        return mechanism.release(np.tile(exact, (len(which), 1)))

    assert audited(exact_bins, ApproxDP(1, 0), FEW).violated
    assert audited(every_row, ApproxDP(1, 0)).violated
