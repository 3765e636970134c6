"""The values of a quasi-identifier as places in an order, so that generalising is arithmetic on whole numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.anonymity.connection import quoted_name
from tacit.anonymity.hierarchy import Hierarchy
from tacit.anonymity.rows import Rows, long_digits
from tacit.errors import InvalidParameter

__all__ = ["Domain", "Table", "table_of"]

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Domain:
    """The values of a column in their order, as texts; None is unknown, and comes before all numbers.

    Numbers are in the order of numbers, values of a hierarchy in that of its lines, other texts by how frequent they
    are: Mondrian then cuts common values from each other and leaves rare ones together, which loses less.
    """

    column: str
    values: tuple[str | None, ...]
    number: bool
    hierarchy: Hierarchy | None

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, slots=True)
class Table:
    """A table to be generalised: quasi-identifiers and sensitive columns as places in their order, and the rest."""

    rows: int
    domains: tuple[Domain, ...]
    codes: tuple[npt.NDArray[np.int32], ...]
    sensitive: dict[str, tuple[Integers, bool]]
    """Places of the values, and whether they are numbers."""
    kept: dict[str, list[Any]]
    """Sensitive and other columns, as they will be written."""


def table_of(
    rows: Rows,
    quasi: Sequence[str],
    sensitive: Sequence[str],
    keep: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    texts: Sequence[str] = (),
) -> Table:
    """Read the columns that will be released; ``texts`` are some of those to ``keep``, as texts."""
    for name in hierarchies:
        if name not in quasi:
            raise InvalidParameter("hierarchies", given=name, allowed=f"quasi-identifiers: {', '.join(quasi)}")
    total = int(rows.run("SELECT count(*) FROM rows").fetchall()[0][0])
    if not total:
        raise InvalidParameter("source", given="a table without rows", allowed="at least one row")
    domains = tuple(_domain(rows, f"d{i}", name, hierarchies.get(name)) for i, name in enumerate(quasi))
    orders = [_domain(rows, f"o{i}", name, None) for i, name in enumerate(sensitive)]
    listed = [(f"d{i}", name) for i, name in enumerate(quasi)] + [(f"o{i}", name) for i, name in enumerate(sensitive)]
    places = ", ".join(f"{key}.place AS {key}" for key, _ in listed)
    written = [f"CAST(rows.{quoted_name(n)} AS VARCHAR)" if n in texts else f"rows.{quoted_name(n)}" for n in keep]
    written = [*(f"rows.{quoted_name(name)}" for name in sensitive), *written]
    others = "".join(f", {value} AS k{i}" for i, value in enumerate(written))
    joins = "".join(f" JOIN {key} ON rows.{quoted_name(name)} IS NOT DISTINCT FROM {key}.value" for key, name in listed)
    found = rows.run(f"SELECT {places}{others} FROM rows{joins}").fetchnumpy()
    rows.run("".join(f"DROP TABLE {key};" for key, _ in listed))
    codes = tuple(np.asarray(found[f"d{i}"]).astype(np.int32) for i in range(len(quasi)))
    secret = {
        name: (np.asarray(found[f"o{i}"]).astype(np.int64), order.number)
        for i, (name, order) in enumerate(zip(sensitive, orders, strict=True))
    }
    kept = {name: _plain(found[f"k{i}"]) for i, name in enumerate([*sensitive, *keep])}
    for name, order in zip(sensitive, orders, strict=True):
        if order.number and order.values[0] is None:  # also where NaN was written
            kept[name] = [value if place else None for value, place in zip(kept[name], secret[name][0], strict=True)]
    return Table(total, domains, codes, secret, kept)


def _domain(rows: Rows, table: str, name: str, hierarchy: Hierarchy | None) -> Domain:
    """Find the values of a column and number them in a table (value, place)."""
    column = quoted_name(name)
    if hierarchy is not None:
        return _listed(rows, table, name, hierarchy)
    number = rows.is_number(name)
    text, cast = f"CAST({column} AS VARCHAR)", f"CAST({column} AS DOUBLE)"
    if number:
        first = f"CASE WHEN {column} IS NULL OR isnan({cast}) THEN NULL ELSE {cast} END"
        second = f"CASE WHEN {first} IS NOT NULL THEN {long_digits(text)} END"
    else:
        first, second = "-count(*)", text
    ranked = "dense_rank() OVER (ORDER BY first NULLS FIRST, second NULLS FIRST) - 1 AS place"
    grouped = f"SELECT {column} AS value, {first} AS first, {second} AS second FROM rows GROUP BY {column}"
    rows.run(f"CREATE OR REPLACE TEMP TABLE {table} AS SELECT *, {ranked} FROM ({grouped})")
    shown = "CASE WHEN first IS NULL THEN NULL ELSE CAST(value AS VARCHAR) END"
    found = rows.run(
        f"SELECT arg_min(text, (length(text), text)) FROM (SELECT place, {shown} AS text FROM {table}) "
        "GROUP BY place ORDER BY place"
    ).fetchall()
    return Domain(name, tuple(row[0] for row in found), number, None)


def _listed(rows: Rows, table: str, name: str, hierarchy: Hierarchy) -> Domain:
    """The values of a hierarchy; a value of the table that is not one of them is an error that names its line."""
    column = quoted_name(name)
    rows.run(f"CREATE OR REPLACE TEMP TABLE {table}_leaves (leaf VARCHAR, place BIGINT)")
    leaves = hierarchy.leaves
    rows.run(f"INSERT INTO {table}_leaves SELECT unnest(?), unnest(range({len(leaves)}))", [list(leaves)])
    rows.run(
        f"CREATE OR REPLACE TEMP TABLE {table} AS SELECT value, place "
        f"FROM (SELECT {column} AS value FROM rows GROUP BY {column}) LEFT JOIN {table}_leaves "
        "ON coalesce(CAST(value AS VARCHAR), '') = leaf"
    )
    missing = rows.run(f"SELECT CAST(value AS VARCHAR) FROM {table} WHERE place IS NULL ORDER BY 1").fetchall()
    rows.run(f"DROP TABLE {table}_leaves")
    if missing:
        rows_of = rows.place_of(name, missing[0][0])
        more = f"; {len(missing)} values are not" if len(missing) > 1 else ""
        what = "an unknown value" if missing[0][0] is None else "a value"
        given = f"{what} on {rows_of} of the table that it does not list{more}"
        hint = "A line that begins with nothing is for unknown values." if missing[0][0] is None else ""
        raise InvalidParameter(f"hierarchy of {name}", given=given, allowed="a line for each value", hint=hint)
    values = tuple(leaf or None for leaf in leaves)
    return Domain(name, values, False, hierarchy)


def _plain(found: Any) -> list[Any]:
    """Python values, None where unknown."""
    values: list[Any] = np.asarray(found).tolist()
    if isinstance(found, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(found).tolist()
        values = [None if hidden else value for value, hidden in zip(values, mask, strict=True)]
    return values
