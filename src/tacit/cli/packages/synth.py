"""`tacit synth`: a synthetic table for a price; the model is public then, and sampling from it free."""

from __future__ import annotations

import csv
import datetime
import importlib.util
from pathlib import Path
from typing import Any

import click

from tacit.cli.shared.ledgers import LEDGER_OPTION
from tacit.cli.shared.progress import waiting, waiting_for_another
from tacit.cli.shared.questions import WithoutPolicy, open_for_asking, open_for_planning, package_price, price_options
from tacit.cli.shared.writing import check_target, written
from tacit.errors import InvalidParameter, MissingPackage

__all__ = ["synth"]

_FILE = click.Path(dir_okay=False, path_type=Path)
_POLICY = click.Path(exists=True, dir_okay=False, path_type=Path)
_METHODS = {"pairs": "Pairs", "mst": "MST", "aim": "AIM", "independent": "Independent"}
_ENDINGS = (".csv", ".parquet")


@click.command()
@click.argument("where", metavar="POLICY", type=_POLICY)
@price_options
@click.option("--sample", type=click.IntRange(0), metavar="N", help="Rows to make up.  [about as many as there are]")
@click.option("-o", "--output", type=_FILE, metavar="FILE", help="Where to write them: .csv or .parquet.")
@click.option("--method", type=click.Choice(sorted(_METHODS)), default="pairs", show_default=True, help="How.")
@click.option("--columns", metavar="A,B,...", help="What to make up.  [all columns that may be asked about]")
@click.option(
    "--rows-per-unit", type=click.IntRange(1), metavar="N", help="Rows of one person that count.  [the policy's]"
)
@click.option(
    "--discover", metavar="SHARE", help="Of the price, to find lists and bounds that the policy does not have: 0.1."
)
@click.option(
    "--days",
    metavar="COLUMN=FIRST..LAST",
    multiple=True,
    help="First and last day of a column of days, which a policy does not bound: day=2026-01-01..2026-12-31.",
)
@click.option("--seed", type=click.IntRange(0), metavar="N", help="Draws the same rows again from the same model.")
@click.option("--model", type=_FILE, metavar="FILE", help="Also write the model, for tacit.synth.load.")
@click.option("--report", type=_FILE, metavar="FILE", help="Also write the quality report, an HTML page.")
@click.option("--show-plan", is_flag=True, help="Show what would be counted and paid, and spend nothing.")
@click.option("--analyst", metavar="NAME", help="Who asks, and whose account pays.  [default: the user's name]")
@click.option("--fresh", is_flag=True, help="Pay again and fit anew; without it, the same again is free.")
@LEDGER_OPTION
def synth(
    where: Path,
    epsilon: str | None,
    rho: str | None,
    delta: str | None,
    sample: int | None,
    output: Path | None,
    method: str,
    columns: str | None,
    rows_per_unit: int | None,
    discover: str | None,
    days: tuple[str, ...],
    seed: int | None,
    model: Path | None,
    report: Path | None,
    show_plan: bool,
    analyst: str | None,
    fresh: bool,
    ledger: Path | str | None,
) -> None:
    """Make up a table that is like the private one: a file to share, whose price is paid once.

    \b
    tacit synth visits.toml --epsilon 1 --show-plan
    tacit synth visits.toml --epsilon 1 --sample 100000 -o synthetic.parquet
    tacit synth visits.toml --epsilon 1 --discover 0.1 -o synthetic.csv \\
        --days day=2026-01-01..2026-12-31 --report quality.html

    The model is on record: the same table, method, columns and price again are free, and so are further samples.
    Without --delta the policy's δ per question is used; --delta 0 promises pure ε, with more noise.

    Exit codes: 0 done, 1 refused (nothing was spent), 2 wrong usage, 3 the budget does not allow it (nothing was
    spent), 4 paid for but no model could be drawn.
    """
    if epsilon is None and rho is None:
        raise click.UsageError("Say what the table may cost: --epsilon 1. --show-plan shows what is counted for it.")
    if output is None and model is None and not show_plan:
        raise click.UsageError("Say where to write the rows: -o synthetic.parquet")
    for option, path in (("--output", output), ("--model", model), ("--report", report)):
        check_target(option, path)
    _check_ending(output)
    opened = (
        open_for_planning(where, _NOTHING, ledger)
        if show_plan
        else open_for_asking(where, _NOTHING, analyst=analyst, ledger=ledger)
    )
    with opened as table:
        made = _method(method, package_price(table.policy, epsilon, rho, delta))
        how = {"domain": _domain(table, columns, days), "rows_per_unit": rows_per_unit, "discover": discover}
        if show_plan:
            click.echo(str(made.plan(table, **how)))
            return
        before = table.remaining
        with waiting_for_another(f"counting and fitting by {method}"):
            synthesis = made.fit(table, **how, fresh=fresh)
        paid = f"spent {made.guarantee!r}" if table.remaining != before else "spent nothing: fitted before"
        click.echo(f"{synthesis!r}\n{paid}; {table.remaining!r} left", err=True)
        for note in synthesis.notes:
            click.echo(note, err=True)
    if model is not None:
        written(model, synthesis.save)
    if report is not None:
        written(report, lambda path: path.write_text(synthesis.report().to_html(), encoding="utf-8"))
    if output is not None:
        with waiting("making up rows"):
            rows = synthesis.sample(sample, seed=seed)
        written(output, rows.write)


_NOTHING = WithoutPolicy(None, None, None, None)


def _method(name: str, price: dict[str, Any]) -> Any:
    import tacit.synth

    return getattr(tacit.synth, _METHODS[name])(**price)


def _domain(table: Any, columns: str | None, days: tuple[str, ...]) -> list[Any] | None:
    """Names of columns, in place of some the days that were given; None for all that the policy describes."""
    if columns is None and not days:
        return None
    if columns is not None:
        names = [name.strip() for name in next(csv.reader([columns]))]
    else:
        names = [one.name for one in table.policy.columns.values() if one.role.value in ("private", "public")]
    between = dict(map(_between, days))
    unknown = [name for name in between if name not in names]
    if unknown:
        raise click.BadParameter(f"{unknown[0]} is not among the columns: {', '.join(names)}", param_hint="--days")
    return [between.get(name, name) for name in names]


def _between(given: str) -> tuple[str, Any]:
    """A column of days, as it was typed."""
    from tacit.synth import Dates

    name, _, ends = given.partition("=")
    first, _, last = ends.partition("..")
    try:
        return name, Dates(name, datetime.date.fromisoformat(first), datetime.date.fromisoformat(last))
    except ValueError:
        example = "day=2026-01-01..2026-12-31"
        raise click.BadParameter(f"{given!r} is not a column, its first and its last day: {example}") from None


def _check_ending(output: Path | None) -> None:
    """Whether rows can be written so, before anything is paid."""
    if output is not None and output.suffix not in _ENDINGS:
        allowed = "a file that ends in .csv or .parquet"
        raise InvalidParameter("--output", given=str(output), allowed=allowed, hint="Nothing was spent.")
    if output is not None and output.suffix == ".parquet" and importlib.util.find_spec("pyarrow") is None:
        raise MissingPackage("pyarrow", extra="frames")
