"""From an open table: one payment, one draw, the model as the stored answer; the same counts as from a frame."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.errors import BudgetExceeded, InvalidParameter
from tacit.synth import MST, Domain, Independent, Pairs
from tacit.synth.counting import FrameRows
from tacit.synth.opened import TableRows, _coded
from tacit.synth.saved import to_bytes
from tacit.synth.stage import identity
from tacit.tables.session.table import Table
from tests.tables.visits import write_visits

COLUMNS = ["plan", "age", "spend"]


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    return write_visits(tmp_path, users=60)


@pytest.fixture
def table(policy: Path) -> Table:
    return tacit.open(policy, analyst="ada")


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
