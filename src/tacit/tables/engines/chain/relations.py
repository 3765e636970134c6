"""Other tables, joins, unions and lists as SQL: what stands in the place of the view ``rows``.

Conditions and columns are rendered as everywhere, so that they are total: an ON that cannot be computed for a pair of
rows is unknown for that pair alone, and the pair does not match.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tacit.errors import InvalidParameter
from tacit.tables.engines.chain.dialect import Dialect
from tacit.tables.engines.chain.expressions import render
from tacit.tables.engines.chain.hashes import row_hash
from tacit.tables.engines.chain.per_unit import Source, per_unit
from tacit.tables.engines.chain.terms import Term, identifier, indented, lines, other_view
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.operators import common_kind
from tacit.tables.expressions.tree import Column, Expression
from tacit.tables.query.per_unit import PerUnit
from tacit.tables.query.relations import Base, Few, Joined, Listed, Relation, Selected, Stacked, Taken

__all__ = ["HIDDEN", "Schema", "source"]

Kinds = Mapping[str, Kind]

HIDDEN = "‹secret›"
"""What stands in place of the secret where a statement is shown."""


@dataclass(frozen=True, slots=True)
class Schema:
    """The kinds of the columns of the view ``rows``, and of those of the other tables."""

    rows: Kinds
    others: Mapping[str, Kinds]
    key: str = field(repr=False)
    """The secret of the hash that chooses rows."""
    dialect: Dialect
    before: tuple[str, ...] = ()
    """Steps by which an engine has ``rows`` and other tables, where they are not views already."""


def source(relation: Relation | None, schema: Schema) -> Source:
    """SQL that can follow FROM, by the name ``rows``: the relation, or the view of the table."""
    match relation:
        case None:
            return Source("rows", schema.rows)
        case PerUnit():
            return per_unit(schema.dialect, relation, source(relation.source, schema))
        case Base(table):
            return _base(table, schema)
        case Listed():
            return _listed(relation, schema.dialect)
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


def _listed(relation: Listed, dialect: Dialect) -> Source:
    """The values of each column in the kind that they have together."""
    terms = [[dialect.literal(cell.value) for cell in row] for row in relation.rows]
    kinds = [_common(name, [row[i] for row in terms]) for i, name in enumerate(relation.columns)]
    lines = [
        f"({', '.join(dialect.as_kind(term, kind) for term, kind in zip(row, kinds, strict=True))})" for row in terms
    ]
    names = ", ".join(identifier(name) for name in relation.columns)
    return Source(f"(VALUES {', '.join(lines)}) AS rows({names})", dict(zip(relation.columns, kinds, strict=True)))


def _stacked(parts: tuple[Selected, ...], schema: Schema) -> Source:
    """The rows of every part, one after the other; each column in the kind that its parts have together."""
    dialect, below = schema.dialect, [source(part.source, schema) for part in parts]
    terms = [
        [render(one.expression, under.kinds, dialect) for one in part.columns]
        for part, under in zip(parts, below, strict=True)
    ]
    names = parts[0].names()
    kinds = {name: _common(name, [row[i] for row in terms]) for i, name in enumerate(names)}
    bodies = []
    for part, under, row in zip(parts, below, terms, strict=True):
        shown = [
            f"{dialect.as_kind(term, kinds[name])} AS {identifier(name)}" for name, term in zip(names, row, strict=True)
        ]
        where = "" if part.where is None else f"\nWHERE {_condition(part.where, under.kinds, dialect, None)}"
        bodies.append(f"SELECT {lines(shown)}\nFROM {under.sql}{where}")
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
        rows = f"({_block(_member(below, own, member.few, schema))}) AS {table}"
        on = "" if member.on is None else f" ON {_condition(member.on, kinds, schema.dialect, tables)}"
        steps.append(rows if place == 0 else f"{member.join.value} {rows}{on}")
    shown = [f"{tables[one.name]}.{identifier(one.name)} AS {identifier(one.name)}" for one in relation.columns]
    return _source(f"SELECT {lines(shown)}\nFROM " + "\n".join(steps), kinds)


def _member(below: Source, own: Sequence[Taken], few: Few | None, schema: Schema) -> str:
    """The columns that the join takes of a member; of a unit with too many rows, those that come first."""
    if few is None:
        shown = [f"rows.{identifier(one.column)} AS {identifier(one.name)}" for one in own] or ["1 AS nothing"]
        return f"SELECT {lines(shown)}\nFROM {below.sql}"
    dialect = schema.dialect
    terms = {one.name: render(Column(one.column), below.kinds, dialect) for one in own}
    taken = {name.lower() for name in terms}
    who = next(name for name in map("who{}".format, range(len(taken) + 1)) if name not in taken)
    unit = render(Column(few.unit), below.kinds, dialect)
    names = [identifier(name) for name in terms]
    part = lines([f"{unit.sql} AS {who}", *(f"{term.sql} AS {identifier(name)}" for name, term in terms.items())])
    content = [Term(f"part.{identifier(name)}", term.kind) for name, term in terms.items()]
    order = ", ".join([row_hash(dialect, schema.key, Term(f"part.{who}", unit.kind), [], content), *names])
    shown, same = names or ["1 AS nothing"], f"part.{who} = crowded.{who}"
    rows = f"SELECT {part}\nFROM {below.sql}\nWHERE {unit.sql} IS NOT NULL"
    many = f"SELECT {who} FROM part GROUP BY {who} HAVING count(*) > {few.most}"
    first = dialect.first(shown, dialect.semi("part", "crowded", same), [who], order, few.most)
    return (
        f"WITH {dialect.step('part', rows, stored=True)},\n{dialect.step('crowded', many, stored=True)}\n"
        f"SELECT {', '.join(shown)} FROM {dialect.anti('part', 'crowded', same)}\nUNION ALL\n{first}"
    )


def _condition(condition: Expression, kinds: Kinds, dialect: Dialect, tables: Mapping[str, str] | None) -> str:
    return dialect.as_kind(render(condition, kinds, dialect, tables), Kind.BOOLEAN)


def _common(name: str, terms: list[Term]) -> Kind:
    kind = common_kind(tuple(term.kind for term in terms))
    if kind is None or not any(term.kind for term in terms):
        raise InvalidParameter("relation", given=name, allowed="columns of values of one kind, not of NULL alone")
    return kind


def _source(body: str, kinds: Kinds) -> Source:
    return Source(f"({_block(body)}) AS rows", kinds)


def _block(body: str) -> str:
    return f"\n{indented(body)}\n"
