"""A package pays, then looks: one debit, one draw, a stored answer; refusals that no row decides."""

from __future__ import annotations

import importlib
import json
import os
import re
import signal
import sys
import threading
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.errors import AnswerLost, BudgetExceeded, InvalidParameter, LedgerError, NotPrivate, UnknownColumn
from tacit.privacy import ApproxDP, PureDP
from tacit.tables.engines.contract import Category, Present, Quantised
from tacit.tables.expressions.tree import Call, Column, Literal
from tacit.tables.session.table import Table
from tests.tables.session.paying import CountRows, Fails, Sleeps
from tests.tables.visits import POLICY, write_visits

PLAN = Category(Column("PLAN"), ("free", "pro"))
AGE = Quantised(Column("age"), Fraction(0), Fraction(120), Fraction(-1), Fraction(1))
COST = ApproxDP("0.5", 0)


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    return write_visits(tmp_path, users=50)


@pytest.fixture
def table(policy: Path) -> Table:
    return tacit.open(policy, analyst="ada")


def counted(table: Table, notes: Path, **options: Any) -> Any:
    return table.pay_for("COUNT rows", COST, CountRows(table.reading([PLAN, AGE]), str(notes)), **options)


def units_in(folder: Path) -> Counter[str]:
    lines = (folder / "visits.csv").read_text(encoding="utf-8").splitlines()
    at = lines[0].split(",").index("user_id")
    return Counter(who for line in lines[1:] if (who := line.split(",")[at]))


def test_what_is_asked_again_is_free_and_drawn_once(table: Table, policy: Path, tmp_path: Path, apart: None) -> None:
    notes = tmp_path / "notes"
    claim = counted(table, notes)
    units = units_in(policy.parent)
    assert json.loads(claim.answer) == {"units": len(units), "rows": sum(min(n, 3) for n in units.values())}
    assert claim.receipt.charged == COST
    assert counted(table, notes).answer == claim.answer
    with tacit.open(policy, analyst="ada") as again:
        assert counted(again, notes).answer == claim.answer
        assert again.ledger.budget().charged == COST
        assert counted(again, notes, fresh=True).answer == claim.answer
        assert again.ledger.budget().charged == ApproxDP(1, 0)
    drawn = notes.read_text(encoding="utf-8").split()
    assert len(drawn) == 2
    assert str(os.getpid()) not in drawn


def test_what_was_paid_can_be_recalled_and_nothing_else(table: Table, tmp_path: Path) -> None:
    assert table.recall("COUNT rows", COST) is None
    assert table.entries == 0
    claim = counted(table, tmp_path / "notes")
    again = table.recall("COUNT rows", COST)
    assert again is not None
    assert again.answer == claim.answer
    assert table.recall("COUNT rows", ApproxDP("0.4", 0)) is None
    assert table.recall("COUNT more", COST) is None
    with pytest.raises(InvalidParameter):
        table.recall("SELECT COUNT(*) FROM visits", COST)


def test_the_log_names_the_question(table: Table, tmp_path: Path) -> None:
    counted(table, tmp_path / "notes")
    assert any("COUNT rows" in str(entry) for entry in table.ledger.history())


def test_a_draw_that_fails_is_lost_and_says_nothing(table: Table, apart: None) -> None:
    with pytest.raises(AnswerLost, match="no refund") as caught:
        table.pay_for("FAIL always", COST, Fails())
    error: BaseException | None = caught.value
    while error is not None:
        assert "Lovelace" not in f"{error!r}{error}"
        error = error.__cause__ or error.__context__
    with pytest.raises(AnswerLost, match="never stored"):
        table.pay_for("FAIL always", COST, Fails())
    assert table.ledger.budget().charged == COST


def test_an_interrupt_ends_the_draw_and_the_payment_stands(table: Table, tmp_path: Path, apart: None) -> None:
    begun = tmp_path / "begun"

    def interrupt() -> None:
        while not begun.exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Thread(target=interrupt, daemon=True).start()
        with pytest.raises(AnswerLost):
            table.pay_for("SLEEP long", COST, Sleeps(str(begun)))
    finally:
        signal.signal(signal.SIGINT, before)
    assert table.ledger.budget().charged == COST


def test_a_budget_that_does_not_suffice_is_left_alone(table: Table, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    with pytest.raises(BudgetExceeded):
        table.pay_for("COUNT rows", ApproxDP(4, 0), CountRows(table.reading([PLAN]), str(notes)))
    assert not notes.exists()
    assert table.entries == 0


@pytest.mark.parametrize(
    "question", ["", "fit x", "SELECT COUNT(*) FROM visits", "DISCOVER BOUNDS", "-- batch", "FIT a\nb", "FIT", None, 7]
)
def test_a_question_has_a_verb_of_its_own(table: Table, question: Any) -> None:
    with pytest.raises(InvalidParameter, match="question"):
        table.pay_for(question, COST, Fails())
    assert table.entries == 0


def test_a_draw_that_cannot_be_sent_is_refused_before_it_is_paid(table: Table) -> None:
    with pytest.raises(InvalidParameter, match="pickled"):
        table.pay_for("SEE nothing", COST, lambda engine, receipt: b"")
    assert table.entries == 0


@pytest.mark.parametrize(
    ("column", "error"),
    [
        (Present(Column("user_id")), NotPrivate),
        (Category(Column("USER_ID"), ("a",)), NotPrivate),
        (Category(Column("notes"), ("a",)), NotPrivate),
        (Category(Column("nope"), ("a",)), UnknownColumn),
        (Present(Call("is_null", (Column("user_id"),))), NotPrivate),
    ],
)
def test_columns_that_may_not_be_read_are_refused(table: Table, column: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        table.reading([PLAN, column])
    with pytest.raises(error):
        table.reading([PLAN], where=Call("=", (column.expression, Literal("a"))))


def test_a_unit_may_count_for_less_than_the_policy_says_never_for_more(table: Table, tmp_path: Path) -> None:
    assert [table.reading([AGE], rows_per_unit=n).rows for n in (None, 1, 3)] == [3, 1, 3]
    for wrong in (4, 0, -1, 1.5, "2", True):
        with pytest.raises(InvalidParameter, match="rows_per_unit"):
            table.reading([AGE], rows_per_unit=wrong)
    with pytest.raises(InvalidParameter, match="columns"):
        table.reading([])
    rows = write_visits(tmp_path)
    by_row = POLICY.replace('unit = "user_id"', 'unit = "row"').replace("groups = 5\nrows = 3\n", "")
    rows.write_text(by_row, encoding="utf-8")
    with tacit.open(rows) as each:
        asked = each.reading([AGE])
        assert (asked.unit, asked.most) == (None, 1)
        with pytest.raises(InvalidParameter, match="protected on its own"):
            each.reading([AGE], rows_per_unit=2)


def test_a_pure_price_is_a_price_in_this_ledger(table: Table, tmp_path: Path) -> None:
    draw = CountRows(table.reading([PLAN]), str(tmp_path / "notes"))
    assert table.pay_for("COUNT plans", PureDP("0.1"), draw).receipt.charged == ApproxDP("0.1", 0)


def test_the_example_of_the_guide_runs(table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guide = Path(__file__).resolve().parents[3] / "docs" / "guides" / "paying.md"
    (code,) = re.findall(r"```python\n(.*?)```", guide.read_text(encoding="utf-8"), flags=re.DOTALL)
    (tmp_path / "pairs.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    counts = importlib.import_module("pairs").pairs(table, "0.5")
    assert [len(line) for line in counts] == [3, 3, 3]
    monkeypatch.delitem(sys.modules, "pairs")


def test_a_closed_table_recalls_nothing(table: Table) -> None:
    table.close()
    with pytest.raises(LedgerError, match="closed"):
        table.recall("COUNT rows", COST)
