"""`tacit describe`: what an analyst may ask, from the policy alone."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

import click

from tacit.privacy.prices import text
from tacit.report.numbers import printable, shortened
from tacit.tables.policy.file import read
from tacit.tables.policy.policy import ColumnPolicy, Policy, Role
from tacit.tables.query.to_sql import name_to_sql

__all__ = ["describe"]


@click.command()
@click.argument("policy", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def describe(policy: Path) -> None:
    """What may be asked: tables, columns with types, roles, bounds and keys, limits, budget, questions to begin with.

    From the policy alone; neither data nor ledger are opened. Exit codes: 0 done, 1 refused, 2 wrong usage.
    """
    from tacit.report.terminal import show_grid

    read_policy = read(policy)
    who = "each row by itself" if read_policy.unit.is_row else f"one {read_policy.unit.column}: all rows that share it"
    click.echo(f"table {printable(name_to_sql(read_policy.table))}; protected is {printable(who)}")
    show_grid(["column", "type", "may be", "values"], _rows(read_policy.columns.values()), [False] * 4)
    for other in read_policy.others.values():
        kind = "public" if other.is_public else f"private, unit {other.unit}"
        click.echo(f"\ntable {printable(name_to_sql(other.name))} ({printable(kind)}), to be joined")
        show_grid(["column", "type", "may be", "values"], _rows(other.columns.values()), [False] * 4)
    if not read_policy.unit.is_row:
        limits = read_policy.limits
        click.echo(f"\nof one unit count: {limits.groups} groups at most, {limits.rows} rows in each")
    click.echo(f"budget: {read_policy.terms}; δ of a question {text(read_policy.delta)}")
    click.echo("\nfor example:")
    flavour = read_policy.terms.flavour.name
    price = "--epsilon 0.5" if flavour == "epsilon" else "--rho 0.01"
    for sql in _examples(read_policy):
        click.echo(f"  tacit ask {quote(str(policy))} {quote(sql)} {price}")
    click.echo(f"  tacit plan {quote(str(policy))} {quote(_examples(read_policy)[0])}    # free: what it would cost")


def _rows(columns: object) -> list[list[str]]:
    listed = [one for one in columns if isinstance(one, ColumnPolicy)]  # type: ignore[attr-defined]
    return [
        [printable(name_to_sql(one.name)), str(one.kind), _may_be(one), shortened(printable(_values(one)), 50)]
        for one in listed
        if one.role is not Role.FORBIDDEN
    ]


def _may_be(column: ColumnPolicy) -> str:
    if column.role is Role.IDENTIFIER:
        return "counted, if it is the unit"
    added = column.bounds is not None or column.group_bounds is not None
    return "filtered, grouped by, added" if added else "filtered, grouped by, counted"


def _values(column: ColumnPolicy) -> str:
    parts = []
    if column.bounds is not None:
        parts.append(f"{text(column.bounds[0])} to {text(column.bounds[1])}")
    if column.group_bounds is not None:
        parts.append(f"{text(column.group_bounds[0])} to {text(column.group_bounds[1])} per unit and group")
    if column.keys is not None:
        shown = ["null" if key is None else str(key) for key in column.keys[:6]]
        parts.append(", ".join(shown) + (f", … ({len(column.keys)})" if len(column.keys) > 6 else ""))
    return "; ".join(parts)


def _examples(policy: Policy) -> list[str]:
    """Questions that the policy allows: a count, one by a key, an average."""
    table = name_to_sql(policy.table)
    made = [f"SELECT COUNT(*) AS n FROM {table}"]
    asked = [one for one in policy.columns.values() if one.role in (Role.PUBLIC, Role.PRIVATE)]
    public = [one for one in asked if one.role is Role.PUBLIC]
    by = next(iter(public or ([one for one in asked if one.kind.value == "text"] if policy.delta else [])), None)
    if by is not None:
        key = name_to_sql(by.name)
        made.append(f"SELECT {key}, COUNT(*) AS n FROM {table} GROUP BY {key}")
    added = next((one for one in asked if one.bounds is not None), None)
    if added is not None:
        made.append(f"SELECT AVG({name_to_sql(added.name)}) AS average FROM {table}")
    return made
