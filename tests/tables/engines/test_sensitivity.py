"""No unit moves an engine's integers further than the plan claims; the faults that would let it are noticed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tacit.tables.engines.chain import bounding as chain_bounding
from tacit.tables.engines.contract import BoundedQuery, Engine, Integers
from tacit.tables.engines.duckdb.engine import DuckDBEngine
from tests.tables.engines.random_rows import Rows
from tests.tables.engines.sensitivity import SECRET, Moved, examine


def sound(rows: Rows) -> Engine:
    return DuckDBEngine(rows, SECRET)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.thorough
def test_no_unit_moves_the_integers_further_than_claimed(seed: int) -> None:
    tally = examine(sound, seed, 40)
    print(f"seed {seed}: {tally}")
    assert tally.queries == 40
    assert tally.neighbours > 60
    assert tally.moved > 25
    assert tally.bounded > 12


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 140))
def test_no_unit_moves_the_integers_further_than_claimed_in_thousands_of_queries(seed: int) -> None:
    assert examine(sound, seed, 150).queries == 150


class Faulty:
    """The engine, with a fault in what it is asked, what it runs or what it returns."""

    def __init__(
        self,
        rows: Rows,
        ask: Callable[[BoundedQuery], BoundedQuery] = lambda query: query,
        run: Callable[[str], str] = lambda sql: sql,
        answer: Callable[[BoundedQuery, Integers], Integers] = lambda query, found: found,
    ) -> None:
        self.rows, self.ask, self.run_, self.answer = rows, ask, run, answer
        self.engine = DuckDBEngine(self, SECRET)

    def columns(self, sql: str) -> dict[str, Any]:
        return self.rows.columns(self.run_(sql))

    def run(self, query: BoundedQuery) -> Integers:
        return self.answer(query, self.engine.run(self.ask(query)))

    def explain(self, query: BoundedQuery) -> str:
        return self.engine.explain(query)

    def close(self) -> None:
        self.rows.close()


def by_position(sql: str) -> str:
    sql = sql.replace("ORDER BY md5_number(", "ORDER BY 0 * length(").replace("% 2147483647 * 4294967296", "* 0")
    return re.sub(r"row_number\(\) OVER \(ORDER BY [k0-9, ]+\)", "row_number() OVER ()", sql)


def ties_kept(sql: str) -> str:
    return re.sub(r"% 2147483647 \* 4294967296 \+ (listed|names)\.g\)", "* 0)", sql)


def filtered_late(query: BoundedQuery, found: Integers) -> Integers:
    if query.public_keys is None or not query.keys:
        return found
    keys = list(zip(*found.keys, strict=True))
    places = [i for i, key in enumerate(keys) if key in query.public_keys]
    return Integers(
        keys=tuple([column[i] for i in places] for column in found.keys),
        units=found.units[places],
        measures=tuple(one.taken(np.array(places, dtype=np.intp)) for one in found.measures),
    )


FAULTS: dict[str, tuple[Callable[[Rows], Engine], bool]] = {
    "one group more": (lambda rows: Faulty(rows, ask=lambda q: replace(q, groups=q.groups + 1)), False),
    "one row more": (lambda rows: Faulty(rows, ask=lambda q: replace(q, rows=q.rows + 1)), True),
    "groups that tie are all kept": (lambda rows: Faulty(rows, run=ties_kept), False),
    "order by position": (lambda rows: Faulty(rows, run=by_position), False),
    "null is a unit": (
        lambda rows: Faulty(rows, run=lambda sql: sql.replace(" IS NOT NULL AND", " IS NULL OR TRUE AND")),
        True,
    ),
    "listed keys are filtered last": (
        lambda rows: Faulty(rows, ask=lambda q: replace(q, public_keys=None), answer=filtered_late),
        True,
    ),
    "a key listed twice counts twice": (
        lambda rows: Faulty(
            rows,
            run=lambda sql: re.sub(
                r"SELECT min\(g\) AS g, (.*)\n(.*FROM \(VALUES [^;]*?\n? *)GROUP BY [k0-9, ]+\n",
                r"SELECT g, \1\n\2",
                sql,
            ),
        ),
        True,
    ),
    "no clamp of a row": (
        lambda rows: Faulty(
            rows,
            run=lambda sql: re.sub(r"CASE WHEN (x\d+) < .*? ELSE \1 END", r"\1", sql).replace(
                "greatest(CAST(floor", "greatest(TRY_CAST(floor"
            ),
        ),
        True,
    ),
    "one value more": (
        lambda rows: Faulty(
            rows, run=lambda sql: re.sub(r"(held\d+\.w.*), w(\d)\) <= (\d)", r"\1, w\2) <= 1 + \3", sql)
        ),
        False,
    ),
    "values of every group": (
        lambda rows: Faulty(rows, run=lambda sql: re.sub(r"FROM picked SEMI JOIN kept ON .*", "FROM picked", sql)),
        False,
    ),
    "all values of a unit": (
        lambda rows: Faulty(rows, run=lambda sql: re.sub(r"HAVING count\(\*\) > \d+\n\)", "HAVING FALSE\n)", sql)),
        False,
    ),
    "null is a value": (
        lambda rows: Faulty(
            rows,
            run=lambda sql: re.sub(r"WHERE w\d IS NOT NULL", "", sql).replace(
                "count(DISTINCT w", "count(DISTINCT '' || w"
            ),
        ),
        True,
    ),
    "cells of every row": (
        lambda rows: Faulty(rows, run=lambda sql: re.sub(r" ANTI JOIN left_out\d AS left_out ON .*", "", sql)),
        False,
    ),
    "cells of the pairs beyond the limit of rows": (
        lambda rows: Faulty(rows, run=lambda sql: re.sub(r"FALSE(\)?) OR n > \d+", r"FALSE\1", sql)),
        False,
    ),
    "cells of every group": (
        lambda rows: Faulty(rows, run=lambda sql: sql.replace("WHERE coalesce(place > cut, FALSE)", "WHERE FALSE")),
        False,
    ),
    "unknown is a cell": (
        lambda rows: Faulty(rows, run=lambda sql: sql.replace("WHERE cell <> 0", "WHERE TRUE")),
        True,
    ),
    "a product of what is unknown": (
        lambda rows: Faulty(
            rows, run=lambda sql: re.sub(r"\* CASE WHEN (x\d) IS NULL THEN 0", r"* CASE WHEN \1 IS NULL THEN 1", sql)
        ),
        True,
    ),
}
"""Each fault, and whether only the oracle can see it (it breaks the words, not always the claim)."""


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.thorough
def test_a_planted_fault_is_noticed(name: str) -> None:
    make, needs_oracle = FAULTS[name]
    with pytest.raises(Moved):
        examine(make, 0, 2400, oracle=needs_oracle)


def test_a_missing_clamp_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain_bounding, "clamped", lambda sql, measure: sql)
    with pytest.raises(Moved, match="claimed"):
        examine(sound, 0, 300, oracle=False)
