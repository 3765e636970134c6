"""The canonical text of a tree: reads back to the same tree, and differs for different trees."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tacit.tables.expressions.tree import Call, Column, Literal
from tacit.tables.query.canonical import make_query
from tacit.tables.query.to_sql import expression_sql, to_sql
from tacit.tables.query.tree import Aggregate, Query
from tacit.tables.sql.parse import parse
from tests.tables.trees import queries

A, B, C = Column("a"), Column("b"), Column("c")
COUNT = Aggregate("count_rows")
RELAXED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])


def with_where(condition: object) -> Query:
    return make_query("visits", [("n", COUNT)], where=condition)  # type: ignore[arg-type]


@given(queries())
@settings(RELAXED, max_examples=50)
@pytest.mark.thorough
def test_what_is_printed_reads_back_to_the_same_tree(query: Query) -> None:
    assert parse(to_sql(query), query.table) == query


@pytest.mark.slow
@given(queries())
@settings(RELAXED, max_examples=3_000)
def test_what_is_printed_reads_back_to_the_same_tree_many(query: Query) -> None:
    assert parse(to_sql(query), query.table) == query


ALIKE = [1, 1.0, True, "1", "1.0", "TRUE", 0, 0.0, -0.0, False, None, "NULL", "", -1, "-1", 1e300, 5e-324, 2**63 - 1]


def test_constants_of_different_kinds_print_differently() -> None:
    texts = {to_sql(with_where(Call("=", (Column("x"), Literal(value))))) for value in ALIKE}
    assert len(texts) == len(ALIKE)


def test_constants_of_different_kinds_are_different() -> None:
    assert len({Literal(value) for value in ALIKE}) == len(ALIKE)
    assert Literal(1) != Literal(1.0) != Literal(True)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Call("negative", (Literal(1),)), Literal(-1)),
        (Call("negative", (Call("negative", (Literal(1),)),)), Literal(1)),
        (Call("and", (A, B, C)), Call("and", (Call("and", (A, B)), C))),
        (Column("a b"), Column("a  b")),
        (Column('a"'), Column('a""')),
        (Literal("a' OR '1'='1"), Literal("a'' OR ''1''=''1")),
        (Call("to_date", (Literal("2024-01-01"),)), Call("to_text", (Literal("2024-01-01"),))),
    ],
)  # fmt: skip
def test_trees_that_could_be_taken_for_each_other_are_not(one: object, other: object) -> None:
    first, second = with_where(Call("is_null", (one,))), with_where(Call("is_null", (other,)))  # type: ignore[arg-type]
    assert to_sql(first) != to_sql(second)
    assert parse(to_sql(first), "visits") == first
    assert parse(to_sql(second), "visits") == second


def test_names_that_are_words_of_sql_are_quoted() -> None:
    from sqlglot import tokens

    for word in (*tokens.Tokenizer.KEYWORDS, "nulls", "filter", "first", "any", "interval", "current_date"):
        query = make_query(word, [(word, COUNT), ("k", Column(word))], keys=[Column(word)], where=Column(word))
        assert parse(to_sql(query), word) == query, word


def test_a_column_hidden_by_a_name_of_the_answer_is_written_with_its_table() -> None:
    query = make_query("visits", [("city", COUNT), ("k", Column("city"))], keys=[Column("city")])
    assert "visits.city" in to_sql(query)
    assert parse(to_sql(query), "visits") == query


def test_the_text_is_the_one_people_would_write() -> None:
    text = "SELECT city, COUNT(*) AS n, AVG(spend) AS x FROM visits WHERE age > 40 GROUP BY city ORDER BY city LIMIT 5"
    assert to_sql(parse(text, "visits")) == text
    assert expression_sql(Call("+", (Column("a"), Call("*", (Column("b"), Literal(2)))))) == "a + (b * 2)"
