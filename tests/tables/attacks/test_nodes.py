"""Every kind of statement against the worst person there is: the whole price is used, and no more. Holes are seen.

The loss is computed from the integers of both tables and the spread of the noise alone (`losses`), so that whatever
claims too little, limits too little or pays too little shows as a loss above 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tacit.tables.estimators.registry import ESTIMATORS
from tests.tables.attacks import faults
from tests.tables.attacks.asking import ASKED, Tables
from tests.tables.attacks.faults import Fault
from tests.tables.attacks.nodes import NODES, WORST, open_worst

SLACK = 1e-9


def opened(folder: Path, budget: str = "epsilon") -> list[Tables]:
    without = open_worst(folder, None, budget)
    return [(without, open_worst(folder, person, budget)) for person in WORST]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> list[Tables]:
    return opened(tmp_path_factory.mktemp("worst"))


@pytest.fixture(scope="module")
def in_rho(tmp_path_factory: pytest.TempPathFactory) -> list[Tables]:
    return opened(tmp_path_factory.mktemp("worst"), "rho")


def losses(node: str, pairs: list[Tables]) -> Iterator[float]:
    return (ask(tables) for tables in pairs for ask in ASKED[node])


@pytest.mark.parametrize("node", ASKED)
@pytest.mark.thorough
def test_the_worst_person_costs_what_is_charged_and_no_more(node: str, pairs: list[Tables]) -> None:
    found = list(losses(node, pairs))
    assert max(found) <= 1 + SLACK
    assert max(found) > 0.7  # so little room that whatever is half as large as it should be is seen


@pytest.mark.parametrize("node", ASKED)
@pytest.mark.thorough
def test_and_no_more_in_rho(node: str, in_rho: list[Tables]) -> None:
    found = list(losses(node, in_rho))
    assert 0.7 < max(found) <= 1 + SLACK


# holes

COMMON: tuple[Fault, ...] = (faults.every_group, faults.every_row, faults.noise_for_one_group, faults.paid_twice)
OWN: dict[str, tuple[Fault, ...]] = {
    "quantiles": (faults.ends_for_free, faults.ends_add_up, faults.extremes_move_half),
    "MODE and TOP_K": (faults.later_places_for_free,),
    "covariances": (faults.products_for_free, faults.rows_not_clamped),
    "geometric mean": (faults.logarithms_not_clamped, faults.half_the_reach),
    "ratios": (faults.rows_not_clamped,),
    "means and variances": (faults.half_the_reach,),
    "statistics of one column": (faults.half_the_reach, faults.all_rows_for_free),
    "sets of keys": (faults.totals_like_groups,),
    "batches": (faults.each_the_whole_price,),
    "margins and ranges": (faults.each_the_whole_price, faults.levels_like_cells),
    "counts and sums": (faults.keys_of_one_group,),
    "what limits cut": (faults.steps_of_all,),
    "discovery": (faults.keys_of_one_group, faults.half_the_noise),
}
NONE_SUCH: dict[str, tuple[Fault, ...]] = {
    "margins and ranges": (faults.paid_twice,),  # levels have shares of their own
    "discovery": (faults.every_row, faults.noise_for_one_group, faults.paid_twice),  # each unit counts once, in one bin
}
HOLES = [
    (node, fault) for node in ASKED for fault in (*COMMON, *OWN.get(node, ())) if fault not in NONE_SUCH.get(node, ())
]


@pytest.mark.parametrize(("node", "fault"), HOLES, ids=lambda one: one if isinstance(one, str) else one.__name__)
def test_a_planted_hole_is_seen(node: str, fault: Fault, pairs: list[Tables], monkeypatch: pytest.MonkeyPatch) -> None:
    fault(monkeypatch)
    assert any(loss > 1 + SLACK for loss in losses(node, pairs))


@pytest.mark.parametrize("fault", [faults.all_rows_for_free, faults.total_for_free], ids=lambda one: one.__name__)
def test_a_hole_in_parts_of_a_column_is_seen_in_rho(
    fault: Fault, in_rho: list[Tables], monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)
    assert any(loss > 1 + SLACK for loss in losses("statistics of one column", in_rho))


@pytest.mark.parametrize(
    "fault", [faults.every_group, faults.every_row, faults.noise_for_one_group], ids=lambda one: one.__name__
)
@pytest.mark.parametrize(
    "node", ["keys by votes", "quantiles", "MODE and TOP_K", "means and variances", "sets of keys"]
)
def test_a_planted_hole_is_seen_in_rho(
    node: str, fault: Fault, in_rho: list[Tables], monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)
    assert any(loss > 1 + SLACK for loss in losses(node, in_rho))


def test_every_kind_of_statement_has_three_holes_at_least() -> None:
    assert {node: sum(one == node for one, _ in HOLES) >= 3 for node in ASKED} == dict.fromkeys(ASKED, True)


def test_every_estimator_is_asked_for(pairs: list[Tables]) -> None:
    """One that joins the registry needs a statement in nodes.py."""
    trees = [pairs[0][0].query(sql).tree for written in NODES.values() for sql in written]
    assert {one.estimator for tree in trees for one in tree.aggregates()} == set(ESTIMATORS)
