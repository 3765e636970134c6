"""What a first day brings: comparisons with None, counts of conditions, no rows, a table that was closed."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path

import pandas
import pytest

import tacit
from tacit import col
from tacit.errors import InvalidParameter, LedgerError


@pytest.fixture
def table() -> Iterator[tacit.Table]:
    frame = pandas.DataFrame({"who": range(900), "city": ["Lund", None, "Ystad"] * 300, "age": range(900)})
    budget = tacit.PureDP(100)
    with tacit.open(frame, name="t", unit="who", budget=budget, ledger=tacit.InMemory()) as opened:
        yield opened


def test_equal_to_none_is_null(table: tacit.Table) -> None:
    nobody = table.where(col("city") == None).agg(n=tacit.count())  # noqa: E711
    assert nobody.to_sql() == table.where(col("city").is_null()).agg(n=tacit.count()).to_sql()
    assert 250 < nobody.ask(epsilon=5)["n"].value < 350
    known = table.where(col("city") != None).agg(n=tacit.count())  # noqa: E711
    assert known.to_sql() == table.where(col("city").is_not_null()).agg(n=tacit.count()).to_sql()


@pytest.mark.parametrize(
    "condition", [col("age") > 3, (col("city") == "Lund") & (col("age") > 3), col("city").is_null()]
)
def test_a_count_of_a_condition_is_refused_and_the_hint_works(table: tacit.Table, condition: tacit.Term) -> None:
    with pytest.raises(InvalidParameter, match=r"tacit\.count\(\)\.filter\(condition\)"):
        tacit.count(condition)
    assert "COUNT" in table.agg(n=tacit.count().filter(condition) / tacit.count()).to_sql()


def test_no_rows_cost_nothing(table: tacit.Table) -> None:
    inside = "SELECT age > 9 AS old, COUNT(*) AS n FROM t GROUP BY 1"
    for sql in ("SELECT COUNT(*) AS n FROM t LIMIT 0", f"SELECT n FROM ({inside}) AS a LIMIT 0"):
        with pytest.raises(InvalidParameter, match="no rows are no answer"):
            table.sql(sql, epsilon=1)
    with pytest.raises(InvalidParameter, match="no rows are no answer"):
        table.agg(n=tacit.count()).limit(0).ask(epsilon=1)
    assert table.remaining == tacit.ApproxDP(100, 0)


@pytest.mark.parametrize(
    ("condition", "instead"),
    [
        ("age = NULL", "age IS NULL"),
        ("NOT (age <> NULL)", "age IS NULL"),
        ("age BETWEEN NULL AND 4", "age <= 4"),
        ("city NOT IN ('Lund', NULL)", "city NOT IN ('Lund') AND city IS NOT NULL"),
        ("CASE city WHEN NULL THEN TRUE END", "city IS NULL"),
    ],
)
def test_what_is_compared_with_null_is_met_by_no_row_and_costs_nothing(
    table: tacit.Table, condition: str, instead: str
) -> None:
    with pytest.raises(InvalidParameter, match=r"nothing equals NULL.* Nothing was spent\."):
        table.sql(f"SELECT COUNT(*) AS n FROM t WHERE {condition}", epsilon=1)
    with pytest.raises(InvalidParameter, match="nothing equals NULL"):
        table.where(col("age") < None).agg(n=tacit.count()).ask(epsilon=1)
    assert table.remaining == tacit.ApproxDP(100, 0)
    assert table.sql(f"SELECT COUNT(*) AS n FROM t WHERE {instead}", epsilon=1).columns == ("n",)


def test_days_between_extremes_have_a_hint_that_can_be_typed(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("who,day\n" + "".join(f"u{at},2024-01-{at % 28 + 1:02d}\n" for at in range(280)))
    (budget, types) = (tacit.PureDP(100), {"day": "date"})
    with tacit.open(tmp_path / "t.csv", unit="who", budget=budget, types=types, ledger=tacit.InMemory()) as t:
        with pytest.raises(InvalidParameter, match=r"Write DATE_DIFF\('day', earlier, later\)\."):
            t.sql("SELECT MAX(day) - MIN(day) AS d FROM t", epsilon=1)
        assert t.sql("SELECT DATE_DIFF('day', MIN(day), MAX(day)) AS d FROM t", epsilon=9)["d"].value in range(20, 29)


def test_a_closed_table_refuses(table: tacit.Table) -> None:
    question = table.query("SELECT COUNT(*) AS n FROM t")
    question.ask(epsilon=1)
    table.close()
    with pytest.raises(LedgerError, match="This table is closed"):
        question.ask(epsilon=1)
    with pytest.raises(LedgerError, match="This table is closed"):
        table.batch([question]).ask(epsilon=1)


def test_texts_of_a_csv_say_how_they_become_numbers(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("who,n\n" + "".join(f"u{at},{at}\n" for at in range(500)))
    common = {"unit": "who", "budget": tacit.PureDP(10), "ledger": tacit.InMemory()}
    with tacit.open(path, **common) as table, pytest.raises(InvalidParameter, match=r"types=.*--type spend=real"):
        table.sql("SELECT COUNT(*) AS n FROM t WHERE n < 250", epsilon=5)
    with tacit.open(path, types={"n": "integer"}, **common) as table:
        assert 200 < table.sql("SELECT COUNT(*) AS n FROM t WHERE n < 250", epsilon=5)["n"].value < 300


def test_a_frame_has_the_types_that_it_says() -> None:
    frame = pandas.DataFrame({"who": range(500), "day": pandas.to_datetime(["2026-07-01", "2026-07-02"] * 250)})
    with tacit.open(frame, name="t", unit="who", budget=tacit.PureDP(10), ledger=tacit.InMemory()) as table:
        assert 200 < table.sql("SELECT COUNT(*) AS n FROM t WHERE day = '2026-07-01'", epsilon=5)["n"].value < 300


def test_of_a_frame_it_is_said_what_is_text_and_what_to_write() -> None:
    people = range(40)
    days = [datetime.date(2026, 7, 1 + at % 20) for at in people]
    frame = pandas.DataFrame({"who": [f"u{at}" for at in people], "day": days, "ok": [at % 2 == 0 for at in people]})
    budget = tacit.ApproxDP(9, 1e-5)

    def opened(**types: str) -> tacit.Table:
        return tacit.open(frame, name="v", unit="who", budget=budget, types=types, ledger=tacit.InMemory())

    with opened() as table:
        for question in ("SELECT COUNT(*) AS n FROM v WHERE DAYNAME(day) <> 'x'", "SELECT COUNT_IF(ok) AS n FROM v"):
            with pytest.raises(InvalidParameter, match=r"text.*types=\{\"day\": \"date\"\}"):
                table.query(question)
    with opened(day="date", ok="boolean") as table:
        assert table.sql("SELECT COUNT_IF(ok) AS n FROM v WHERE DAYNAME(day) <> 'x'", epsilon=5)["n"].value > 5
