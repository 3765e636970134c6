"""From an open table: one payment, one draw, the model as the stored answer; the same counts as from a frame."""

from __future__ import annotations

import csv
import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.errors import AnswerLost, BudgetExceeded, InvalidParameter
from tacit.privacy import ApproxDP
from tacit.synth import MST, Dates, Determines, Domain, Independent, Pairs, Workload
from tacit.synth.counts.counting import FrameRows
from tacit.synth.counts.stage import identity
from tacit.synth.made.saved import from_bytes, to_bytes
from tacit.synth.opened import TableRows, _coded
from tacit.tables.discovery.inside import Inside
from tacit.tables.engines import access
from tacit.tables.session.table import Table
from tests.tables.visits import POLICY, write_visits

COLUMNS = ["plan", "age", "spend"]


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    return write_visits(tmp_path, users=60)


@pytest.fixture
def table(policy: Path) -> Table:
    return tacit.open(policy, analyst="ada")


def debits(table: Table) -> int:
    """How many payments are on record."""
    return sum(entry.kind == "reserved" for entry in table.ledger.history())


def test_a_fit_is_paid_once_and_asked_again_for_nothing(table: Table) -> None:
    made = Pairs(epsilon=1, delta="1e-8").fit(table, domain=COLUMNS)
    left = table.remaining
    again = Pairs(epsilon=1, delta="1e-8").fit(table, domain=COLUMNS)
    assert to_bytes(again) == to_bytes(made)
    assert table.remaining == left
    assert made.sample(20, seed=1).rows == 20
    other = Pairs(epsilon=1, delta="1e-8").fit(table, domain=COLUMNS, fresh=True)
    assert to_bytes(other) != to_bytes(made)
    assert table.remaining != left


def test_another_method_domain_or_price_is_another_question(table: Table) -> None:
    spent = []
    for method, domain in (
        (Independent(epsilon="0.5"), COLUMNS),
        (MST(epsilon="0.5"), COLUMNS),
        (Independent(epsilon="0.5"), COLUMNS[:2]),
        (Independent(epsilon="0.25"), COLUMNS),
    ):
        method.fit(table, domain=domain)
        spent.append(table.remaining)
    assert len(set(map(repr, spent))) == 4


def test_refusals_come_before_the_payment(table: Table) -> None:
    left = table.remaining
    wrong: list[tuple[Any, Any]] = [
        (Pairs(epsilon=1), None),  # city has neither list nor bounds
        (Pairs(rho=1), COLUMNS),
        (Pairs(mu=1), COLUMNS),
        (Pairs(epsilon=1), {"plan": (0, 5)}),
        (Pairs(epsilon=1), {"age": ["young", "old"]}),
        (Pairs(epsilon=1), {"AGE": ["young", "old"]}),
        (Pairs(epsilon=1), {"Plan": Dates("Plan", datetime.date(2026, 1, 1), datetime.date(2026, 1, 31))}),
        (Pairs(epsilon=1), {"user_id": ["u1"]}),
        (Pairs(epsilon=1), {"notes": ["x"]}),
    ]
    for method, domain in wrong:
        with pytest.raises(tacit.TacitError):
            method.fit(table, domain=domain)
    with pytest.raises(BudgetExceeded):
        Pairs(epsilon=4).fit(table, domain=COLUMNS)
    with pytest.raises(InvalidParameter, match="open table"):
        Pairs(epsilon=1).fit(table, domain=COLUMNS, unit="user_id")
    assert table.remaining == left


def test_a_table_and_a_frame_give_the_same_codes(policy: Path, table: Table) -> None:
    domain = Domain.of_policy(table.policy, COLUMNS)
    asked = table.reading([_coded(column, table.policy) for column in domain.columns], rows_per_unit=1)
    with (policy.parent / "visits.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    engine = table._access.engines.open("00" * 32)
    with engine.read(asked) as rows:
        found = TableRows(domain, asked, rows).counted([(0,), (1,), (2,), (0, 1)], identity(domain))
    assert len({int(counts.sum()) for counts in found}) == 1
    assert found[3].sum(axis=1).tolist() == found[0].tolist()
    numbers = [float(line["age"]) if line["age"] else None for line in lines]
    alone = FrameRows(domain, {"plan": [line["plan"] for line in lines], "age": numbers, "spend": numbers})
    whole = alone.counted([(1,)], identity(domain))[0]
    assert not np.any(found[1] > whole)  # some rows of each unit, at the codes that the frame has


def test_days_are_counted_as_a_frame_counts_them(tmp_path: Path) -> None:
    policy = write_visits(tmp_path, users=60)
    rows = POLICY.replace('unit = "user_id"', 'unit = "row"').replace("groups = 5\nrows = 3\n", "")
    policy.write_text(rows, encoding="utf-8")
    with (policy.parent / "visits.csv").open(encoding="utf-8", newline="") as file:
        days = [line["day"] for line in csv.DictReader(file)]
    assert len(set(days)) > 3
    for last in ("2026-03-31", "2031-12-31"):  # a cell a day, and wider cells
        seen = Dates("day", datetime.date(2026, 1, 10), datetime.date.fromisoformat(last), missing=True)
        domain = Domain((seen,))
        with tacit.open(policy, analyst="ada") as table:
            asked = table.reading([_coded(seen, table.policy)])
            with table._engine_now().read(asked) as held:
                (found,) = TableRows(domain, asked, held).counted([(0,)], identity(domain))
        (wanted,) = FrameRows(domain, {"day": days}).counted([(0,)], identity(domain))
        assert found.tolist() == wanted.tolist()
        assert found.sum() == len(days)


def test_a_plan_is_free_and_says_the_price(table: Table) -> None:
    method = Pairs(epsilon=1, delta="1e-8")
    plan = method.plan(table, domain=COLUMNS, rows_per_unit=2)
    assert "price: ApproxDP(1, 1e-08); protects one user_id, who counts with at most 2 rows" in str(plan)
    assert table.entries == 0
    with pytest.raises(InvalidParameter, match="open table"):
        method.plan({"plan": ["free"]}, domain={"plan": ["free"]})


def test_empty_and_odd_tables_are_made_up_at_the_same_price(tmp_path: Path) -> None:
    head = "user_id,city,plan,spend,age,day,notes\n"
    for place, body in enumerate(
        ["", "u,x,pro,1,2,2026-01-01,n\n", "u,x,,nan,,,\nv,x,huge,inf,1e999,,\n", ",x,pro,1,2,,\n"]
    ):
        folder = tmp_path / str(place)
        folder.mkdir()
        (folder / "visits.csv").write_text(head + body, encoding="utf-8")
        (folder / "visits.toml").write_text(POLICY, encoding="utf-8")
        with tacit.open(folder / "visits.toml", analyst="ada") as table:
            for method in (Pairs(epsilon=1, delta="1e-8"), MST(epsilon=1)):
                assert method.fit(table, domain=COLUMNS).sample(10, seed=1).rows == 10
            assert table.ledger.budget().charged == ApproxDP(2, "1e-8")


def test_a_fit_that_fails_is_lost_and_says_nothing(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: Any) -> None:
        raise ValueError("Ada, 36")

    monkeypatch.setattr(TableRows, "counted", fail)
    with pytest.raises(AnswerLost) as caught:
        Pairs(epsilon=1).fit(table, domain=COLUMNS)
    assert "Ada" not in repr(caught.value)
    assert table.ledger.budget().charged == ApproxDP(1, 0)


def test_lists_and_bounds_are_bought_inside_the_price(policy: Path) -> None:
    policy.write_text(POLICY.replace(", bounds = [0, 120]", ""), encoding="utf-8")
    with tacit.open(policy, analyst="ada") as table:
        method = Independent(epsilon=1, delta="4e-7")
        columns = ["plan", "city", "age"]
        made = method.fit(table, domain=columns, discover="0.5")
        assert table.ledger.budget().charged == ApproxDP(1, "4e-7")  # all of it, and no more
        assert debits(table) == 1  # one request
        assert made.guarantee == ApproxDP(1, "4e-7")
        stored = table.ledger.recall(1).answer
        assert stored is not None
        assert from_bytes(stored).guarantee == ApproxDP(1, "4e-7")  # what is stored states all of it too
        entries, charged = table.entries, table.ledger.budget().charged
        again = method.fit(table, domain=columns, discover="0.5")
        assert to_bytes(again) == to_bytes(made)
        assert (table.entries, table.ledger.budget().charged) == (entries, charged)
        assert made.domain.names == tuple(columns)
        assert list(made.sample(5, seed=1)) == columns
        method.fit(table, domain=columns, discover="0.25")
        assert debits(table) == 2  # another share is another question


@pytest.mark.parametrize(
    "method", [Pairs(epsilon="0.01", delta="1e-9"), Workload([("city", "age")], epsilon="0.01", delta="1e-9")]
)
def test_columns_of_which_nothing_is_found_are_missing(method: Any, policy: Path, tmp_path: Path) -> None:
    policy.write_text(POLICY.replace(", bounds = [0, 120]", ""), encoding="utf-8")
    with tacit.open(policy, analyst="ada") as table:
        made = method.fit(table, domain=["city", "age"], discover="0.1")
        assert "Nothing was found of city, age" in made.notes[-1]
        rows = made.sample(4, seed=1)
        assert rows["city"] == rows["age"] == [None] * 4
        rows.write(tmp_path / "made.parquet")
        assert made.count({"city": None}).high >= 1
        made.report().to_html()


def test_discoveries_are_planned_before_and_drawn_after_the_payment(
    policy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy.write_text(POLICY.replace(", bounds = [0, 120]", ""), encoding="utf-8")
    monkeypatch.setattr(access, "APART", False)
    charged: list[Any] = []
    with tacit.open(policy, analyst="ada") as table:
        real = Inside.__call__

        def seen(self: Any, engine: Any, receipt: Any) -> Any:
            charged.append(table.ledger.budget().charged)
            return real(self, engine, receipt)

        monkeypatch.setattr(Inside, "__call__", seen)
        Independent(epsilon=1, delta="1e-6").fit(table, domain=["plan", "city", "age"], discover="0.5")
    assert charged == [ApproxDP(1, "1e-6")] * 2


def test_what_cannot_be_discovered_is_refused_before_the_payment(table: Table) -> None:
    wrong: list[tuple[Any, Any, Any]] = [
        (Pairs(epsilon=1, delta="1e-8"), ["plan", "city"], 0),
        (Pairs(epsilon=1, delta="1e-8"), ["plan", "city"], "0.9"),
        (Pairs(epsilon=1, delta="1e-8"), {"plan": 3}, "0.1"),
        (Pairs(epsilon=1), ["plan", "city"], "0.1"),  # a list needs a δ
        (Pairs(epsilon=1, delta="1e-8"), ["plan", "day"], "0.1"),
        (Pairs(epsilon=1, delta="1e-8"), ["user_id"], "0.1"),
    ]
    for method, domain, share in wrong:
        with pytest.raises(tacit.TacitError):
            method.fit(table, domain=domain, discover=share)
    rule = Determines("city", "plan", {"Bonn": "free"})  # city is not known yet
    with pytest.raises(InvalidParameter, match="rules"):
        Pairs(epsilon=1, delta="1e-8").fit(table, domain=["plan", "city"], discover="0.1", rules=[rule])
    with pytest.raises(InvalidParameter, match="rows_per_unit"):
        Pairs(epsilon=1, delta="1e-8").fit(table, domain=["plan", "city"], discover="0.1", rows_per_unit=99)
    with pytest.raises(BudgetExceeded):
        Pairs(epsilon=50, delta="1e-8").fit(table, domain=["plan", "city"], discover="0.01")
    assert table.entries == 0
    with pytest.raises(InvalidParameter, match="open table"):
        Pairs(epsilon=1).fit({"a": [1]}, domain={"a": 2}, discover="0.1")
