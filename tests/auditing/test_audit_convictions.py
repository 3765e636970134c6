"""False convictions are as rare as stated, also of functions that keep state as documented."""

from __future__ import annotations

import pytest

from tests.auditing.convictions import SUBJECTS, convicted

FEW, MANY = 25, 250
ALLOWED = {FEW: 11, MANY: 32}  # P[Bin(25, 0.05) > 11] < 10^-7; P[Bin(250, 0.05) > 32] < 10^-6


@pytest.mark.parametrize("name", ["a coin", "a call number beside it", "a budget that runs out"])
def test_few_are_convicted(name: str) -> None:
    assert convicted(name, FEW, 7) <= ALLOWED[FEW]


@pytest.mark.slow
def test_at_most_one_in_twenty_of_four_thousand_is_convicted() -> None:
    found = {name: convicted(name, MANY, 11) for name in SUBJECTS}
    assert max(found.values()) <= ALLOWED[MANY], found
    assert MANY * len(found) >= 4_000
    assert sum(found.values()) <= 0.05 * MANY * len(found), found
