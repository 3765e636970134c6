"""Thousands of bent statements: each is refused cleanly or answered privately, and neighbours cannot be told apart."""

from __future__ import annotations

import logging
from collections import Counter
from pathlib import Path

import pytest

from tests.tables.attacks.corpus import STATEMENTS
from tests.tables.attacks.mutations import mutated
from tests.tables.attacks.neighbours import SECRET, open_pair
from tests.tables.attacks.outcomes import outcome, shows_canary
from tests.tables.attacks.watching import snapshot, watching


def attack(folder: Path, count: int, seed: int, caplog: pytest.LogCaptureFixture) -> Counter[str]:
    """Run the statements against both neighbours; the outcomes, counted. Raises at the first thing that is wrong."""
    trap = folder / "trap"
    trap.mkdir()
    (trap / "secret.txt").write_text(SECRET, encoding="utf-8")
    without, present = open_pair(folder)
    for table in (without, present):  # what is loaded and opened once
        assert outcome(table, "SELECT city, plan, AVG(spend) FROM visits GROUP BY city, plan").stage == "answered"
    before, seen = snapshot(folder), Counter[str]()
    with watching() as watch, caplog.at_level(logging.DEBUG):
        for sql in mutated(count, seed, trap):
            one, other = outcome(without, sql), outcome(present, sql)
            assert one.stage not in ("broken", "lost"), (sql, one.error)
            assert one.seen == other.seen, sql
            shown = [one.error, one.plan, repr(one.answer), other.error, other.plan, repr(other.answer)]
            shown += [record.getMessage() for record in caplog.records]
            assert not shows_canary("\n".join(shown), sql), sql
            caplog.clear()
            seen[one.stage] += 1
            seen[f"refused: {one.code}"] += one.code != ""
    assert snapshot(folder) == before, "no file was created, changed or removed"
    sources = [
        folder / side / f"{name}.csv" for side in ("without", "with") for name in ("visits", "orders", "regions")
    ]
    assert watch.beyond(*sources) == []
    without.close()
    present.close()
    print(f"\n{count} statements: {dict(seen.most_common())}")
    return seen


def reached(seen: Counter[str]) -> float:
    return (seen["planned"] + seen["answered"]) / (seen["planned"] + seen["answered"] + seen["refused"])


@pytest.mark.parametrize("seed", [1])
@pytest.mark.thorough
def test_bent_statements(seed: int, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    seen = attack(tmp_path, 100, seed, caplog)
    assert reached(seen) >= 0.2
    assert seen["refused"] >= 20


@pytest.mark.slow
def test_10000_bent_statements(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert reached(attack(tmp_path, 10_000, 2, caplog)) >= 0.3


@pytest.mark.thorough
def test_what_the_mutations_start_from_is_answered(tmp_path: Path) -> None:
    """Otherwise most of them would be refused for a reason that has nothing to do with the change."""
    without, present = open_pair(tmp_path)
    for sql in STATEMENTS[::3]:
        one, other = outcome(without, sql), outcome(present, sql)
        assert (sql, one.stage, one.error) == (sql, "answered", "")
        assert one.seen == other.seen
