"""`tacit local simulate`: what the local protocols come to on made-up people, before anybody is asked."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tacit.errors import InvalidParameter
from tacit.local.advice import best_frequencies
from tacit.local.simulation import KINDS, Outcome, errors_of_models, simulate
from tacit.report.terminal import Screen

__all__ = ["local"]

JSON_VERSION = 1


@click.group()
def local() -> None:
    """Protocols for people who do not trust the collector."""


@local.command("simulate")
@click.option("--categories", default=100, show_default=True, metavar="K", help="How many answers there are.")
@click.option("--people", default=100_000, show_default=True, metavar="N", help="How many report.")
@click.option("--epsilon", default="1", show_default=True, metavar="E", help="ε of each report.")
@click.option("--delta", default=1e-6, show_default=True, metavar="D", help="δ of the shuffled and the central count.")
@click.option("--runs", default=5, show_default=True, metavar="R", help="How often everything is repeated.")
@click.option("--protocol", "chosen", multiple=True, type=click.Choice(sorted(KINDS)), help="Only this one; repeat.")
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), help="Picture of the errors, a PNG or SVG.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def simulate_command(
    categories: int,
    people: int,
    epsilon: str,
    delta: float,
    runs: int,
    chosen: tuple[str, ...],
    plot: Path | None,
    as_json: bool,
) -> None:
    """Error, bytes and time of each protocol on people it makes up; and what a shuffler or a curator would give.

    \b
    tacit local simulate --categories 1000 --people 1000000 --epsilon 1
    tacit local simulate --protocol hashing --protocol subset --plot errors.svg

    Categories are held by shares that fall like 1, 1/2, 1/3, … Times are CPU seconds of this machine.
    """
    for name, value, least in (("--categories", categories, 2), ("--people", people, 1), ("--runs", runs, 1)):
        if value < least:
            raise InvalidParameter(name, given=value, allowed=f"a whole number of at least {least}")
    names = list(chosen) or list(KINDS)
    found = [simulate(name, categories=categories, people=people, epsilon=epsilon, runs=runs) for name in names]
    models = _models(people, epsilon, delta)
    reason = best_frequencies(categories=range(categories), n=people, epsilon=epsilon).reason
    if as_json:
        rows = [{field: getattr(one, field) for field in Outcome.__slots__} for one in found]
        click.echo(
            json.dumps({"version": JSON_VERSION, "protocols": rows, "count": models, "advice": reason}, indent=2)
        )
    else:
        _table(found, models, people, epsilon)
        click.echo(f"Best: {reason}")
    if plot is not None:
        from tacit.plots.models import protocol_errors

        title = f"{people:,} people, {categories} categories, ε = {epsilon}"
        errors, expected = [one.error for one in found], [one.expected for one in found]
        protocol_errors(names, errors, expected, title=title).savefig(plot)
        click.echo(f"wrote {plot}", err=True)


def _models(people: int, epsilon: str, delta: float) -> dict[str, float] | None:
    """The error of one count in the three models; None where so few people cannot be hidden by a shuffler."""
    try:
        return dict(
            zip(("central", "shuffle", "local"), errors_of_models([(people, float(epsilon))], delta)[0], strict=True)
        )
    except InvalidParameter as refused:
        if refused.name != "n":
            raise
        return None


def _table(found: list[Outcome], models: dict[str, float] | None, people: int, epsilon: str) -> None:
    screen, rows = Screen(), []
    for one in found:
        times = f"{one.device * 1e9:.3g} ns", f"{one.server * 1e9:.3g} ns"
        rows.append([one.name, f"{one.error:.3g}", f"{one.expected:.3g}", str(one.bytes), *times])
    screen.line(f"{people:,} people, ε = {epsilon}: error of a share")
    screen.grid(["protocol", "measured", "theory", "bytes", "device", "server"], rows, right=[False] + [True] * 5)
    if models is not None:
        told = ", ".join(f"{name} ±{error:.3g}" for name, error in models.items())
        screen.line(f"One count of people instead: {told} (one standard error).")
