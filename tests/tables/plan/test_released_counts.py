"""Private keys by the count that is released: where it is done, what it gains, what it costs, whom it covers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.errors import NotPrivate
from tacit.mechanisms.selection.count_threshold import CountThreshold
from tacit.privacy import ZCDP, ApproxDP
from tacit.report.disclosure import DECIDED
from tacit.tables.engines.contract import Integers, Measure
from tacit.tables.engines.sums import Sums
from tacit.tables.plan.joint import share, share_alone
from tacit.tables.plan.plan import Plan, make_plan, planned_before
from tacit.tables.plan.price import Price
from tacit.tables.release.draw import draw
from tacit.tables.session.table import Table

POLICY = """\
version = 1
source = "visits.csv"
unit = "who"
[limits]
groups = {groups}
rows = {rows}
[budget]
{flavour} = 1000
least = {{ {flavour} = 1e-300 }}
delta = 1e-2
question_delta = 1e-6
[columns]
who = {{ type = "text", role = "identifier" }}
city = {{ type = "text", role = "private" }}
plan = {{ type = "text", role = "public", keys = ["free", "pro"] }}
spend = {{ type = "real", role = "private", bounds = [0, 10] }}
"""
UNITS = "SELECT city, COUNT(DISTINCT who) AS n FROM visits GROUP BY city"


def opened(folder: Path, *, rows: int = 3, groups: int = 1, flavour: str = "epsilon") -> Table:
    people = [f"u{at},{'ABCDE'[at % 5]},{('free', 'pro')[at % 2]},{at % 9}" for at in range(1000)]
    (folder / "visits.csv").write_text("\n".join(["who,city,plan,spend", *people]) + "\n", encoding="utf-8")
    policy = POLICY.format(rows=rows, groups=groups, flavour=flavour)
    (folder / "visits.toml").write_text(policy, encoding="utf-8")
    return tacit.open(folder / "visits.toml", ledger=tacit.InMemory())


def plans(table: Table, sql: str, price: Price) -> tuple[Plan, Plan]:
    """As it is made now, and as it was."""
    question = table.query(sql)
    return question.plan(price=price), planned_before(question._checked, table.policy, price)


@pytest.mark.parametrize(
    ("flavour", "price", "gain", "lower"),
    [("epsilon", ApproxDP("0.5", "1e-8"), 1.9, 1.5), ("rho", ZCDP("0.05", "1e-8"), 1.3, 1.3)],
)
@pytest.mark.parametrize("groups", [1, 4, 30])
def test_noise_is_half_as_large_and_smaller_groups_are_shown(
    flavour: str, price: Price, gain: float, lower: float, groups: int, tmp_path: Path
) -> None:
    for rows, sql in ((3, UNITS), (1, UNITS.replace("DISTINCT who", "*"))):
        now, before = plans(opened(tmp_path, rows=rows, groups=groups, flavour=flavour), sql, price)
        assert isinstance(now.keys, CountThreshold)
        assert before.keys is not None
        assert now.keys.threshold * lower <= before.keys.threshold
        (after,), (first,) = now.lines, before.lines
        assert after.mechanisms[0].scale * gain * 0.99 <= first.mechanisms[0].scale
        assert now.cost == price
        (tmp_path / "visits.toml").unlink()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT city, COUNT(*) AS n FROM visits GROUP BY city",  # three rows of one unit
        "SELECT city, COUNT(spend) AS n FROM visits GROUP BY city",  # some rows do not count
        "SELECT city, COUNT(DISTINCT who) FILTER (WHERE spend > 3) AS n FROM visits GROUP BY city",
        "SELECT city, COUNT(DISTINCT who) AS n, AVG(spend) AS m FROM visits GROUP BY city",
        "SELECT plan, COUNT(DISTINCT who) AS n FROM visits GROUP BY plan",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(min_privacy_units_per_group=5) city, COUNT(DISTINCT who) AS n "
        "FROM visits GROUP BY city",
    ],
)
def test_it_is_not_done_where_groups_would_have_to_be_larger_or_it_would_tell_of_others(
    sql: str, tmp_path: Path
) -> None:
    now, _ = plans(opened(tmp_path), sql, ApproxDP("0.5", "1e-8"))
    assert all(part.decides is None for part in now.parts)
    assert not isinstance(now.keys, CountThreshold)


@pytest.mark.parametrize(
    ("flavour", "price", "done"),
    [
        ("epsilon", ApproxDP("1e-12", "1e-8"), True),
        ("epsilon", ApproxDP("1e-18", "1e-200"), False),
        ("rho", ZCDP("1e-26", "1e-6"), True),
        ("rho", ZCDP("1e-38", "1e-6"), False),
        ("rho", ZCDP("1e-44", "1e-6"), False),
    ],
)
def test_it_is_not_done_where_floats_do_not_tell_the_threshold_from_its_neighbours(
    flavour: str, price: Price, done: bool, tmp_path: Path
) -> None:
    table = opened(tmp_path, rows=1, flavour=flavour)
    plan, _ = plans(table, UNITS, price)
    assert isinstance(plan.keys, CountThreshold) is done
    assert plan.keys is not None
    if done:
        least = plan.keys.threshold
        assert float(least - 1) < float(least) == least
    assert table.query(UNITS).ask(price=price) is not None


def test_no_group_has_to_be_larger_and_no_number_gets_noisier(tmp_path: Path) -> None:
    counts = ("COUNT(*) AS a", "COUNT(DISTINCT who) AS b", "COUNT(spend) AS c")
    for rows in (1, 2, 3):
        table = opened(tmp_path, rows=rows, groups=2)
        for some in ((0,), (1,), (0, 1), (0, 2), (0, 1, 2)):
            listed = ", ".join(counts[at] for at in some)
            for price in (ApproxDP("0.1", "1e-8"), ApproxDP("3", "1e-5")):
                now, before = plans(table, f"SELECT city, {listed} FROM visits GROUP BY city", price)
                assert now.keys is not None
                assert before.keys is not None
                assert now.keys.threshold <= before.keys.threshold
                for one, other in zip(now.lines, before.lines, strict=True):
                    assert one.error is not None
                    assert other.error is not None
                    assert one.error <= other.error
        (tmp_path / "visits.toml").unlink()


def test_a_price_without_delta_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotPrivate, match="takes a δ"):
        opened(tmp_path).query(UNITS).plan(epsilon=1, delta=0)


def test_several_counts_share_the_price_exactly(tmp_path: Path) -> None:
    sql = UNITS.replace("AS n", "AS n, COUNT(*) AS m")
    now, _ = plans(opened(tmp_path, flavour="rho", groups=3), sql, ZCDP("0.2", "1e-8"))
    assert now.parts[0].decides is not None
    spent = 0.0
    for line in now.lines:
        (measure,) = [part.measure for part in line.parts]
        spent += 3 * measure.reach**2 / (2 * line.mechanisms[0].scale ** 2)
    assert spent == pytest.approx(0.2, rel=1e-9)


def test_in_a_batch_and_with_sets_of_keys_slips_and_noise_keep_the_price(tmp_path: Path) -> None:
    """What the rules may let slip, and what the noise loses, composed: at most the price."""
    table = opened(tmp_path, groups=6)
    price = ApproxDP("0.5", "1e-8")
    batch = table.batch([UNITS, "SELECT city, AVG(spend) AS m FROM visits GROUP BY city"]).plan(price=price)
    rolled = table.query(UNITS.replace("city, COUNT", "city, plan, COUNT").replace("BY city", "BY ROLLUP(city, plan)"))
    for plan in (batch, rolled.plan(price=price)):
        decided = [part for part in plan.parts if part.decides is not None]
        assert decided
        slips = sum((part.keys.slip for part in decided if isinstance(part.keys, CountThreshold)), Fraction(0))
        assert 0 < slips <= price.dlt
        assert plan.cost.main == price.eps
        assert plan.cost.leak <= price.dlt
        for part in decided:
            assert isinstance(part.keys, CountThreshold)
            assert part.keys.noise is part.mechanism_of(part.decides)  # the noise that is released
            assert isinstance(part.decides, Measure)
            assert part.keys.most == part.decides.high
            assert part.keys.groups == part.bounded.groups


def test_joint_prices_are_no_worse_than_sums(tmp_path: Path) -> None:
    table = opened(tmp_path, groups=6)
    plan = table.query(UNITS).plan(price=ApproxDP("0.5", "1e-8"))
    for sharing in (share, share_alone):
        again = make_plan(plan.statements, table.policy, plan.asked, sharing=sharing)
        assert again.keys is not None
        assert plan.keys is not None
        assert again.keys.threshold <= plan.keys.threshold


def many(plan: Plan, counts: list[int]) -> Integers:
    values = np.array(counts, dtype=np.int64)
    return Integers(([f"g{at}" for at in range(len(counts))],), values, tuple(Sums.of(values) for _ in plan.lines))


@pytest.mark.parametrize("flavour", ["epsilon", "rho"])
def test_intervals_cover_the_groups_that_are_shown(flavour: str, tmp_path: Path) -> None:
    table = opened(tmp_path, flavour=flavour)
    plan = table.query(UNITS).plan(**{flavour: "0.5" if flavour == "epsilon" else "0.02"})
    assert plan.keys is not None
    for count in (plan.keys.threshold // 2, plan.keys.threshold - 3, plan.keys.threshold, 3 * plan.keys.threshold):
        released = {one.name: one for one in draw(plan, [many(plan, [count] * 40_000)])}["n"]
        assert released.low is not None
        assert released.high is not None
        shown = len(released.values)
        covered = ((released.low <= count) & (count <= released.high)).mean() if shown else 1.0
        assert covered >= 0.95 - 6 * np.sqrt(0.05 / max(shown, 1))
    assert shown == 40_000
    mean = float(np.mean(np.array(released.values, dtype=float)))
    assert abs(mean - count) < 6 * plan.lines[0].mechanisms[0].scale * 1.5 / 200


def test_small_groups_are_hidden_and_the_answer_says_what_decided(tmp_path: Path) -> None:
    table = opened(tmp_path)
    plan = table.query(UNITS).plan(epsilon=3)
    released = {one.name: one for one in draw(plan, [many(plan, [1] * 5000 + [200] * 7)])}
    assert len(released["n"].values) == 7
    answer = table.query(UNITS).ask(epsilon=3)
    assert sorted(answer["city"].values) == list("ABCDE")
    assert DECIDED in answer.disclosure().remarks
    assert "intervals hold for the groups that are shown" in str(answer)
    assert "no share of the price" in str(plan)
    plain = table.query("SELECT city, AVG(spend) AS m FROM visits GROUP BY city").ask(epsilon=3)
    assert DECIDED not in plain.disclosure().remarks


def test_planted_fault_a_rule_that_forgets_rows_is_seen(tmp_path: Path) -> None:
    """A unit of three rows that is taken for one: its own key appears far too often."""
    table = opened(tmp_path)
    plan = table.query(UNITS).plan(epsilon=3)
    (part,) = plan.parts
    assert isinstance(part.keys, CountThreshold)
    lone = [replace(part.keys, slip=Fraction(1, 100), most=most) for most in (1, 6)]
    found = []
    for rule in lone:
        changed = replace(plan, parts=(replace(part, keys=rule),))
        released = {one.name: one for one in draw(changed, [many(plan, [6] * 40_000)])}
        found.append(len(released["n"].values) / 40_000)
    assert found[0] > 0.05 > 0.012 > found[1]
