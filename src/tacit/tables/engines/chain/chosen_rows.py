"""The statement that reads a `BoundedRows`: a chain of named steps, as `bounding` writes them.

    found      the rows that count, with their unit and what their integers are computed from
    picked     their integers, each as narrow as its public ends allow
    units      the units, numbered, and how many rows each has
    few        the rows of units with few enough
    overfull   the units with too many
    packed     theirs, the integers of a row in few numbers
    contents   one per distinct content, and how many times
    copies     one per row, numbered among rows of equal content
    chosen     the rows that come first
    first_rows their integers again

Rows come out by the number of their unit, so that those of one unit lie side by side. An engine whose rows lie together
by unit numbers the rows of each unit instead: where 1 comes again, another unit begins.
"""

from __future__ import annotations

from collections.abc import Sequence

from tacit.tables.engines.chain.expressions import render
from tacit.tables.engines.chain.hashes import row_hash
from tacit.tables.engines.chain.packing import packed
from tacit.tables.engines.chain.relations import Schema, source
from tacit.tables.engines.chain.terms import Term, lines
from tacit.tables.engines.chain.values import read, row_value
from tacit.tables.engines.rows import BoundedRows, narrowest
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Column

__all__ = ["rows_statement"]


def rows_statement(asked: BoundedRows, schema: Schema) -> str:
    """SQL with a column ``number`` if there is a unit, and then one per column that was asked for."""
    dialect = schema.dialect
    below = source(asked.relation, schema)
    reads = [read(column, below.kinds, dialect) for column in asked.columns]
    names = {sql: f"x{i}" for i, sql in enumerate(dict.fromkeys(sql for found in reads for sql in found))}
    shown, conditions = [f"{sql} AS {name}" for sql, name in names.items()], []
    if asked.unit is not None:
        unit = render(Column(asked.unit), below.kinds, dialect).sql
        shown.insert(0, f"{unit} AS unit")
        conditions.append(f"{unit} IS NOT NULL")
    if asked.where is not None:
        conditions.append(dialect.cast(render(asked.where, below.kinds, dialect), Kind.BOOLEAN))
    where = f"\nWHERE {' AND '.join(conditions)}" if conditions else ""
    select = f"SELECT {lines(shown)}\nFROM {below.sql}{where}"
    found = dialect.step("found", dialect.found(select, [] if asked.unit is None else ["unit"]))
    columns = [f"v{i}" for i in range(len(asked.columns))]
    types = [dialect.narrow[narrowest(column).name] for column in asked.columns]
    integers = [
        f"CAST({row_value(dialect, column, *(names[sql] for sql in inputs))} AS {type_name}) AS {name}"
        for column, inputs, type_name, name in zip(asked.columns, reads, types, columns, strict=True)
    ]
    if asked.unit is None:
        picked = dialect.step("picked", f"SELECT {lines(integers)}\nFROM found")
        chain = ",\n".join([*schema.before, found, picked])
        return f"WITH {chain}\nSELECT {', '.join(columns)}\nFROM picked"
    picked = dialect.step("picked", f"SELECT {lines(['unit', *integers])}\nFROM found")
    steps = [*schema.before, found, picked, *_of_units(columns, asked, below.kinds[asked.unit], schema)]
    listed = ", ".join([dialect.number_of_row() if dialect.in_place else "number", *columns])
    last = f"SELECT {listed} FROM few\nUNION ALL\nSELECT {listed} FROM first_rows"
    return "WITH " + ",\n".join(steps) + "\n" + last + ("" if dialect.in_place else "\nORDER BY number")


def _of_units(columns: Sequence[str], asked: BoundedRows, kind: Kind, schema: Schema) -> list[str]:
    """The steps from the rows of units to those that are chosen."""
    dialect, values, limit = schema.dialect, ", ".join(columns), asked.rows
    together = packed(asked.columns, columns, dialect)
    numbers = ", ".join(together.names)
    content = [Term(f"copies.{name}", Kind.INTEGER) for name in (*together.names, "ordinal")]
    order = ", ".join([row_hash(dialect, schema.key, Term("copies.unit", kind), [], content), numbers, "ordinal"])
    who, both = ("unit", "unit") if dialect.in_place else ("number", "number, unit")
    number = "" if dialect.in_place else ", row_number() OVER (ORDER BY unit) AS number"
    return [
        dialect.step("units", f"SELECT unit, count(*) AS n{number}\nFROM found\nGROUP BY unit", stored=True),
        dialect.step("few", f"SELECT {who}, {values}\nFROM picked JOIN units USING (unit)\nWHERE n <= {limit}"),
        dialect.step("overfull", f"SELECT {both} FROM units WHERE n > {limit}", stored=True),
        dialect.step(
            "packed", f"SELECT {both}, {lines(together.made(dialect))}\nFROM picked JOIN overfull USING (unit)"
        ),
        dialect.step(
            "contents", f"SELECT {both}, {numbers}, count(*) AS times\nFROM packed\nGROUP BY {both}, {numbers}"
        ),
        dialect.step("copies", f"SELECT {both}, {numbers}, {dialect.ordinals('times')} AS ordinal\nFROM contents"),
        dialect.step("chosen", dialect.first([who, *together.names], "copies", [who], order, limit)),
        dialect.step("first_rows", f"SELECT {who}, {lines(together.read(dialect))}\nFROM chosen"),
    ]
