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


TEXTS = [b"ok", b"\xff\xfe", b"\xc3\xa9", None, b"\xed\xa0\x80", b"caf\xe9", b"", b"2024-01-31"]
"""Of which three are no UTF-8."""


def parquet(target: Path, **arrays: object) -> Path:
    pa = pytest.importorskip("pyarrow")
    pa.parquet = pytest.importorskip("pyarrow.parquet")
    pa.parquet.write_table(pa.table(arrays), target, version="2.6", row_group_size=3)
    return target


def invalid(values: list[bytes | None]) -> object:
    """A column of texts, whatever the bytes."""
    pa = pytest.importorskip("pyarrow")
    raw = pa.array(values, type=pa.binary())
    return pa.Array.from_buffers(pa.string(), len(values), raw.buffers(), raw.null_count)


def text_or_none(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None


@pytest.mark.parametrize("clean", [False, True])
def test_bytes_that_are_no_text_are_null_in_their_row(tmp_path: Path, clean: bool) -> None:
    pa = pytest.importorskip("pyarrow")
    texts = [one if not clean or text_or_none(one) is not None else None for one in TEXTS]
    nested = pa.array([["é"], None, *[[]] * 6])
    zoned = pa.array(range(8), type=pa.timestamp("us", tz="UTC"))
    path = parquet(tmp_path / "t.parquet", s=invalid(texts), n=nested, i=pa.array(range(8)), z=zoned)
    found = rows(path, columns(s="text", n="text", i="integer", z="text"))
    assert [text for text, *_ in found] == [text_or_none(one) for one in TEXTS]
    assert [rest for _, *rest in found][:3] == [
        ["[é]", 0, "1970-01-01 00:00:00+00"],
        [None, 1, "1970-01-01 00:00:00.000001+00"],
        ["[]", 2, "1970-01-01 00:00:00.000002+00"],
    ]
    assert [day for (day,) in rows(path, columns(s="date"))] == [None] * 7 + [datetime.date(2024, 1, 31)]


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("kind", ["timestamp", "date", "text"])
def test_a_moment_beyond_the_calendar_changes_no_other(tmp_path: Path, zone: str | None, kind: str) -> None:
    pa = pytest.importorskip("pyarrow")
    moments = [0, 10**12, -62_135_596_800_000, 253_402_300_799_999]
    beyond = [2**62, -(2**62), 2**63 - 1, -(2**63), 253_402_300_800_000, None]

    def read(name: str, values: list[int | None]) -> list[object]:
        column = pa.array(values, type=pa.int64()).view(pa.timestamp("ms", tz=zone))
        return [value for (value,) in rows(parquet(tmp_path / name, at=column), columns(at=kind))]

    alone = read("alone.parquet", [*moments, None])
    assert None not in alone[:4]
    assert read("beyond.parquet", [*moments, *beyond]) == [*alone[:4], *[None] * 6]


def test_an_hour_that_no_day_has_is_null(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    hours = pa.array([2**62, -5, 0, 86_399_000_000], type=pa.int64()).view(pa.time64("us"))
    found = rows(parquet(tmp_path / "t.parquet", t=hours), columns(t="text"))
    assert found == [(None,), (None,), ("00:00:00",), ("23:59:59",)]


def test_the_copy_goes_with_the_source(tmp_path: Path) -> None:
    path = parquet(tmp_path / "t.parquet", s=invalid(TEXTS))
    source = open_source(path)
    with duckdb.connect() as connection:
        source.attach(connection, columns(s="text"))
        (copy,) = source.paths
        assert copy != str(path)
        assert Path(copy).exists()
        assert Path(copy).stat().st_mode & 0o077 == 0 or Path(copy).parent.stat().st_mode & 0o077 == 0
    source.close()
    assert not Path(copy).exists()
    assert source.paths == (str(path),)


def test_a_text_too_long_is_null(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    texts = ["x" * 4096, "x" * 4097, "é" * 2048, "é" * 2049, "y" * 10_000_000, "short"]
    found = rows(parquet(tmp_path / "t.parquet", s=pa.array(texts)), columns(s="text"))
    assert [value for (value,) in found] == [texts[0], None, texts[2], None, None, "short"]
