"""Statements that try to exhaust an engine, a planner or a parser, on a table and its neighbour.

With `make attacks` all of them run against the clock: none may take more than twice the stated limit, none may end
otherwise for one neighbour than for the other. A sample runs with the tests, judged by counted work.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

import tacit
from tacit.auditing.statements.audit import MOST_ADDED
from tacit.auditing.statements.made_up import PEOPLE, write_table
from tacit.errors import TacitError
from tacit.tables.engines import access
from tacit.tables.session.table import Table
from tests.tables.attacks.bombs import Bomb, bombs
from tests.tables.attacks.hostile import Pairs, hostile_policy

SECONDS = 60
"""Far from what any of them takes to compile: what they do to rows is to be seen, not how busy the machine is."""
UNITS = 2
KINDS = sorted({one.kind for one in bombs()})
BOMBS = list(bombs())


@dataclass(frozen=True, slots=True)
class Ended:
    """How a bomb ended, which must not depend on a row; and after how long."""

    how: str
    planning: float
    """Seconds of this process's own time: planning happens here."""
    asking: float
    """Seconds by the clock: drawing happens elsewhere."""


def test_there_are_bombs_enough() -> None:
    assert len({one.sql for one in BOMBS}) >= 500
    assert len(KINDS) >= 10


# a sample, by counted work


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pairs]:
    made = Pairs(tmp_path_factory.mktemp("bombed"))
    yield made
    made.close()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.thorough
def test_a_sample_of_bombs_makes_no_work_that_is_out_of_proportion(pairs: Pairs, kind: str) -> None:
    """Rows that all steps handle for each row of the person's; those of the largest sizes are for `make attacks`."""
    own = sorted((one for one in BOMBS if one.kind == kind), key=lambda one: len(one.sql))
    for at, bomb in enumerate(own[: len(own) // 2 : max(len(own) // 6, 1)]):
        work = pairs.worked(bomb.sql, at)
        if work is not None:
            assert work.added <= MOST_ADDED, bomb.sql[:300]


# all of them, by the clock


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Table]]:
    """A table of a few people, and its neighbours: with somebody at the ends of everything, and somebody unknown.

    Answers are drawn in processes of their own, as for users.
    """
    folder = tmp_path_factory.mktemp("clocked")
    policy = hostile_policy(work=f'[work]\nseconds = {SECONDS}\nmemory = "2GB"\ndisk = "500MB"\n')
    people = (None, PEOPLE[0], PEOPLE[1], PEOPLE[3])
    paths = [write_table(policy, folder / f"{at}", person, UNITS) for at, person in enumerate(people)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(access, "APART", True)
        made = [tacit.open(path, ledger=tacit.InMemory(), analyst="eve") for path in paths]
        yield made
        for table in made:
            table.close()


def ended(table: Table, sql: str) -> Ended:
    """A whole question."""
    begun, planned, asked = time.process_time(), 0.0, 0.0
    try:
        question = table.query(sql)
        plan = question.plan(epsilon=1000)
        planned, asked = time.process_time(), time.perf_counter()
        question.ask(epsilon=1000, fresh=True)
        how = f"answered at {plan.cost!r}"
    except TacitError as error:
        how = f"{error.code}: {error}"
    asking = time.perf_counter() - asked if asked else 0.0
    return Ended(how, (planned or time.process_time()) - begun, asking)


@pytest.mark.attacks
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("kind", KINDS)
def test_no_bomb_takes_longer_than_is_stated_or_tells_neighbours_apart(
    tables: list[Table], kind: str, part: int
) -> None:
    own = [one for one in BOMBS if one.kind == kind]
    wrong = [text for bomb in own[part::4] if (text := judged(tables, bomb))]
    assert not wrong, "\n".join(wrong)


def judged(tables: list[Table], bomb: Bomb) -> str:
    """What is wrong with it; nothing, if nothing is."""
    base = ended(tables[0], bomb.sql)
    for at, table in enumerate(tables[1:]):
        other = ended(table, bomb.sql)
        if base.how != other.how:
            return f"{bomb.sql[:300]}\n    person {at}: {base.how[:200]} against {other.how[:200]}"
        for one in (base, other):
            if max(one.planning, one.asking) > 2 * SECONDS:
                return f"{bomb.sql[:300]}\n    {one.planning:.1f} s to plan, {one.asking:.1f} s to ask: {one.how[:100]}"
    return ""
