"""`tacit anonymity attack`: the stories, and the same question asked through Tacit."""

from __future__ import annotations

import csv
import json
import math
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from tacit.anonymity.attacks import ATTACKS, Closing, Story
from tacit.errors import InvalidParameter
from tacit.ledger import InMemory
from tacit.privacy import PureDP
from tacit.tables.session.open import open as open_table
from tacit.tables.session.table import Table

__all__ = ["answers", "attack", "open_world"]

_TYPES = {"age": "integer", "postcode": "integer"}
_END = (
    "Tables like these make no guarantee. An answer through Tacit does, whatever the attacker knows: tacit ask; "
    "what was paid for several answers adds up."
)


@click.command()
@click.argument("names", nargs=-1, metavar=f"[{'|'.join(ATTACKS)}]...", type=click.Choice(list(ATTACKS)))
@click.option("--epsilon", default="0.5", show_default=True, metavar="E", help="Price of the question through Tacit.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON (version 1).")
def attack(names: tuple[str, ...], epsilon: str, as_json: bool) -> None:
    """Run attacks on tables that were "anonymised", on people who do not exist; without a name, all of them.

    Each ends with the attacker's question asked through Tacit, and what it is worth then.
    """
    price = PureDP(epsilon)
    if price.eps <= 0:
        raise InvalidParameter("--epsilon", given=epsilon, allowed="a number above 0")
    told = [_told(ATTACKS[name](), price) for name in names or ATTACKS]
    if as_json:
        click.echo(json.dumps({"version": 1, "attacks": told, "note": _END}, indent=1))
        return
    for one in told:
        click.echo("\n".join(_words(one)) + "\n")
    click.echo(_END)


def open_world(closing: Closing, world: int, folder: Path, budget: PureDP) -> Table:
    """The table of the story, to be asked through Tacit; its ledger forgets."""
    path = folder / f"{closing.table}{world}" / f"{closing.table}.csv"
    path.parent.mkdir()
    columns = closing.worlds[world]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    types = {name: kind for name, kind in _TYPES.items() if name in columns}
    return open_table(path, unit=closing.unit, budget=budget, types=types, ledger=InMemory())


def answers(table: Table, closing: Closing, price: Fraction) -> list[Any]:
    """The answers to the statements of the story, which share the price equally."""
    share = price / len(closing.statements)
    return [table.sql(statement, epsilon=share, fresh=True) for statement in closing.statements]


def _told(story: Story, price: PureDP) -> dict[str, Any]:
    closing, epsilon = story.closing, Fraction(price.eps)
    with tempfile.TemporaryDirectory() as folder, open_world(closing, 0, Path(folder), price) as table:
        given = answers(table, closing, epsilon)
    cells = [answer[answer.columns[0]] for answer in given]
    return {
        "name": story.name,
        "title": story.title,
        "told": list(story.told),
        "targets": story.targets,
        "learned": story.learned,
        "rate": story.rate,
        "epsilon": float(epsilon),
        "questions": [
            {"sql": sql, "answer": cell.value, "low": cell.low, "high": cell.high}
            for sql, cell in zip(closing.statements, cells, strict=True)
        ],
        "guess_right_at_most": math.ceil(1e9 / (1 + math.exp(-float(epsilon)))) / 1e9,  # rounded up: it is a bound
    }


def _words(told: dict[str, Any]) -> list[str]:
    lines = [told["title"], *(f"  {line}" for line in told["told"])]
    lines.append(f"  The attack learned the truth about {100 * told['rate']:.1f}% of {told['targets']:,} people.")
    lines.append(f"Through Tacit, at ε {told['epsilon']:g} for all of it:")
    for question in told["questions"]:
        low, high = question["low"], question["high"]
        lines += [f"  {question['sql']}", f"    {question['answer']}, 95% interval {low:g} to {high:g}"]
    most = math.ceil(1000 * told["guess_right_at_most"]) / 10
    lines.append(
        "  Whoever knows everybody else's rows, and takes it for as likely that the victim is counted as not, "
        f"guesses right at most {most:.1f}% of the time from this; a coin does 50%."
    )
    return lines
