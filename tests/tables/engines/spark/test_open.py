"""Rows of Spark from outside: opened, asked, refused; whose ledger it is; what is stopped, and what is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.errors import AnswerLost, InvalidParameter, LedgerError, PolicyError, TacitError
from tacit.tables.engines.spark import source

pytestmark = pytest.mark.engines
BUDGET = tacit.PureDP(1000)
COUNT = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
ROWS = "SELECT id % 100 AS user_id, element_at(array('Bonn', 'Rome', 'Lund'), CAST(id % 3 AS INT) + 1) AS city, "
ROWS += "CAST(id % 50 AS DECIMAL(12, 2)) AS spend, array(1) AS tags FROM range(600)"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TACIT_LEDGERS", str(tmp_path / "books"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def folder(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("lake") / "visits"
    spark.sql(ROWS).drop("tags").write.parquet(str(place))
    return place


def opened(where: Any, **more: Any) -> tacit.Table:
    described: dict[str, Any] = {
        "unit": "user_id",
        "budget": BUDGET,
        "bounds": {"spend": (0, 50)},
        "keys": {"city": ["Bonn", "Rome", "Lund"]},
        "groups": 3,
        "rows": 10,
    }
    return tacit.open(where, **(described | more))


def test_a_frame_is_asked_and_its_session_is_as_it_was(spark: Any, here: Path) -> None:
    frame = spark.sql(ROWS)
    before = dict(spark.conf.getAll) if isinstance(getattr(spark.conf, "getAll", None), dict) else None
    with opened(frame, name="visits") as table:
        answer = table.sql("SELECT city, COUNT(*) AS n, AVG(spend) AS spend FROM visits GROUP BY city", epsilon=300)
        assert list(answer["n"]) == pytest.approx([200, 200, 200], abs=6)
        assert list(answer["spend"]) == pytest.approx([24.5, 24.5, 24.5], abs=2)
    assert (here / "visits.ledger").exists()
    assert before is None or dict(spark.conf.getAll) == before
    with pytest.raises(LedgerError, match="second budget"):
        opened(frame, name="others")


def test_a_folder_has_one_budget_under_both_engines(here: Path, folder: Path) -> None:
    with opened(str(folder), reading={"engine": "spark"}) as table:
        first = table.sql("SELECT COUNT(*) AS n FROM visits", epsilon=300)["n"].value
        left = table.remaining
    assert round(first) == pytest.approx(600, abs=3)
    with opened(str(folder)) as table:
        assert table.remaining == left


def test_a_table_of_a_catalog_is_known_by_its_files(spark: Any, here: Path) -> None:
    spark.sql("CREATE DATABASE IF NOT EXISTS shop")
    spark.sql("DROP TABLE IF EXISTS shop.visits")
    spark.sql("CREATE TABLE shop.visits USING parquet AS " + ROWS)
    spark.sql("CREATE OR REPLACE VIEW shop.seen AS SELECT * FROM shop.visits")
    with opened("spark:spark_catalog.shop.visits") as table:
        assert list(table.sql(COUNT, epsilon=300)["n"]) == pytest.approx([200, 200, 200], abs=6)
        left = table.remaining
    with opened("spark:shop.visits") as table:
        assert table.remaining == left
    with pytest.raises(PolicyError, match=r"is a view.*Nothing was spent"):
        opened("spark:shop.seen")
    with pytest.raises(InvalidParameter, match="Nothing was spent"):
        opened("spark:shop.nothing")
    with pytest.raises(InvalidParameter, match="spark:catalog"):
        opened("spark:shop.visits; DROP TABLE shop.visits")


def test_what_spark_has_no_form_for_is_refused_and_nothing_is_spent(spark: Any, here: Path) -> None:
    with opened(spark.sql(ROWS), name="visits") as table:
        for condition in ("REGEXP_MATCHES(city, 'B')", "CAST(spend AS TEXT) = '1.0'"):
            with pytest.raises(InvalidParameter, match="Nothing was spent"):
                table.sql(f"SELECT COUNT(*) AS n FROM visits WHERE {condition}", epsilon=1)
        assert table.remaining == tacit.ApproxDP(1000, 0)
    with pytest.raises(TacitError, match="tags"):
        opened(spark.sql(ROWS), name="visits", types={"tags": "integer"})


@pytest.fixture
def late(tmp_path: Path) -> Path:
    """Moments in milliseconds, one of which 64 bits of microseconds do not hold."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import parquet

    place = tmp_path / "late"
    place.mkdir()
    moments = pa.array(np.array([0, 1000, 2**62, -(2**63)], dtype=np.int64)).view(pa.timestamp("ms"))
    parquet.write_table(pa.table({"user_id": [1, 2, 3, 4], "seen": moments, "n": [1, 2, 3, 4]}), place / "a.parquet")
    return place


def test_moments_that_spark_cannot_read_of_every_row_cannot_be_asked_about(spark: Any, here: Path, late: Path) -> None:
    plain: dict[str, Any] = {"bounds": {"n": (0, 4)}, "keys": None}
    spark.sql("DROP TABLE IF EXISTS late")
    spark.sql(f"CREATE TABLE late USING parquet LOCATION 'file://{late}'")
    for where, more in ((str(late), {"reading": {"engine": "spark"}}), ("spark:default.late", {})):
        with opened(where, **plain, **more) as table:
            assert set(table.policy.columns) == {"user_id", "n"}
            with pytest.raises(TacitError, match="seen"):
                table.sql("SELECT COUNT(seen) AS n FROM late", epsilon=1)
            assert table.sql("SELECT COUNT(*) AS n FROM late", epsilon=300)["n"].value == pytest.approx(4, abs=1)
    policy = here / "late.toml"
    policy.write_text(
        f'version = 1\ntable = "late"\nsource = "{late}"\nunit = "user_id"\n[reading]\nengine = "spark"\n'
        '[budget]\nepsilon = "10"\n[columns]\nuser_id = { type = "integer", role = "identifier" }\n'
        'seen = { type = "timestamp", role = "private" }\n'
    )
    with pytest.raises(PolicyError, match=r"timestamp in milliseconds.*Nothing was spent"):
        tacit.open(policy)


def test_without_that_one_row_ends_a_paid_question(
    spark: Any, here: Path, late: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "in_milliseconds", lambda files: frozenset())
    with opened(str(late), reading={"engine": "spark"}, bounds=None, keys=None) as table, pytest.raises(AnswerLost):
        table.sql("SELECT COUNT(seen) AS n FROM late", epsilon=1)


def test_lines_that_would_end_a_question_are_refused(spark: Any, here: Path, tmp_path: Path) -> None:
    (tmp_path / "lines").mkdir()
    (tmp_path / "lines" / "a.csv").write_text("1,2\n2,x\n")
    spark.sql("DROP TABLE IF EXISTS lines")
    spark.sql(f"CREATE TABLE lines (user_id INT, n INT) USING csv OPTIONS (path '{tmp_path}/lines', mode 'failfast')")
    with pytest.raises(PolicyError, match=r"FAILFAST.*Nothing was spent"):
        opened("spark:default.lines", bounds=None, keys=None)


def test_rows_of_spark_are_learned_from_and_read_in_chunks(spark: Any, here: Path, folder: Path) -> None:
    enough = tacit.ApproxDP(1000, "1e-6")
    with opened(str(folder), reading={"engine": "spark"}, ledger=tacit.InMemory(), budget=enough) as table:
        model = tacit.learn.LogisticRegression(epsilon=100, delta="1e-9").fit(table, target="city")
        assert model.coef_.shape[0] == 3
        synthesis = tacit.synth.MST(epsilon=100, delta="1e-9").fit(table)
    assert "50 rows of city, spend" in repr(synthesis.sample(50))


def test_the_process_cannot_be_sent(spark: Any, here: Path, apart: None) -> None:
    """Draws run where the session is, also where others would be drawn apart."""
    with opened(spark.sql(ROWS), name="visits") as table:
        assert round(table.sql("SELECT COUNT(*) AS n FROM visits", epsilon=300)["n"].value) == pytest.approx(600, abs=3)
