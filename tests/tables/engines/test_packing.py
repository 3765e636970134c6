"""A row's integers in few numbers: read again as they were, equal for equal rows alone, in the order of the rows."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import duckdb
import pytest

from tacit.tables.engines.chain.packing import packed
from tacit.tables.engines.contract import Category, Present, Quantised
from tacit.tables.engines.duckdb.dialect import DIALECT
from tacit.tables.engines.rows import ends
from tacit.tables.expressions.tree import Column

X = Column("x")
WIDE = 2**61


def quantised(low: int, high: int) -> Quantised:
    return Quantised(X, Fraction(low), Fraction(high), Fraction(0), Fraction(1))


@pytest.mark.parametrize(
    "columns",
    [
        [Category(X, ("a", "b")), Present(X), quantised(-3, 2)],
        [quantised(-WIDE, WIDE), Present(X), quantised(-2, 5)],
        [quantised(-WIDE, WIDE - 1), quantised(-WIDE, WIDE), Category(X, ("a",))],
        [quantised(0, 2**31), quantised(0, 2**31 - 1), quantised(-1, 1)],
        [Present(X)] * 70,
    ],
)
def test_rows_come_back_and_keep_their_order(columns: list[Any]) -> None:
    names = [f"v{at}" for at in range(len(columns))]
    together = packed(columns, names, DIALECT)
    some = [sorted({low, high, min(max(0, low), high), low + 1}) for low, high in map(ends, columns)]
    rows = (
        list(product(*some))[:: max(1, 4 ** max(0, len(columns) - 5))][:300]
        if len(columns) < 9
        else [tuple((row * 7 + at * 3) % 2 for at in range(len(columns))) for row in range(50)]
    )
    values = ", ".join(f"({', '.join(map(str, row))})" for row in rows)
    types = [DIALECT.narrow[f"int{8 * size}"] for size in (8,) * len(columns)]
    cast = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in zip(names, types, strict=True))
    given = f"SELECT {cast} FROM (VALUES {values}) AS t({', '.join(names)})"
    made = f"SELECT {', '.join(together.made(DIALECT))} FROM ({given})"
    with duckdb.connect() as connection:
        numbers = connection.execute(made).fetchall()
        again = connection.execute(f"SELECT {', '.join(together.read(DIALECT))} FROM ({made})").fetchall()
    assert again == rows
    assert [row for _, row in sorted(zip(numbers, rows, strict=True))] == sorted(rows)
    assert len(set(numbers)) == len(set(rows))
