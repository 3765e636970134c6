"""Random expressions over columns of odd names, through every step: what is built prints, and reads back the same."""

from __future__ import annotations

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import InvalidParameter
from tacit.tables.expressions.tree import Column, Expression
from tacit.tables.python.columns import Term, lit
from tacit.tables.python.selection import Selection
from tacit.tables.query.to_sql import to_sql
from tacit.tables.query.tree import Query
from tacit.tables.sql.parse import parse
from tests.tables.trees import LITERALS, NAMES, _larger

OTHER = ["Age", "SPEND", "from", 'q"', "größe ", "odd.x", "visits.age", "order"]
TABLES = {"visits": [*NAMES, "visits.n", "user_id"], "odd": OTHER, "x": ["y", "user_id"]}
START: Selection[Query] = Selection("visits", lambda query: query, TABLES)
RELAXED = settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=40)
COLUMNS = st.builds(Column, st.sampled_from(TABLES["visits"]))
ROWS = st.recursive(COLUMNS | LITERALS, _larger, max_leaves=6).map(Term)
NAME = st.sampled_from([*NAMES, "new", "x.y.z", "visits.age", "SELECT", "per_unit", "joined"])


def _reads_back(built: Query) -> None:
    assert parse(to_sql(built), "visits", TABLES) == built


def _finished(selection: Selection[Query], key: str, value: Term) -> Query:
    try:
        return selection.group_by(k=key).having("n > 1").order_by("k").agg(n=tacit.count(), s=tacit.sum(value))
    except InvalidParameter as refusal:
        assume("more than" not in str(refusal) and "constant" not in str(refusal))
        raise


@given(ROWS, ROWS, ROWS, NAME, st.sampled_from(TABLES["visits"]))
@RELAXED
def test_computed_columns(condition: Term, first: Term, second: Term, name: str, key: str) -> None:
    built = START.where(condition).with_columns(**{name: first}).where(second)
    assume(_has_column(_finished(built, key, second).keys[0]))
    _reads_back(_finished(built, key, second))


@given(ROWS, ROWS, NAME, st.sampled_from(TABLES["visits"]))
@RELAXED
def test_rows_per_unit(condition: Term, value: Term, name: str, key: str) -> None:
    assume(key.lower() not in (name.lower(), "user_id") and name.lower() != "user_id")
    of_a_unit = {name: tacit.max(value) + 1, "other": tacit.min(value), "another": tacit.count(key)}
    built = START.where(condition).per("user_id", key).agg(**of_a_unit)
    _reads_back(_finished(built, key, tacit.col(name)))


@given(ROWS, ROWS, st.sampled_from(["inner", "left"]), st.sampled_from(OTHER))
@RELAXED
def test_joins(condition: Term, on: Term, how: str, key: str) -> None:
    built = START.where(condition).join("odd", on=tacit.col("user_id") == tacit.col(f"odd.{key}"), how=how)
    built = built.join("x", on=[(tacit.col("visits.user_id") == tacit.col("x.y")) & lit(True)])
    _reads_back(_finished(built, f"odd.{key}", tacit.col(f"odd.{key}")))


@given(ROWS, ROWS, NAME)
@RELAXED
def test_unions(first: Term, second: Term, name: str) -> None:
    assume(name.lower() != "z")
    built = START.select(**{name: first, "z": "user_id"}).union(START.where(second).select(z=first, **{name: second}))
    _reads_back(_finished(built, name, tacit.col("z")))


def _has_column(expression: Expression) -> bool:
    return any(isinstance(node, Column) for node in expression.walk())
