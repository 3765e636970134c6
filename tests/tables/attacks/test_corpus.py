"""Statements of the whole grammar on neighbouring tables: what is told, and what is released, must be the same.

Released under coupled noise: wherever value + noise agree, so must every byte of the answer. A fixed sample runs with
the tests; all of it, more than 5 000 statements, with `make attacks`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tables.attacks.grammar import statements
from tests.tables.attacks.hostile import Pairs, Verdict

CHUNK = 250
CHUNKS = 21
IN_RHO = 4


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pairs]:
    made = Pairs(tmp_path_factory.mktemp("hostile"))
    yield made
    made.close()


def judged(pairs: Pairs, count: int, seed: int) -> list[Verdict]:
    return [pairs.judged(sql, at) for at, sql in enumerate(statements(count, seed))]


def shown(found: list[Verdict]) -> str:
    """Those that tell two neighbours apart, or break."""
    return "\n".join(f"{one.stage}: {one.apart}\n    {one.sql}" for one in found if one.apart)


@pytest.mark.thorough
def test_a_sample_of_all_statements_tells_neighbours_not_apart(pairs: Pairs) -> None:
    found = judged(pairs, 40, seed=1313)
    assert not shown(found)
    assert Counter(one.stage for one in found)["answered"] >= 20


@pytest.mark.attacks
@pytest.mark.parametrize("seed", range(CHUNKS))
def test_thousands_of_statements_tell_neighbours_not_apart(pairs: Pairs, seed: int) -> None:
    found = judged(pairs, CHUNK, seed)
    assert not shown(found)
    assert Counter(one.stage for one in found)["answered"] >= CHUNK // 3


@pytest.mark.attacks
@pytest.mark.parametrize("seed", range(100, 100 + IN_RHO))
def test_thousands_of_statements_tell_neighbours_not_apart_in_rho(tmp_path: Path, seed: int) -> None:
    pairs = Pairs(tmp_path, "rho")
    found = judged(pairs, CHUNK, seed)
    pairs.close()
    assert not shown(found)
