"""`tacit checklist`: the twelve steps from data to a release."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import click

from tacit.advice.steps import INDENT
from tacit.advice.steps import checklist as listed
from tacit.cli.shared.folding import folded, screen_width

__all__ = ["checklist"]

JSON_VERSION = 1


@click.command()
@click.argument("policy", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead; it carries a version.")
@click.pass_context
def checklist(ctx: click.Context, policy: Path, as_json: bool) -> None:
    """Twelve steps from data to a release: done, open, or yours to see to; each with the command that serves it.

    From the policy, its ledger and the permissions of files; no row is read. The guide walks through all twelve:
    docs/guides/twelve_steps.md.

    Exit codes: 0 nothing is open, 1 something is open or there is no such policy, 2 wrong usage.
    """
    made = listed(policy)
    if as_json:
        steps = [{name: getattr(step, name) for name in step.__slots__} for step in made.steps]
        click.echo(json.dumps({"version": JSON_VERSION, "kind": "tacit checklist", "steps": steps}, indent=2))
    else:
        width = screen_width()
        click.echo(str(made) if width is None else "\n".join(_fitted(line, width) for line in str(made).split("\n")))
    ctx.exit(1 if made.open else 0)


def _fitted(line: str, width: int) -> str:
    """What a step shows goes on below itself; a command stays one that can be typed."""
    if line.startswith(INDENT) or len(line) <= width:
        return folded(line, width)
    return textwrap.fill(line, width, subsequent_indent=INDENT, break_long_words=False, break_on_hyphens=False)
