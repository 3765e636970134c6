"""The connection is locked; sources that cannot be read say why; an open table can be used again."""

from __future__ import annotations

import gc
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tacit.anonymity import FullDomain, Hierarchy, Limits, Unknown, check, enforce, read
from tacit.errors import TacitError

TABLE = {"a": [1, 1, 2, 2], "b": ["x", "y", "x", None]}


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_csv('{other}')",
        "SELECT * FROM read_text('/etc/hostname')",
        "COPY (SELECT 1) TO '{other}.out'",
        "ATTACH '{other}.duckdb'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET memory_limit = '9GB'",
    ],
)
def test_the_connection_reads_its_source_and_nothing_else(tmp_path: Path, statement: str) -> None:
    other, mine = tmp_path / "other.csv", tmp_path / "mine.csv"
    other.write_text("secret\n1\n", encoding="utf-8")
    mine.write_text("a\n1\n", encoding="utf-8")
    with read(mine) as rows:
        assert rows.run("SELECT a FROM rows").fetchall() == [("1",)]
        with pytest.raises(TacitError) as caught:
            rows.run(statement.format(other=other))
        assert "secret" not in str(caught.value)
        assert caught.value.__cause__ is None
    assert not Path(f"{other}.out").exists()


def test_what_it_may_spill_to_goes_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    rows = read(TABLE)
    (made,) = tmp_path.iterdir()
    assert made.stat().st_mode & 0o077 == 0
    rows.close()
    assert not made.exists()
    with pytest.raises(ValueError, match="a closed table"):
        check(rows, quasi=["a"])
    left = read(TABLE)
    del left
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_an_open_table_can_be_used_again_also_after_an_error() -> None:
    tree = Hierarchy.of("b", [["x", "*"], ["y", "*"]])
    with read(TABLE) as rows:
        first = enforce(rows, quasi=["a"], sensitive=["b"], limits=Limits(k=2))
        with pytest.raises(ValueError, match="an unknown value on row 4"):
            enforce(rows, quasi=["b"], limits=Limits(k=2), method=FullDomain({"b": tree}))
        assert enforce(rows, quasi=["a"], sensitive=["b"], limits=Limits(k=2)) == first
        assert check(rows, quasi=["a", "b"], unknown=Unknown.WILDCARD).k == 1
        assert rows.run("SELECT count(*) FROM duckdb_tables()").fetchall() == [(0,)]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (7, "source: given 'int'"),
        ({}, "no column"),
        ({"a": [1], "b": [1, 2]}, "columns of"),
        ("nowhere.csv", "a file that exists"),
        ({"a": [1], "A": [1]}, "two columns named 'A', but for capitals"),
        ({"": [1]}, "a column without a name"),
    ],
)
def test_what_is_no_table_is_refused(source: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(source)


@pytest.mark.parametrize("limits", [None, 5])
def test_limits_and_methods_of_another_kind_are_refused(limits: Any) -> None:
    for one in (check, enforce):
        with pytest.raises(ValueError, match="limits: given"):
            one(TABLE, quasi=["a"], limits=limits)
    wrong: Any = "mondrian"
    with pytest.raises(ValueError, match="method: given"):
        enforce(TABLE, quasi=["a"], limits=Limits(k=1), method=wrong)
    nothing: Any = None
    with pytest.raises(ValueError, match="quasi: given None"):
        check(TABLE, quasi=nothing)


def test_lines_are_counted_where_blank_lines_are_rows_and_where_not(tmp_path: Path) -> None:
    tree = FullDomain({"a": Hierarchy.of("a", [["1", "*"], ["", "*"]])})
    for text, line in (("a\n1\n\n2\n", 4), ("\na\n\n1\n2\n", 5), ("a,b\n1,1\n\n2,1\n", 4)):
        path = tmp_path / "t.csv"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=f"a value on line {line} of"):
            enforce(path, quasi=["a"], limits=Limits(k=1), method=tree)


def test_a_release_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    made = replace(enforce(TABLE, quasi=["a"], limits=Limits(k=2)), columns={"a": ["x", "\ud800"]})
    with pytest.raises(UnicodeEncodeError):
        made.write(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_file_is_refused_without_the_engines_words(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(b"PAR1 not really PAR1")
    with pytest.raises(ValueError, match="source: given") as caught:
        read(path)
    assert caught.value.__context__ is None


def test_texts_that_stand_for_unknown_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a;b\n?;1\nn/a;2\n;3\n", encoding="utf-8")
    with read(path, null=["?", "n/a"]) as rows:
        assert check(rows, quasi=["a"]).k == 3
    with pytest.raises(ValueError, match="one ASCII character"):
        read(path, delimiter=";;")


def test_postal_codes_are_no_numbers(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("zip,age\n01234,5\n99999,07\n1,-3.5e2\n", encoding="utf-8")
    with read(path) as rows:
        assert not rows.is_number("zip")
        assert not rows.is_number("age")
    path.write_text("zip,age\n1234,5\n99999,.7\n1,-3.5e2\n", encoding="utf-8")
    with read(path) as rows:
        assert rows.is_number("age")


@pytest.mark.slow
@pytest.mark.parametrize("quasi", [["number"], ["text"], ["number", "text"]], ids="+".join)
def test_a_million_distinct_values(quasi: list[str]) -> None:
    rows = 10**6
    table = {"number": [3 * i % 1_000_003 for i in range(rows)], "text": [f"v{7 * i % 1_000_003}" for i in range(rows)]}
    assert check(table, quasi=quasi).unique_rows == rows
    made = enforce(table, quasi=quasi, limits=Limits(k=5))
    assert check(made.columns, quasi=quasi, limits=Limits(k=5)).passes
