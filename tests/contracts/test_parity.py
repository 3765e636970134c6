"""The same integers on every version of PostgreSQL, and on Spark, in many more questions than `make test` tries.

`make parity`: 15 is Debian's, 16 and 18 are the wheel's; Spark, with generated code and without, in its own
environment. TACIT_EXAMPLES says how many questions of each sort.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from tacit.tables.engines.postgres.text_casts import from_type
from tacit.tables.expressions.kinds import Kind
from tests.contracts.engines import Kept
from tests.postgres import Servers
from tests.tables.engines.chosen_rows import agree_rows, examine_rows
from tests.tables.engines.postgres_rows import without_nul
from tests.tables.engines.sensitivity import agree, bounded_query, examine
from tests.tables.engines.spark_rows import without_refused
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


def test_texts_are_bytes_whatever_their_column_has(postgres_servers: Servers) -> None:
    """A collation under which A is a, and citext: Debian's has both, the wheel neither."""
    with psycopg.connect(postgres_servers[15].new_database(), autocommit=True) as database:
        database.execute("CREATE EXTENSION citext")
        rule = "provider = icu, locale = 'und-u-ks-level1', deterministic = false"
        database.execute(f"CREATE COLLATION careless ({rule})")  # type: ignore[call-overload,unused-ignore]
        database.execute("CREATE TABLE words (text text COLLATE careless, citext citext)")
        database.execute("INSERT INTO words SELECT s, s FROM unnest(ARRAY['a', 'A', 'b']) AS t(s)")
        for name in ("text", "citext"):
            for read, groups in ((from_type(name, name, Kind.TEXT), 3), (name, 2)):  # as it is read; planted: as it is
                asked = f"SELECT count(*) FROM (SELECT x FROM (SELECT {read} AS x FROM words) AS r GROUP BY x) AS g"
                assert database.execute(asked).fetchall() == [(groups,)]  # type: ignore[call-overload,unused-ignore]


SORTS: dict[str, Callable[[Any, str, int], int]] = {
    "the table": lambda given, seed, count: agree(given.engine, seed, count, bounded_query, given.one),
    "a row per unit": lambda given, seed, count: agree(given.engine, seed, count, over_units, given.one),
    "joins": lambda given, seed, count: agree(given.engine, seed, count, several, given.several),
    "chosen rows": lambda given, seed, count: agree_rows(given.engine, seed, count, given.one),
}
WAYS = {
    "generated code": {"spark.sql.codegen.wholeStage": "true"},
    "none": {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"},
}
ON_SPARK = int(os.environ.get("TACIT_EXAMPLES", "375"))
"""Of each sort and way: 3 000 in all."""
_AT_ONCE = 75
"""Of one test: what was seen before something ends it stays seen, and a part can be asked for again by its name."""


@pytest.mark.engines
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("part", range(-(-ON_SPARK // _AT_ONCE)))
def test_integers_are_the_oracles_on_spark(kept: Kept, spark: Any, part: int, sort: str, way: str) -> None:
    given, count = kept.on_spark(spark, WAYS[way]), min(_AT_ONCE, ON_SPARK - part * _AT_ONCE)
    with without_refused():
        assert SORTS[sort](given, f"{sort}, {way}, {part}", count) == count
