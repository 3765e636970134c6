"""`tacit check`: whether the data are what the policy says, for the owner's eyes."""

from __future__ import annotations

from pathlib import Path

import click

from tacit.cli.shared.progress import waiting
from tacit.report.numbers import printable

__all__ = ["check"]


@click.command()
@click.argument("policy", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.pass_context
def check(ctx: click.Context, policy: Path) -> None:
    """How the data fit the policy: cells that are empty or cannot be read, values beyond bounds or keys, names twice.

    For the owner: the numbers are exact, and are for your screen alone. A cell that cannot be read as its column's type
    is null in every answer, without a word; here is the word.

    Exit codes: 0 all fits, 1 something to look at or the policy is refused, 2 wrong usage.
    """
    from tacit.report.terminal import show_grid
    from tacit.tables.session.quality import look

    with waiting(f"reading the data of {policy}"):
        found = look(policy)
    click.echo(f"{policy}: {found.rows:,} row{'' if found.rows == 1 else 's'}; exact numbers, for your eyes only")
    headings = ["column", "type", "empty", "unreadable", "outside"]
    rows = [
        [
            printable(name),
            str(kind),
            f"{one.empty:,}",
            f"{one.unreadable:,}",
            "" if one.outside is None else f"{one.outside:,}",
        ]
        for name, kind, one in found.columns
    ]
    show_grid(headings, rows, [False, False, True, True, True])
    for note in found.notes:
        click.echo(f" {printable(note)}")
    ctx.exit(1 if found.notes else 0)
