"""Views of a DuckDB file: row by row, or refused."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import tacit
from tacit.errors import PolicyError
from tests.tables.small import columns, rows


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT unnest([0, 1, 2, 3]) AS i, unnest(['0', 'x', '2', '3']) AS s")
        connection.execute(
            "CREATE VIEW good AS SELECT q.i AS id, CAST(s AS INT) + 1 AS n FROM t q WHERE CAST(s AS INT) < 3"
        )
        connection.execute("CREATE VIEW over AS SELECT * FROM good WHERE id > 0")
    return path


def test_what_fails_on_a_row_is_null_or_left_out_there(file: Path) -> None:
    assert sorted(rows(file, columns(id="integer", n="integer"), {"table": "good"})) == [(0, 1), (2, 3)]
    assert rows(file, columns(id="integer", n="integer"), {"table": "over"}) == [(2, 3)]


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT count(*) AS i FROM t",
        "SELECT i FROM t GROUP BY i",
        "SELECT i FROM t GROUP BY ALL",
        "SELECT * EXCLUDE (s) FROM t",
        "SELECT * EXCLUDE (t.s) FROM t",
        "SELECT DISTINCT i FROM t",
        "SELECT i FROM t ORDER BY i",
        "SELECT i FROM t LIMIT 2",
        "SELECT row_number() OVER () AS i FROM t",
        "SELECT i FROM t QUALIFY row_number() OVER () > 1",
        "SELECT a.i FROM t a JOIN t b ON a.i = b.i + 1",
        "SELECT a.i FROM t a, t b",
        "SELECT (SELECT max(i) FROM t) AS i FROM t",
        "SELECT i FROM t WHERE i IN (SELECT i FROM t)",
        "SELECT i FROM t UNION ALL SELECT i FROM t",
        "WITH u AS (SELECT i FROM t) SELECT i FROM u",
        "SELECT i FROM (SELECT i FROM t)",
        "SELECT i FROM t USING SAMPLE 50%",
        "SELECT random() AS i FROM t",
        "SELECT rowid AS i FROM t",
        "SELECT unnest([i, 1]) AS i FROM t",
        "SELECT current_setting('threads') AS i FROM t",
        "SELECT i FROM range(5) AS r(i)",
        "SELECT sum(i) AS i FROM t HAVING count(*) > 1",
        "SELECT list_sum([i]) AS i FROM t",
        "SELECT 1 AS i",
        "VALUES (1)",
    ],
)
def test_what_looks_beyond_its_row_is_refused(file: Path, statement: str) -> None:
    with duckdb.connect(str(file)) as connection:
        connection.execute(f"CREATE VIEW bad AS {statement}")
    with pytest.raises(PolicyError, match="The view bad cannot be asked about"):
        rows(file, columns(i="integer"), {"table": "bad"})


def test_a_view_of_a_private_table_is_not_public(file: Path) -> None:
    """By whatever views it is come to, and under whatever names."""
    policy = (
        'version = 1\ntable = "t"\nsource = "t.duckdb"\nunit = "row"\n[budget]\nepsilon = 1\n'
        '[columns]\ni = { type = "integer", role = "private" }\n'
        '[public.over]\nsource = "t.duckdb"\n[public.over.columns]\nid = { type = "integer" }\n'
    )
    path = file.with_suffix(".toml")
    path.write_text(policy, encoding="utf-8")
    with pytest.raises(PolicyError, match="over is declared public, and its source is that of a private table"):
        tacit.open(path)
