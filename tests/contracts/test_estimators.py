"""What every registered estimator keeps: sensitivity, price, intervals, and answers to whatever the rows are.

Many small tables lie in one, as groups whose units are their own, so that one pass of the engine answers for all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.errors import InvalidParameter
from tacit.privacy import ZCDP, ApproxDP, GaussianDP, PureDP
from tacit.tables.engines.contract import Blend, Counted, Integers, Measure, Tallies
from tacit.tables.estimators.base import Chooser, Estimator, Weighted
from tacit.tables.estimators.quantising import LARGEST
from tacit.tables.estimators.registry import ESTIMATORS
from tacit.tables.plan.plan import Plan
from tacit.tables.release.draw import draw, placed
from tacit.tables.session.table import Table
from tests.contracts.estimators import EXAMPLES
from tests.tables.parts import changed

LIMIT = 2
POLICY = """\
version = 1
source = "t.csv"
table = "t"
unit = "who"
[limits]
groups = 1
rows = {rows}
[budget]
epsilon = 1000
least = {{ epsilon = 1e-300 }}
delta = 1e-2
question_delta = 1e-6
[columns]
who = {{ type = "text", role = "identifier" }}
g = {{ type = "integer", role = "public", keys = {keys} }}
x = {{ type = "real", role = "private", bounds = [0, 4] }}
y = {{ type = "integer", role = "private", bounds = [-1, 3] }}
c = {{ type = "text", role = "public", keys = ["a", "b", "c"] }}
"""
Cells = tuple[object, object, object]
Group = dict[str, list[Cells]]
"""The rows of each unit."""


@pytest.fixture(params=ESTIMATORS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def opened(folder: Path, groups: Sequence[Group]) -> Table:
    lines = ["who,g,x,y,c"]
    for number, group in enumerate(groups):
        for unit, rows in group.items():
            lines += [f"{unit}{number},{number},{x},{y},{c}" for x, y, c in rows]
    (folder / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    policy = POLICY.format(rows=LIMIT, keys=list(range(len(groups))))
    (folder / "t.toml").write_text(policy, encoding="utf-8")
    return tacit.open(folder / "t.toml", analyst="ada", ledger=tacit.InMemory())


def sql(name: str) -> str:
    return f"SELECT g, {EXAMPLES[name].sql} AS answer FROM t GROUP BY g"


def plan_of(table: Table, name: str, **price: object) -> Plan:
    return table.query(sql(name)).plan(**(price or {"epsilon": 1}))  # type: ignore[arg-type]


def integers(table: Table, plan: Plan) -> list[Any]:
    """Per measure what the engine found, group by group in order."""
    listed = plan.bounded.public_keys
    assert listed is not None
    return placed(listed, table._engine_now().run(plan.bounded))


# --- sensitivity ------------------------------------------------------------------------------------------------------

OTHERS: Group = {"a": [(1, 1, "a"), (3, 2, "b")], "b": [("", "", ""), ("nan", 0, "c")], "d": [(2.5, -1, "a")]}
VALUES: list[Cells] = [
    *product((0, 1.3, 4), (-1, 3), ("a", "c")),
    ("", 3, "b"),
    ("nan", "", ""),
    ("inf", 99, "zz"),
    ("-1e300", -99, "a"),
    ("4.0000001", 2, "b"),
]


def units() -> list[list[Cells]]:
    """What one unit may bring: nothing, one row, two, and more than the limit."""
    ones = [[one] for one in VALUES]
    pairs = [[VALUES[i], VALUES[(i * 5 + 3) % len(VALUES)]] for i in range(len(VALUES))]
    return [[], *ones, *pairs, [(4, 3, "c")] * 2, [(0, -1, "a")] * 2, [(4, 3, "c")] * 5, [(0, -1, "a")] * 3, VALUES]


def neighbours() -> list[Group]:
    return [OTHERS | ({"z": rows} if rows else {}) for rows in units()]


def sensitivity_holds(table: Table, plan: Plan) -> None:
    """Between the first group and each other, which has one unit more: no further than claimed, and so far for once."""
    found = dict(zip(plan.bounded.measures, integers(table, plan), strict=True))
    for line in plan.lines:
        if line.pick is not None:
            assert most_moved_cells(found[line.pick[0].cells]) == LIMIT
        for part in line.parts:
            moved = most_moved(part.measure, found)
            assert moved == part.measure.reach, f"moved {moved}, claimed {part.measure.reach}"


def most_moved(measure: Counted, found: dict[Any, Any]) -> int:
    """In L1, over all that share one mechanism."""
    if isinstance(measure, Blend):
        combined = measure.of([[int(one) for one in found[inner]] for inner in measure.measures])
    else:
        combined = [[int(one) for one in found[measure]]]
    return max(sum(abs(line[at] - line[0]) for line in combined) for at in range(len(combined[0])))


def most_moved_cells(tallies: Any) -> int:
    assert isinstance(tallies, Tallies)
    counts = [dict(zip(*(one.tolist() for one in tallies.of(at)), strict=True)) for at in range(len(tallies))]
    return max(sum(abs(one.get(cell, 0) - counts[0].get(cell, 0)) for cell in {*one, *counts[0]}) for one in counts[1:])


def test_one_unit_moves_an_estimator_as_far_as_it_says(name: str, tmp_path: Path) -> None:
    table = opened(tmp_path, neighbours())
    sensitivity_holds(table, plan_of(table, name))


# --- price ------------------------------------------------------------------------------------------------------------

PRICES: dict[str, dict[str, object]] = {"pure": {"epsilon": "0.7", "delta": 0}, "both": {"epsilon": 1, "delta": "1e-6"}}


def paid(plan: Plan) -> Fraction:
    """What the mechanisms of a plan promise together, as a part of what is charged."""
    assert isinstance(plan.cost, ApproxDP)
    total = Fraction(0)
    for line in plan.lines:
        promises = [one.guarantee for one in line.mechanisms]
        promises += [] if line.pick is None else [line.pick[1].guarantee]
        for promise in promises:
            assert isinstance(promise, PureDP | GaussianDP | ZCDP)
            total += promise.eps / plan.cost.eps if isinstance(promise, PureDP) else 0
    return total


@pytest.mark.parametrize("price", PRICES)
def test_what_is_charged_is_what_was_planned(name: str, price: str, tmp_path: Path) -> None:
    table = opened(tmp_path, [OTHERS, {}])
    plan = plan_of(table, name, **PRICES[price])
    for line in plan.lines:
        assert sum((part.weight for part in line.parts), start=Fraction(0)) == (0 if line.parts == () else 1)
    assert paid(plan) == 1
    answer = table.query(sql(name)).ask(**PRICES[price])  # type: ignore[arg-type]
    assert answer.spent == plan.cost == table.ledger.budget().charged


# --- intervals --------------------------------------------------------------------------------------------------------

DRAWS, FEW = 4000, 250
GROUPS = {
    "many": [(x, y, c) for x, y, c in zip([0.5, 1, 3.25, 4] * 60, [0, 1, 3] * 80, "abacab" * 40, strict=True)],
    "ties": [(2.0, 1 + (at % 2), "b" if at % 3 else "a") for at in range(60)],
    "few": [(0.0, -1, "a"), (4.0, 3, "b"), (4.0, 3, "b"), (1.0, 0, "c")],
}


def covers(name: str, table: Table, plan: Plan, rows: Sequence[Any]) -> float:
    """How often the interval holds the exact statistic, and never without its own value."""
    exact = EXAMPLES[name].truth(list(rows))
    count = FEW if isinstance(ESTIMATORS[name], Chooser) else DRAWS
    (found,) = [table._engine_now().run(plan.bounded)]
    taken = np.zeros(count, dtype=np.intp)
    wide = Integers(
        (list(range(count)),),
        found.units[taken],
        tuple(one.taken(taken) for one in found.measures),
    )
    bounded = replace(plan.bounded, public_keys=tuple((at,) for at in range(count)))
    column = list(draw(changed(plan, bounded=bounded), [wide]))[-1]
    if column.low is None or column.high is None:  # a category has no interval: it is one of the listed
        assert {*column.values} <= {"a", "b", "c"}
        return 1.0
    low, high, value = column.low, column.high, np.array(column.values, dtype=np.float64)
    assert bool(((low <= value) & (value <= high)).all())
    assert bool(np.isfinite([low, high, value]).all())
    slack = 1e-4 + 4 * 2.0**-15
    return float(((low <= exact + slack) & (high >= exact - slack)).mean())


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.thorough
def test_intervals_cover_as_often_as_they_say(name: str, group: str, tmp_path: Path) -> None:
    rows = GROUPS[group]
    held = {f"u{at}": rows[at : at + 2] for at in range(0, len(rows), 2)}
    table = opened(tmp_path, [held])  # type: ignore[list-item]
    count = FEW if isinstance(ESTIMATORS[name], Chooser) else DRAWS
    if name == "correlation" and group == "ties":
        return  # of a constant there is none
    assert covers(name, table, plan_of(table, name), rows) >= 0.95 - 5.5 * math.sqrt(0.05 * 0.95 / count)


# --- whatever the rows are --------------------------------------------------------------------------------------------

ODD: dict[str, Group] = {
    "empty": {},
    "unknown": {"a": [("", "", ""), ("", "", "")], "b": [("", "", "")]},
    "not a number": {"a": [("nan", "", ""), ("nan", 1, "a")]},
    "endless": {"a": [("inf", 2, "b"), ("-inf", 0, "c")]},
    "not of the type": {"a": [("maybe", "x1", "listed nowhere")]},
    "one row": {"a": [(4, 3, "a")]},
    "constant": {f"u{at}": [(4, 3, "a")] * 2 for at in range(30)},
    "ties": {f"u{at}": [(1, 1, "a"), (3, 1, "b")] for at in range(30)},
    "beyond": {f"u{at}": [(1e300, 10**15, "a"), (-1e300, -(10**15), "b")] for at in range(9)},
}


@pytest.mark.parametrize("epsilon", ["1e-6", "1", "200"])
def test_every_table_gets_an_answer_of_the_same_form(name: str, epsilon: str, tmp_path: Path) -> None:
    table = opened(tmp_path, list(ODD.values()))
    answer = table.sql(sql(name), epsilon=epsilon)
    assert answer.columns == ("g", "answer")
    assert list(answer["g"].values) == list(range(len(ODD)))
    numbers = [*answer["answer"].lows, *answer["answer"].highs, *answer["answer"].values]
    assert all(one is None or isinstance(one, str) or math.isfinite(one) for one in numbers)  # type: ignore[arg-type]


def test_an_answer_without_a_group_is_one_too(name: str, tmp_path: Path) -> None:
    """Keys that are private, and so few people that no group is shown: nothing fails once it is paid for."""
    opened(tmp_path, [OTHERS]).close()
    shown = 'role = "public", keys = [0] }'
    text = (tmp_path / "t.toml").read_text(encoding="utf-8").replace(shown, 'role = "private" }')
    (tmp_path / "t.toml").write_text(text, encoding="utf-8")
    with tacit.open(tmp_path / "t.toml", analyst="ada", ledger=tacit.InMemory()) as table:
        answer = table.sql(sql(name), epsilon="0.001")
    assert answer.columns == ("g", "answer")
    assert len(answer) == 0


def test_plans_and_refusals_are_the_same_on_neighbouring_tables(name: str, tmp_path: Path) -> None:
    told = []
    for number, group in enumerate((OTHERS, OTHERS | {"z": VALUES}, {})):
        folder = tmp_path / str(number)
        folder.mkdir()
        table = opened(folder, [group])
        said = [str(plan_of(table, name)), str(plan_of(table, name, epsilon="0.01"))]
        for wrong in ("x", "nothing", "who"):
            with pytest.raises(tacit.TacitError) as refused:
                table.sql(sql(name).replace("GROUP BY g", f"GROUP BY {wrong}"), epsilon=1)
            said.append(str(refused.value))
        assert table.sql(sql(name), epsilon=1).columns == ("g", "answer")
        told.append(said)
    assert told[0] == told[1] == told[2]


@pytest.mark.parametrize("widest", ["1e3", "1e9", "1e18", "1e300"])
def test_no_sum_is_wider_than_an_engine_can_add_up(name: str, widest: str, tmp_path: Path) -> None:
    """Refused before payment, or so few steps that 2⁶⁴ units fit 128 bits."""
    table = opened(tmp_path, [OTHERS])
    bounded = f"{EXAMPLES[name].sql[:-1]}, contribution_bounds_per_row => (-{widest}, {widest}))"
    try:
        plan = table.query(sql(name).replace(EXAMPLES[name].sql, bounded)).plan(epsilon=1)
    except InvalidParameter:
        return
    for measure in plan.bounded.measures:
        assert not isinstance(measure, Measure) or max(abs(measure.low), abs(measure.high)) < LARGEST
    assert plan_of(table, name).cost == table.sql(sql(name), epsilon=1).spent


# --- the suite can fail -----------------------------------------------------------------------------------------------


class _Like(Estimator):
    """An estimator with something wrong about its parts, or about its intervals."""

    def __init__(
        self, kind: str, parts: Callable[[tuple[Weighted, ...]], tuple[Weighted, ...]], narrow: float = 1.0
    ) -> None:
        self._kind, self._parts, self._narrow = ESTIMATORS[kind], parts, narrow

    def parts(self, aggregate: Any, setting: Any) -> tuple[Weighted, ...]:
        return self._parts(self._kind.parts(aggregate, setting))  # type: ignore[union-attr]

    def finish(self, aggregate: Any, setting: Any, noisy: Any, beta: Any) -> Any:
        made = self._kind.finish(aggregate, setting, noisy, beta)  # type: ignore[union-attr]
        low, high = (made.value + (end - made.value) * self._narrow for end in (made.low, made.high))
        return replace(made, low=low, high=high)

    def error(self, *arguments: Any) -> Any:
        return self._kind.error(*arguments)  # type: ignore[union-attr]


def _half(parts: tuple[Weighted, ...]) -> tuple[Weighted, ...]:
    ((blend),) = (part.measure for part in parts)
    assert isinstance(blend, Blend)
    return (Weighted(replace(blend, reach=blend.reach // 2), Fraction(1)),)


def _other_rows(parts: tuple[Weighted, ...]) -> tuple[Weighted, ...]:
    """A count of all rows with a sum of the chosen ones."""
    ((blend),) = (part.measure for part in parts)
    assert isinstance(blend, Blend)
    total, count = blend.measures
    loose = replace(count, chosen=False, high=50)
    return (Weighted(replace(blend, measures=(total, loose)), Fraction(1)),)


def _twice(parts: tuple[Weighted, ...]) -> tuple[Weighted, ...]:
    return tuple(replace(part, weight=2 * part.weight) for part in parts)


def test_planted_fault_a_wrong_reach_fails_the_suite(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(ESTIMATORS, "mean", _Like("mean", _half))
    table = opened(tmp_path, neighbours())
    with pytest.raises(AssertionError, match="claimed"):
        sensitivity_holds(table, plan_of(table, "mean"))


def test_sums_of_different_rows_cannot_be_blended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(ESTIMATORS, "mean", _Like("mean", _other_rows))
    table = opened(tmp_path, [OTHERS])
    with pytest.raises(InvalidParameter, match="the same rows"):
        plan_of(table, "mean")


def test_planted_fault_a_share_that_counts_twice_fails_the_suite(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(ESTIMATORS, "sum", _Like("sum", _twice))
    table = opened(tmp_path, [OTHERS])
    plan = plan_of(table, "sum", epsilon=1, delta=0)
    assert any(sum(part.weight for part in line.parts) != 1 for line in plan.lines)


def test_planted_fault_an_interval_that_is_too_narrow_fails_the_suite(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(ESTIMATORS, "mean", _Like("mean", lambda parts: parts, narrow=0.8))
    rows = GROUPS["many"]
    table = opened(tmp_path, [{f"u{at}": rows[at : at + 2] for at in range(0, len(rows), 2)}])  # type: ignore[dict-item]
    assert covers("mean", table, plan_of(table, "mean"), rows) < 0.95 - 5.5 * math.sqrt(0.05 * 0.95 / DRAWS)


def test_every_estimator_has_an_example() -> None:
    assert set(EXAMPLES) == set(ESTIMATORS), "write a line for it in tests/contracts/estimators.py"
