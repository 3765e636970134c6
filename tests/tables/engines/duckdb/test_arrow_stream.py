"""Integers from a stream of DuckDB's: all of them, of the stated types; what is something else is refused."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest

from tacit.errors import TacitError
from tacit.tables.engines.duckdb.arrow_stream import batches

INT8, INT64 = np.dtype(np.int8), np.dtype(np.int64)


def test_every_row_comes_once_whatever_the_size() -> None:
    with duckdb.connect() as connection:
        for size in (0, 1, 2047, 2048, 300_001):
            sql = f"SELECT CAST(range % 100 AS TINYINT) AS a, range AS b FROM range({size}) ORDER BY b"
            found = list(batches(connection, sql, [INT8, INT64]))
            values = np.concatenate([np.zeros(0, np.int64), *(columns[1] for columns in found)])
            assert np.array_equal(values, np.arange(size))
            small = np.concatenate([np.zeros(0, np.int8), *(columns[0] for columns in found)])
            assert np.array_equal(small, np.arange(size) % 100)


def test_batches_are_copies_that_outlive_the_stream() -> None:
    with duckdb.connect() as connection:
        ((column,),) = list(batches(connection, "SELECT CAST(7 AS TINYINT) AS a FROM range(10)", [INT8]))
    assert column.tolist() == [7] * 10
    assert column.flags.owndata


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1.5 AS a",
        "SELECT CAST(1 AS UTINYINT) AS a",
        "SELECT CAST(NULL AS TINYINT) AS a",
        "SELECT CAST(if(range = 5000, NULL, 1) AS TINYINT) AS a FROM range(9000)",
    ],
)
def test_what_is_no_integer_of_the_type_is_refused(sql: str) -> None:
    with duckdb.connect() as connection, pytest.raises(TacitError, match="engine"):
        list(batches(connection, sql, [INT8]))


def test_what_the_engine_says_is_left_to_the_caller() -> None:
    """`LockedDuckDB` turns it into its one text."""
    sql = "SELECT CAST(range AS TINYINT) AS a FROM range(3000)"
    with duckdb.connect() as connection, pytest.raises((TacitError, duckdb.Error)):
        list(batches(connection, sql, [INT8]))
