"""Parquet: typed already, scanned where it is."""

from __future__ import annotations

import datetime
from pathlib import Path

import duckdb
import pytest

from tacit.errors import InvalidParameter, PolicyError
from tacit.tables.engines.duckdb.sources import open_source
from tests.tables.small import columns, rows, written


@pytest.fixture
def path(tmp_path: Path) -> Path:
    target = tmp_path / "t.parquet"
    duckdb.sql(
        "SELECT * FROM (VALUES (1, 'nan'::DOUBLE, 'x', TIMESTAMPTZ '2024-01-31 10:00:00+02', DATE '2024-01-31', [1]), "
        "(NULL, 2.5, '', NULL, 'infinity', NULL)) AS t(i, r, s, \"at\", day, parts)"
    ).write_parquet(str(target))
    return target


def test_values_are_cast_to_their_kinds(path: Path) -> None:
    found = rows(path, columns(i="integer", r="real", s="text", at="timestamp", day="date", parts="text"))
    assert found == [
        (1, None, "x", datetime.datetime(2024, 1, 31, 8), datetime.date(2024, 1, 31), "[1]"),
        (None, 2.5, "", None, None, None),
    ]


def test_a_type_that_cannot_be_read_as_its_kind_is_said_from_the_schema(path: Path) -> None:
    with pytest.raises(PolicyError, match=r"'parts' is real.*INTEGER\[\].*Nothing was spent"):
        rows(path, columns(parts="real"))
    with pytest.raises(PolicyError, match="'nothing'"):
        rows(path, columns(nothing="real"))


def test_names_and_a_file_that_is_none(path: Path, tmp_path: Path) -> None:
    assert open_source(path).column_names() == ("i", "r", "s", "at", "day", "parts")
    with pytest.raises(InvalidParameter, match="a Parquet file"):
        open_source(written(tmp_path, b"a,b\n1,2\n", "u.parquet")).column_names()
