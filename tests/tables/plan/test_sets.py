"""GROUPING SETS, ROLLUP and CUBE: a row per set and key, totals that add up, one price for all sets together."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tacit
from tacit.errors import InvalidParameter
from tacit.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace
from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.privacy import L1, ZCDP, ApproxDP, GaussianDP
from tacit.tables.engines.contract import BoundedQuery, Integers, Measure, One
from tacit.tables.engines.duckdb.engine import DuckDBEngine
from tacit.tables.engines.sums import Sums
from tacit.tables.expressions.tree import Column
from tacit.tables.fitting.least_squares import combination_errors, reconciliation
from tacit.tables.fitting.levels import Level, by_keys
from tacit.tables.fitting.margins import Margins
from tacit.tables.plan import demands
from tacit.tables.plan.demands import lumped
from tacit.tables.plan.plan import Plan, planned
from tacit.tables.release.draw import draw, finest, noised, placed
from tacit.tables.session.table import Table
from tacit.testing import seeded
from tests.end_to_end.covering import least_hits
from tests.tables.engines.random_rows import Expressions, Rows
from tests.tables.engines.sensitivity import SECRET, neighbours, row_value
from tests.tables.engines.sensitivity import table as random_table

POLICY = """\
version = 1
source = "shop.csv"
unit = "who"

[limits]
groups = 2
rows = 3

[budget]
epsilon = 100000
least = { epsilon = 1e-300 }
delta = 0.01
question_delta = 1e-8

[columns]
who = { type = "text", role = "identifier" }
town = { type = "text", role = "public", keys = ["Lund", "Bergen", "Porto"] }
plan = { type = "text", role = "public", keys = ["free", "pro"] }
street = { type = "text", role = "private" }
pay = { type = "real", role = "private", bounds = [0, 100] }
"""
BOTH = "SELECT town, plan, COUNT(*) AS n, SUM(pay) AS s FROM shop GROUP BY ROLLUP (town, plan)"
Row = tuple[str, str, str, str, str]
BETA = Fraction(1, 20)


def people(count: int = 120, seed: int = 5) -> list[Row]:
    """Everybody within the limits: at most two (town, plan), at most three rows in each."""
    chance, rows = random.Random(seed), list[Row]()
    for one in range(count):
        pairs = list(itertools.product(["Lund", "Bergen", "Porto"], ["free", "pro"]))
        for town, plan in chance.sample(pairs, chance.randint(1, 2)):
            for _ in range(chance.randint(1, 3)):
                rows.append((f"p{one}", town, plan, chance.choice(["High", "Low"]), str(chance.randint(0, 100))))
    return rows


def opened(folder: Path, rows: list[Row], policy: str = POLICY) -> Table:
    folder.mkdir(exist_ok=True)
    lines = ["who,town,plan,street,pay", *(",".join(row) for row in rows)]
    (folder / "shop.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "shop.toml").write_text(policy, encoding="utf-8")
    return tacit.open(folder / "shop.toml", analyst="ada", ledger=tacit.InMemory())


@pytest.fixture
def shop(tmp_path: Path) -> Table:
    return opened(tmp_path, people())


def plan_of(table: Table, sql: str, **price: Any) -> Plan:
    made = table.query(sql).plan(**price)
    assert made.checked.query.sets
    return made


def run(table: Table, plan: Plan) -> list[Integers]:
    return [table._engine_now().run(one) for one in plan.passes.bounded]


# what comes out


def test_totals_add_up_under_one_debit(shop: Table) -> None:
    answer = shop.sql(BOTH, epsilon=1)
    rows = answer.rows()
    assert len(rows) == 6 + 3 + 1
    for name in ("n", "s"):
        whole = [row[name] for row in rows if row["town"] is None]
        towns = {row["town"]: row[name] for row in rows if row["town"] is not None and row["plan"] is None}
        assert sum(towns.values()) == pytest.approx(whole[0])  # type: ignore[arg-type]
        for town, total in towns.items():
            parts = [row[name] for row in rows if row["town"] == town and row["plan"] is not None]
            assert sum(parts) == pytest.approx(total)  # type: ignore[arg-type]
    assert answer.spent == ApproxDP(1, 0) == shop.ledger.budget().charged
    assert shop.sql(BOTH, epsilon=1).rows() == rows
    written_out = (
        "SELECT town, plan, COUNT(*) AS n, SUM(pay) AS s FROM shop GROUP BY GROUPING SETS ((town, plan), town, ())"
    )
    assert shop.sql(written_out, epsilon=1).rows() == rows  # the same tree, and free
    assert shop.ledger.budget().charged == ApproxDP(1, 0)


def test_nulls_and_grouping_tell_the_set(shop: Table) -> None:
    sql = (
        "SELECT COALESCE(town, 'any') AS t, plan, GROUPING(town) AS g, GROUPING(town, plan) AS both_, COUNT(*) AS n "
        "FROM shop GROUP BY CUBE (town, plan)"
    )
    rows = shop.sql(sql, epsilon=1).rows()
    assert len(rows) == 12
    found = {(row["t"], row["plan"]): (row["g"], row["both_"]) for row in rows}
    assert found["Lund", "pro"] == (0, 0)
    assert found["Lund", None] == (0, 1)
    assert found["any", "pro"] == (1, 2)
    assert found["any", None] == (1, 3)
    assert [row["t"] for row in rows][-3:] == ["any", "any", "any"]  # totals come after their parts


def test_the_tail_sees_the_rows_of_all_sets(shop: Table) -> None:
    sql = (
        "SELECT town, COUNT(*) AS n FROM shop GROUP BY GROUPING SETS ((town), ()) "
        "HAVING GROUPING(town) = 1 OR n > 10 ORDER BY n DESC LIMIT 2"
    )
    rows = shop.sql(sql, epsilon=100).rows()
    assert rows[0]["town"] is None
    assert rows[1]["town"] is not None
    assert len(rows) == 2


def test_what_is_measured_is_what_python_counts(shop: Table) -> None:
    """At a price at which noise is nothing, the answer is the exact one: everybody is within the limits."""
    sql = (
        "SELECT town, plan, COUNT(*) AS n, SUM(pay) AS s, AVG(pay) AS m, COUNT(DISTINCT who) AS u, MAX(pay) AS top "
        "FROM shop GROUP BY GROUPING SETS ((town, plan), (plan), ())"
    )
    rows = shop.query(sql).ask(epsilon=50_000).rows()
    assert len(rows) == 6 + 2 + 1
    for row in rows:
        held = [one for one in people() if row["town"] in (one[1], None) and row["plan"] in (one[2], None)]
        pays = [float(one[4]) for one in held]
        assert row["n"] == pytest.approx(len(held), abs=0.01)
        assert row["s"] == pytest.approx(sum(pays), abs=1)
        if row["plan"] is not None:
            assert row["u"] == len({one[0] for one in held})
        if row["town"] is not None:  # by all keys everybody is within the limits; in a coarser set rows are left out
            assert row["m"] == pytest.approx(sum(pays) / len(pays), abs=0.1)
            second, first = sorted(pays)[-2:]  # a maximum aims one row inside
            assert second - 0.1 <= row["top"] <= first + 0.1


def test_private_keys_are_selected_in_each_set(tmp_path: Path) -> None:
    table = opened(tmp_path, people(600))
    sql = "SELECT street, plan, COUNT(*) AS n FROM shop GROUP BY ROLLUP (street, plan)"
    plan = plan_of(table, sql, epsilon=2)
    assert [part.keys is not None for part in plan.parts] == [True, True, False]
    assert "not made to add up: some keys are private" in str(plan)
    answer = table.sql(sql, epsilon=2)
    assert {row["street"] for row in answer.rows()} <= {"High", "Low", None}
    assert answer.disclosure().group_rule.kind == "private"
    assert Fraction(answer.disclosure().group_rule.delta) <= Fraction("1e-8")
    assert table.ledger.budget().charged == plan.cost
    with pytest.raises(tacit.errors.NotPrivate, match="takes a δ"):
        table.query(sql).plan(epsilon=2, delta=0)


def test_a_rare_private_key_is_not_shown_by_any_set(tmp_path: Path) -> None:
    table = opened(tmp_path, [*people(600), ("alone", "Lund", "pro", "Secret Lane", "1")])
    sql = "SELECT street, plan, COUNT(*) AS n FROM shop GROUP BY CUBE (street, plan)"
    for _ in range(5):
        assert "Secret Lane" not in {row["street"] for row in table.query(sql).ask(epsilon=2, fresh=True).rows()}


def test_a_row_per_person_below(shop: Table) -> None:
    sql = (
        "SELECT plan, COUNT(*) AS n, AVG(t, contribution_bounds_per_row => (0, 300)) AS m FROM "
        "(SELECT who, plan, SUM(pay) AS t FROM shop GROUP BY who, plan) GROUP BY ROLLUP (plan)"
    )
    rows = shop.query(sql).ask(epsilon=50_000).rows()
    pairs = {(one[0], one[2]) for one in people()}
    assert rows[-1]["n"] == pytest.approx(len(pairs), abs=0.5)


def test_what_several_groupings_cannot_be(shop: Table) -> None:
    listed = (
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) town, COUNT(*) FROM shop RIGHT OUTER JOIN "
        "UNNEST(['Lund']) AS town USING (town) GROUP BY ROLLUP (town)"
    )
    with pytest.raises(InvalidParameter, match="beside a list"):
        shop.query(listed)
    with pytest.raises(InvalidParameter, match="nothing to release"):
        shop.query("SELECT town FROM shop GROUP BY ROLLUP (town)").plan(epsilon=1)
    assert shop.ledger.budget().charged == ApproxDP(0, 0)


def test_the_plan_says_where_the_price_goes(shop: Table) -> None:
    plan = plan_of(shop, BOTH, epsilon=1)
    text = str(plan)
    shares = [f"{part.demand.title}: {float(part.demand.weight):.0%} of the price" for part in plan.parts]
    for said in (*shares, "add up", "would halve the largest error of COUNT"):
        assert said in text
    assert [part.demand.title for part in plan.parts][-1] == "in all"
    assert sum(line.share for one in plan.parts for line in one.lines) == 1
    within = shop.query(BOTH).plan(within={"n": 20})
    assert within.error("n") <= 20  # type: ignore[operator]
    assert shop.query(BOTH).plan(price=within.cost).error("n") == within.error("n")
    told = shop.sql(BOTH, epsilon=1).disclosure()
    assert any("in all" in one.measure for one in told.noise)
    assert sum(Fraction(one.share) for one in told.noise) == 1
    assert any("add up" in one for one in told.remarks)


# the fit


def laws(kind: str, count: int) -> tuple[AdditiveMechanism, ...]:
    made: list[AdditiveMechanism] = []
    for at in range(count):
        if kind == "Laplace" or (kind == "mixed" and at % 2):
            made.append(DiscreteLaplace.of_scale(2 + at, sensitivity=1))
        else:
            made.append(DiscreteGaussian.of_scale(3 + at, sensitivity=1))
    return tuple(made)


SHAPES = [
    ((3, 2, 4), ((0, 1, 2), (0, 1), (0,), ())),
    ((3, 2), ((0, 1), (0,), (1,), ())),
    ((3, 2, 4), ((0,), (1, 2), (1,))),
    ((5,), ((0,), ())),
    ((3, 4), ((1,), (0,))),
    ((1, 2), ((0, 1), (0,))),
]


@pytest.mark.parametrize("kind", ["Laplace", "Gaussian", "mixed"])
@pytest.mark.parametrize(("sizes", "sets"), SHAPES)
def test_the_closed_form_is_the_least_squares_fit(kind: str, sizes: Any, sets: Any) -> None:
    """An oracle: the pseudo-inverse of all sums of cells, weighted, and errors from its own weights."""
    noise = laws(kind, len(sets))
    levels = by_keys(sizes, sets)
    sums = np.vstack([level.sums() for level in levels])
    fit = reconciliation(sums, tuple(noise[at] for at, level in enumerate(levels) for _ in range(level.size)))
    chance = np.random.default_rng(4)
    noisy = [chance.normal(size=level.size) * 10 for level in levels]
    found = Margins(sizes, sets, noise).fitted(noisy)
    expected = fit.estimates(np.concatenate(noisy))
    for at, level in enumerate(levels):
        assert np.allclose(found[at], level.sums() @ expected)
        assert np.allclose(fit.errors(level.sums(), BETA), Margins(sizes, sets, noise).error(at, BETA), rtol=1e-6)
        assert np.allclose(fit.errors(level.sums(), BETA), Margins(sizes, sets, noise).errors(level.sums(), BETA))
    if tuple(range(len(sizes))) in sets:  # then every weighted sum of cells is determined
        wanted = chance.normal(size=(3, levels[0].cells))
        assert np.allclose(fit.errors(wanted, BETA), Margins(sizes, sets, noise).errors(wanted, BETA))


def test_sums_of_cells_are_exact_beyond_64_bits() -> None:
    cells = np.array([2**62, 2**62, 2**62, -1], dtype=object)
    assert Level((2, 2), ()).added(cells).tolist() == [3 * 2**62 - 1]
    assert Level((2, 2), (1,)).added(cells).tolist() == [2**63, 2**62 - 1]
    assert Level((2, 2), (0,)).added(np.array([1, 2, 3, 4])).dtype == np.int64


def test_errors_of_noises_of_several_laws_cover() -> None:
    noise, chance = laws("mixed", 6), np.random.default_rng(2)
    weights = np.vstack([np.eye(6)[0], chance.normal(size=(6, 6))])
    bits = seeded(3)
    drawn = np.array([np.asarray(one.release(np.zeros(20_000, dtype=np.int64), entropy=bits)) for one in noise])
    missed = (np.abs(weights @ drawn) > combination_errors(weights, noise, BETA)[:, None]).mean(axis=1)
    assert missed.max() <= 0.05 + 5.5 * (0.05 * 0.95 / 20_000) ** 0.5


def covered(table: Table, sql: str, epsilon: float, shrink: float = 1.0, tries: int = 100) -> dict[Any, int]:
    plan = plan_of(table, sql, epsilon=epsilon)
    found, hits = run(table, plan), dict[Any, int]()
    for _ in range(tries):
        columns = draw(plan, plan.integers(found))
        for at, (town, kind) in enumerate(zip(columns["town"].values, columns["plan"].values, strict=True)):
            truth = sum(town in (one[1], None) and kind in (one[2], None) for one in people())
            one = columns["n"]
            assert one.low is not None
            assert one.high is not None
            off = shrink * (one.high[at] - one.low[at]) / 2
            hits[town, kind] = hits.get((town, kind), 0) + (abs(float(one.values[at]) - truth) <= off)  # type: ignore[arg-type]
    return hits


@pytest.mark.parametrize(("epsilon", "keys"), [(1.0, "ROLLUP (town, plan)"), (0.1, "CUBE (town, plan)")])
@pytest.mark.thorough
def test_intervals_cover_the_bounded_counts(shop: Table, epsilon: float, keys: str) -> None:
    hits = covered(shop, f"SELECT town, plan, COUNT(*) AS n FROM shop GROUP BY {keys}", epsilon)
    assert min(hits.values()) >= least_hits(100, 0.95)


def test_planted_fault_intervals_of_half_the_width_do_not_cover(shop: Table) -> None:
    sql = "SELECT town, plan, COUNT(*) AS n FROM shop GROUP BY ROLLUP (town, plan)"
    assert min(covered(shop, sql, 1.0, shrink=0.4).values()) < least_hits(100, 0.95)


# the price


@pytest.mark.parametrize("sql", [BOTH, "SELECT town, plan, COUNT(*) AS n FROM shop GROUP BY CUBE (town, plan)"])
def test_what_is_drawn_keeps_the_price(shop: Table, sql: str) -> None:
    """Each mechanism is priced for what one unit moves in its set, and the prices add up to what is charged."""
    plan = plan_of(shop, sql, epsilon=1, delta=0)
    groups = plan.bounded.groups
    spent = Fraction(0)
    for part in plan.parts:
        finest = len(plan.checked.query.sets[part.demand.at]) == len(plan.checked.query.keys)
        for line in part.lines:
            assert line.mechanisms[0].norm is L1
            ((needs, mechanism),) = zip(line.parts, line.mechanisms, strict=True)
            assert mechanism.sensitivity.value == (groups * needs.measure.reach if finest else needs.measure.reach)
            spent += mechanism.guarantee.eps  # type: ignore[attr-defined]
        reach = [one.reach for one in part.bounded.measures]
        assert reach == [one.reach * (1 if finest else groups) for one in part.demand.asked.measures]
    assert spent == 1
    assert plan.cost == ApproxDP(1, 0)


def test_a_price_in_gaussian_noise_is_a_sum_of_squares(tmp_path: Path) -> None:
    """Sets of which each has many groups per unit: their squares add up to what the price means."""
    table = opened(tmp_path, people(), POLICY.replace("groups = 2", "groups = 6"))
    sql = "SELECT town, plan, COUNT(*) AS n FROM shop GROUP BY GROUPING SETS ((town, plan), (plan))"
    plan = plan_of(table, sql, epsilon="0.2", delta="1e-3")
    assert plan.how == "Gaussian noise, whose squares add up"
    mechanisms = [one for made in plan.parts for line in made.lines for one in line.mechanisms]
    squares = sum(Fraction(one.sensitivity.square) / Fraction(one.scale) ** 2 for one in mechanisms)
    assert [float(one.sensitivity.square) for one in mechanisms] == [6 * 3**2, (6 * 3) ** 2]
    assert GaussianDP.of_square(squares).delta("0.2") <= 1e-3
    assert GaussianDP.of_square(squares * Fraction(102, 100)).delta("0.2") > 1e-3
    in_rho = planned(plan.checked, plan.policy, ZCDP("0.01", "1e-6"))
    spent = [one.guarantee.rho for made in in_rho.parts for line in made.lines for one in line.mechanisms]  # type: ignore[attr-defined]
    assert sum(spent) == Fraction("0.01")
    assert in_rho.cost == ZCDP("0.01")


Statistic = Callable[[npt.NDArray[Any]], npt.NDArray[np.float64]]


def evidence(plans: tuple[Plan, Plan], found: list[list[Integers]], drawn: Plan | None = None) -> Statistic:
    """The best test of which table was asked: the likelihood ratio of all noisy numbers of all sets, drawn jointly."""
    exact = [_exact(plan, integers) for plan, integers in zip(plans, found, strict=True)]

    def answer(which: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        at, count = int(which[0]), len(which)
        total = np.zeros(count)
        for number, one in enumerate(plans[at].parts):
            if drawn is not None:
                one = drawn.parts[number]
            for place, measure in enumerate(one.bounded.measures):
                pairs = zip(exact[0][number][place], exact[1][number][place], exact[at][number][place], strict=True)
                for with_one, without, held in pairs:
                    noisy = noised(one, measure, Sums.of_pieces(np.zeros(count), np.full(count, int(held))))
                    scale = noisy.mechanism.scale
                    total += (np.abs(noisy.values - with_one) - np.abs(noisy.values - without)) / scale
        return np.round(total, 6)

    return answer


def _exact(plan: Plan, found: list[Integers]) -> list[list[list[int]]]:
    """Per part and measure, the exact numbers of its groups."""
    made = []
    for part, integers in zip(plan.parts, plan.integers(found), strict=True):
        level, cells = part.demand.level, finest(part, integers)
        made.append([one.tolist() if level is None else one.summed(level.added).tolist() for one in cells])
    return made


WORST = [("z", town, "free", "Low", "100") for town in ("Lund", "Bergen", "Porto") for _ in range(5)]
AUDITED = "SELECT town, COUNT(*) AS n FROM shop WHERE plan = 'free' GROUP BY ROLLUP (town)"
BY_ITSELF = "SELECT town, COUNT(DISTINCT who) AS n FROM shop WHERE plan = 'free' GROUP BY ROLLUP (town)"
SAMPLES = 60_000


def pair(folder: Path, sql: str = AUDITED) -> tuple[tuple[Table, Table], tuple[Plan, Plan], list[list[Integers]]]:
    tables = (opened(folder / "with", [*people(9), *WORST]), opened(folder / "without", people(9)))
    plans = tuple(plan_of(one, sql, epsilon=1, delta=0) for one in tables)
    found = []
    for table, plan in zip(tables, plans, strict=True):
        table._engine_now()._key = "one key"  # type: ignore[attr-defined]  # the same groups are chosen on both sides
        found.append(run(table, plan))
    return tables, plans, found  # type: ignore[return-value]


@pytest.mark.parametrize("sql", [AUDITED, BY_ITSELF])
def test_the_sets_together_keep_the_price(sql: str, tmp_path: Path) -> None:
    """And use it: the best test of all numbers together nearly reaches the price."""
    _, plans, found = pair(tmp_path, sql)
    result = tacit.audit(
        evidence(plans, found),
        neighbours=(0, 1),
        claim=ApproxDP(1, 0),
        samples=SAMPLES,
        batch=20_000,
        confidence=1 - 1e-7,
    )
    assert not result.violated, result
    assert result.epsilon_lower > 0.7


def one_set_free(plan: Plan) -> Plan:
    """A set that was priced as nothing: its noise is that of a price forty times as high."""
    return _renoised(plan, at=0, factor=40)


def totals_of_one_group(plan: Plan) -> Plan:
    """Totals priced as if a unit were in one of their groups only, with what it adds to one finest group."""
    return _renoised(plan, at=1, factor=plan.bounded.groups)


def both_at_the_whole_price(plan: Plan) -> Plan:
    """Each set paid from the whole price, as if the other were not asked."""
    return _renoised(_renoised(plan, at=0, factor=2), at=1, factor=2)


def _renoised(plan: Plan, at: int, factor: int) -> Plan:
    made = plan.parts[at]
    lines = tuple(
        replace(
            line,
            mechanisms=tuple(
                DiscreteLaplace(epsilon=one.guarantee.eps * factor, sensitivity=one.sensitivity)  # type: ignore[attr-defined]
                for one in line.mechanisms
            ),
        )
        for line in made.lines
    )
    parts = tuple(replace(made, lines=lines) if i == at else one for i, one in enumerate(plan.parts))
    return replace(plan, parts=parts)


@pytest.mark.parametrize("fault", [one_set_free, totals_of_one_group, both_at_the_whole_price])
def test_planted_faults_of_the_price_are_seen(fault: Callable[[Plan], Plan], tmp_path: Path) -> None:
    _, plans, found = pair(tmp_path)
    result = tacit.audit(
        evidence(plans, found, fault(plans[0])),
        neighbours=(0, 1),
        claim=ApproxDP(1, 0),
        samples=SAMPLES,
        batch=20_000,
        confidence=1 - 1e-7,
    )
    assert result.violated, result


def exact_total(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault: totals are taken without noise, from what the groups are the sums of."""
    import tacit.tables.release.draw as drawing

    right = drawing.noised

    def careless(plan: Any, measure: Any, values: Any) -> Any:
        noisy = right(plan, measure, values)
        return noisy if len(values) > 1 else replace(noisy, values=np.asarray(values, dtype=np.float64))

    monkeypatch.setattr(drawing, "noised", careless)


def constants(table: Table) -> bool:
    """Whether what the answers have in common never varies: the total as measured, before the fit."""
    import tacit.tables.release.draw as drawing

    plan = plan_of(table, "SELECT town, COUNT(*) AS n FROM shop GROUP BY ROLLUP (town)", epsilon=1)
    found, seen = run(table, plan), set()
    for _ in range(20):
        (by_town,), (in_all,) = (own.values() for _, own in drawing._fitted(plan, plan.integers(found)))
        parts, total = by_town.values, in_all.values[0]
        variances = [line.mechanisms[0].scale ** 2 for part in plan.parts for line in part.lines]
        weight = 3 * variances[0] / (3 * variances[0] + variances[1])
        seen.add(round(float((total - (1 - weight) * parts.sum()) / weight), 3))
    return len(seen) == 1


def test_every_set_has_noise_of_its_own(shop: Table) -> None:
    assert not constants(shop)


def test_planted_fault_a_total_without_noise_narrows_what_is_drawn(
    shop: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The spread of the fitted total says how much noise there was: seen within two hundred draws."""
    sql = "SELECT town, plan, COUNT(*) AS n FROM shop GROUP BY GROUPING SETS ((town), ())"
    sql = sql.replace("plan, ", "")
    plan = plan_of(shop, sql, epsilon="0.1")
    found = run(shop, plan)

    def deviation() -> float:
        drawn = [draw(plan, plan.integers(found))["n"].values[-1] for _ in range(200)]
        return float(np.std(np.array(drawn, dtype=np.float64)))

    scales = [line.mechanisms[0].scale * 2**0.5 for part in plan.parts for line in part.lines]
    expected = (1 / (1 / (3 * scales[0] ** 2) + 1 / scales[1] ** 2)) ** 0.5
    assert 0.7 < deviation() / expected < 1.4
    exact_total(monkeypatch)
    assert deviation() / expected < 0.7


# what one unit moves


def product_query(rng: random.Random) -> BoundedQuery:
    """Counts and sums by one to three keys, all combinations of some values listed."""
    make = Expressions(rng)
    keys = rng.sample(["b", "i", "s"], rng.randint(1, 3))
    values: dict[str, list[Any]] = {"b": [True, False, None], "i": [0, 1, 2, -1], "s": ["", "a", "12", None]}
    measures = [Measure(One(), 0, 1, chosen=False)]  # who is there at all: moves as far as is allowed
    for _ in range(rng.randint(0, 1)):
        found = row_value(rng, make)
        low, high = sorted((rng.randint(-9, 9), rng.randint(-9, 9)))
        measures.append(Measure(found, min(low, 0), max(high, 0), chosen=rng.random() < 0.5))
    return BoundedQuery(
        where=None,
        keys=tuple(Column(key) for key in keys),
        public_keys=tuple(itertools.product(*(values[key] for key in keys))),
        unit=rng.choice(["i", "s", "d"]),
        groups=rng.choice([1, 2, 3, 5]),
        rows=rng.choice([1, 2, 3]),
        measures=tuple(dict.fromkeys(measures)),
    )


def breaches(claim: Callable[[Measure, int], Measure], count: int, seed: int = 1) -> tuple[int, int]:
    """How often one unit moves a coarser set further than claimed, of how many times it moves it."""
    rng, rows = random.Random(seed), Rows()
    engine, seen, moved = DuckDBEngine(rows, SECRET), 0, 0
    for _ in range(count):
        held, query = random_table(rng), product_query(rng)
        sizes = [len({key[at] for key in query.public_keys or ()}) for at in range(len(query.keys))]
        sets = [kept for size in range(len(sizes)) for kept in itertools.combinations(range(len(sizes)), size)]
        rows.fill(held)
        base = placed(query.public_keys or (), engine.run(query))
        for near in neighbours(rng, query, held):
            rows.fill(near)
            other = placed(query.public_keys or (), engine.run(query))
            for measure, one, two in zip(query.measures, base, other, strict=True):
                assert isinstance(measure, Measure)
                for kept in sets:
                    sums = [Level(tuple(sizes), kept).added(np.asarray(cells, dtype=object)) for cells in (one, two)]
                    distance = [abs(int(a) - int(b)) for a, b in zip(*sums, strict=True)]
                    most = claim(measure, query.groups).reach
                    moved += any(distance)
                    seen += sum(distance) > most or sum(d * d for d in distance) > most**2
    rows.close()
    return seen, moved


def test_no_unit_moves_a_coarser_set_further_than_claimed() -> None:
    seen, moved = breaches(lumped, 40)
    assert seen == 0
    assert moved > 40


def test_planted_fault_a_total_claimed_like_one_group_is_seen() -> None:
    assert breaches(lambda measure, groups: measure, 20)[0] > 0
    assert breaches(lambda measure, groups: lumped(measure, max(groups - 1, 1)), 40)[0] > 0


def test_planted_fault_more_groups_in_one_set_are_seen(shop: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets that are asked by themselves: one whose engine lets a unit count in more groups moves too far."""
    sql = "SELECT town, COUNT(DISTINCT who) AS u FROM shop GROUP BY GROUPING SETS ((town), ())"
    plan = plan_of(shop, sql, epsilon=1)
    honest = [(part.bounded.groups, one.groups) for part, one in zip(plan.parts, plan.passes.bounded, strict=True)]
    assert all(priced >= ran for priced, ran in honest)
    needs = [part.demand.need.groups for part in plan.parts]
    assert needs == [part.bounded.groups for part in plan.parts]
    right = demands.demanded

    def careless(checked: Any, policy: Any, together: int | None = None) -> Any:
        made = right(checked, policy, together)
        return replace(made, need=replace(made.need, groups=1))

    monkeypatch.setattr(demands, "demanded", careless)
    wrong = plan_of(shop, sql, epsilon=1)
    assert [part.demand.need.groups for part in wrong.parts] != [part.bounded.groups for part in wrong.parts]


# in Python


def test_python_builds_the_same_tree(shop: Table) -> None:
    grouped = shop.group_by("town", "plan")
    town = tacit.col("town")
    for made, keys in (
        (grouped.rollup(), "ROLLUP (town, plan)"),
        (grouped.cube(), "CUBE (town, plan)"),
        (grouped.grouping_sets(["plan"], ["town", "plan"], []), "GROUPING SETS ((plan), (town, plan), ())"),
    ):
        sql = f"SELECT town, plan, COUNT(*) AS n, GROUPING(town) AS g FROM shop GROUP BY {keys}"
        assert made.agg(n=tacit.count(), g=town.grouping()).tree == shop.query(sql).tree
    with pytest.raises(InvalidParameter, match="lists of keys: town, plan"):
        grouped.grouping_sets(["street"])
    with pytest.raises(InvalidParameter, match="lists of keys"):
        grouped.grouping_sets("town")
