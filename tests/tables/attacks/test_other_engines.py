"""Statements of the whole grammar on neighbouring tables in PostgreSQL: released under coupled noise, they are one.

As `test_corpus`, with the integers of another engine. A few with the tests, hundreds with `make attacks`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tacit.tables.engines.failure import EngineFailed
from tacit.tables.engines.postgres.engine import PostgresEngine
from tests.postgres import Servers
from tests.tables.attacks.grammar import statements
from tests.tables.attacks.hostile import Pairs, Verdict
from tests.tables.attacks.other_engines import OnPostgres


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory, postgres_servers: Servers) -> Iterator[Pairs]:
    made = Pairs(tmp_path_factory.mktemp("hostile"), on=OnPostgres(postgres_servers[18]))
    yield made
    made.close()


def possible(count: int, seed: int) -> list[str]:
    """Those that PostgreSQL does not refuse beforehand."""
    return [sql for sql in statements(count, seed) if "regexp_extract" not in sql.lower()]


def judged(pairs: Pairs, count: int, seed: int) -> list[Verdict]:
    return [pairs.judged(sql, at) for at, sql in enumerate(possible(count, seed))]


def shown(found: list[Verdict]) -> str:
    return "\n".join(f"{one.stage}: {one.apart}\n    {one.sql}" for one in found if one.apart)


@pytest.mark.thorough
def test_a_sample_of_statements_tells_neighbours_not_apart_on_postgres(pairs: Pairs) -> None:
    found = judged(pairs, 20, seed=21)
    assert not shown(found)
    assert Counter(one.stage for one in found)["answered"] >= 8


def test_a_server_that_fails_for_some_rows_is_noticed(pairs: Pairs, monkeypatch: pytest.MonkeyPatch) -> None:
    run = PostgresEngine.run

    def failing(self: PostgresEngine, query: Any) -> Any:
        found = run(self, query)
        if found.units.sum() % 2:
            raise EngineFailed
        return found

    monkeypatch.setattr(PostgresEngine, "run", failing)
    assert shown([pairs.judged("SELECT plan, COUNT(*) AS n FROM visits GROUP BY plan", at) for at in range(8)])


@pytest.mark.attacks
@pytest.mark.parametrize("seed", range(4))
def test_hundreds_of_statements_tell_neighbours_not_apart_on_postgres(pairs: Pairs, seed: int) -> None:
    found = judged(pairs, 250, seed)
    assert not shown(found)
    assert Counter(one.stage for one in found)["answered"] >= 80
