"""`tacit init`: draft a policy for a table."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import click

from tacit.errors import InvalidParameter, PolicyError

__all__ = ["init"]


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--unit", metavar="COLUMN", help='Who is protected: the column that names a person, or "row".')
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Where to write the policy.")
def init(data: Path, unit: str | None, out: Path | None) -> None:
    """Draft a policy for the table in DATA: names and types, and what is left to say.

    For the owner of the data. Hints from the rows are printed here and are not written to the file; an existing policy
    is never overwritten. Exit codes: 0 drafted, 1 refused, 2 wrong usage.
    """
    from tacit.tables.session.draft import draft  # loads DuckDB

    if data.is_dir():
        raise InvalidParameter("source", given=str(data), allowed="a file", hint="This is a folder.")
    target = out or data.with_name(data.name.partition(".")[0] + ".toml")
    if target.exists():
        raise PolicyError(f"{target} is there already and was not touched; --out names another file.")
    drafted = draft(data, unit, beside=target.parent)
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    except OSError as error:
        raise PolicyError(f"{target} cannot be written: {error.strerror}.") from None
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(drafted.text)
    click.echo(f"Wrote {target}: the columns and their types; nothing else in it comes from rows.\n")
    click.echo("From the rows, for your eyes only:")
    for hint in drafted.hints:
        click.echo(f"  {hint}")
    table = data.name.partition(".")[0]
    name = f'"{table}"' if not table.isidentifier() else table
    question = shlex.quote(f"SELECT COUNT(*) FROM {name}")
    click.echo("\nNext:")
    if drafted.unit is None:
        click.echo(f'  edit {target}: replace unit = "?" by who is protected; that column gets role = "identifier"')
    click.echo(f"  edit {target}: budget, limits, and bounds of what is to be summed or averaged")
    click.echo(f"  tacit ask {shlex.quote(str(target))} {question} --epsilon 0.5")
