"""A relation with a row per unit, as SQL: what stands in the place of the view ``rows``.

Every value is a function of the set of a unit's rows: no sum here depends on the order in which rows are read. That is
not nicety: an engine adds doubles in an order that other people's rows can change, and the last bit of every unit's sum
with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tacit.errors import InvalidParameter
from tacit.tables.engines.chain.dialect import Dialect
from tacit.tables.engines.chain.expressions import render
from tacit.tables.engines.chain.terms import Term, identifier, indented
from tacit.tables.expressions.kinds import Kind
from tacit.tables.query.per_unit import Fact, PerUnit, fact_kind

__all__ = ["Source", "per_unit"]


@dataclass(frozen=True, slots=True)
class Source:
    """SQL that can follow FROM and goes by the name ``rows``; and the kinds of its columns."""

    sql: str
    kinds: Mapping[str, Kind]


def per_unit(dialect: Dialect, relation: PerUnit, below: Source) -> Source:
    """The relation over what it is computed from."""
    keys = {key.name: render(key.expression, below.kinds, dialect) for key in relation.keys}
    facts = {fact.name: _fact(dialect, fact, below.kinds) for fact in relation.facts}
    columns = [f"{term.sql} AS {identifier(name)}" for name, term in {**keys, **facts}.items()]
    where = ""
    if relation.where is not None:
        condition = render(relation.where, below.kinds, dialect)
        where = f"\nWHERE {condition.sql if condition.kind is not None else 'CAST(NULL AS BOOLEAN)'}"
    places = ", ".join(str(place) for place in range(1, len(keys) + 1))
    listed = ",\n       ".join(columns)
    body = f"SELECT {listed}\nFROM {below.sql}{where}\nGROUP BY {places}"
    found = {name: _known(name, term) for name, term in {**keys, **facts}.items()}
    return Source(f"(\n{indented(body)}\n) AS rows", found)


def _known(name: str, term: Term) -> Kind:
    if term.kind is None:
        raise InvalidParameter("relation", given=name, allowed="columns that are not NULL alone")
    return term.kind


def _fact(dialect: Dialect, fact: Fact, kinds: Mapping[str, Kind]) -> Term:
    if fact.argument is None:
        return Term("count(*)", Kind.INTEGER)
    argument = render(fact.argument, kinds, dialect)
    kind = fact_kind(fact.function, argument.kind)
    if kind is None:
        raise InvalidParameter("relation", given=fact.function, allowed="a value of what it can be computed of")
    return Term(_computed(dialect, fact.function, argument), kind)


def _computed(dialect: Dialect, function: str, argument: Term) -> str:
    x, is_whole = argument.sql, argument.kind is Kind.INTEGER
    match function:
        case "count":
            return f"count({x})"
        case "count_distinct":
            return f"count(DISTINCT {x})"
        case "min" | "max":
            return dialect.extreme(function, x, argument.kind)
        case "sum":
            return dialect.sum_of_integers(x) if is_whole else dialect.sum_of_reals(x)
        case "mean":
            return dialect.mean_of_integers(x) if is_whole else dialect.mean_of_reals(x)
    raise InvalidParameter("relation", given=function, allowed="a value per unit")
