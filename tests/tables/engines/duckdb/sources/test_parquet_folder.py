"""Folders, patterns and keys in names of folders; one budget for one folder."""

from __future__ import annotations

from pathlib import Path

import pytest

import tacit
from tacit.errors import InvalidParameter, LedgerError, PolicyError
from tacit.tables.engines.duckdb.sources import open_source
from tests.tables.small import columns, rows

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
COUNT = "SELECT COUNT(*) AS n FROM events"


def write(path: Path, **lists: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(arrow.table(lists), path)


@pytest.fixture
def events(tmp_path: Path) -> Path:
    folder = tmp_path / "events"
    write(folder / "year=2024" / "city=Lund%20C" / "a.parquet", who=["u1", "u2"], n=[1, 2**53 + 1])
    write(folder / "year=2024" / "city=%FF" / "b.parquet", who=["u3"], n=[2.5])
    write(folder / "year=__HIVE_DEFAULT_PARTITION__" / "c.parquet", who=["u4"], more=["x"])
    write(folder / "_tmp" / "d.parquet", who=["nobody"])
    return folder


def test_each_file_is_read_by_its_own_schema_and_folders_have_keys(events: Path) -> None:
    kinds = columns(who="text", n="integer", year="integer", city="text", more="text")
    assert sorted(rows(events, kinds)) == [
        ("u1", 1, 2024, "Lund C", None),
        ("u2", 2**53 + 1, 2024, "Lund C", None),
        ("u3", 3, 2024, None, None),
        ("u4", None, None, None, "x"),
    ]
    assert len(rows(str(events / "year=2024/*/*.parquet"), columns(who="text"))) == 3
    assert rows(str(events / "*/c.parquet"), columns(who="text")) == [("u4",)]


def test_a_text_that_cannot_be_decoded_is_null_in_its_row(events: Path) -> None:
    offsets, data = arrow.py_buffer(b"\0\0\0\0\1\0\0\0\3\0\0\0"), arrow.py_buffer(b"\xffok")
    write(events / "e.parquet", who=arrow.Array.from_buffers(arrow.string(), 2, [None, offsets, data]))
    assert sorted(rows(events, columns(who="text")), key=repr) == [("ok",), ("u1",), ("u2",), ("u3",), ("u4",), (None,)]


def test_names_are_checked_and_types_are_not(events: Path) -> None:
    with pytest.raises(PolicyError, match="declares a column 'whom'"):
        rows(events, columns(whom="text"))
    assert {row[0] for row in rows(events, columns(n="date"))} == {None}
    with pytest.raises(InvalidParameter, match="a folder with"):
        open_source(str(events / "*.nothing"))


def opened(where: object) -> tacit.Table:
    return tacit.open(where, name="events", unit="who", budget=tacit.PureDP(1), analyst="ada")


def test_one_folder_has_one_budget_by_whatever_name(events: Path) -> None:
    with opened(events) as table:
        table.sql(COUNT, epsilon=0.5)
    for where in (events / "**" / "*.parquet", events / "year=2024", events / "year=2024" / "*" / "*.parquet"):
        with opened(str(where)) as table:
            assert table.remaining == tacit.ApproxDP(0.5, 0)
    with pytest.raises(LedgerError, match="which is one table with a ledger"):
        opened(events / "year=2024" / "city=%FF" / "b.parquet")
    with pytest.raises(LedgerError, match="a ledger knows already"):
        opened(events.rename(events.with_name("moved")))


def test_other_files_of_the_folder_are_another_question(events: Path) -> None:
    with opened(events) as table:
        table.sql(COUNT, epsilon="0.01")
    with opened(str(events / "year=2024" / "*" / "*.parquet")) as table:
        table.sql(COUNT, epsilon="0.01")
        assert table.remaining == tacit.ApproxDP("0.98", 0)


def test_a_part_that_has_a_budget_is_not_asked_about_as_a_whole(events: Path) -> None:
    with opened(events / "year=2024" / "city=%FF" / "b.parquet") as table:
        table.sql(COUNT, epsilon=0.5)
    with pytest.raises(LedgerError, match="A part of events has a ledger of its own"):
        opened(events)


def test_a_link_to_elsewhere_begins_no_budget_here(events: Path) -> None:
    with opened(events) as table:
        table.sql(COUNT, epsilon=0.5)
    other = events.parent / "deeper" / "mine"
    other.mkdir(parents=True)
    (other / "a.parquet").symlink_to(events / "year=2024" / "city=%FF" / "b.parquet")
    with pytest.raises(InvalidParameter, match=r"a\.parquet is a link to elsewhere"):
        opened(other)


def test_a_file_is_read_once_by_whatever_names(events: Path) -> None:
    (events / "again.parquet").symlink_to(events / "year=2024" / "city=%FF" / "b.parquet")
    (events / "others").symlink_to(events / "year=2024")
    assert len(rows(events, columns(who="text"))) == 4
    assert len(rows(str(events / "*" / "*" / "*.parquet"), columns(who="text"))) == 3


def test_a_folder_that_was_written_anew_still_has_its_budget(events: Path) -> None:
    with opened(events) as table:
        table.sql(COUNT, epsilon=0.5)
    events.rename(events.with_name("old"))
    write(events / "new.parquet", who=["u7"])
    with pytest.raises(LedgerError, match="which is one table with a ledger"):
        opened(events / "new.parquet")


def test_a_file_of_a_private_folder_is_not_public(events: Path) -> None:
    inside = events / "year=2024" / "city=%FF" / "b.parquet"
    with pytest.raises(PolicyError, match="regions is declared public, and its source is that of a private table"):
        tacit.open(events, name="events", unit="who", budget=tacit.PureDP(1), public={"regions": inside})
    with pytest.raises(PolicyError, match="regions is declared public, and its source is that of a private table"):
        tacit.open(inside, name="b", unit="who", budget=tacit.PureDP(1), public={"regions": events})
