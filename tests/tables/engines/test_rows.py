"""The chosen rows are the oracle's, no unit changes another's, and the faults that would let it are noticed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from tacit.errors import InvalidParameter
from tacit.tables.engines.contract import Category, Engine, Quantised
from tacit.tables.engines.duckdb.engine import DuckDBEngine
from tacit.tables.engines.rows import BoundedRows, ends, narrowest
from tacit.tables.engines.spool import ChosenRows
from tacit.tables.expressions.tree import Column
from tests.tables.engines.chosen_rows import examine_rows
from tests.tables.engines.random_rows import Rows
from tests.tables.engines.sensitivity import SECRET, Moved


def sound(rows: Rows) -> Engine:
    return DuckDBEngine(rows, SECRET)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.thorough
def test_the_chosen_rows_are_the_oracles_and_one_unit_changes_no_other(seed: int) -> None:
    tally = examine_rows(sound, seed, 30, Rows)
    print(f"seed {seed}: {tally}")
    assert tally.queries == 30
    assert tally.moved > 25


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 120))
def test_the_chosen_rows_are_the_oracles_in_thousands_of_reads(seed: int) -> None:
    assert examine_rows(sound, seed, 150, Rows).queries == 150


class Faulty:
    """The engine with a fault in what it is asked or what it runs; the spool takes whatever comes."""

    def __init__(
        self,
        rows: Rows,
        ask: Callable[[BoundedRows], BoundedRows] = lambda asked: asked,
        run: Callable[[str], str] = lambda sql: sql,
    ) -> None:
        self.rows, self.ask, self.run_ = rows, ask, run
        self.engine = DuckDBEngine(self, SECRET)  # type: ignore[arg-type]

    def columns(self, sql: str) -> dict[str, Any]:
        return self.rows.columns(sql)

    def batches(self, sql: str, kinds: Any) -> Any:
        return self.rows.batches(self.run_(sql), kinds)

    def read(self, asked: BoundedRows) -> ChosenRows:
        return self.engine.read(self.ask(asked))

    def close(self) -> None:
        self.rows.close()


def one_more(asked: BoundedRows) -> BoundedRows:
    return replace(asked, rows=asked.rows + 1, chunk=asked.chunk + 1)


FAULTS: dict[str, tuple[Callable[[Any], Any], bool]] = {
    "one row more": (lambda rows: Faulty(rows, ask=one_more), False),
    "all rows of a unit": (
        lambda rows: Faulty(rows, run=lambda sql: re.sub(r"WHERE n <= \d+", "WHERE TRUE", sql)),
        False,
    ),
    "rows by position": (
        lambda rows: Faulty(rows, run=lambda sql: re.sub(r"ORDER BY md5_number\(.*\) <= ", "ORDER BY 1) <= ", sql)),
        True,
    ),
    "rows of a unit apart": (
        lambda rows: Faulty(rows, run=lambda sql: sql.replace("ORDER BY number", "ORDER BY hash(number, v0)")),
        True,
    ),
    "one number for all units": (
        lambda rows: Faulty(rows, run=lambda sql: sql.replace("row_number() OVER (ORDER BY unit)", "0::BIGINT")),
        False,
    ),
    "null is a unit": (
        lambda rows: Faulty(rows, run=lambda sql: sql.replace(" IS NOT NULL\n", " IS NULL OR TRUE\n").replace(
            "USING (unit)", "ON picked.unit IS NOT DISTINCT FROM units.unit")),
        True,
    ),
    "no clamp of a row": (
        lambda rows: Faulty(
            rows,
            run=lambda sql: re.sub(r"CASE WHEN (x\d+) < .*? ELSE \1 END", r"\1", sql),
        ),
        True,
    ),
    "unlisted is the last": (
        lambda rows: Faulty(rows, run=lambda sql: re.sub(r"(list_position\(.*?), 0\) AS", r"\1, 1) AS", sql)),
        True,
    ),
}  # fmt: skip
"""Each fault, and whether only the oracle can see it."""


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_noticed(name: str) -> None:
    make, needs_oracle = FAULTS[name]
    with pytest.raises(Moved):
        examine_rows(make, 0, 600, Rows, oracle=needs_oracle)


def test_widths_follow_from_public_ends_alone() -> None:
    def listed(size: int) -> str:
        return narrowest(Category(Column("s"), tuple(range(size)))).name

    assert [listed(size) for size in (0, 127, 128, 32_767, 32_768)] == ["int8", "int8", "int16", "int16", "int32"]
    below = Quantised(Column("x"), Fraction(-128), Fraction(-3), Fraction(0), Fraction(1))
    assert (ends(below), narrowest(below).name) == ((-128, 0), "int8")
    assert narrowest(replace(below, low=Fraction(-129))).name == "int16"
    with pytest.raises(InvalidParameter, match="granule"):
        narrowest(replace(below, granule=Fraction(1, 2**70)))


@pytest.mark.parametrize(
    ("changed", "word"), [({"columns": ()}, "columns"), ({"rows": 0}, "rows"), ({"rows": 9, "chunk": 8}, "rows")]
)
def test_what_cannot_be_read_is_refused_by_public_parameters(changed: dict[str, Any], word: str) -> None:
    asked = BoundedRows((Category(Column("s"), ("a",)),), "who", 2)
    with pytest.raises(InvalidParameter, match=word):
        replace(asked, **changed)
