"""The worst person's own keys, where votes decide: how often they appear, and how far the person moves the others."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from tacit.mechanisms.selection.key_votes import VOTE, VotedKeySelection
from tests.tables.attacks import faults
from tests.tables.attacks.nodes import NODES, WORST, open_worst

STATEMENTS = NODES["keys by votes"]
CITIES = ("Rome", "Bern", "Wien", "Riga")
Fault = Callable[[pytest.MonkeyPatch], None]


def told(folder: Path) -> tuple[float, float]:
    """The largest chance that any key which only the person has is shown, and Σ moved²/2σ², as parts of the price."""
    folder.mkdir()
    without = open_worst(folder, None, "rho")
    slips, moves = [], []
    for number, person in enumerate(WORST):
        rows = [f"z,{city},pro,1,1,2026-03-01 05:00:00" for city in CITIES[: number + 1] for _ in range(4)]
        for more in (WORST[person], []):  # in every group that there is; in a few of the person's own
            place = folder / f"{person} and {len(more)} rows more"
            place.mkdir()
            table = open_worst(place, person, "rho", rows=[*more, *rows])
            for sql in STATEMENTS:
                plan = table.query(sql).plan(rho=1, delta="1e-6")
                (part,) = plan.parts
                assert isinstance(part.keys, VotedKeySelection), sql
                assert part.votes is not None
                known, own = (one._engine_now().run(plan.passes.bounded[0]) for one in (without, table))
                at = plan.passes.bounded[0].measures.index(part.votes)
                before, after = (
                    dict(zip(one.keys[0], map(int, one.measures[at]), strict=True)) for one in (known, own)
                )  # type: ignore[arg-type]
                scale, least = part.keys._noise.scale, part.keys.least_votes
                alone = [votes for key, votes in after.items() if key not in before]
                slips.append(sum(math.erfc((least - one - 0.5) / scale / math.sqrt(2)) / 2 for one in alone) / 1e-6)
                moved = sum((votes - before.get(key, 0)) ** 2 for key, votes in after.items())
                moves.append(moved / (2 * scale**2) / float(part.key_share))
    return max(slips), max(moves)


def test_the_worst_persons_keys_are_hidden_but_for_delta_and_votes_keep_their_price(tmp_path: Path) -> None:
    slips, moves = told(tmp_path / "all")
    assert 0.2 < slips <= 1 + 1e-4  # so little room that a slip five times as large is seen
    assert 0.9 < moves <= 1 + 1e-9


def as_of_one_key(patch: pytest.MonkeyPatch) -> None:
    """Every unit votes as one of a single key."""
    right = VotedKeySelection._weight
    patch.setattr(VotedKeySelection, "_weight", lambda rule, keys: right(rule, 1))


def no_room(patch: pytest.MonkeyPatch) -> None:
    """Whoever has fewer keys than allowed comes near to the threshold."""
    right = VotedKeySelection._weight
    patch.setattr(
        VotedKeySelection,
        "_weight",
        lambda rule, keys: VOTE if keys == rule.groups else max(right(rule, keys), rule.least_votes - 2 * VOTE),
    )


def slip_of_more(patch: pytest.MonkeyPatch) -> None:
    """Keys may slip through eight times as often as is charged."""
    right = VotedKeySelection._slips
    patch.setattr(VotedKeySelection, "_slips", lambda rule, keys: 8 * right(rule, keys))


@pytest.mark.parametrize(
    "fault", [as_of_one_key, no_room, slip_of_more, faults.every_group], ids=lambda one: one.__name__
)
@pytest.mark.thorough
def test_a_planted_hole_is_seen(fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fault(monkeypatch)
    slips, moves = told(tmp_path / "all")
    assert slips > 1 + 1e-4 or moves > 1 + 1e-9
