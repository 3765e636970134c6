"""`tacit init`: draft a policy for a table."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import click

from tacit.cli.shared.folding import echo_folded
from tacit.cli.shared.progress import waiting
from tacit.cli.shared.questions import reading_options
from tacit.errors import PolicyError

__all__ = ["init"]


@click.command()
@click.argument("data")
@click.option("--unit", metavar="COLUMN", help='Who is protected: the column that names a person, or "row".')
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Where to write the policy.")
@reading_options
def init(data: str, unit: str | None, out: Path | None, reading: dict[str, str]) -> None:
    """Draft a policy for the table in DATA: names and types, how it is read, and what is left to say.

    \b
    tacit init visits.csv --unit user_id
    tacit init kunden.csv --decimal , --date-format %d.%m.%Y --encoding latin-1
    tacit init shop.sqlite --table orders
    tacit init "events/**/*.parquet"
    tacit init "postgresql://reader@db.example/shop#public.visits" --unit user_id

    For the owner of the data. How a text file is read is guessed where you do not say it, told, and written down: from
    then on nothing is guessed. Hints from the rows are printed here and are not written to the file; an existing policy
    is never overwritten. Exit codes: 0 drafted, 1 refused, 2 wrong usage.
    """
    from tacit.tables.engines.source import table_folder
    from tacit.tables.policy.policy import is_address
    from tacit.tables.session.draft import draft  # loads DuckDB

    if is_address(data):
        target = out or Path(f"{re.split('[.#:/]', data)[-1]}.toml")
    else:
        place = table_folder(Path(data)) or Path(data)
        target = out or place.with_name(place.name.partition(".")[0] + ".toml")
    if target.exists():
        raise PolicyError(f"{target} is there already and was not touched; --out names another file.")
    with waiting(f"reading {data}"):
        drafted = draft(data, unit, beside=target.parent, reading=reading)
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    except OSError as error:
        raise PolicyError(f"{target} cannot be written: {error.strerror}.") from None
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(drafted.text)
    what = (
        "the columns, their types and how they are read"
        if "[reading]" in drafted.text
        else "the columns and their types"
    )
    echo_folded(f"Wrote {target}: {what}; nothing else in it comes from rows.\n")
    if drafted.notes:
        click.echo("Worth a look:")
        for note in drafted.notes:
            echo_folded(f"  {note}")
        click.echo()
    click.echo("From the rows, for your eyes only:")
    for hint in drafted.hints:
        echo_folded(f"  {hint}")
    name = f'"{drafted.table}"' if not drafted.table.isidentifier() else drafted.table
    question = shlex.quote(f"SELECT COUNT(*) FROM {name}")
    click.echo("\nNext:")
    if drafted.unit is None:
        echo_folded(f'  edit {target}: replace unit = "?" by who is protected; that column gets role = "identifier"')
    echo_folded(f"  edit {target}: budget, limits, and bounds of what is to be summed or averaged")
    click.echo(f"  tacit ask {shlex.quote(str(target))} {question} --epsilon 0.5")
