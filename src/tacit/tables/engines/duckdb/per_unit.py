"""A relation with a row per unit, as SQL for DuckDB: what stands in the place of the view ``rows``.

Every value is a function of the set of a unit's rows: no sum here depends on the order in which rows are read. That is
not nicety: an engine adds doubles in an order that other people's rows can change, and the last bit of every unit's sum
with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tacit.errors import InvalidParameter
from tacit.tables.engines.duckdb.expressions import render
from tacit.tables.engines.duckdb.terms import Term, finite, identifier, once
from tacit.tables.expressions.kinds import Kind
from tacit.tables.query.per_unit import Fact, PerUnit, fact_kind

__all__ = ["Source", "per_unit"]

_PLACES = 79
"""Of a real, this many binary places before the point and behind it are added: 2⁴⁸ rows fit into 127 bits."""
_SCALE = f"CAST('{float(2**_PLACES)!r}' AS DOUBLE)"


@dataclass(frozen=True, slots=True)
class Source:
    """SQL that can follow FROM and goes by the name ``rows``; and the kinds of its columns."""

    sql: str
    kinds: Mapping[str, Kind]


def per_unit(relation: PerUnit, below: Source) -> Source:
    """The relation over what it is computed from."""
    keys = {key.name: render(key.expression, below.kinds) for key in relation.keys}
    facts = {fact.name: _fact(fact, below.kinds) for fact in relation.facts}
    columns = [f"{term.sql} AS {identifier(name)}" for name, term in {**keys, **facts}.items()]
    where = ""
    if relation.where is not None:
        condition = render(relation.where, below.kinds)
        where = f"\nWHERE {condition.sql if condition.kind is not None else 'CAST(NULL AS BOOLEAN)'}"
    places = ", ".join(str(place) for place in range(1, len(keys) + 1))
    listed = ",\n       ".join(columns)
    body = f"SELECT {listed}\nFROM {below.sql}{where}\nGROUP BY {places}"
    indented = "\n".join("  " + line for line in body.splitlines())
    found = {name: _known(name, term) for name, term in {**keys, **facts}.items()}
    return Source(f"(\n{indented}\n) AS rows", found)


def _known(name: str, term: Term) -> Kind:
    if term.kind is None:
        raise InvalidParameter("relation", given=name, allowed="columns that are not NULL alone")
    return term.kind


def _fact(fact: Fact, kinds: Mapping[str, Kind]) -> Term:
    if fact.argument is None:
        return Term("count(*)", Kind.INTEGER)
    argument = render(fact.argument, kinds)
    kind = fact_kind(fact.function, argument.kind)
    if kind is None:
        raise InvalidParameter("relation", given=fact.function, allowed="a value of what it can be computed of")
    return Term(_computed(fact.function, argument), kind)


def _computed(function: str, argument: Term) -> str:
    x = argument.sql
    match function:
        case "count":
            return f"count({x})"
        case "count_distinct":
            return f"count(DISTINCT {x})"
        case "min" | "max":
            return f"{function}({x})"
        case "sum":
            if argument.kind is Kind.INTEGER:
                return f"TRY_CAST(sum({x}) AS BIGINT)"
            return finite(_sum_of_reals(x))
        case "mean":
            if argument.kind is Kind.INTEGER:
                return finite(f"({_nearest(f'sum({x})')} / count({x}))")
            inside = _within(x)
            return finite(f"({_sum_of_reals(x)} / count({inside}))")
    raise InvalidParameter("relation", given=function, allowed="a value per unit")


def _within(x: str) -> str:
    return once(lambda y: f"CASE WHEN abs({y}) < {_SCALE} THEN {y} END", x)


def _sum_of_reals(x: str) -> str:
    """Whole parts and fractions, each added as integers: exact, and the same in every order."""
    inside = _within(x)
    whole = f"CAST(trunc({inside}) AS HUGEINT)"
    fraction = once(lambda y: f"CAST(trunc(({y} - trunc({y})) * {_SCALE}) AS HUGEINT)", inside)
    return f"({_nearest(f'sum({whole})')} + {_nearest(f'sum({fraction})')} / {_SCALE})"


def _nearest(total: str) -> str:
    """The real nearest to a wide integer: the engine's own conversion rounds twice, its reading of text once."""
    return f"CAST(CAST({total} AS VARCHAR) AS DOUBLE)"
