"""The statement that reads a `BoundedRows`: a chain of named steps, as `bounding` writes them.

    found      the rows that count, with their unit and what their integers are computed from
    picked     their integers, each as narrow as its public ends allow
    units      the units, numbered, and how many rows each has
    few        the rows of units with few enough
    overfull   the units with too many
    contents   theirs: one per distinct content, and how many times
    copies     one per row, numbered among rows of equal content
    first_rows the rows that come first

Rows come out by the number of their unit, so that those of one unit lie side by side.
"""

from __future__ import annotations

from collections.abc import Sequence

from tacit.tables.engines.duckdb.expressions import render
from tacit.tables.engines.duckdb.hashes import row_hash
from tacit.tables.engines.duckdb.operators.casts import cast
from tacit.tables.engines.duckdb.relations import Schema, source
from tacit.tables.engines.duckdb.terms import Term
from tacit.tables.engines.duckdb.values import read, row_value
from tacit.tables.engines.rows import BoundedRows, narrowest
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Column

__all__ = ["NARROW", "rows_statement"]

NARROW = {"int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT"}


def rows_statement(asked: BoundedRows, schema: Schema, key: str) -> str:
    """SQL with a column ``number`` if there is a unit, and then one per column that was asked for."""
    below = source(asked.relation, schema)
    reads = [read(column, below.kinds) for column in asked.columns]
    names = {sql: f"x{i}" for i, sql in enumerate(dict.fromkeys(sql for found in reads for sql in found))}
    shown, conditions = [f"{sql} AS {name}" for sql, name in names.items()], []
    if asked.unit is not None:
        unit = render(Column(asked.unit), below.kinds).sql
        shown.insert(0, f"{unit} AS unit")
        conditions.append(f"{unit} IS NOT NULL")
    if asked.where is not None:
        conditions.append(cast(render(asked.where, below.kinds), Kind.BOOLEAN))
    where = f"\nWHERE {' AND '.join(conditions)}" if conditions else ""
    found = _step("found", f"SELECT {_lines(shown)}\nFROM {below.sql}{where}")
    columns = [f"v{i}" for i in range(len(asked.columns))]
    integers = [
        f"CAST({row_value(column, *(names[sql] for sql in inputs))} AS {NARROW[narrowest(column).name]}) AS {name}"
        for column, inputs, name in zip(asked.columns, reads, columns, strict=True)
    ]
    if asked.unit is None:
        picked = _step("picked", f"SELECT {_lines(integers)}\nFROM found")
        return f"WITH {found},\n{picked}\nSELECT {', '.join(columns)}\nFROM picked"
    picked = _step("picked", f"SELECT {_lines(['unit', *integers])}\nFROM found")
    steps = [found, picked, *_of_units(columns, asked, below.kinds[asked.unit], key)]
    listed = ", ".join(["number", *columns])
    last = f"SELECT {listed} FROM few\nUNION ALL\nSELECT {listed} FROM first_rows\nORDER BY number"
    return "WITH " + ",\n".join(steps) + "\n" + last


def _of_units(columns: Sequence[str], asked: BoundedRows, kind: Kind, key: str) -> list[str]:
    """The steps from the rows of units to those that are chosen."""
    values, limit = ", ".join(columns), asked.rows
    content = [Term(f"copies.{name}", Kind.INTEGER) for name in (*columns, "ordinal")]
    order = ", ".join([row_hash(key, Term("copies.unit", kind), [], content), values, "ordinal"])
    numbered = "SELECT unit, count(*) AS n, row_number() OVER (ORDER BY unit) AS number\nFROM found\nGROUP BY unit"
    return [
        _step("units", numbered, stored=True),
        _step("few", f"SELECT number, {values}\nFROM picked JOIN units USING (unit)\nWHERE n <= {limit}"),
        _step("overfull", f"SELECT unit, number FROM units WHERE n > {limit}", stored=True),
        _step(
            "contents",
            f"SELECT number, unit, {values}, count(*) AS times\nFROM picked JOIN overfull USING (unit)\n"
            f"GROUP BY number, unit, {values}",
        ),
        _step("copies", f"SELECT number, unit, {values}, unnest(range(1, times + 1)) AS ordinal\nFROM contents"),
        _step(
            "first_rows",
            f"SELECT number, {values}\nFROM copies\n"
            f"QUALIFY row_number() OVER (PARTITION BY number ORDER BY {order}) <= {limit}",
        ),
    ]


def _step(name: str, body: str, stored: bool = False) -> str:
    indented = "\n".join("  " + line for line in body.splitlines())
    return f"{name} AS {'' if stored else 'NOT '}MATERIALIZED (\n{indented}\n)"


def _lines(items: Sequence[str]) -> str:
    return ",\n       ".join(items)
