"""`tacit discover`: what a policy needs to know of the data, bought privately: bounds, keys, limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from tacit.cli.shared.progress import waiting_for_another
from tacit.cli.shared.questions import WithoutPolicy, open_for_asking
from tacit.report import words
from tacit.report.numbers import number
from tacit.tables.discovery.found import FoundBounds, FoundKeys, FoundLimit
from tacit.tables.discovery.limits import FoundLimits
from tacit.tables.session.table import Table

__all__ = ["discover"]

Found = FoundBounds | FoundKeys | FoundLimit


@click.group()
def discover() -> None:
    """Bounds, keys and limits for a policy, at a stated price, recorded in the ledger like any question.

    \b
    tacit discover bounds visits.toml spend --epsilon 0.2
    tacit discover keys visits.toml city --epsilon 0.5
    tacit discover limits visits.toml city --epsilon 0.2   # what limits cut, and which lose least
    tacit discover rows visits.toml --epsilon 0.2          # rows of one unit: limits.rows
    tacit discover groups visits.toml city --epsilon 0.2   # groups of one unit: limits.groups

    Each prints the line for the policy file; nothing is written into it.
    """


def _options(command: Any) -> Any:
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print the disclosure and the line as JSON."),
        click.option("--fresh", is_flag=True, help="Pay again and draw anew; without it, asking again is free."),
        click.option("--analyst", metavar="NAME", help="Who asks, and whose account pays."),
        click.option("--rho", metavar="R", help="Price, for a ledger of ρ."),
        click.option("--epsilon", metavar="E", help="Price, for a ledger of ε."),
        click.argument("where", metavar="POLICY", type=click.Path(exists=True, dir_okay=False, path_type=Path)),
    ):
        command = option(command)
    return command


def _open(where: Path, analyst: str | None) -> Table:
    return open_for_asking(where, WithoutPolicy(None, None, None, None), analyst=analyst, ledger=None)


@discover.command()
@_options
@click.argument("column")
def bounds(
    where: Path, epsilon: str | None, rho: str | None, analyst: str | None, fresh: bool, as_json: bool, column: str
) -> None:
    """Between which steps of 1, 2, 5, 10, … the values of a column lie."""
    with _open(where, analyst) as table, waiting_for_another("discovering"):
        _tell(table.discover.bounds(column, epsilon=epsilon, rho=rho, fresh=fresh), as_json)


@discover.command()
@_options
@click.argument("column")
@click.option("--delta", metavar="D", help="The δ it may use.  [default: the policy's]")
def keys(
    where: Path,
    epsilon: str | None,
    rho: str | None,
    analyst: str | None,
    fresh: bool,
    as_json: bool,
    column: str,
    delta: str | None,
) -> None:
    """The values of a column that enough units have; it takes a δ."""
    with _open(where, analyst) as table, waiting_for_another("discovering"):
        _tell(table.discover.keys(column, epsilon=epsilon, delta=delta, rho=rho, fresh=fresh), as_json)


@discover.command()
@_options
@click.argument("by", nargs=-1)
def rows(
    where: Path,
    epsilon: str | None,
    rho: str | None,
    analyst: str | None,
    fresh: bool,
    as_json: bool,
    by: tuple[str, ...],
) -> None:
    """How many rows units have, or have in one group by these columns."""
    with _open(where, analyst) as table, waiting_for_another("discovering"):
        _tell(table.discover.rows_per_unit(*by, epsilon=epsilon, rho=rho, fresh=fresh), as_json)


@discover.command()
@_options
@click.argument("by", nargs=-1, required=True)
def groups(
    where: Path,
    epsilon: str | None,
    rho: str | None,
    analyst: str | None,
    fresh: bool,
    as_json: bool,
    by: tuple[str, ...],
) -> None:
    """In how many groups by these columns units occur."""
    with _open(where, analyst) as table, waiting_for_another("discovering"):
        _tell(table.discover.groups_per_unit(*by, epsilon=epsilon, rho=rho, fresh=fresh), as_json)


@discover.command()
@_options
@click.argument("by", nargs=-1)
@click.option("--asking", metavar="PRICE", help="The price of the questions to come.  [default: this one's]")
def limits(
    where: Path,
    epsilon: str | None,
    rho: str | None,
    analyst: str | None,
    fresh: bool,
    as_json: bool,
    by: tuple[str, ...],
    asking: str | None,
) -> None:
    """What share of rows limits would cut, and which lose least for counts by these columns.

    \b
    tacit discover limits visits.toml --epsilon 0.2
    tacit discover limits visits.toml city day --epsilon 0.2 --asking 0.5

    One payment: half of it buys how many rows units have in a group, half in how many groups they are. The error of a
    step is what noise does at most in 95% of draws, and what is cut of a group of middling size; shares are estimates.
    """
    with _open(where, analyst) as table, waiting_for_another("discovering"):
        found = table.discover.limits(*by, epsilon=epsilon, rho=rho, asking=asking, fresh=fresh)
    disclosures = [one.disclosure() for one in found.answers]
    if as_json:
        body = {
            "version": 1,
            "kind": "tacit limits",
            "toml": found.toml,
            "asking": found.asking,
            "steps": [
                {"groups": one.groups, "rows": one.rows, "cut": one.cut, "noise": one.noise, "bias": one.bias}
                for one in found.steps
            ],
            "disclosures": [one.to_dict() for one in disclosures],
        }
        click.echo(json.dumps(body, ensure_ascii=False, indent=2))
        return
    _ladder(found)
    click.echo(" · ".join(words.spent(disclosures[0])), err=True)


def _ladder(found: FoundLimits) -> None:
    from tacit.report.terminal import show_grid

    if found.best is None:
        click.echo(repr(found))
        return
    cells = []
    for one in found.steps:
        error = f"± {number(float(f'{one.error:.3g}'))}"
        best = "← least" if (one.groups, one.rows) == (found.best.groups, found.best.rows) else ""
        cells.append(
            [*([] if one.groups is None else [str(one.groups)]), str(one.rows), f"{100 * one.cut:.2g}%", error, best]
        )
    keys = [] if found.best.groups is None else ["groups"]
    show_grid([*keys, "rows", "cut", f"error at {found.asking}", ""], cells, [True] * (len(keys) + 3) + [False])
    click.echo(f"\n[limits]\n{found.toml}")


def _tell(found: Found, as_json: bool) -> None:
    disclosure = found.answer.disclosure()
    if as_json:
        body = {"version": 1, "kind": "tacit discovery", "toml": found.toml, "disclosure": disclosure.to_dict()}
        click.echo(json.dumps(body, ensure_ascii=False, indent=2))
        return
    click.echo(repr(found))
    click.echo(" · ".join(words.spent(disclosure)), err=True)
