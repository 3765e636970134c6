"""Frames: no value decides a type, none raises."""

from __future__ import annotations

import datetime
import subprocess
import sys
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.errors import InvalidParameter, PolicyError, TacitError
from tacit.tables.engines.duckdb.sources import open_source
from tests.tables.small import columns, rows

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")


class _Broken:
    def __eq__(self, other: object) -> bool:
        raise RuntimeError("secret")

    def __ne__(self, other: object) -> bool:
        raise RuntimeError("secret")

    def __hash__(self) -> int:
        return 0

    def __str__(self) -> str:
        raise RuntimeError("secret")


class _Unusable:
    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        raise RuntimeError("secret")


MIXED = [
    1, "2", 3.5, None, float("nan"), True, Decimal("4.5"), b"5", [6], {"a": 7}, "x\ud800", datetime.date(2024, 1, 31),
    datetime.datetime(2024, 1, 31, 10, tzinfo=datetime.UTC), np.int64(8), np.float32(9.5), _Broken(), 2**100, (),
]  # fmt: skip


def test_a_pandas_column_of_anything() -> None:
    frame = pd.DataFrame({"x": pd.Series(MIXED, dtype=object)})
    numbers = [value for (value,) in rows(frame, columns(x="real"), name="t")]
    expected = [1, 2, 3.5, None, None, 1, 4.5, 5, None, None, None, None, None, 8, 9.5, None, 2.0**100, None]
    assert numbers == expected
    texts = [value for (value,) in rows(frame, columns(x="text"), name="t")]
    assert texts[:8] == ["1", "2", "3.5", None, None, "true", "4.5", "5"]
    moments = [value for (value,) in rows(frame, columns(x="timestamp"), name="t")]
    assert moments[11:13] == [datetime.datetime(2024, 1, 31), datetime.datetime(2024, 1, 31, 10)]


def test_pandas_types() -> None:
    frame = pd.DataFrame(
        {
            "i": pd.array([1, None, 3], dtype="Int64"),
            "r": pd.array([0.5, None, float("nan")], dtype="Float64"),
            "t": pd.array([True, None, False], dtype="boolean"),
            "s": pd.array(["a", None, ""], dtype="string"),
            "c": pd.Categorical(["x", None, "y"]),
            "z": pd.to_datetime(["2024-01-31 10:00", None, "2024-07-31 10:00"]).tz_localize("Europe/Berlin"),
            "u": np.array([1, 2, 2**64 - 1], dtype=np.uint64),
            "f": np.array([1.5, np.nan, np.inf], dtype=np.float32),
            "d": pd.array([Decimal("1.25"), None, Decimal(2)], dtype=object),
        }
    )
    kinds = {
        "i": "integer", "r": "real", "t": "boolean", "s": "text", "c": "text", "z": "timestamp", "u": "integer",
        "f": "real", "d": "real",
    }  # fmt: skip
    first, second, third = rows(frame, columns(**kinds), name="t")
    assert first == (1, 0.5, True, "a", "x", datetime.datetime(2024, 1, 31, 9), 1, 1.5, 1.25)
    assert second == (None, None, None, None, None, None, 2, None, None)
    assert third == (3, None, False, "", "y", datetime.datetime(2024, 7, 31, 8), None, float("inf"), 2.0)


def test_polars_and_arrow() -> None:
    frame = pl.DataFrame(
        {
            "i": [1, None],
            "s": pl.Series(["a", None], dtype=pl.Categorical),
            "z": pl.Series([datetime.datetime(2024, 1, 31, 10), None]).dt.replace_time_zone("Europe/Berlin"),
            "d": pl.Series([Decimal("1.25"), None], dtype=pl.Decimal(10, 2)),
            "r": [float("nan"), 0.5],
            "parts": [[1], None],
        }
    )
    declared = columns(i="integer", s="text", z="timestamp", d="real", r="real", parts="text")
    expected = [(1, "a", datetime.datetime(2024, 1, 31, 9), 1.25, None, "[1]"), (None, None, None, None, 0.5, None)]
    assert rows(frame, declared, name="t") == expected
    assert rows(frame.to_arrow(), declared, name="t") == expected
    assert rows(pa.table({"i": pa.chunked_array([[1], [None]])}), columns(i="integer"), name="t") == [(1,), (None,)]


def test_polars_needs_no_pyarrow() -> None:
    code = """
import importlib.util, sys
sys.modules["pyarrow"] = None
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name.startswith("pyarrow") else find(name, package)
import polars
from tests.tables.small import columns, rows
frame = polars.DataFrame({"i": [1, None], "s": ["x", "y"]})
assert rows(frame, columns(i="integer", s="text"), name="t") == [(1, "x"), (None, "y")]
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_frame_needs_a_name_and_must_be_one() -> None:
    with pytest.raises(InvalidParameter, match="name"):
        open_source(pl.DataFrame({"a": [1]}))
    with pytest.raises(InvalidParameter, match="a frame of pandas, Polars or Arrow"):
        open_source([1, 2], name="t")
    assert open_source(pl.DataFrame({"a": [1]}), name="people").identity == "frame:people"


def test_a_missing_column_and_a_type_that_does_not_fit() -> None:
    with pytest.raises(PolicyError, match="'b'"):
        rows(pl.DataFrame({"a": [1]}), columns(b="integer"), name="t")
    with pytest.raises(PolicyError, match="'a' is date"):
        rows(pl.DataFrame({"a": [1]}), columns(a="date"), name="t")


def test_an_empty_frame() -> None:
    assert rows(pd.DataFrame({"a": pd.Series([], dtype=object)}), columns(a="integer"), name="t") == []
    assert rows(pl.DataFrame({"a": []}), columns(a="integer"), name="t") == []


def test_whether_values_are_missing_does_not_show_in_the_schema() -> None:
    for values in ([1, 2], [1, None]):
        frame = pd.DataFrame({"a": pd.array(values, dtype="Int64")})
        assert rows(frame, columns(a="integer"), name="t") == [(value,) for value in values]
        assert rows(frame, columns(a="date"), name="t") == [(None,), (None,)]


def test_a_polars_column_of_anything() -> None:
    frame = pl.DataFrame({"x": pl.Series(MIXED, dtype=pl.Object)})
    numbers = [value for (value,) in rows(frame, columns(x="real"), name="t")]
    assert numbers[:8] == [1, 2, 3.5, None, None, 1, 4.5, 5]


def test_columns_that_no_engine_takes() -> None:
    with pytest.raises(InvalidParameter, match="columns of numbers"):
        rows(_Unusable(), columns(a="text"), name="t")
    assert rows(pd.DataFrame({"a": np.array([1.5], dtype=np.float16)}), columns(a="real"), name="t") == [(1.5,)]


VALUES: list[list[Any]] = [
    [22001, 5, -1, 0, 10**15],
    [22001.0, 2.5, -2.5, -0.0, 1e17, 0.1],
    [True, False, True],
    [datetime.datetime(2024, 1, 31), datetime.datetime(2024, 1, 31, 10, 30, 15, 500000)],
    [pd.Timestamp("2024-01-31 10:00", tz="Europe/Berlin"), pd.Timestamp("2024-07-31 10:00", tz="Europe/Berlin")],
    ["22001", "a", "é", "2024-01-31"],
]
OTHERS: list[Any] = [
    None, float("nan"), pd.NA, pd.NaT, 0.5, 7, 2**70, "odd", True, Decimal("1.5"), [1], b"\xff", float("inf"),
    datetime.datetime(3000, 1, 1), datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC), datetime.date(1, 1, 1),
]  # fmt: skip


KINDS = ["integer", "real", "text", "boolean", "date", "timestamp"]


def read_as_every_kind(column: Any) -> list[tuple[Any, ...]]:
    """The rows of a frame that has the same column six times, declared as each kind in turn."""
    return rows(pd.DataFrame(dict.fromkeys(KINDS, column)), columns(**dict(zip(KINDS, KINDS, strict=True))), name="t")


@pytest.mark.thorough
def test_nobodys_value_changes_how_another_is_read() -> None:
    """pandas finds a dtype for whatever is together in a column: with each odd row, another one."""
    dtypes = set()
    for values in VALUES:
        alone = read_as_every_kind(values)
        for other in OTHERS:
            column = pd.Series([*values, other])
            dtypes.add(str(column.dtype))
            assert read_as_every_kind(column)[:-1] == alone, (values, other, column.dtype)
        for dtype in ("category", object):
            made = pd.Series([*values, None], dtype=dtype)
            assert read_as_every_kind(made)[:-1] == alone, (values, dtype)
    assert {"float64", "object", "datetime64[us]"} <= dtypes or {"float64", "object"} <= dtypes


def test_a_whole_number_with_an_unknown_one_beside_it_keeps_its_text() -> None:
    frame = pd.DataFrame({"postcode": [22001, 22002, None]})
    assert rows(frame, columns(postcode="text"), name="t") == [("22001",), ("22002",), (None,)]


@pytest.mark.parametrize(
    "name", [".", "..", " ", "", "a/b", "a\\b", "a:b", "a\0b", "a\nb", "x" * 10_000, "é" * 150, "\ud800"]
)
def test_a_name_that_no_ledger_can_have_is_refused(name: str) -> None:
    with pytest.raises(InvalidParameter, match=r"NAME\.ledger"):
        open_source(pd.DataFrame({"a": [1]}), name=name)


def test_a_column_of_objects_is_asked_about_by_its_type() -> None:
    """One text in a column of reals makes objects of all: without a policy, what to write is said before payment."""
    frame = pd.DataFrame({"who": range(50), "x": pd.Series([*range(49), "oops"], dtype=object)})

    def opened(**more: object) -> tacit.Table:
        return tacit.open(frame, name="t", unit="who", budget=tacit.PureDP(100), ledger=tacit.InMemory(), **more)

    with opened() as table:
        with pytest.raises(TacitError, match=r"CAST\(x AS DOUBLE\) reads a text as a number") as refused:
            table.sql("SELECT COUNT(*) AS n FROM t WHERE x > 9", epsilon=50)
        assert "types=" in str(refused.value)
        assert table.remaining == tacit.ApproxDP(100, 0)
        assert table.sql("SELECT COUNT(*) AS n FROM t WHERE CAST(x AS DOUBLE) > 9", epsilon=50)["n"].value == 39
    with opened(types={"x": "real"}) as table:
        assert table.sql("SELECT COUNT(*) AS n FROM t WHERE x > 9", epsilon=50)["n"].value == 39
    with opened(bounds={"x": (0, 100)}) as table:
        assert abs(table.sql("SELECT AVG(x) AS m FROM t", epsilon=50)["m"].value - 24) < 3
