"""Workbooks: a sheet by its name, a header after titles, cells of any type."""

from __future__ import annotations

import datetime
import zipfile
from pathlib import Path

import pytest

from tacit.errors import InvalidParameter, PolicyError
from tacit.tables.engines.duckdb.sources import open_source
from tests.tables.engines.duckdb.sources.workbook import write_workbook
from tests.tables.small import columns, rows

pytest.importorskip("python_calamine")


@pytest.fixture
def book(tmp_path: Path) -> Path:
    day = datetime.date(2024, 12, 31)
    visits = [
        ["Visits of 2024"],
        [],
        ["id", "Day", "ok", "Pay", "pay", None],
        [1, day, True, 2.5, "3,5"],
        [],
        ["z", "x"],
    ]
    return write_workbook(tmp_path / "b.xlsx", {"Visits": visits, "Other": [["a"], [7]]})


def test_cells_are_read_by_themselves(book: Path) -> None:
    options = {"table": "visits", "skip": "1", "decimal": ","}
    assert open_source(book, options).column_names() == ("id", "Day", "ok", "Pay", "pay_2")
    kinds = columns(id="integer", Day="date", ok="boolean", Pay="real", pay_2="real")
    assert rows(book, kinds, options) == [
        (1, datetime.date(2024, 12, 31), True, 2.5, 3.5),
        (None, None, None, None, None),
    ]
    assert rows(book, columns(id="text"), {"table": "Visits", "skip": "1"}) == [("1",), ("z",)]


def test_a_sheet_must_be_chosen(book: Path) -> None:
    with pytest.raises(InvalidParameter, match="Visits, Other"):
        open_source(book).column_names()
    assert rows(book, columns(a="integer"), name="other") == [(7,)]
    with pytest.raises(PolicyError, match="declares a column 'b'"):
        rows(book, columns(b="integer"), {"table": "Other"})


def test_without_a_header(tmp_path: Path) -> None:
    path = write_workbook(tmp_path / "n.xlsx", {"S": [[1, "x"], [2, "y"]]})
    assert rows(path, columns(b="text"), {"header": "false", "names": "a\nb"}) == [("x",), ("y",)]


def test_what_is_no_workbook_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.xlsx").write_bytes(b"PK\x03\x04nothing")
    with pytest.raises(InvalidParameter, match="This is none"):
        open_source(tmp_path / "t.xlsx").column_names()


def test_a_cell_far_to_the_right_makes_no_column(tmp_path: Path) -> None:
    """How many columns there are is the header's to say: one row must not add one, nor refuse names."""
    path = write_workbook(tmp_path / "w.xlsx", {"S": [["id", "n"], [1, 2], [2, 3, None, "far"]]})
    assert open_source(path).column_names() == ("id", "n")
    assert rows(path, columns(b="integer"), {"names": "a\nb"}) == [(2,), (3,)]
    bare = write_workbook(tmp_path / "v.xlsx", {"S": [[1, 2], [2, 3, None, "far"]]})
    assert open_source(bare, {"header": "false"}).column_names() == ("column1", "column2")


def test_a_sheet_that_the_library_cannot_read_is_refused_without_its_words(tmp_path: Path) -> None:
    path = write_workbook(tmp_path / "e.xlsx", {"S": [["id"], ["PLACE"], [2]]})
    _with_error(path, b"#SPILL!")
    with pytest.raises(InvalidParameter, match="has one that cannot") as refused:
        open_source(path).column_names()
    assert "SPILL" not in str(refused.value)
    assert refused.value.__context__ is None


def _with_error(path: Path, error: bytes) -> None:
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    text = b'<c r="A2" t="inlineStr"><is><t xml:space="preserve">PLACE</t></is></c>'
    with zipfile.ZipFile(path, "w") as file:
        for name, body in parts.items():
            file.writestr(name, body.replace(text, b'<c r="A2" t="e"><v>' + error + b"</v></c>"))
