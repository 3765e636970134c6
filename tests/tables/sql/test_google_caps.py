"""The owner's policy caps what a statement's options may ask; three planted holes in the caps are seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import tacit
from tacit.errors import BudgetExceeded, InvalidParameter, NotPrivate, TacitError
from tacit.ledger import InMemory
from tacit.mechanisms.selection.key_selection import GaussianKeySelection, OptimalKeySelection
from tacit.privacy import ApproxDP
from tacit.tables.engines.contract import Votes
from tacit.tables.plan import price as pricing
from tacit.tables.policy.policy import Limits
from tacit.tables.query.options import Options
from tacit.tables.session.table import Table
from tests.tables.several import write_several
from tests.tables.visits import POLICY, write_visits

COUNT = "COUNT(*) AS n FROM visits"
BY_CITY = "city, COUNT(*) AS n FROM visits GROUP BY city"


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    with tacit.open(write_visits(tmp_path, users=300), analyst="ada", ledger=InMemory()) as table:
        yield table


def asked(options: str, rest: str = COUNT) -> str:
    return f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({options}) {rest}"


def test_the_statement_says_the_price(table: Table) -> None:
    answer = table.sql(asked("epsilon=0.25"))
    assert answer.spent == ApproxDP("0.25", 0)
    assert table.sql(asked("epsilon=0.25", BY_CITY)).spent == ApproxDP("0.25", "1e-8")
    assert table.sql(asked("epsilon=0.25, delta=1e-9", BY_CITY)).spent == ApproxDP("0.25", "1e-9")
    assert table.explain(f"EXPLAIN {asked('epsilon=0.25')}").price == ApproxDP("0.25", 0)
    assert table.query(asked("epsilon=0.25")).states_price
    assert table.ledger.budget().charged == ApproxDP("0.75", "1.1e-8")


def test_the_price_of_the_statement_and_of_the_call_must_agree(table: Table) -> None:
    statement = asked("epsilon=0.25, delta=1e-9", BY_CITY)
    given: list[dict[str, object]] = [
        {"epsilon": 0.5},
        {"rho": 0.1},
        {"price": ApproxDP("0.25", "1e-9")},
        {"delta": "1e-8"},
        {"epsilon": "0.25", "delta": "1e-8"},
    ]
    for price in given:
        with pytest.raises(InvalidParameter, match=r"the statement says .*Nothing was spent"):
            table.sql(statement, **price)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="price"):
        table.sql(asked("delta=1e-9", BY_CITY))
    with pytest.raises(InvalidParameter, match="within"):
        table.query(statement).plan(within=10)
    assert table.sql(statement, epsilon="0.25", delta=1e-9).spent == ApproxDP("0.25", "1e-9")
    assert table.sql(asked("delta=1e-9", BY_CITY), epsilon="0.3").spent == ApproxDP("0.3", "1e-9")


def test_the_price_is_not_part_of_the_question_but_the_limits_are(table: Table) -> None:
    plain = table.sql(f"SELECT {COUNT}", epsilon="0.25")
    same = [
        asked("epsilon=0.25"),
        asked("epsilon=0.250, delta=1e-8, privacy_unit_column=USER_ID"),
        asked("epsilon=0.25, max_groups_contributed=5, max_rows_contributed=15"),
    ]
    for statement in same:
        assert table.sql(statement).to_dict() == plain.to_dict(), statement
    assert table.ledger.budget().charged == ApproxDP("0.25", 0)
    other = [asked("epsilon=0.25, max_rows_contributed=2"), asked("epsilon=0.25, max_rows_contributed=1")]
    for number, statement in enumerate(other):
        table.sql(statement)
        assert table.ledger.budget().charged == ApproxDP(Fraction(number + 2, 4), 0)
    texts = [table.query(one).plan().question for one in (*same, *other)]
    assert len(set(texts)) == 3


def test_no_price_beyond_the_budget_gets_through(table: Table) -> None:
    for huge in ("3.01", "1e20", "1e100"):
        with pytest.raises(BudgetExceeded, match="nothing was spent"):
            table.sql(asked(f"epsilon={huge}"))
        with pytest.raises(BudgetExceeded, match="nothing was spent"):
            table.sql(asked(f"epsilon={huge}, delta=1e-9", BY_CITY))
    with pytest.raises(InvalidParameter, match="below 10"):
        table.sql(asked("epsilon=1e299"))
    with pytest.raises(BudgetExceeded):
        table.sql(asked("epsilon=0.1, delta=0.5", BY_CITY))
    assert table.ledger.budget().charged == ApproxDP(0, 0)


def test_the_cap_of_one_question_holds(tmp_path: Path) -> None:
    policy = write_visits(tmp_path, users=50)
    policy.write_text(
        POLICY.replace("[columns]\n", "[budget.per_question]\nepsilon = 0.5\n\n[columns]\n"), encoding="utf-8"
    )
    with tacit.open(policy, ledger=InMemory()) as table:
        with pytest.raises(BudgetExceeded):
            table.sql(asked("epsilon=0.51"))
        table.sql(asked("epsilon=0.5"))


@pytest.mark.parametrize("column", ["city", "age", "notes", "nobody", '"user id"', "visits.city"])
def test_no_other_unit(table: Table, column: str) -> None:
    with pytest.raises(NotPrivate, match=r"the policy protects one user_id.*privacy_unit_column = user_id"):
        table.query(asked(f"epsilon=0.1, privacy_unit_column={column}"))


PURCHASES = "COUNT(*) AS n FROM purchases"
JOINED = "COUNT(*) AS n FROM visits v JOIN purchases p ON v.user_id = p.customer"
STACKED = "COUNT(*) AS n FROM (SELECT user_id AS u FROM visits UNION ALL SELECT customer FROM purchases)"
PER_UNIT = "AVG(t, contribution_bounds_per_row => (0, 9)) AS n FROM (SELECT customer, SUM(amount) AS t FROM purchases GROUP BY customer)"  # noqa: E501


@pytest.fixture
def several(tmp_path: Path) -> Table:
    return tacit.open(write_several(tmp_path, users=50), ledger=InMemory())


@pytest.mark.parametrize(
    ("column", "rest"),
    [
        ("customer", PURCHASES),
        ("CUSTOMER", PURCHASES),
        ("purchases.customer", PURCHASES),
        ("customer", PER_UNIT),
        ("customer", JOINED),
        ("user_id", JOINED),
        ("v.user_id", JOINED),
        ("p.customer", JOINED),
        ("user_id", STACKED),
        ("customer", STACKED),
        ("user_id", "COUNT(*) AS n FROM visits JOIN regions ON visits.city = regions.city"),
    ],
)
def test_every_table_has_its_own_name_for_the_unit(several: Table, column: str, rest: str) -> None:
    """It may be named as the tables of the statement call it; that changes nothing, not even the question."""
    named = several.query(asked(f"epsilon=0.1, privacy_unit_column={column}", rest))
    assert named.plan().question == several.query(asked("epsilon=0.1", rest)).plan().question


@pytest.mark.parametrize(
    ("column", "rest", "says"),
    [
        ("user_id", PURCHASES, "protects one customer, .* Write privacy_unit_column = customer,"),
        ("city", PURCHASES, "protects one customer, "),
        ("customer", COUNT, "protects one user_id, .* Write privacy_unit_column = user_id,"),
        ("card", JOINED, "protects one user_id or customer, "),
        ("region", "COUNT(*) AS n FROM visits JOIN regions ON visits.city = regions.city", "protects one user_id, "),
        ("u", STACKED, "protects one user_id or customer, "),
    ],
)
def test_no_other_unit_of_several_tables(several: Table, column: str, rest: str, says: str) -> None:
    with pytest.raises(NotPrivate, match=says):
        several.query(asked(f"epsilon=0.1, privacy_unit_column={column}", rest))


def test_where_each_row_is_protected_no_unit_can_be_named(tmp_path: Path) -> None:
    policy = write_visits(tmp_path, users=50)
    text = (
        POLICY.replace('unit = "user_id"', 'unit = "row"')
        .replace("groups = 5", "groups = 1")
        .replace("rows = 3", "rows = 1")
    )
    policy.write_text(text, encoding="utf-8")
    with tacit.open(policy, ledger=InMemory()) as table:
        with pytest.raises(NotPrivate, match="each row is protected"):
            table.query(asked("epsilon=0.1, privacy_unit_column=user_id"))
        with pytest.raises(NotPrivate, match="at most 1 group"):
            table.query(asked("epsilon=0.1, max_groups_contributed=2"))


def limits(table: Table, options: str, rest: str = BY_CITY) -> tuple[int, int]:
    bounded = table.query(asked(options, rest)).plan(epsilon=1).bounded
    return bounded.groups, bounded.rows


def test_limits_may_be_tighter_and_scale_the_noise(table: Table) -> None:
    assert limits(table, "") == (5, 3)
    assert limits(table, "max_groups_contributed=2") == (2, 3)
    assert limits(table, "max_groups_contributed=5") == (5, 3)
    assert limits(table, "max_rows_contributed=15") == (5, 3)
    assert limits(table, "max_rows_contributed=14") == (5, 2)
    assert limits(table, "max_rows_contributed=5") == (5, 1)
    assert limits(table, "max_rows_contributed=3") == (3, 1)
    assert limits(table, "max_rows_contributed=6, max_groups_contributed=2") == (2, 3)
    assert limits(table, "max_rows_contributed=2", COUNT) == (1, 2)
    assert limits(table, "max_rows_contributed=6", "plan, COUNT(*) AS n FROM visits GROUP BY plan") == (2, 3)
    for rows in range(1, 16):
        groups, each = limits(table, f"max_rows_contributed={rows}")
        assert groups * each <= rows
    wide, tight = (table.query(asked(one, BY_CITY)).plan(epsilon=1) for one in ("", "max_groups_contributed=1"))
    assert (tight.error("n") or 0) < (wide.error("n") or 0) / 2
    bounded = table.query(asked("", COUNT.replace("*", "*, contribution_bounds_per_group => (0, 2)"))).plan(epsilon=1)
    assert bounded.bounded.measures[0].reach == 2


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("max_groups_contributed=6", r"at most 5 groups.*write max_groups_contributed = 5"),
        ("max_groups_contributed=999999999999999999", "at most 5 groups"),
        ("max_rows_contributed=16", r"3 rows in each of 5 groups.*write max_rows_contributed = 15"),
    ],
)
def test_limits_may_not_be_wider(table: Table, options: str, says: str) -> None:
    with pytest.raises(NotPrivate, match=says):
        table.query(asked(options, BY_CITY))


def test_a_least_number_of_units_per_group(table: Table) -> None:
    plain = table.query(asked("", BY_CITY)).plan(epsilon=1).keys
    least = table.query(asked("min_privacy_units_per_group=50", BY_CITY)).plan(epsilon=1).keys
    assert plain is not None
    assert least is not None
    assert 49 <= least.threshold - plain.threshold <= 50  # votes are finer than units
    assert "never with fewer than 50" in least.explain()
    assert table.query(asked("min_privacy_units_per_group=1", BY_CITY)).to_sql() == f"SELECT {BY_CITY}"
    answer = table.sql(asked("epsilon=1, min_privacy_units_per_group=100000", BY_CITY))
    assert answer.rows() == []
    with pytest.raises(InvalidParameter, match="these are public"):
        table.query(asked("min_privacy_units_per_group=5", "plan, COUNT(*) AS n FROM visits GROUP BY plan"))
    with pytest.raises(InvalidParameter, match="no groups"):
        table.query(asked("min_privacy_units_per_group=5"))


def test_strategies(table: Table) -> None:
    with pytest.raises(InvalidParameter, match=r"PUBLIC_GROUPS.*UNNEST"):
        table.query(asked("group_selection_strategy=PUBLIC_GROUPS", BY_CITY))
    by_plan = "plan, COUNT(*) AS n FROM visits GROUP BY plan"
    public = table.query(asked("group_selection_strategy=PUBLIC_GROUPS", by_plan))
    assert public.to_sql() == f"SELECT {by_plan}"
    private = table.query(asked("group_selection_strategy=LAPLACE_THRESHOLD", by_plan)).plan(epsilon=1)
    assert private.keys is not None
    assert private.price == ApproxDP(1, "1e-8")


def test_an_average_bounded_per_group_is_one_of_rows_where_one_row_counts(table: Table, tmp_path: Path) -> None:
    """Google clamps each unit's own average; the two agree where a unit counts with one row."""
    average = "AVG(spend, contribution_bounds_per_group => (0, 50)) AS x FROM visits"
    with pytest.raises(InvalidParameter, match="not of each unit's own average"):
        table.query(asked("", average))
    (tmp_path / "visits.toml").write_text(POLICY.replace("rows = 3", "rows = 1"), encoding="utf-8")
    with tacit.open(tmp_path / "visits.toml", ledger=InMemory()) as one:
        assert "contribution_bounds_per_row => (0, 50)" in one.query(asked("", average)).to_sql()


# --- three planted holes

Least = OptimalKeySelection | GaussianKeySelection

ATTEMPTS = [
    ("max_groups_contributed=6", BY_CITY),
    ("max_groups_contributed=1000000", BY_CITY),
    ("max_rows_contributed=16", BY_CITY),
    ("max_rows_contributed=1000000", COUNT),
    ("privacy_unit_column=city", COUNT),
    ("privacy_unit_column=age", BY_CITY),
    ("min_privacy_units_per_group=20", BY_CITY),
    ("", "COUNT(*, contribution_bounds_per_group => (0, 100)) AS n FROM visits"),
]


def breaches(table: Table) -> list[str]:
    """Statements whose plan goes beyond what the policy allows, or says another thing than the statement."""
    found = []
    for options, rest in ATTEMPTS:
        try:
            plan = table.query(asked(options, rest)).plan(epsilon=1)
        except TacitError:
            continue
        bounded, allowed = plan.bounded, table.policy.limits
        wide = bounded.groups > allowed.groups or bounded.rows > allowed.rows
        wide = wide or any(one.reach > allowed.rows for one in bounded.measures if not isinstance(one, Votes))
        other = "unit" in options and "units" not in options
        small = isinstance(plan.keys, Least) and "units" in options and plan.keys.least < 20
        found += [options or rest] if wide or other or small else []
    return found


def test_no_option_breaches_the_policy(table: Table) -> None:
    assert breaches(table) == []


def test_a_policy_that_is_not_asked_is_seen(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Options, "within", lambda self, limits, who, units: replace(self, unit=None))
    assert breaches(table) == ["privacy_unit_column=city", "privacy_unit_column=age"]  # the limits are held twice


def test_limits_taken_from_the_statement_are_seen(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    def trusting(self: Options, limits: Limits, groups: int) -> Limits:
        return Limits(self.groups or limits.groups, self.rows or limits.rows)

    monkeypatch.setattr(Options, "within", lambda self, limits, who, units: self)
    monkeypatch.setattr(Options, "limits", trusting)
    assert {"max_groups_contributed=6", "max_rows_contributed=16"} <= set(breaches(table))


def test_a_least_number_that_is_forgotten_is_seen(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = pricing._best_keys
    monkeypatch.setattr(pricing, "_best_keys", lambda price, groups, least: kept(price, groups, 1))
    assert breaches(table) == ["min_privacy_units_per_group=20"]
