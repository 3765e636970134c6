"""Whole statements under the auditor: from rows through the engine and the noise to the released number.

The two tables differ in one unit, the worst the limits allow. Independent groups of equal integers stand for
independent answers, so that a hundred thousand statements take seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.mechanisms.selection.count_threshold import CountThreshold
from tacit.mechanisms.selection.key_votes import VotedKeySelection
from tacit.privacy import ApproxDP, Guarantee
from tacit.tables.engines.contract import Integers, Tallies
from tacit.tables.engines.sums import Sums
from tacit.tables.plan.plan import Plan
from tacit.tables.release.draw import draw
from tacit.tables.session.table import Question, Table
from tests.tables.attacks.faults import every_row, half_the_reach, logarithms_not_clamped
from tests.tables.parts import changed

CONFIDENCE = 1 - 1e-7
SAMPLES = 30_000
BATCH = 15_000

POLICY = """\
version = 1
source = "small.csv"
table = "small"
unit = "who"
[limits]
groups = 1
rows = 3
[budget]
epsilon = 100
least = { epsilon = 1e-300 }
delta = 1e-2
question_delta = 1e-2
[columns]
who = { type = "text", role = "identifier" }
town = { type = "text", role = "private" }
side = { type = "text", role = "public", keys = ["left", "right"] }
pay = { type = "real", role = "private", bounds = [0, 10] }
level = { type = "integer", role = "private", bounds = [0, 4] }
"""
POLICY += """
[public.doubles]
source = "doubles.csv"
columns = { town = { type = "text" }, part = { type = "text" } }
[tables.more]
source = "more.csv"
unit = "id"
columns = { id = { type = "text", role = "identifier" }, pay = { type = "real", role = "private", bounds = [0, 10] } }
"""
DOUBLES = "town,part\n" + "Lund,south\n" * 5 + "Lund,north\nOslo,south\n"
MORE = "id,pay\na,1\nb,2\n"
OTHERS = ["a,Lund,left,1,1", "a,Lund,left,3,3", "b,Lund,left,9,2", "c,Lund,left,,", "d,Lund,left,5,1"]
ONE_MORE = [f"z,Lund,left,1e30,{9 if i < 5 else i}" for i in range(7)]


def table(folder: Path, rows: list[str], policy: str = POLICY) -> Table:
    folder.mkdir()
    (folder / "small.csv").write_text("\n".join(["who,town,side,pay,level", *rows]) + "\n", encoding="utf-8")
    (folder / "small.toml").write_text(policy, encoding="utf-8")
    (folder / "doubles.csv").write_text(DOUBLES, encoding="utf-8")
    more = MORE + "z,1e30\n" * 4 if any(row.startswith("z,") for row in rows) else MORE
    (folder / "more.csv").write_text(more, encoding="utf-8")
    return tacit.open(folder / "small.toml", analyst="ada", ledger=tacit.InMemory())


def repeated(plan: Plan, engine_integers: Integers, count: int) -> Integers:
    """One group's integers, once for each answer; a group that no row has stands for zeros."""
    rows = len(engine_integers.units)
    assert rows <= 1
    units = np.full(count, int(engine_integers.units[0]) if rows else 0, dtype=np.int64)
    measures = tuple(
        one.taken(np.zeros(count, dtype=np.intp))
        if isinstance(one, Tallies)
        else Sums.of([one[0] if rows else 0] * count)
        for one in engine_integers.measures
    )
    return Integers((list(range(count)),), units, measures)


def answers(question: str, price: dict[str, Any], tables: tuple[Table, Table]) -> tuple[Callable[..., Any], Guarantee]:
    """A function from which table (0 or 1) to what is released, a line per answer; NaN where the group is not shown."""
    plans, integers = [], []
    for one in tables:
        asked: Question = one.query(question)
        plan = asked.plan(**price)
        plans.append(plan)
        integers.append(one._engine_now().run(plan.bounded))
    assert plans[0].cost == plans[1].cost
    assert str(plans[0]) == str(plans[1])

    def answer(which: Any) -> Any:
        at, count = int(which[0]), len(which)
        wide = repeated(plans[at], integers[at], count)
        bounded = replace(plans[at].bounded, public_keys=None if plans[at].keys else tuple((i,) for i in range(count)))
        keys, *outputs = [column.values for column in draw(changed(plans[at], bounded=bounded), [wide])]
        made = np.full((count, len(outputs)), np.nan)
        for number, values in enumerate(outputs):
            made[np.array(keys, dtype=np.intp), number] = [np.nan if value is None else value for value in values]
        return made[:, 0] if len(outputs) == 1 else made

    return answer, plans[0].cost


CASES = {
    "count": ("SELECT side, COUNT(*) AS n FROM small WHERE side = 'left' GROUP BY side", {"epsilon": 1}),
    "sum": ("SELECT side, SUM(pay) AS n FROM small WHERE side = 'left' GROUP BY side", {"epsilon": 1}),
    "mean": ("SELECT side, AVG(pay) AS n FROM small WHERE side = 'left' GROUP BY side", {"epsilon": 2}),
    "units": ("SELECT side, COUNT(DISTINCT who) AS n FROM small WHERE side = 'left' GROUP BY side", {"epsilon": 1}),
    "distinct": ("SELECT side, COUNT(DISTINCT pay) AS n FROM small WHERE side = 'left' GROUP BY side", {"epsilon": 1}),
    "distinct levels": (
        "SELECT side, COUNT(DISTINCT level) AS n FROM small WHERE side = 'left' GROUP BY side",
        {"epsilon": 1},
    ),
    "covariance": (
        "SELECT side, COVAR_POP(pay, level) AS n FROM small WHERE side = 'left' GROUP BY side",
        {"epsilon": 2},
    ),
    "correlation": ("SELECT side, CORR(pay, level) AS n FROM small WHERE side = 'left' GROUP BY side", {"epsilon": 2}),
    "median": ("SELECT side, MEDIAN(level) AS n FROM small WHERE side = 'left' GROUP BY side", {"epsilon": 6}),
    "maximum": ("SELECT side, MAX(level) AS n FROM small WHERE side = 'left' GROUP BY side", {"epsilon": 6}),
    "mode": (
        "SELECT side, CAST(MODE(level > 3) AS BIGINT) AS n FROM small WHERE side = 'left' GROUP BY side",
        {"epsilon": 3},
    ),
    "the second of two": (
        "SELECT side, CAST(TOP_K(level > 3, 2)[OFFSET(1)] AS BIGINT) AS n FROM small WHERE side = 'left' GROUP BY side",
        {"epsilon": 3},
    ),
    "sums per unit": (
        "SELECT side, SUM(t, contribution_bounds_per_row => (0, 10)) AS n FROM "
        "(SELECT who, side, SUM(LEAST(pay, 9)) AS t FROM small WHERE side = 'left' GROUP BY who, side) GROUP BY side",
        {"epsilon": 1},
    ),
    "count of units with many rows": (
        "SELECT many, COUNT(*) AS n FROM (SELECT who, COUNT(*) > 3 AS many FROM small GROUP BY who) "
        "WHERE many GROUP BY many",
        {"epsilon": 1},
    ),
    "units that count": (
        "SELECT side, COUNT(DISTINCT who) FILTER (WHERE pay > 9) AS n FROM small WHERE side = 'left' GROUP BY side",
        {"epsilon": 1},
    ),
    "rows within bounds": (
        "SELECT side, COUNT(*, contribution_bounds_per_group => (1, 2)) AS n FROM small WHERE side = 'left' "
        "GROUP BY side",
        {"epsilon": 1},
    ),
    "tighter limits": (
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, max_rows_contributed=2) side, SUM(pay) AS n FROM small "
        "WHERE side = 'left' GROUP BY side",
        {},
    ),
    "joined to a public table": (
        "SELECT part, COUNT(*) AS n FROM small JOIN doubles USING (town) WHERE part = 'south' GROUP BY part",
        {"epsilon": 1},
    ),
    "joined on the unit": (
        "SELECT side, SUM(m.pay) AS n FROM small LEFT JOIN more AS m ON small.who = m.id WHERE side = 'left' "
        "GROUP BY side",
        {"epsilon": 1},
    ),
    "of two tables": (
        "SELECT kind, SUM(x) AS n FROM "
        "(SELECT 'all' AS kind, pay AS x FROM small UNION ALL SELECT 'all', pay FROM more) GROUP BY kind",
        {"epsilon": 1},
    ),
    "private groups": ("SELECT town, COUNT(*) AS n FROM small GROUP BY town", {"epsilon": 3}),
    "variance": ("SELECT side, VAR_POP(level) AS n FROM small WHERE side = 'left' GROUP BY side", {"epsilon": 2}),
    "minimum": ("SELECT side, MIN(4 - level) AS n FROM small WHERE side = 'left' GROUP BY side", {"epsilon": 6}),
    "geometric mean": (
        "SELECT side, GEOMEAN(pay, contribution_bounds_per_row => (1, 10)) AS n FROM small WHERE side = 'left' "
        "GROUP BY side",
        {"epsilon": 2},
    ),
    "ratio of sums": (
        "SELECT side, SUM(pay) / SUM(level) AS n FROM small WHERE side = 'left' GROUP BY side",
        {"epsilon": 2},
    ),
    "of a subquery": (
        "WITH some AS (SELECT side AS s, pay * 2 AS x FROM small WHERE level > 0) "
        "SELECT s, SUM(x) AS n FROM some WHERE s = 'left' AND x > 1 GROUP BY s",
        {"epsilon": 1},
    ),
    "in a time zone": (
        "SELECT side, COUNT(*) AS n FROM small WHERE side = 'left' AND DATE_TRUNC('day', "
        "CAST(CONCAT('2026-03-01 1', CAST(level AS VARCHAR), ':00:00') AS TIMESTAMP) AT TIME ZONE 'Asia/Tokyo') "
        "= DATE '2026-03-02' "
        "GROUP BY side",
        {"epsilon": 1},
    ),
    "bounded rows": (
        "SELECT side, AVG(pay, contribution_bounds_per_row => (2, 4)) AS n FROM small WHERE side = 'left' "
        "GROUP BY side",
        {"epsilon": 2},
    ),
    "all quantiles at once": (
        "SELECT side, APPROX_QUANTILES(level, 2) AS q FROM small WHERE side = 'left' GROUP BY side",
        {"epsilon": 12},
    ),
    "the two best of three": (
        "SELECT side, TOP_K(CASE WHEN level > 2 THEN 2 WHEN level > 1 THEN 1 ELSE 0 END, 2) AS t FROM small "
        "WHERE side = 'left' GROUP BY side",
        {"epsilon": 4},
    ),
}


CHOSEN = {
    **dict.fromkeys(["median", "maximum", "mode", "the second of two"], 6_000),
    **dict.fromkeys(["minimum", "all quantiles at once", "the two best of three"], 2_000),
}
"""Drawn group by group: fewer answers, so that the test stays quick."""


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> tuple[Table, Table]:
    folder = tmp_path_factory.mktemp("neighbours")
    return table(folder / "with", OTHERS + ONE_MORE), table(folder / "without", OTHERS)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.thorough
def test_a_statement_keeps_its_price(case: str, tables: tuple[Table, Table]) -> None:
    question, price = CASES[case]
    function, cost = answers(question, price, tables)
    samples = CHOSEN.get(case, SAMPLES)
    batch = min(BATCH, samples // 2)
    found = tacit.audit(function, neighbours=(0, 1), claim=cost, samples=samples, batch=batch, confidence=CONFIDENCE)
    assert not found.violated, found
    assert found.epsilon_lower > 0, "the two tables look alike: this would see nothing"


HOLES: list[tuple[str, Callable[[pytest.MonkeyPatch], None]]] = [
    ("variance", every_row),
    ("geometric mean", half_the_reach),
    ("geometric mean", logarithms_not_clamped),
    ("ratio of sums", every_row),
    ("of a subquery", every_row),
    ("joined on the unit", every_row),
    ("of two tables", every_row),
    ("in a time zone", every_row),
    ("bounded rows", every_row),
]


@pytest.mark.parametrize(("case", "fault"), HOLES, ids=lambda one: one if isinstance(one, str) else one.__name__)
@pytest.mark.thorough
def test_the_auditor_sees_planted_holes(
    case: str, fault: Callable[[pytest.MonkeyPatch], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    question, price = CASES[case]
    tables = (table(tmp_path / "with", OTHERS + ONE_MORE * 3), table(tmp_path / "without", OTHERS))
    fault(monkeypatch)
    function, cost = answers(question, price, tables)
    found = tacit.audit(function, neighbours=(0, 1), claim=cost, samples=20_000, batch=10_000, confidence=CONFIDENCE)
    assert found.violated, found


@pytest.mark.parametrize("least", [1, 5, 6])
def test_a_least_number_of_units_keeps_its_price(least: int, tables: tuple[Table, Table]) -> None:
    """Five units with the new one: at five the group can first be shown, at six it never is."""
    clause = f"WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=3, min_privacy_units_per_group={least})"
    question = f"SELECT {clause} town, COUNT(*) AS n FROM small GROUP BY town"
    function, cost = answers(question, {}, tables)
    found = tacit.audit(function, neighbours=(0, 1), claim=cost, samples=SAMPLES, batch=BATCH, confidence=CONFIDENCE)
    assert not found.violated, found
    shown = (~np.isnan(function(np.zeros(20_000, dtype=np.int64)))).mean()
    assert (shown > 0) == (least < 6)
    assert np.isnan(function(np.ones(20_000, dtype=np.int64))).all() == (least > 4)


@pytest.mark.parametrize("counted", ["*", "DISTINCT who"])
def test_a_group_of_one_unit_keeps_its_price(counted: str, tmp_path: Path) -> None:
    tables = (table(tmp_path / "with", ONE_MORE), table(tmp_path / "without", []))
    function, cost = answers(f"SELECT town, COUNT({counted}) AS n FROM small GROUP BY town", {"epsilon": 3}, tables)
    found = tacit.audit(function, neighbours=(0, 1), claim=cost, samples=SAMPLES, batch=BATCH, confidence=CONFIDENCE)
    assert not found.violated, found


def test_a_count_that_decides_on_its_key_keeps_its_price(tables: tuple[Table, Table]) -> None:
    function, cost = answers("SELECT town, COUNT(DISTINCT who) AS n FROM small GROUP BY town", {"epsilon": 3}, tables)
    found = tacit.audit(function, neighbours=(0, 1), claim=cost, samples=SAMPLES, batch=BATCH, confidence=CONFIDENCE)
    assert not found.violated, found


def test_the_auditor_sees_a_count_that_is_always_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted hole: the key of one unit appears whenever its count is not negative."""
    monkeypatch.setattr(CountThreshold, "threshold", property(lambda self: 0))
    tables = (table(tmp_path / "with", ONE_MORE), table(tmp_path / "without", []))
    function, cost = answers("SELECT town, COUNT(DISTINCT who) AS n FROM small GROUP BY town", {"epsilon": 3}, tables)
    found = tacit.audit(function, neighbours=(0, 1), claim=cost, samples=SAMPLES, batch=BATCH, confidence=CONFIDENCE)
    assert found.violated


IN_RHO = (
    POLICY.replace("groups = 1", "groups = 3").replace("epsilon = 100\n", "rho = 100\n").replace("{ epsilon", "{ rho")
)


def test_votes_for_keys_keep_their_price(tmp_path: Path) -> None:
    """A unit of one group out of three that it might have: it votes √3 times as much there."""
    for more, others in ((ONE_MORE, []), (ONE_MORE, [f"v{i},Lund,left,5,2" for i in range(2)])):
        place = tmp_path / str(len(others))
        place.mkdir()
        tables = (table(place / "with", others + more, IN_RHO), table(place / "without", others, IN_RHO))
        function, cost = answers("SELECT town, SUM(level) AS n FROM small GROUP BY town", {"rho": 2}, tables)
        plan = tables[0].query("SELECT town, SUM(level) AS n FROM small GROUP BY town").plan(rho=2)
        assert isinstance(plan.keys, VotedKeySelection)
        found = tacit.audit(
            function, neighbours=(0, 1), claim=cost, samples=SAMPLES, batch=BATCH, confidence=CONFIDENCE
        )
        assert not found.violated, found


def test_the_auditor_sees_votes_that_come_too_near_to_the_threshold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The planted hole: a unit of one group gives it all but one of the votes that are needed."""
    monkeypatch.setattr(VotedKeySelection, "_weight", lambda rule, keys: rule.least_votes - 1)
    tables = (table(tmp_path / "with", ONE_MORE, IN_RHO), table(tmp_path / "without", [], IN_RHO))
    function, cost = answers("SELECT town, SUM(level) AS n FROM small GROUP BY town", {"rho": 2}, tables)
    found = tacit.audit(function, neighbours=(0, 1), claim=cost, samples=SAMPLES, batch=BATCH, confidence=CONFIDENCE)
    assert found.violated


@pytest.mark.parametrize("case", ["count", "sum", "units", "joined to a public table"])
@pytest.mark.thorough
def test_the_auditor_sees_limits_that_are_not_kept(case: str, tmp_path: Path) -> None:
    """The planted hole: an engine that lets a unit count four times as often as the plan says."""
    question, price = CASES[case]
    loose = POLICY.replace("rows = 3", "rows = 12")
    more = [f"z{i},Lund,left,1e30,9" for i in range(4)] if case == "units" else ONE_MORE * 4
    tables = (table(tmp_path / "with", OTHERS + more, loose), table(tmp_path / "without", OTHERS, loose))
    strict = (table(tmp_path / "a", OTHERS), table(tmp_path / "b", OTHERS))
    honest_plans = [one.query(question).plan(**price) for one in strict]
    integers = [one._engine_now().run(one.query(question).plan(**price).bounded) for one in tables]

    def answer(which: Any) -> Any:
        at, count = int(which[0]), len(which)
        plan = honest_plans[at]
        bounded = replace(plan.bounded, public_keys=tuple((i,) for i in range(count)))
        released = draw(changed(plan, bounded=bounded), [repeated(plan, integers[at], count)])
        return np.array(list(released)[-1].values, dtype=np.float64)

    found = tacit.audit(
        answer, neighbours=(0, 1), claim=ApproxDP(1, 0), samples=SAMPLES, batch=BATCH, confidence=CONFIDENCE
    )
    assert found.violated


@pytest.mark.parametrize("case", ["distinct", "median", "mode"])
@pytest.mark.thorough
def test_the_auditor_sees_cells_and_values_beyond_the_limit(case: str, tmp_path: Path) -> None:
    """The planted hole: an engine that lets a unit hold ten times as many rows and values as the plan says."""
    question, _ = CASES[case]
    price = {"epsilon": 2}
    loose = POLICY.replace("rows = 3", "rows = 30")
    more = [f"z,Lund,left,{i / 2},9" for i in range(30)]
    strict = (table(tmp_path / "a", OTHERS), table(tmp_path / "b", OTHERS))
    honest = [one.query(question).plan(**price) for one in strict]  # type: ignore[arg-type]
    wide = (table(tmp_path / "with", OTHERS + more, loose), table(tmp_path / "without", OTHERS, loose))
    integers = [one._engine_now().run(one.query(question).plan(**price).bounded) for one in wide]  # type: ignore[arg-type]

    def answer(which: Any) -> Any:
        at, count = int(which[0]), len(which)
        bounded = replace(
            honest[at].bounded, public_keys=tuple((i,) for i in range(count)), measures=honest[at].bounded.measures
        )
        found = repeated(honest[at], integers[at], count)
        released = draw(changed(honest[at], bounded=bounded), [found])
        return np.array([float(value) for value in list(released)[-1].values])

    claim = ApproxDP(2, 0)
    found = tacit.audit(answer, neighbours=(0, 1), claim=claim, samples=12_000, batch=6_000, confidence=CONFIDENCE)
    assert found.violated


@pytest.mark.thorough
def test_the_auditor_sees_a_choice_at_the_price_of_one_row(tmp_path: Path) -> None:
    """The planted hole: a choice calibrated to a third of the rows a unit has."""
    question, _ = CASES["mode"]
    tables = (table(tmp_path / "with", OTHERS + [ONE_MORE[0]] * 7), table(tmp_path / "without", OTHERS))
    made = [one.query(question).plan(epsilon=2) for one in tables]
    integers = [one._engine_now().run(plan.bounded) for one, plan in zip(tables, made, strict=True)]

    def cheaper(plan: Plan) -> Plan:
        (line,) = plan.lines
        assert line.pick is not None
        choice, mechanism = line.pick
        wrong = replace(choice, rows=1)  # type: ignore[type-var]
        return changed(plan, lines=(replace(line, pick=(choice, replace(mechanism, choice=wrong))),))  # type: ignore[type-var]

    def answer(which: Any) -> Any:
        at, count = int(which[0]), len(which)
        bounded = replace(made[at].bounded, public_keys=tuple((i,) for i in range(count)))
        released = draw(changed(cheaper(made[at]), bounded=bounded), [repeated(made[at], integers[at], count)])
        return np.array([float(value) for value in list(released)[-1].values])

    claim = ApproxDP(2, 0)
    found = tacit.audit(answer, neighbours=(0, 1), claim=claim, samples=12_000, batch=6_000, confidence=CONFIDENCE)
    assert found.violated
