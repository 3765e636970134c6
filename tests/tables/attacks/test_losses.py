"""The statements of the corpus, and people at random: no answer loses more than is charged for it."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

import pytest

import tacit
from tacit.tables.session.table import Table
from tests.tables.attacks import faults
from tests.tables.attacks.asking import ASKED
from tests.tables.attacks.corpus import STATEMENTS
from tests.tables.attacks.losses import loss_of_sql
from tests.tables.attacks.neighbours import write_pair
from tests.tables.attacks.nodes import open_worst

SLACK = 1e-9


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Table, Table]:
    """The neighbours of the attacks, under a budget in ρ: there every draw has a loss of its own."""
    tables = []
    for path in write_pair(tmp_path_factory.mktemp("pair")):
        path.write_text(path.read_text(encoding="utf-8").replace("epsilon", "rho"), encoding="utf-8")
        tables.append(tacit.open(path, ledger=tacit.InMemory(), analyst="eve"))
    return tables[0], tables[1]


@pytest.mark.thorough
def test_no_statement_of_the_corpus_loses_more_than_it_costs(pair: tuple[Table, Table]) -> None:
    found = {sql: loss_of_sql(pair, sql) for sql in STATEMENTS}
    assert {sql: loss for sql, loss in found.items() if loss > 1 + SLACK} == {}
    assert sum(loss > 0 for loss in found.values()) > len(found) * 0.8


@pytest.mark.parametrize(
    "fault", [faults.every_group, faults.every_row, faults.noise_for_one_group], ids=lambda one: one.__name__
)
def test_a_planted_hole_is_seen_in_some_of_them(
    fault: faults.Fault, pair: tuple[Table, Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)
    assert any(loss_of_sql(pair, sql) > 1 + SLACK for sql in STATEMENTS[::5])


def somebody(chance: random.Random) -> list[str]:
    """Rows of one person, of few distinct contents and many copies."""
    cells = [
        [chance.choice(["Lund", "Oslo", "Porto", "", "x" * 99]) for _ in range(4)],
        [chance.choice(["free", "pro", "gone", "odd", ""]) for _ in range(4)],
        [
            chance.choice(["1e30", "-1e30", "nan", "0", "5", "10", "abc", "1e-300", str(chance.random() * 12)])
            for _ in "ab"
        ],
        [chance.choice(["99", "-99", "1", "3", "5", "", "0"]) for _ in range(3)],
        [chance.choice(["2026-03-01 23:30:00", "9999-12-31 23:59:59", "0001-01-01 00:00:00", ""]) for _ in range(3)],
    ]
    return [",".join(["z", *(chance.choice(one) for one in cells)]) for _ in range(chance.randint(1, 40))]


SEEDS = [("rho", 1), *(pytest.param(*one, marks=pytest.mark.slow) for one in product(("epsilon", "rho"), range(2, 40)))]


@pytest.mark.parametrize(("budget", "seed"), SEEDS)
@pytest.mark.thorough
def test_nobody_at_random_loses_more_than_is_charged(budget: str, seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    rows = somebody(chance)
    bought = [f"z,{chance.choice(['Lund', 'Rome', ''])},{chance.choice(['1e30', '3', 'nan', '-7'])}" for _ in rows]
    tables = open_worst(tmp_path, None, budget), open_worst(tmp_path, "z", budget, rows, bought)
    found = {(node, at): ask(tables) for node, asked in ASKED.items() for at, ask in enumerate(asked)}
    assert {one: loss for one, loss in found.items() if loss > 1 + SLACK} == {}
