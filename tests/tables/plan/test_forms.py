"""One release for several statistics of a column: nobody moves it further than is claimed, and nothing gets noisier.

The oracle enumerates rows in exact integers, and knows the definition of each part, not how it is combined.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.mechanisms.shared.estimate import BETA
from tacit.privacy import ZCDP, ApproxDP, GaussianDP, PureDP
from tacit.tables.check.check import Checked
from tacit.tables.engines.contract import Blend, Measure, One, Present, Quantised, Square
from tacit.tables.estimators.base import Noisy, Reading, Setting
from tacit.tables.estimators.blends import of_column
from tacit.tables.estimators.noise import GaussianNoise, LaplaceNoise, Noise
from tacit.tables.estimators.quantising import centred
from tacit.tables.estimators.registry import ESTIMATORS
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Column
from tacit.tables.plan.demands import statement_of
from tacit.tables.plan.joint import share_alone
from tacit.tables.plan.plan import Plan, make_plan, planned, planned_before
from tacit.tables.plan.price import Price
from tacit.tables.query.tree import Aggregate
from tacit.tables.session.table import Table
from tacit.testing import seeded

FORMS = [
    {"squares": squares, "rows": rows, "total": total}
    for squares, rows, total in itertools.product((False, True), repeat=3)
    if rows or not total
]
Row = int | None
"""Steps, or unknown."""


def column(low: int, high: int, rows: int) -> tuple[Aggregate, Setting]:
    return Aggregate("mean", Column("x"), bounds=(Fraction(low), Fraction(high))), Setting(rows, False, Kind.INTEGER)


def integer(measure: Measure, rows: Sequence[Row]) -> int:
    """What an engine returns for one unit's rows; values are whole, the granule is 1."""
    value = measure.value
    known = [one for one in rows if one is not None]
    match value:
        case One():
            return len(rows)
        case Present():
            return len(known)
        case Square(Quantised(centre=centre)):
            return sum((one - int(centre)) ** 2 for one in known)
    assert isinstance(value, Quantised)
    return sum(one - int(value.centre) for one in known)


def parts_of(blend: Blend, rows: Sequence[Row]) -> list[int]:
    return [line[0] for line in blend.of([[integer(one, rows)] for one in blend.measures])]


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 3), (-2, 2), (5, 7), (-9, -6)])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_unit_moves_the_parts_further_than_is_claimed(form: dict[str, bool], low: int, high: int, most: int) -> None:
    aggregate, setting = column(low, high, most)
    blend, _ = of_column(aggregate, centred(aggregate, setting), setting, **form)
    every: list[Row] = [*range(low, high + 1), None]
    units = [rows for size in range(most + 1) for rows in itertools.combinations_with_replacement(every, size)]
    moved = [parts_of(blend, rows) for rows in units]
    assert max(sum(map(abs, one)) for one in moved) == blend.reach  # so far, and no further
    assert max(sum(part**2 for part in one) for one in moved) == blend.squared


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_what_is_read_from_the_parts_is_what_the_rows_add_up_to(form: dict[str, bool]) -> None:
    aggregate, setting = column(-3, 4, 2)
    blend, reading = of_column(aggregate, centred(aggregate, setting), setting, **form)
    rows: list[Row] = [-3, 4, 4, 0, None, 1, None, -1, 2]
    parts = parts_of(blend, rows)
    t = [Fraction(one + 3, 7) for one in rows if one is not None]
    exact = {"known": Fraction(len(t)), "total": sum(t), "rows": Fraction(len(rows)), "squares": sum(x * x for x in t)}
    for name, truth in exact.items():
        weights = getattr(reading, name)
        assert not weights or sum(w * part for w, part in zip(weights, parts, strict=True)) == truth
    assert bool(reading.rows) == form["rows"]
    assert bool(reading.squares) == form["squares"]


def test_least_squares_use_what_is_measured_twice() -> None:
    """All rows, and known and unknown ones: each sum has less noise than by itself."""
    aggregate, setting = column(0, 10, 1)
    _, reading = of_column(aggregate, centred(aggregate, setting), setting, squares=True, rows=True, total=True)
    unit = 100 * 11  # w² in finer steps
    assert sum((weight * unit) ** 2 for weight in reading.rows) == Fraction(4, 5)  # 1 as a part of its own
    assert sum((weight * unit) ** 2 for weight in reading.known) == Fraction(6, 5)  # 3 as a sum of three


# intervals

NOISES: dict[str, Noise] = {
    "Laplace": LaplaceNoise(PureDP(1)),
    "rounded": GaussianNoise(GaussianDP(1)),
    "discrete": GaussianNoise(ZCDP("0.5")),
}
DRAWS = 3000
SPREAD = 5.5 * math.sqrt(0.05 * 0.95 / DRAWS)
STATISTICS = ("count_rows", "count", "sum", "mean", "variance", "variance_pop", "stddev", "stddev_pop")
SIZES = (1, 4, 40, 300, 3000)


def rows_of(size: int) -> list[Row]:
    """Some unknown, the others of a skewed law between 0 and 100."""
    some: list[Row] = [None if at % 9 == 8 else (at * at * 7) % 101 * (at % 3) // 2 for at in range(size)]
    return some


def truth(name: str, rows: Sequence[Row]) -> float:
    known = [float(one) for one in rows if one is not None]
    return {
        "count_rows": lambda: float(len(rows)),
        "count": lambda: float(len(known)),
        "sum": lambda: sum(known),
        "mean": lambda: float(np.mean(known)),
        "variance": lambda: float(np.var(known, ddof=1)),
        "variance_pop": lambda: float(np.var(known)),
        "stddev": lambda: float(np.std(known, ddof=1)),
        "stddev_pop": lambda: float(np.std(known)),
    }[name]()


def released(blend: Blend, noise: Noise, rows: Sequence[Row], *, lie: int = 1) -> Noisy:
    """Many draws of one release; ``lie``: what intervals believe to be spent, as a multiple."""
    mechanism, bits = noise.mechanism(Fraction(1), blend, 1), seeded(len(rows) + len(blend.combinations))
    drawn = [mechanism.release(np.full(DRAWS, part), entropy=bits) for part in parts_of(blend, rows)]
    return Noisy(np.array(drawn, dtype=np.float64), noise.mechanism(Fraction(lie), blend, 1), noise)


def forms_for(noise: str) -> list[dict[str, bool]]:
    """With all statistics; all rows as a part of their own are for Gaussian noise alone."""
    return [one for one in FORMS if one["rows"] and one["squares"] and (noise != "Laplace" or not one["total"])]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.thorough
def test_every_statistic_of_one_release_is_covered(noise: str, size: int) -> None:
    rows = rows_of(size)
    for form in forms_for(noise):
        found = covered(noise, rows, form)
        assert {name: share for name, share in found.items() if share < 0.95 - SPREAD} == {}


def covered(noise: str, rows: Sequence[Row], form: dict[str, bool], lie: int = 1) -> dict[str, float]:
    aggregate, setting = column(0, 100, 1)
    blend, reading = of_column(aggregate, centred(aggregate, setting), setting, **form)
    sums, found = released(blend, NOISES[noise], rows, lie=lie), dict[str, float]()
    for name in STATISTICS:
        if name in ("variance", "stddev") and sum(one is not None for one in rows) < 2:
            continue
        made = ESTIMATORS[name].finish(
            replace(aggregate, estimator=name), replace(setting, reading=reading), (sums,), BETA
        )
        exact, slack = truth(name, rows), 1e-9 * max(1.0, truth(name, rows))
        assert bool(((made.low <= made.value) & (made.value <= made.high)).all())
        found[name] = float(((made.low <= exact + slack) & (made.high >= exact - slack)).mean())
    return found


@pytest.mark.parametrize("noise", NOISES)
def test_planted_fault_intervals_that_believe_in_too_little_noise_do_not_cover(noise: str) -> None:
    found = covered(noise, rows_of(3000), forms_for(noise)[0], lie=2 if noise == "Laplace" else 4)
    assert {name for name, share in found.items() if share < 0.95 - SPREAD} == set(STATISTICS)


@pytest.mark.parametrize("noise", NOISES)
def test_intervals_are_as_short_as_noise_allows(noise: str) -> None:
    """Next to 3.92 standard deviations of the released number: the variance's was 1.8, the deviation's 2.0."""
    aggregate, setting = column(0, 100, 1)
    blend, reading = of_column(aggregate, centred(aggregate, setting), setting, squares=True, rows=True)
    sums = released(blend, NOISES[noise], rows_of(3000))
    for name in STATISTICS:
        made = ESTIMATORS[name].finish(
            replace(aggregate, estimator=name), replace(setting, reading=reading), (sums,), BETA
        )
        width, spread = float(np.median(made.high - made.low)), float(np.std(made.value))
        assert width / (3.92 * spread) <= (1.25 if name.startswith(("var", "std")) else 1.1), name


# whole questions

POLICY = """\
version = 1
source = "t.csv"
table = "t"
unit = "who"
[limits]
groups = {groups}
rows = {rows}
[budget]
epsilon = 1000
delta = 1e-2
question_delta = 1e-6
[columns]
who = {{ type = "text", role = "identifier" }}
g = {{ type = "text", role = "public", keys = {keys} }}
city = {{ type = "text", role = "private" }}
x = {{ type = "real", role = "private", bounds = [0, 4] }}
y = {{ type = "integer", role = "private", bounds = [-1, 3] }}
z = {{ type = "real", role = "private", bounds = [90, 110] }}
b = {{ type = "boolean", role = "private" }}
"""
ASKED = {
    "count and mean": "COUNT(*) AS n, AVG(x) AS m",
    "of known values": "COUNT(x) AS n, SUM(x) AS s, AVG(x) AS m",
    "all at once": "COUNT(*) AS n, SUM(y) AS s, AVG(y) AS m, VAR_SAMP(y) AS v",
    "squares": "COUNT(z) AS n, STDDEV_SAMP(z) AS d",
    "far from 0": "SUM(z) AS s, VAR_POP(z) AS v, COUNT(*) AS n",
    "two columns": "COUNT(*) AS n, AVG(x) AS m, SUM(x) AS s, AVG(y) AS k, VAR_POP(y) AS v",
    "with a median": "COUNT(*) AS n, AVG(x) AS m, MEDIAN(y) AS h",
    "a condition": "COUNT(*) AS n, AVG(b) AS m, SUM(b) AS s",
}
PRICES: list[Price] = [ApproxDP(1, 0), ApproxDP("0.5", "1e-6"), ZCDP("0.1", "1e-6"), ApproxDP(1, "1e-9")]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    return opened(tmp_path_factory.mktemp("forms"), 3)


def opened(folder: Path, groups: int, keys: int = 3) -> Table:
    (folder / "t.csv").write_text(
        "who,g,city,x,y,z,b\nu1,a,Lund,1,1,100,true\nu2,b,Oslo,,2,91,false\n", encoding="utf-8"
    )
    names = [f"k{at}" for at in range(keys)]
    (folder / "t.toml").write_text(POLICY.format(groups=groups, rows=2, keys=names), encoding="utf-8")
    return tacit.open(folder / "t.toml", analyst="ada", ledger=tacit.InMemory())


def spreads(plan: Plan) -> dict[str, tuple[float, ...]]:
    lines = [line for line in plan.lines if line.pick is None]
    found = {line.name: line.estimator.spreads(line.aggregate, line.setting, line.mechanisms) for line in lines}
    return found | ({} if plan.keys is None else {"keys": (float(plan.keys.threshold),)})


def as_before(checked: Checked, table: Table, price: Price) -> Plan:
    """Each aggregate measured by itself; the price shared as well as is known."""
    return make_plan([statement_of(checked, table.policy)], table.policy, price, sharing=share_alone)


@pytest.mark.parametrize("key", ["g", "city"])
@pytest.mark.parametrize("asked", ASKED)
def test_no_statistic_gets_more_noise(asked: str, key: str, tmp_path: Path) -> None:
    for groups in (1, 3, 20):
        folder = tmp_path / str(groups)
        folder.mkdir()
        wide = opened(folder, groups, 25)
        checked = wide.query(f"SELECT {key}, {ASKED[asked]} FROM t GROUP BY {key}")._checked
        for price in PRICES:
            if key == "city" and not price.dlt:
                continue
            now, before = spreads(planned(checked, wide.policy, price)), spreads(as_before(checked, wide, price))
            for name, own in now.items():
                assert all(one <= other * 1.005 for one, other in zip(own, before[name], strict=True)), (name, price)
        wide.close()


def gains(table: Table, asked: str, price: Price) -> dict[str, float]:
    """How much less noise there is, at least."""
    checked = table.query(f"SELECT g, {ASKED[asked]} FROM t GROUP BY g")._checked
    now, before = spreads(planned(checked, table.policy, price)), spreads(as_before(checked, table, price))
    return {name[:3]: min(b / a for a, b in zip(own, before[name], strict=True)) for name, own in now.items()}


@pytest.mark.parametrize(
    ("asked", "price", "least"),
    [
        ("of known values", ApproxDP(1, 0), {"COU": 2.1, "SUM": 2.99, "AVG": 2.99}),
        ("count and mean", ApproxDP(1, 0), {"COU": 1.15, "AVG": 1.99}),
        ("of known values", ZCDP("0.1"), {"COU": 1.22, "SUM": 1.73, "AVG": 1.73}),
        ("count and mean", ZCDP("0.1"), {"COU": 0.999, "AVG": 1.15}),
        ("all at once", ApproxDP(1, 0), {"COU": 1.9, "SUM": 2.8, "AVG": 3.5, "VAR": 3.99}),
    ],
    ids=str,
)
def test_what_is_gained(table: Table, asked: str, price: Price, least: dict[str, float]) -> None:
    found = gains(table, asked, price)
    assert {name: found[name] >= one for name, one in least.items()} == dict.fromkeys(least, True), found


def test_numbers_of_one_release_fit_each_other(table: Table) -> None:
    row = table.sql("SELECT COUNT(x) AS n, SUM(x) AS s, AVG(x) AS m FROM t", epsilon=900).rows()[0]
    assert isinstance(row["n"], int)
    assert row["m"] == pytest.approx(row["s"] / row["n"], abs=0.2)


def test_columns_of_one_value_and_bounds_of_a_group_are_measured_by_themselves(table: Table) -> None:
    for asked in (
        "COUNT(*) AS n, AVG(x, contribution_bounds_per_row => (2, 2)) AS m",
        "COUNT(x) AS n, SUM(x, contribution_bounds_per_group => (0, 3)) AS s",
        "SUM(x, contribution_bounds_per_row => (0, 3)) AS s, AVG(x) AS m",
    ):
        plan = table.query(f"SELECT g, {asked} FROM t GROUP BY g").plan(epsilon=1)
        assert all(line.setting.reading is None for line in plan.lines)


def test_answers_that_were_paid_for_before_are_on_record(tmp_path: Path) -> None:
    """A question whose price had another δ when each aggregate was measured by itself."""
    wide = opened(tmp_path, 6, 25)
    question = wide.query("SELECT g, COUNT(x) AS n, SUM(x) AS s, AVG(x) AS m FROM t GROUP BY g")
    now = question.plan(epsilon=1)
    before = planned_before(question._checked, wide.policy, now.asked)
    assert before.cost != now.cost
    answer = question.ask(epsilon=1, fresh=True).disclosure().to_json().encode()
    wide._access.payments.paid(now.question, before.cost, lambda receipt: answer)
    spent = wide.ledger.budget().charged
    assert question.recall(epsilon=1) is not None
    question.ask(epsilon=1)
    assert wide.ledger.budget().charged == spent


def test_reading_has_weights_for_each_part() -> None:
    assert Reading((Fraction(1),), (Fraction(1),)).rows == ()
