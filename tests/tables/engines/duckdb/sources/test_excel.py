"""Workbooks: a sheet by its name, a header after titles, cells of any type."""

from __future__ import annotations

import datetime
import re
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


def test_an_error_that_the_library_does_not_know_is_null_in_its_cell(tmp_path: Path) -> None:
    path = write_workbook(tmp_path / "e.xlsx", {"S": [["id", "n"], ["PLACE", 1], [2, 3]]})
    for error in (b't="e"><v>#SPILL!</v></c>', b"cm='1' t='e'><v>#CALC!</v></c>", b't="e"/>'):
        _with_error(path, error)
        assert rows(path, columns(id="integer", n="integer")) == [(None, 1), (2, 3)]


def test_a_sheet_that_the_library_cannot_read_is_refused_without_its_words(tmp_path: Path) -> None:
    path = write_workbook(tmp_path / "e.xlsx", {"S": [["id"], ["PLACE"], [2]]})
    _with_error(path, b't="secret"><v>1</v></c>')
    with pytest.raises(InvalidParameter, match="has one that cannot") as refused:
        open_source(path).column_names()
    assert "secret" not in str(refused.value)
    assert refused.value.__context__ is None


def test_without_names_no_row_says_how_many_columns_there_are(tmp_path: Path) -> None:
    path = write_workbook(tmp_path / "p.xlsx", {"S": [[1], [2, "y"]]})
    assert rows(path, columns(column2="text", column9="text"), {"header": "false"}) == [(None, None), ("y", None)]


def _with_error(path: Path, cell: bytes) -> None:
    """With another cell in its place, which ``cell`` says after its name."""
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    text = re.compile(rb'<c r="A2" (t="inlineStr">.*?</c>|cm=.*?</c>|t="e">.*?</c>|t="e"/>)')
    with zipfile.ZipFile(path, "w") as file:
        for name, body in parts.items():
            file.writestr(name, text.sub(b'<c r="A2" ' + cell, body))
