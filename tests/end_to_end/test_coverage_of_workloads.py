"""Several numbers at one price: sets of keys, batches, margins, ranges, discoveries. Each interval covers its own."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tacit
from tacit.mechanisms.shared.estimate import BETA, Estimate
from tacit.tables.discovery import histogram as discovery_histogram
from tacit.tables.expressions.tree import Value
from tacit.tables.fitting.least_squares import Reconciled
from tacit.tables.fitting.levels import Level
from tacit.tables.fitting.margins import Margins
from tacit.tables.fitting.runs import Runs
from tacit.tables.release.draw import draw, draw_parts
from tacit.tables.session.table import Table
from tacit.tables.workloads.workload import Workload
from tests.end_to_end.club import Visit, buys, open_club, visits
from tests.end_to_end.covering import Key, cover, hits_of, narrowed

_TRIES, _FEW = 120, 30
Floats = npt.NDArray[np.float64]
Truths = dict[Key, float]
Ends = tuple[float | None, float | None]
"""Of an interval; None where there is no end."""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    """With an engine that remembers what it found: only the noise is drawn anew."""
    made = open_club(tmp_path_factory.mktemp("club"))
    engine = made._engine_now()
    engine.run = cache(engine.run)  # type: ignore[method-assign]
    return made


def covered(truths: Truths, answers: Iterable[dict[Key, Ends]]) -> Counter[Key]:
    """How often each interval of an answer holds its truth."""
    found: Counter[Key] = Counter(dict.fromkeys(truths, 0))
    for answer in answers:
        assert answer.keys() == truths.keys()
        for key, (low, high) in answer.items():
            slack = 1e-6 * max(1.0, abs(truths[key]))
            assert low is not None
            assert high is not None
            found[key] += low - slack <= truths[key] <= high + slack
    return found


# sets of keys

PLANS = ("free", "pro", "gone")
OLD = (False, True)


def cube(statistic: Callable[[list[Visit]], float], plans: tuple[str, ...]) -> Truths:
    """Of each plan and half, each plan, each half, and all."""
    return {
        (plan, old): float(statistic([v for v in visits() if plan in (None, v.plan) and old in (None, v.age > 50)]))
        for plan in (*plans, None)
        for old in (*OLD, None)
    }


SETS: dict[str, tuple[Callable[[list[Visit]], float], tuple[str, ...]]] = {
    "COUNT(*)": (len, PLANS),
    "SUM(spend)": (lambda rows: math.fsum(one.spend for one in rows), PLANS),
    "COUNT(DISTINCT who)": (lambda rows: len({one.who for one in rows}), PLANS),
    "AVG(spend)": (lambda rows: statistics.fmean(one.spend for one in rows), PLANS[:2]),
    "MEDIAN(age)": (lambda rows: statistics.median(one.age for one in rows), PLANS[:2]),
    "SUM(spend) / COUNT(*)": (lambda rows: statistics.fmean(one.spend for one in rows), PLANS[:2]),
}


def answers_of_sets(table: Table, measured: str, plans: tuple[str, ...]) -> list[dict[Key, Ends]]:
    having = "" if "gone" in plans else "HAVING plan <> 'gone' OR GROUPING(plan) = 1"
    sql = (
        f"SELECT plan, COALESCE(age > 50, FALSE) AS old, {measured} AS x FROM visits GROUP BY CUBE (plan, old) {having}"
    )
    plan = table.query(sql).plan(epsilon=4)
    assert plan.checked.query.sets
    found = [table._engine_now().run(query) for query in plan.passes.bounded]
    made = []
    for _ in range(_FEW if measured.startswith("AVG") else _TRIES):  # intervals of means take their time
        columns = draw(plan, plan.integers(found))
        x = columns["x"]
        assert x.low is not None
        assert x.high is not None
        keys = zip(columns["plan"].values, columns["old"].values, strict=True)
        made.append(dict(zip(keys, zip(x.low.tolist(), x.high.tolist(), strict=True), strict=True)))
    return made


@pytest.mark.parametrize("measured", SETS)
@pytest.mark.thorough
def test_intervals_of_all_sets_cover(table: Table, measured: str) -> None:
    statistic, plans = SETS[measured]
    answers = answers_of_sets(table, measured, plans)
    found = covered(cube(statistic, plans), answers)
    assert cover(found, len(answers)), found


# batches

BATCH: list[tuple[str, Callable[[], Truths]]] = [
    ("SELECT COUNT(*) AS x FROM visits", lambda: {(): len(visits())}),
    (
        "SELECT plan, SUM(spend) AS x FROM visits GROUP BY plan",
        lambda: {(plan,): math.fsum(one.spend for one in visits() if one.plan == plan) for plan in PLANS},
    ),
    ("SELECT AVG(age) AS x FROM visits", lambda: {(): statistics.fmean(one.age for one in visits())}),
    ("SELECT MEDIAN(spend) AS x FROM visits", lambda: {(): statistics.median(one.spend for one in visits())}),
    ("SELECT COUNT(DISTINCT age) AS x FROM visits", lambda: {(): len({one.age for one in visits()})}),
    ("SELECT SUM(price) AS x FROM buys", lambda: {(): math.fsum(one.price for one in buys())}),
    (
        "SELECT tag, COUNT(*) AS x FROM visits JOIN tags USING (plan) GROUP BY tag HAVING tag = 'a'",
        lambda: {("a",): sum(one.plan == "free" for one in visits())},
    ),
    (
        "SELECT town, COUNT(*) AS x FROM visits GROUP BY town",
        lambda: {(town,): sum(one.town == town for one in visits()) for town in ("Lund", "Gent")},
    ),
]


@pytest.mark.parametrize("price", [{"epsilon": 8}, {"epsilon": 8, "delta": "1e-3"}], ids=str)
def test_intervals_of_every_statement_of_a_batch_cover(table: Table, price: dict[str, Any]) -> None:
    plan = table.batch([sql for sql, _ in BATCH]).plan(**price)
    passes = [table._engine_now().run(query) for query in plan.passes.bounded]
    for at, (sql, truths) in enumerate(BATCH):
        found = hits_of(plan.plans[at], plan.passes.integers(at, passes), truths(), 300)
        assert cover(found, 300), (sql, found)


# margins and ranges


def drawn(workload: Workload, sums: Floats) -> tuple[Floats, Floats]:
    """Sums of the finest counts in so many answers, and how far each may be off: all of it but the paying."""
    plan = workload.plan(epsilon=2)
    integers = plan.integers([workload._access.engine().run(one) for one in plan.passes.bounded])
    (finest,) = [at for at, level in enumerate(levels_of(workload)) if level.is_finest]
    found = []
    for _ in range(_TRIES):
        (cells,) = draw_parts(plan, integers, BETA)[finest].estimates.values()
        assert isinstance(cells, Estimate)
        found.append(cells.value)
    (fit,) = plan.fits()
    return np.array([sums @ one for one in found]), fit.errors(sums, BETA)


def levels_of(workload: Workload) -> list[Level]:
    return [one.level for one in workload._statement.demands if one.level is not None]


def answers_of_margins(table: Table) -> list[dict[Key, Ends]]:
    workload = table.margins([], ["plan"], ["plan", "old"], old=tacit.col("age") > 50)
    labels = [label for one in workload._statement.demands for label in one.bounded.public_keys or ()]
    values, off = drawn(workload, np.vstack([level.sums() for level in levels_of(workload)]))
    return [dict(zip(labels, zip(one - off, one + off, strict=True), strict=True)) for one in values]


def margins() -> Truths:
    truths = {(): len(visits())} | {(plan,): sum(one.plan == plan for one in visits()) for plan in PLANS}
    return truths | {
        (plan, old): sum(one.plan == plan and (one.age > 50) is old for one in visits())
        for plan in PLANS
        for old in (False, True, None)
    }


def test_intervals_of_margins_cover(table: Table) -> None:
    found = covered(margins(), answers_of_margins(table))
    assert cover(found, _TRIES), found


RANGES = [(1, 1), (3, 5), (2, 9), (1, 12), (7, 16)]
"""First and last bucket: of 16 from 18 to 98, five years each."""


def answers_of_ranges(table: Table) -> list[dict[Key, Ends]]:
    workload = table.ranges("decade", decade=tacit.col("age").width_bucket(18, 98, 16))
    keys = [label[0] for label in workload._statement.demands[0].bounded.public_keys or ()]
    sums = np.array([[first <= key <= last if key is not None else 0 for key in keys] for first, last in RANGES])
    values, off = drawn(workload, sums.astype(np.float64))
    return [dict(zip(RANGES, zip(one - off, one + off, strict=True), strict=True)) for one in values]


def ranges() -> Truths:
    ages = [one.age for one in visits()]
    return {(a, b): sum(18 + 5 * (a - 1) <= age < 18 + 5 * b for age in ages) for a, b in RANGES}


def test_intervals_of_ranges_cover(table: Table) -> None:
    found = covered(ranges(), answers_of_ranges(table))
    assert cover(found, _TRIES), found


def test_what_is_paid_for_has_these_intervals(table: Table) -> None:
    workload = table.ranges("decade", decade=tacit.col("age").width_bucket(18, 98, 16))
    answers = workload.ask(epsilon=2)
    (fit,) = workload.plan(epsilon=2).fits()
    off = fit.errors(levels_of(workload)[0].sums(), BETA)
    finest = answers.finest
    assert finest["n"].highs == pytest.approx(finest["n"].values + off)
    at = finest["decade_from"].values.index(3)
    assert answers.between(3, 3).high == pytest.approx(finest["n"].highs[at])


# discovery


def per_person(of: Callable[[Visit], Value]) -> dict[str, list[Value]]:
    made: dict[str, list[Value]] = {}
    for one in visits():
        made.setdefault(one.who, []).append(of(one))
    return made


DISCOVERIES: dict[str, tuple[Callable[[Table], Any], Callable[[], list[int]]]] = {
    "bounds": (
        lambda table: table.discover.bounds("age", epsilon=1, fresh=True),
        lambda: [int(ages[0]) for ages in per_person(lambda one: one.age).values()],  # type: ignore[arg-type]
    ),
    "rows": (
        lambda table: table.discover.rows_per_unit(epsilon=1, fresh=True),
        lambda: [len(rows) for rows in per_person(lambda one: one.plan).values()],
    ),
    "groups": (
        lambda table: table.discover.groups_per_unit("plan", epsilon=1, fresh=True),
        lambda: [len(set(plans)) for plans in per_person(lambda one: one.plan).values()],
    ),
}


def answers_of_discoveries(table: Table, name: str) -> tuple[Truths, list[dict[Key, Ends]]]:
    discover, numbers = DISCOVERIES[name]
    made: list[dict[Key, Ends]] = []
    for _ in range(_TRIES):
        answer = discover(table).answer
        bins = list(zip(answer["from"].values, answer["to"].values, strict=True))
        made.append(dict(zip(bins, zip(answer["units"].lows, answer["units"].highs, strict=True), strict=True)))
    return {one: float(sum(_inside(number, name, *one) for number in numbers())) for one in made[0]}, made


def _inside(number: int, name: str, low: float | None, high: float | None) -> bool:
    """Bins of numbers are open where they are nearer to 0; those of how often are closed."""
    above = low is not None and (low < number if name == "bounds" else low <= number)
    return above and (high is None or number <= high)


@pytest.mark.parametrize("name", DISCOVERIES)
def test_intervals_of_discoveries_cover(table: Table, name: str) -> None:
    truths, answers = answers_of_discoveries(table, name)
    assert sum(truths.values()) == 300
    found = covered(truths, answers)
    assert cover(found, _TRIES), found


# the suite can fail


def shorter(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault: errors of sums that add up, forgetting that there is noise in each level."""
    dense, closed, runs = Reconciled.errors, Margins.errors, Runs.errors
    monkeypatch.setattr(Reconciled, "errors", lambda self, sums, beta: dense(self, sums, beta) / 3)
    monkeypatch.setattr(Margins, "errors", lambda self, sums, beta: closed(self, sums, beta) / 3)
    monkeypatch.setattr(Runs, "errors", lambda self, sums, beta: runs(self, sums, beta) / 3)


@pytest.mark.parametrize("measured", ["COUNT(*)", "SUM(spend)", "COUNT(DISTINCT who)", "MEDIAN(age)"])
def test_sets_that_are_too_narrow_are_seen(table: Table, measured: str, monkeypatch: pytest.MonkeyPatch) -> None:
    narrowed(monkeypatch)
    statistic, plans = SETS[measured]
    found = covered(cube(statistic, plans), answers_of_sets(table, measured, plans))
    assert not cover(found, _TRIES)


def test_a_batch_that_is_too_narrow_is_seen(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    narrowed(monkeypatch)
    plan = table.batch([sql for sql, _ in BATCH]).plan(epsilon=8)
    passes = [table._engine_now().run(query) for query in plan.passes.bounded]
    for at, (_, truths) in enumerate(BATCH):
        found = hits_of(plan.plans[at], plan.passes.integers(at, passes), truths(), 300)
        assert not cover(found, 300)


def test_margins_and_ranges_that_are_too_narrow_are_seen(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    shorter(monkeypatch)
    assert not cover(covered(margins(), answers_of_margins(table)), _TRIES)
    assert not cover(covered(ranges(), answers_of_ranges(table)), _TRIES)


def test_discoveries_that_are_too_narrow_are_seen(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault: an interval that misses half of the time."""
    monkeypatch.setattr(discovery_histogram, "_BETA", Fraction(1, 2))
    assert not cover(covered(*answers_of_discoveries(table, "rows")), _TRIES)
