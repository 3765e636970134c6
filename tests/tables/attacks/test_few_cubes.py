"""Few cubes in a batch, priced one by one, against a person who is everywhere: what they lose is what is charged."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.privacy import ApproxDP
from tacit.tables.plan import better
from tacit.tables.session.table import Table
from tests.tables.attacks import faults
from tests.tables.attacks.by_hand import total
from tests.tables.attacks.faults import Fault
from tests.tables.attacks.losses import _engine
from tests.tables.attacks.test_joint_losses import told_by
from tests.tables.plan.test_set_shares import CUBES, POLICY

PRICE = ApproxDP("0.1", "1e-6")
_OTHERS = [f"u{at},{'ABCDEF'[at % 6]},{('free', 'pro')[at % 2]},{at % 9}" for at in range(60)]
_PERSON = [f"z,{city},{plan},{spend}" for city in "ABCDEF" for plan in ("free", "pro") for spend in (9, 10, 10, 10)]


def opened(folder: Path, rows: list[str]) -> Table:
    folder.mkdir(parents=True)
    (folder / "visits.csv").write_text("\n".join(["who,city,plan,spend", *rows]) + "\n", encoding="utf-8")
    (folder / "visits.toml").write_text(POLICY.format(flavour="epsilon"), encoding="utf-8")
    table = tacit.open(folder / "visits.toml", ledger=tacit.InMemory(), analyst="eve")
    engine: Any = table._engine_now()
    engine._key = "one key"  # the same rows are chosen in both tables
    return table


def lost(folder: Path, used: float) -> float:
    """δ of all that is drawn, by hand, at a part of the ε that is charged."""
    tables = [opened(folder / name, rows) for name, rows in (("without", _OTHERS), ("with", [*_OTHERS, *_PERSON]))]
    plan = tables[0].batch([CUBES[at] for at in (0, 2)]).plan(price=PRICE)
    assert plan.how == "sums of ε and δ"
    assert plan.cost == ApproxDP("0.1", 0)
    found = [plan.integers([_engine(table).run(one) for one in plan.passes.bounded]) for table in tables]
    told = total(told_by(part, pair) for part, pair in zip(plan.parts, zip(*found, strict=True), strict=True))
    return told.delta(used * float(PRICE.eps))


def test_they_cost_what_is_charged_and_no_more(tmp_path: Path) -> None:
    assert lost(tmp_path / "all", 1.001) <= 1e-12  # the grid of losses
    assert lost(tmp_path / "most", 0.7) > 1e-4


def more_than_their_shares(patch: pytest.MonkeyPatch) -> None:
    """Each statement by itself gets one and a half times its share."""
    right = better._alone
    patch.setattr(
        better,
        "_alone",
        lambda even, price, at, rows: right(even, price.scaled(Fraction(3, 2)), at, rows),
    )


def every_set_more(patch: pytest.MonkeyPatch) -> None:
    """What is charged is not what the noise was made for."""
    right = better.share

    def share(price: Any, needs: Any, weights: Any) -> Any:
        dearer = right(price.scaled(Fraction(3, 2)), needs, weights)
        return replace(dearer, cost=right(price, needs, weights).cost)

    patch.setattr(better, "share", share)


@pytest.mark.parametrize(
    "fault",
    [more_than_their_shares, every_set_more, faults.totals_like_groups, faults.every_group],
    ids=lambda one: one.__name__,
)
def test_a_planted_hole_is_seen(fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fault(monkeypatch)
    assert lost(tmp_path / "all", 1) > 1e-4
