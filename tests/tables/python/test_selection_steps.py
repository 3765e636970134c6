"""Random chains of steps in Python, against the same steps as nested SQL that an engine of its own runs."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

import duckdb
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import tacit
from tacit import col
from tacit.tables.python.selection import Selection
from tacit.tables.query.relations import MOST_LEVELS, levels_of
from tacit.tables.query.to_sql import to_sql
from tacit.tables.query.tree import Query
from tacit.tables.sql.parse import parse

TABLES = {
    "visits": ("user_id", "city", "age", "spend"),
    "regions": ("city", "region", "people"),
    "purchases": ("user_id", "city", "amount"),
}
START: Selection[Query] = Selection("visits", lambda query: query, TABLES)
RELAXED = settings(deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def engine() -> duckdb.DuckDBPyConnection:
    """Small tables of small numbers and nulls, so that joins match often."""
    chance, connection = random.Random(7), duckdb.connect()
    for name, columns in TABLES.items():
        connection.execute(f"CREATE TABLE {name} ({', '.join(f'{one} BIGINT' for one in columns)})")
        for _ in range(12):
            values = [chance.choice(["NULL", "0", "1", "2", "3"]) for _ in columns]
            connection.execute(f"INSERT INTO {name} VALUES ({', '.join(values)})")
    return connection


@dataclass(frozen=True)
class Steps:
    """A selection, what it means as nested SQL, and the columns that can be named in both."""

    built: Selection[Query]
    text: str
    columns: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    """Columns of the selection that two tables have."""


def table(name: str) -> Steps:
    return Steps(START.of_table(name), f"SELECT * FROM {name}", TABLES[name])


@st.composite
def chains(draw: st.DrawFn, depth: int = 0) -> Steps:
    """Some steps from one of the tables."""
    found = table(draw(st.sampled_from(list(TABLES))))
    steps = STEPS if depth < 2 else STEPS[:3]
    for step in draw(st.lists(st.sampled_from(steps), min_size=2 if depth == 0 else 0, max_size=4 - depth)):
        found = step(draw, found, depth)
    return found


def _column(draw: st.DrawFn, steps: Steps) -> str:
    return draw(st.sampled_from(steps.columns))


def _where(draw: st.DrawFn, steps: Steps, depth: int) -> Steps:
    name, value = _column(draw, steps), draw(st.integers(0, 1))
    text = f"SELECT * FROM ({steps.text}) WHERE {name} <= {value}"
    condition = draw(st.sampled_from([col(name) <= value, f"{name} <= {value}"]))
    return replace(steps, built=steps.built.where(condition), text=text)


def _with_column(draw: st.DrawFn, steps: Steps, depth: int) -> Steps:
    name, of = draw(st.sampled_from([*steps.columns, "extra"])), _column(draw, steps)
    built = steps.built.with_columns(**{name: col(of) * 2 + 1})
    shown = [f"{of} * 2 + 1 AS {one}" if one == name else one for one in dict.fromkeys((*steps.columns, name))]
    text = f"SELECT {', '.join(shown)} FROM ({steps.text})"
    return Steps(built, text, tuple(dict.fromkeys((*steps.columns, name))), steps.hidden)


def _select(draw: st.DrawFn, steps: Steps, depth: int) -> Steps:
    kept = draw(st.lists(st.sampled_from(steps.columns), min_size=1, max_size=3, unique=True))
    of = _column(draw, steps)
    text = f"SELECT {', '.join(kept)}, {of} % 2 AS half FROM ({steps.text})"
    assume("half" not in kept)
    return Steps(steps.built.select(*kept, half=col(of) % 2), text, (*kept, "half"))


def _join(draw: st.DrawFn, steps: Steps, depth: int) -> Steps:
    other, how = draw(chains(depth + 1)), draw(st.sampled_from(["inner", "left"]))
    shared = [name for name in steps.columns if name in other.columns]
    assume(shared)
    on = draw(st.lists(st.sampled_from(shared), min_size=1, max_size=2, unique=True))
    is_plain = other.text in [table(name).text for name in TABLES]
    right = other.text.removeprefix("SELECT * FROM ") if is_plain and draw(st.booleans()) else other.built
    name = f"t{len(steps.text)}" if is_plain or draw(st.booleans()) else None
    built = steps.built.join(right, on=on, how=how, name=name)
    added = [name for name in other.columns if name not in (*steps.columns, *steps.hidden)]
    assume(not set(steps.columns) & set(other.hidden))
    shown = [*(f"l.{name}" for name in steps.columns), *(f"r.{name}" for name in added)]
    equal = " AND ".join(f"l.{name} = r.{name}" for name in on)
    word = "LEFT JOIN" if how == "left" else "JOIN"
    text = f"SELECT {', '.join(shown)} FROM ({steps.text}) AS l {word} ({other.text}) AS r ON {equal}"
    known = [name for name in steps.columns if name not in shared or name in on]
    return Steps(built.select(*known, *added), f"SELECT {', '.join((*known, *added))} FROM ({text})", (*known, *added))


def _join_on(draw: st.DrawFn, steps: Steps, depth: int) -> Steps:
    """Two tables at once, not closed by a select: columns that one of them has are named alone."""
    name, how = _column(draw, steps), draw(st.sampled_from(["inner", "left"]))
    assume("region" not in steps.columns and "people" not in steps.columns)
    built = steps.built.join("regions", left_on=name, right_on="city", how=how, name="named")
    word = "LEFT JOIN" if how == "left" else "JOIN"
    text = f"SELECT l.*, r.region, r.people FROM ({steps.text}) AS l {word} regions AS r ON l.{name} = r.city"
    kept = tuple(one for one in steps.columns if one != "city")
    return Steps(built, text, (*kept, "region", "people"), (*steps.hidden, "city"))


def _union(draw: st.DrawFn, steps: Steps, depth: int) -> Steps:
    other = draw(chains(depth + 1))
    shared = [name for name in steps.columns if name in other.columns]
    assume(shared)
    built = steps.built.select(*shared).union(other.built.select(*reversed(shared)))
    listed = ", ".join(shared)
    text = f"SELECT {listed} FROM ({steps.text}) UNION ALL SELECT {listed} FROM ({other.text})"
    return Steps(built, text, tuple(shared))


def _per(draw: st.DrawFn, steps: Steps, depth: int) -> Steps:
    keys = draw(st.lists(st.sampled_from(steps.columns), min_size=1, max_size=2, unique=True))
    of = _column(draw, steps)
    assume(not {"total", "n", "most"} & set(keys))
    built = steps.built.per(*keys).agg(total=tacit.sum(of) + 1, n=tacit.count(of), most=tacit.max(of))
    listed = ", ".join(keys)
    values = f"CAST(SUM({of}) AS BIGINT) + 1 AS total, COUNT({of}) AS n, MAX({of}) AS most"
    text = f"SELECT {listed}, {values} FROM ({steps.text}) GROUP BY {listed}"
    return Steps(built, text, (*keys, "total", "n", "most"))


STEPS = [_where, _with_column, _select, _join, _join_on, _union, _per]


def agree(steps: Steps, key: str, of: str, engine: duckdb.DuckDBPyConnection) -> None:
    """The tree prints as SQL that reads back to it, and means what the nested statement means."""
    built = steps.built.group_by(k=key).agg(n=tacit.count(), s=tacit.sum(of))
    text = to_sql(built)
    assert parse(text, "visits", TABLES) == built
    wanted = f"SELECT {key} AS k, COUNT(*) AS n, SUM({of}) AS s FROM ({steps.text}) GROUP BY {key}"
    found = [engine.execute(f"SELECT * FROM ({one}) ORDER BY ALL").fetchall() for one in (text, wanted)]
    assert found[0] == found[1], f"{text}\nis not\n{wanted}"


@given(st.data())
@settings(RELAXED, max_examples=100)
def test_steps_mean_what_nested_sql_means(engine: duckdb.DuckDBPyConnection, data: st.DataObject) -> None:
    steps = data.draw(chains())
    assume(levels_of(steps.built.rows.relation) <= MOST_LEVELS)  # deeper ones are refused
    agree(steps, data.draw(st.sampled_from(steps.columns)), data.draw(st.sampled_from(steps.columns)), engine)


@pytest.mark.slow
@given(st.data())
@settings(RELAXED, max_examples=3_000)
def test_steps_mean_what_nested_sql_means_many(engine: duckdb.DuckDBPyConnection, data: st.DataObject) -> None:
    steps = data.draw(chains())
    assume(levels_of(steps.built.rows.relation) <= MOST_LEVELS)  # deeper ones are refused
    agree(steps, data.draw(st.sampled_from(steps.columns)), data.draw(st.sampled_from(steps.columns)), engine)


def test_a_step_that_means_something_else_is_noticed(engine: duckdb.DuckDBPyConnection) -> None:
    kept = "SELECT l.*, r.people FROM visits AS l LEFT JOIN (SELECT * FROM regions WHERE people < 2) AS r USING (city)"
    right = START.of_table("regions").where("people < 2")
    columns = ("age", "people")
    agree(Steps(START.join(right, on="city", how="left"), kept, columns), "age", "people", engine)
    for wrong in (
        START.join(right, on="city"),
        START.join("regions", on="city", how="left").where("people < 2"),
        START.join(right, on="city", how="left").where("people < 2 OR people IS NULL").where("age > 0"),
    ):
        with pytest.raises(AssertionError, match="is not"):
            agree(Steps(wrong, kept, columns), "age", "people", engine)
