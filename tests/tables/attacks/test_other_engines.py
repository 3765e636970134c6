"""Statements of the whole grammar on neighbouring tables in PostgreSQL and Spark: released under coupled noise, they
are one; and bombs make no work there that is out of proportion.

As `test_corpus` and `test_bombs`, with other engines. A few with the tests, hundreds with `make attacks`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.auditing.statements.audit import MOST_ADDED
from tacit.auditing.statements.made_up import PEOPLE, write_table
from tacit.tables.engines import access
from tacit.tables.engines.chain.engine import ChainEngine
from tacit.tables.engines.failure import EngineFailed
from tacit.tables.session.table import Table
from tests.postgres import Servers
from tests.tables.attacks.bombs import bombs
from tests.tables.attacks.grammar import statements
from tests.tables.attacks.hostile import Pairs, Verdict, hostile_policy
from tests.tables.attacks.other_engines import OnPostgres, OnSpark, Place
from tests.tables.attacks.test_bombs import SECONDS, UNITS
from tests.tables.attacks.test_bombs import judged as bomb_judged

ON_SPARK = pytest.param("spark", marks=[pytest.mark.engines, pytest.mark.attacks])
BOMBS = list(bombs())
KINDS = sorted({one.kind for one in BOMBS})
SEVERAL = PEOPLE[0], PEOPLE[3], PEOPLE[4]
"""On Spark, where each statement takes a second: at the ends of everything, unknown, hard to read."""


@pytest.fixture(scope="module", params=["postgres", ON_SPARK])
def place(request: pytest.FixtureRequest) -> Place:
    if request.param == "spark":
        request.getfixturevalue("spark")
        return OnSpark()
    servers: Servers = request.getfixturevalue("postgres_servers")
    return OnPostgres(servers[18])


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory, place: Place) -> Iterator[Pairs]:
    people = SEVERAL if place.name == "spark" else PEOPLE
    made = Pairs(tmp_path_factory.mktemp("hostile"), on=place, people=people)
    yield made
    made.close()


def judged(pairs: Pairs, count: int, seed: int) -> list[Verdict]:
    return [pairs.judged(sql, at) for at, sql in enumerate(statements(count, seed))]


def shown(found: list[Verdict]) -> str:
    return "\n".join(f"{one.stage}: {one.apart}\n    {one.sql}" for one in found if one.apart)


@pytest.mark.thorough
def test_a_sample_of_statements_tells_neighbours_not_apart(pairs: Pairs, place: Place) -> None:
    found = judged(pairs, 20, seed=21)
    assert not shown(found)
    assert Counter(one.stage for one in found)["answered"] >= (5 if place.name == "spark" else 8)


def test_an_engine_that_fails_for_some_rows_is_noticed(pairs: Pairs, monkeypatch: pytest.MonkeyPatch) -> None:
    run = ChainEngine.run

    def failing(self: ChainEngine, query: Any) -> Any:
        found = run(self, query)
        if found.units.sum() % 2:
            raise EngineFailed
        return found

    monkeypatch.setattr(ChainEngine, "run", failing)
    assert shown([pairs.judged("SELECT plan, COUNT(*) AS n FROM visits GROUP BY plan", at) for at in range(6)])


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_of_bombs_makes_no_work_that_is_out_of_proportion(pairs: Pairs, place: Place, kind: str) -> None:
    """Rows that all steps handle for each row of the person's, as the engine counts them."""
    own = sorted((one for one in BOMBS if one.kind == kind), key=lambda one: len(one.sql))
    wanted = 1 if place.name == "spark" else 2
    for at, bomb in enumerate(own[len(own) // 8 : len(own) // 2 : max(len(own) * 3 // 8 // wanted, 1)][:wanted]):
        work = pairs.worked(bomb.sql, at)
        if work is not None:
            assert work.added <= MOST_ADDED, bomb.sql[:300]


def test_planted_joins_without_limits_are_seen_by_counted_work(pairs: Pairs) -> None:
    """What a bomb would look like: counts of operators tell a person who multiplies rows."""
    lists = ", ".join(f"({number})" for number in range(300))
    bomb = f"SELECT COUNT(*) FROM visits JOIN (VALUES {lists}) AS l(x) ON l.x >= 0"
    work = pairs.worked(bomb, 0)
    assert work is not None
    assert work.added > 100


# all of them, by the clock


@pytest.mark.attacks
@pytest.mark.parametrize("seed", range(4))
def test_hundreds_of_statements_tell_neighbours_not_apart(pairs: Pairs, place: Place, seed: int) -> None:
    found = judged(pairs, 60 if place.name == "spark" else 250, seed)
    assert not shown(found)
    assert Counter(one.stage for one in found)["answered"] >= (15 if place.name == "spark" else 80)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory, place: Place) -> Iterator[list[Table]]:
    """As `test_bombs.tables`, at another place; draws on PostgreSQL run in processes of their own."""
    folder: Path = tmp_path_factory.mktemp("clocked")
    policy = hostile_policy(work=f'[work]\nseconds = {SECONDS}\nmemory = "2GB"\ndisk = "500MB"\n')
    people = (None, PEOPLE[0], PEOPLE[3])
    paths = [place.moved(write_table(policy, folder / f"{at}", person, UNITS)) for at, person in enumerate(people)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(access, "APART", True)
        made = [tacit.open(path, ledger=tacit.InMemory(), analyst="eve") for path in paths]
        yield made
        for table in made:
            table.close()


@pytest.mark.attacks
@pytest.mark.parametrize("kind", KINDS)
def test_no_bomb_takes_longer_than_is_stated_or_tells_neighbours_apart(
    tables: list[Table], place: Place, kind: str
) -> None:
    own = [one for one in BOMBS if one.kind == kind][:: 30 if place.name == "spark" else 4]
    wrong = [text for bomb in own if (text := bomb_judged(tables, bomb))]
    assert not wrong, "\n".join(wrong)
