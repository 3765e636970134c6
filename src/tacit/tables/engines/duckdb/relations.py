"""Other tables, joins, unions and lists as SQL for DuckDB: what stands in the place of the view ``rows``.

Conditions and columns are rendered as everywhere, so that they are total: an ON that cannot be computed for a pair of
rows is unknown for that pair alone, and the pair does not match.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tacit.errors import InvalidParameter
from tacit.tables.engines.duckdb.expressions import render
from tacit.tables.engines.duckdb.hashes import row_hash
from tacit.tables.engines.duckdb.per_unit import Source, per_unit
from tacit.tables.engines.duckdb.sources.source import other_view
from tacit.tables.engines.duckdb.terms import Term, as_kind, identifier, literal
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.operators import common_kind
from tacit.tables.expressions.tree import Column, Expression
from tacit.tables.query.per_unit import PerUnit
from tacit.tables.query.relations import Base, Few, Joined, Listed, Relation, Selected, Stacked, Taken

__all__ = ["Schema", "source"]

Kinds = Mapping[str, Kind]


@dataclass(frozen=True, slots=True)
class Schema:
    """The kinds of the columns of the view ``rows``, and of those of the other tables."""

    rows: Kinds
    others: Mapping[str, Kinds]
    key: str
    """The secret of the hash that chooses rows."""


def source(relation: Relation | None, schema: Schema) -> Source:
    """SQL that can follow FROM, by the name ``rows``: the relation, or the view of the table."""
    match relation:
        case None:
            return Source("rows", schema.rows)
        case PerUnit():
            return per_unit(relation, source(relation.source, schema))
        case Base(table):
            return _base(table, schema)
        case Listed():
            return _listed(relation)
        case Selected():
            return _stacked((relation,), schema)
        case Stacked(parts):
            return _stacked(parts, schema)
        case Joined():
            return _joined(relation, schema)
    raise InvalidParameter("relation", given=type(relation).__name__, allowed="a relation")


def _base(table: str, schema: Schema) -> Source:
    if table not in schema.others:
        raise InvalidParameter("relation", given=table, allowed="a table of the policy")
    return Source(f"{identifier(other_view(table))} AS rows", schema.others[table])


def _listed(relation: Listed) -> Source:
    """The values of each column in the kind that they have together."""
    terms = [[literal(cell.value) for cell in row] for row in relation.rows]
    kinds = [_common(name, [row[i] for row in terms]) for i, name in enumerate(relation.columns)]
    lines = [f"({', '.join(as_kind(term, kind) for term, kind in zip(row, kinds, strict=True))})" for row in terms]
    names = ", ".join(identifier(name) for name in relation.columns)
    return Source(f"(VALUES {', '.join(lines)}) AS rows({names})", dict(zip(relation.columns, kinds, strict=True)))


def _stacked(parts: tuple[Selected, ...], schema: Schema) -> Source:
    """The rows of every part, one after the other; each column in the kind that its parts have together."""
    below = [source(part.source, schema) for part in parts]
    terms = [
        [render(one.expression, under.kinds) for one in part.columns] for part, under in zip(parts, below, strict=True)
    ]
    names = parts[0].names()
    kinds = {name: _common(name, [row[i] for row in terms]) for i, name in enumerate(names)}
    bodies = []
    for part, under, row in zip(parts, below, terms, strict=True):
        shown = [f"{as_kind(term, kinds[name])} AS {identifier(name)}" for name, term in zip(names, row, strict=True)]
        where = "" if part.where is None else f"\nWHERE {_condition(part.where, under.kinds, None)}"
        bodies.append(f"SELECT {_lines(shown)}\nFROM {under.sql}{where}")
    return _source("\nUNION ALL\n".join(bodies), kinds)


def _joined(relation: Joined, schema: Schema) -> Source:
    """Each member under a name of its own, with its columns by the names that they have in the join."""
    kinds: dict[str, Kind] = {}
    tables: dict[str, str] = {}
    steps = []
    for place, member in enumerate(relation.members):
        below, table = source(member.relation, schema), f"m{place}"
        own = [one for one in relation.columns if one.member == place]
        for one in own:
            kinds[one.name], tables[one.name] = below.kinds[one.column], table
        rows = f"({_indented(_member(below, own, member.few, schema.key))}) AS {table}"
        on = "" if member.on is None else f" ON {_condition(member.on, kinds, tables)}"
        steps.append(rows if place == 0 else f"{member.join.value} {rows}{on}")
    shown = [f"{tables[one.name]}.{identifier(one.name)} AS {identifier(one.name)}" for one in relation.columns]
    return _source(f"SELECT {_lines(shown)}\nFROM " + "\n".join(steps), kinds)


def _member(below: Source, own: Sequence[Taken], few: Few | None, key: str) -> str:
    """The columns that the join takes of a member; of a unit with too many rows, those that come first."""
    if few is None:
        shown = [f"rows.{identifier(one.column)} AS {identifier(one.name)}" for one in own] or ["1 AS nothing"]
        return f"SELECT {_lines(shown)}\nFROM {below.sql}"
    terms = {one.name: render(Column(one.column), below.kinds) for one in own}
    taken = {name.lower() for name in terms}
    who = next(name for name in map("who{}".format, range(len(taken) + 1)) if name not in taken)
    unit = render(Column(few.unit), below.kinds)
    names = [identifier(name) for name in terms]
    part = _lines([f"{unit.sql} AS {who}", *(f"{term.sql} AS {identifier(name)}" for name, term in terms.items())])
    content = [Term(f"part.{identifier(name)}", term.kind) for name, term in terms.items()]
    order = ", ".join([row_hash(key, Term(f"part.{who}", unit.kind), [], content), *names])
    listed = ", ".join(names) or "1 AS nothing"
    return (
        f"WITH part AS MATERIALIZED (SELECT {part}\nFROM {below.sql}\nWHERE {unit.sql} IS NOT NULL),\n"
        f"crowded AS MATERIALIZED (SELECT {who} FROM part GROUP BY {who} HAVING count(*) > {few.most})\n"
        f"SELECT {listed} FROM part ANTI JOIN crowded USING ({who})\nUNION ALL\n"
        f"SELECT {listed} FROM part SEMI JOIN crowded USING ({who})\n"
        f"QUALIFY row_number() OVER (PARTITION BY {who} ORDER BY {order}) <= {few.most}"
    )


def _condition(condition: Expression, kinds: Kinds, tables: Mapping[str, str] | None) -> str:
    return as_kind(render(condition, kinds, tables), Kind.BOOLEAN)


def _common(name: str, terms: list[Term]) -> Kind:
    kind = common_kind(tuple(term.kind for term in terms))
    if kind is None or not any(term.kind for term in terms):
        raise InvalidParameter("relation", given=name, allowed="columns of values of one kind, not of NULL alone")
    return kind


def _source(body: str, kinds: Kinds) -> Source:
    return Source(f"({_indented(body)}) AS rows", kinds)


def _indented(body: str) -> str:
    return "\n" + "\n".join("  " + line for line in body.splitlines()) + "\n"


def _lines(items: list[str]) -> str:
    return ",\n       ".join(items)
