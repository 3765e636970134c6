"""The same integers on every version of PostgreSQL, in many more questions than `make test` tries: `make parity`.

15 is Debian's, 16 and 18 are the wheel's. TACIT_EXAMPLES says how many questions of each sort.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.contracts.engines import Kept
from tests.postgres import Servers
from tests.tables.engines.chosen_rows import examine_rows
from tests.tables.engines.postgres_rows import without_nul
from tests.tables.engines.sensitivity import bounded_query, examine
from tests.tables.engines.test_joins import several
from tests.tables.engines.test_per_unit import over_units

pytestmark = pytest.mark.parity
COUNT = int(os.environ.get("TACIT_EXAMPLES", "150"))


@pytest.fixture(scope="module")
def kept(postgres_servers: Servers) -> Iterator[Kept]:
    held = Kept(postgres_servers)
    yield held
    held.end()


@pytest.mark.parametrize("ask", [bounded_query, over_units], ids=["the table", "a row per unit"])
@pytest.mark.parametrize("version", [15, 16, 18])
def test_bounded_integers_are_the_oracles(kept: Kept, version: int, ask: Any) -> None:
    given = kept[version]
    with without_nul():
        assert examine(given.engine, version, COUNT, ask=ask, tables=given.one).queries == COUNT  # type: ignore[arg-type]


@pytest.mark.parametrize("version", [15, 16, 18])
def test_joins_and_chosen_rows_are_the_oracles(kept: Kept, version: int) -> None:
    given = kept[version]
    with without_nul():
        assert examine(given.engine, version, COUNT, ask=several, tables=given.several).queries == COUNT  # type: ignore[arg-type]
        assert examine_rows(given.engine, version, COUNT, given.one).queries == COUNT
