"""Frames and files carry n, n_low and n_high, and unknown values as each format has them."""

from __future__ import annotations

import csv
import datetime
import sys
from pathlib import Path

import pyarrow.parquet
import pytest

from tacit.errors import InvalidParameter, MissingPackage
from tacit.report import exports
from tacit.report.columns import Column

COLUMNS = [
    Column.of("city", ["Łódź", 'a "quoted", one', None]),
    Column.of("n", [7.0, 1003.0, -2.0], [3.0, 962.0, -6.0], [11.0, 1044.0, 2.0], whole=True),
    Column.of("mean", [1.5, float("nan"), 2], [1.0, 0.0, float("-inf")], [2.0, 9.0, 3.0]),
    Column.of("day", [datetime.date(2026, 1, 31), None, None]),
]
NAMES = ["city", "n", "n_low", "n_high", "mean", "mean_low", "mean_high", "day"]


def test_lists() -> None:
    made = exports.to_dict(COLUMNS)
    assert list(made) == NAMES
    assert made["n_low"] == [3, 962, -6]
    assert all(isinstance(value, int) for value in made["n"] + made["n_low"])
    assert made["mean"] == [1.5, None, 2]
    assert made["mean_low"] == [1.0, 0.0, None]


def test_pandas_and_polars() -> None:
    frame = exports.to_pandas(COLUMNS)
    assert list(frame.columns) == NAMES
    assert frame["n"].tolist() == [7, 1003, -2]
    assert frame["mean"].isna().tolist() == [False, True, False]
    other = exports.to_polars(COLUMNS)
    assert other.columns == NAMES
    assert other["mean"].to_list() == [1.5, None, 2.0]
    assert other["city"].to_list() == ["Łódź", 'a "quoted", one', None]


def test_arrow_and_parquet(tmp_path: Path) -> None:
    table = exports.to_arrow(COLUMNS)
    assert table.schema.names == NAMES
    assert str(table.schema.field("n").type) == "int64"
    assert str(table.schema.field("mean").type) == "double"
    exports.write_parquet(COLUMNS, tmp_path / "a.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "a.parquet").equals(table)


def test_csv_reads_back(tmp_path: Path) -> None:
    exports.write_csv(COLUMNS, tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == NAMES
    assert rows[1][:4] == ["Łódź", "7", "3", "11"]
    assert rows[2][0] == 'a "quoted", one'
    assert rows[3][0] == ""


def test_a_name_that_is_taken_gets_an_underscore() -> None:
    columns = [Column.of("n_low", ["x"]), Column.of("n", [1], [0], [2], whole=True)]
    assert list(exports.to_dict(columns)) == ["n_low", "n", "n_low_", "n_high"]


def test_an_answer_without_rows() -> None:
    empty = [Column.of("city", []), Column.of("n", [], [], [], whole=True)]
    assert exports.to_pandas(empty).shape == (0, 4)
    assert exports.to_polars(empty).shape == (0, 4)
    assert exports.to_arrow(empty).num_rows == 0
    assert exports.to_csv(empty) == "city,n,n_low,n_high\n"


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_a_missing_package_says_how_to_get_it(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    make = {"pandas": exports.to_pandas, "polars": exports.to_polars, "pyarrow": exports.to_arrow}[package]
    with pytest.raises(
        MissingPackage, match=rf'{package} is not installed. Add it with  pip install "tacit-dp\[frames\]"'
    ):
        make(COLUMNS)


def test_ends_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="interval of n"):
        Column.of("n", [1, 2], [0], [3])
    with pytest.raises(InvalidParameter, match="one length"):
        exports.to_dict([Column.of("a", [1]), Column.of("b", [])])
