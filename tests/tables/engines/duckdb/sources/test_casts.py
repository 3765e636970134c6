"""Casts are total: whatever a text or a typed value is, the view gives a value of its kind or null."""

from __future__ import annotations

import datetime
import itertools
import random

import duckdb
import pytest

from tacit.tables.engines.duckdb.text_casts import TYPES, can_cast, from_text, from_type
from tacit.tables.expressions.kinds import Kind

_ODD = [
    "", " ", "nan", "-nan", "inf", "-Infinity", "1e400", "-1e400", "1e-400",
    "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1" * 400,
    "0x1F", "1_000", "١٢", "+5", "5.", ".5", "1,5",
    "true", "T", "yes", "0", "1", "2",
    "infinity", "-infinity", "epoch", "today", "now", "0000-01-01", "0001-01-01", "9999-12-31", "10000-01-01",
    "2024-02-30", "2024-01-31 (BC)", "290000-12-31", "2024-01-31T24:00:00", "2024-01-31 23:59:60", "2024-01-31T10:00Z",
    "2024-01-31T10:00+02", "2024-01-31T10:00:00-99:99", "2024-01-31 10:00:00 Europe/Berlin",
    "2024-01-31 10:00:00 Mars/Phobos", "9999-12-31T23:59:59.999999-23:00", "0001-01-01T00:00:00+14:00", "a\0b",
    "😀" * 99,
]  # fmt: skip


@pytest.fixture
def connection() -> duckdb.DuckDBPyConnection:
    found = duckdb.connect()
    found.execute("SET TimeZone = 'UTC'")
    return found


def value(connection: duckdb.DuckDBPyConnection, text: str, kind: Kind) -> object:
    row = connection.execute(f"SELECT {from_text('x', kind)} FROM (SELECT $1::VARCHAR AS x)", [text]).fetchone()
    assert row is not None
    return row[0]


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.thorough
def test_no_text_raises(kind: Kind, connection: duckdb.DuckDBPyConnection) -> None:
    chance = random.Random(7)
    pieces = ["1", "9", "-", ":", "+", ".", "e", "T", "Z", " ", "2024", "01", "x", "\0", "é", "/", "nan", "inf"]
    texts = [*_ODD, *("".join(chance.choices(pieces, k=chance.randint(1, 30))) for _ in range(3000))]
    connection.execute("CREATE TABLE t (x VARCHAR)")
    connection.executemany("INSERT INTO t VALUES (?)", [[text] for text in texts])
    found = connection.execute(f"SELECT {from_text('x', kind)} AS y FROM t").fetchall()
    assert len(found) == len(texts)
    assert any(y is not None for (y,) in found)
    for (y,) in found:
        assert y is None or y == y, "NaN"
        if kind.is_time:
            assert y is None or isinstance(y, datetime.date), "beyond Python's calendar, DuckDB gives text"


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("1.5", Kind.INTEGER, 2),
        ("9223372036854775808", Kind.INTEGER, None),
        ("nan", Kind.REAL, None),
        ("1e400", Kind.REAL, float("inf")),
        ("Yes", Kind.BOOLEAN, True),
        (" f ", Kind.BOOLEAN, False),
        ("2", Kind.BOOLEAN, None),
        ("2024-01-31T23:59:59Z", Kind.DATE, datetime.date(2024, 1, 31)),
        ("infinity", Kind.DATE, None),
        ("10000-01-01", Kind.DATE, None),
        ("2024-01-31T10:00+02", Kind.TIMESTAMP, datetime.datetime(2024, 1, 31, 8)),
        ("2024-01-31T10:00:00+02:00", Kind.TIMESTAMP, datetime.datetime(2024, 1, 31, 8)),
        ("2024-07-31 10:00:00 Europe/Berlin", Kind.TIMESTAMP, datetime.datetime(2024, 7, 31, 8)),
        ("2024-01-31 10:00:00", Kind.TIMESTAMP, datetime.datetime(2024, 1, 31, 10)),
        ("2024-01-31", Kind.TIMESTAMP, datetime.datetime(2024, 1, 31)),
        ("0001-01-01T00:00:00+14:00", Kind.TIMESTAMP, None),
        ("", Kind.TEXT, ""),
    ],
)
def test_what_texts_mean(text: str, kind: Kind, expected: object, connection: duckdb.DuckDBPyConnection) -> None:
    assert value(connection, text, kind) == expected


_TYPED = {
    "TINYINT": ["-128", "127"],
    "UBIGINT": ["0", "18446744073709551615"],
    "HUGEINT": ["-170141183460469231731687303715884105728", "1"],
    "FLOAT": ["'nan'", "'inf'", "1e30", "0.5"],
    "DOUBLE": ["'nan'", "'-inf'", "1e300", "-0.0"],
    "DECIMAL(38,10)": ["1e27", "-0.5"],
    "BOOLEAN": ["true", "false"],
    "DATE": ["'infinity'", "'-infinity'", "'5877642-06-25 (BC)'", "'5881580-07-10'", "'2024-01-31'"],
    "TIMESTAMP": ["'infinity'", "'290309-12-22 (BC) 00:00:00'", "'294247-01-10 04:00:54'", "'2024-01-31 10:00'"],
    "TIMESTAMP_S": ["'2024-01-31 10:00'", "'infinity'"],
    "TIMESTAMP_NS": ["'2024-01-31 10:00:00.123456789'", "'infinity'"],
    "TIMESTAMP WITH TIME ZONE": ["'2024-01-31 10:00:00+02'", "'infinity'"],
    "VARCHAR": ["'x'", "''", "'1'"],
    "UUID": ["'00000000-0000-0000-0000-000000000000'"],
    "ENUM('a', '1')": ["'a'", "'1'"],
    "BLOB": ["'\\xFF\\x00'"],
    "TIME": ["'10:00'"],
    "INTERVAL": ["'1 day'"],
    "INTEGER[]": ["[1, 2]"],
    "STRUCT(a INTEGER)": ["{'a': 1}"],
}


@pytest.mark.parametrize(("type_name", "kind"), list(itertools.product(_TYPED, Kind)))
def test_no_typed_value_raises_where_the_schema_allows_the_cast(
    type_name: str, kind: Kind, connection: duckdb.DuckDBPyConnection
) -> None:
    if not can_cast(type_name, kind):
        assert kind is not Kind.TEXT, "anything is text"
        return
    connection.execute(f"CREATE TABLE t (x {type_name})")
    for one in [*_TYPED[type_name], "NULL"]:
        connection.execute(f"INSERT INTO t VALUES ({one})")
    found = connection.execute(
        f"SELECT y, typeof(y) FROM (SELECT {from_type('x', type_name, kind)} AS y FROM t)"
    ).fetchall()
    assert {one for _, one in found} == {TYPES[kind]}
    assert all(y is None or y == y for y, _ in found)
    if kind.is_time:
        assert all(y is None or isinstance(y, datetime.date) for y, _ in found)


def test_what_the_schema_does_not_allow() -> None:
    assert not can_cast("DATE", Kind.INTEGER)
    assert not can_cast("INTEGER[]", Kind.REAL)
    assert not can_cast("VARCHAR[]", Kind.REAL)
    assert not can_cast("TIME", Kind.TIMESTAMP)
    assert not can_cast("STRUCT(a INTEGER)", Kind.BOOLEAN)
    assert can_cast("DECIMAL(10,2)", Kind.REAL)
