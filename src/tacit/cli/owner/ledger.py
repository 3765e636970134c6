"""`tacit budget`, `log`, `verify`: what a ledger says, and whether it can be believed; `tacit unlock`, an owner's act.

Exit codes: 0 all is well, 1 a problem was found (the message says which), 2 wrong usage. Only `unlock` changes
anything.
"""

from __future__ import annotations

import getpass
import json
import textwrap
import warnings
from collections.abc import Callable
from datetime import UTC, datetime, time
from pathlib import Path

import click

from tacit.cli.shared.folding import screen_width
from tacit.cli.shared.ledgers import LEDGER, ledger_of
from tacit.errors import InvalidParameter
from tacit.ledger.amounts import readable
from tacit.ledger.chain import stamp
from tacit.ledger.log import LogRow, log_rows
from tacit.ledger.names import analyst_name
from tacit.ledger.verification import head_digits
from tacit.privacy.prices import price as exactly
from tacit.report.numbers import printable
from tacit.report.terminal import Screen

__all__ = ["budget", "log", "unlock", "verify"]

_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead; it carries a version.")
_FOR_A_TABLE = 120
"""Columns of a screen from which on entries are lines of a table."""
_MOST_ROWS = 20
_WIDE = 1_000_000


def _moment(within_day: time) -> Callable[[click.Context, click.Parameter, str | None], str | None]:
    """Reads a date or a time, UTC unless it says otherwise; a date alone means this time of that day."""

    def read(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
        if value is None:
            return None
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            raise click.BadParameter(f"{value!r} is not a time such as 2026-01-31 or 2026-01-31T12:00+01:00.") from None
        if len(value) <= len("2026-01-31"):
            moment = datetime.combine(moment.date(), within_day)
        return stamp(moment if moment.tzinfo else moment.replace(tzinfo=UTC))

    return read


def _checked(read: Callable[[str], str]) -> Callable[[click.Context, click.Parameter, str | None], str | None]:
    """Makes a value that the ledger would refuse a wrong usage."""

    def check(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
        try:
            return None if value is None else read(value)
        except InvalidParameter as error:
            raise click.BadParameter(f"{value!r} is not {error.allowed}.") from None

    return check


@click.command()
@LEDGER
@_JSON
def budget(file: Path | str, as_json: bool) -> None:
    """What a ledger has charged, to whom, and what is left; a policy or data stand for their ledger.

    Exit codes: 0 done, 1 the ledger cannot be read, 2 wrong usage.
    """
    with ledger_of(file).open() as ledger:
        state = ledger.budget()
    if as_json:
        click.echo(json.dumps(state.to_dict(), ensure_ascii=False))
        return
    terms, words = state.terms, state.terms.flavour.words
    epsilon, delta = terms.meaning(terms.cap)
    rows = [["everybody", words(state.head.charged), words(terms.cap), words(state.left)]]
    shown = sorted(state.accounts, key=lambda one: -one.charged.main)[:_MOST_ROWS]
    rows += [[one.analyst, words(one.charged), words(one.cap) if one.cap else "–", words(one.left)] for one in shown]
    click.echo(f"{ledger.name}: the ledger of {printable(state.head.source)}")
    _table(["", "charged so far", "cap", "left"], rows)
    if len(state.accounts) > len(shown):
        click.echo(f"and {len(state.accounts) - len(shown)} more analysts; --json lists all.")
    called = file if isinstance(file, str) else file.name
    for one in (one for one in state.accounts if one.strikes):
        lost = f"{one.analyst} has lost {one.strikes} answer{'' if one.strikes == 1 else 's'} since the last unlock"
        how = f'; the account is locked: tacit unlock {called} {one.analyst} --reason "…"' if one.locked else ""
        click.echo(printable(f"{lost}; {terms.strikes} lock an account{how}"))
    largest = "" if terms.largest is None else f", and up to {words(terms.largest)}"
    click.echo(f"One payment costs {terms.flavour.symbol} {readable(terms.smallest)} at least{largest}.")
    if (readings := state.readings) is not None:
        told = {name: readable(exactly(value)) for name, value in readings.items()}
        click.echo(
            f"Of the δ, {told['set_aside']} is set aside, so that prices may be added up in two ways: ε, of which "
            f"{told['left_by_sum']} is left, or ε²/2, of which {told['squares']} of {told['squares_cap']} is used and "
            f"ε {told['left_by_squares']} would fit. A question is answered if either has room."
        )
    click.echo(
        f"The promise is the cap: ε {epsilon:.6g} at δ {float(delta):g}, for {terms.neighbours.value} neighbours."
    )
    click.echo(f"{state.head.number + 1} entries, head {state.head.hash}")


@click.command()
@LEDGER
@click.option("--analyst", callback=_checked(analyst_name), help="Only what this analyst paid for.")
@click.option(
    "--since", metavar="TIME", callback=_moment(time.min), help="Only from this time on (UTC unless it says otherwise)."
)
@click.option(
    "--until", metavar="TIME", callback=_moment(time.max), help="Only up to this time; a date includes that day."
)
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Draw spending over time to this file.")
@_JSON
def log(
    file: Path | str, analyst: str | None, since: str | None, until: str | None, plot: Path | None, as_json: bool
) -> None:
    """Every payment and every owner's act in a ledger, oldest first; a policy or data stand for their ledger.

    Exit codes: 0 done, 1 the ledger cannot be read, 2 wrong usage.
    """
    with ledger_of(file).open() as ledger:
        rows = [
            row
            for row in log_rows(list(ledger.history()))
            if (analyst is None or row.analyst == analyst)
            and (since is None or row.entry.time >= since)
            and (until is None or row.entry.time <= until)
        ]
    if plot is not None:
        _plot(plot, ledger.name, rows)
    if as_json:
        click.echo(json.dumps({"version": 2, "entries": [row.to_dict() for row in rows]}, ensure_ascii=False))
        return
    if not rows:
        click.echo("No entry was selected.")
        return
    width = screen_width()
    if width is None or width >= _FOR_A_TABLE:
        _table(["#", "time", "who", "price", "charged so far", "state", "question"], [_cells(row) for row in rows])
        return
    for row in rows:  # two lines to an entry: what was asked has the whole width
        number, moment, who, price, charged, state, asked = map(printable, _cells(row))
        paid = [who, price, f"so far {charged}" if price else "", state]
        click.echo(f"{number:<4}{moment[:16].replace('T', ' ')}  {'  '.join(one for one in paid if one)}")
        click.echo(textwrap.fill(asked, width, initial_indent=" " * 4, subsequent_indent=" " * 4) or "    –")


@click.command()
@LEDGER
@click.option(
    "--head",
    metavar="H",
    callback=_checked(head_digits),
    help="The head on any receipt: also finds a tail cut off or rolled back.",
)
@_JSON
@click.pass_context
def verify(ctx: click.Context, file: Path | str, head: str | None, as_json: bool) -> None:
    """Recompute the hash chain, every total and every stored answer of a ledger, or of that of a policy or data.

    Exit codes: 0 sound (the tail only if --head was given), 1 a problem was found, 2 wrong usage.
    """
    with ledger_of(file) as ledger:
        found = ledger.verify(head)
    click.echo(json.dumps(found.to_dict(), ensure_ascii=False) if as_json else str(found))
    ctx.exit(0 if found.sound else 1)


@click.command()
@LEDGER
@click.argument("analyst", callback=_checked(analyst_name))
@click.option("--reason", required=True, metavar="TEXT", help="Why; it stays on record.")
@click.option("--owner", metavar="NAME", help="Who unlocks it.  [default: the user's name]")
def unlock(file: Path | str, analyst: str, reason: str, owner: str | None) -> None:
    """Let an analyst pay again whose answers were lost or interrupted too often; on record in the ledger.

    Look first at what was asked (tacit log --analyst NAME): questions that fail on purpose tell something each time.

    Exit codes: 0 unlocked, 1 there is nothing to unlock or the ledger cannot be written, 2 wrong usage.
    """
    with ledger_of(file).open() as ledger:
        receipt = ledger.unlock(analyst, owner=getpass.getuser() if owner is None else owner, reason=reason)
    click.echo(f"{printable(analyst)} can pay again; entry {receipt.entry} says so, head {receipt.head}")


def _cells(row: LogRow) -> list[str]:
    words = row.terms.flavour.words
    text = row.entry.values.get("question") or row.entry.values.get("reason") or ""
    if row.entry.kind == "unlocked":
        text = f"{row.entry.values['analyst']}: {text}"
    elif row.entry.kind == "data":
        text = f"version {row.terms.data} of the data: {text}"
    elif row.price is None:
        text = f"{text} {row.terms}".strip()
    return [
        "" if row.number is None else str(row.number),
        row.entry.time[:19] + "Z",
        row.analyst,
        "" if row.price is None else words(row.price),
        words(row.charged),
        f"{row.state}, clock behind" if "clock" in row.entry.values else row.state,
        text,
    ]


def _plot(target: Path, ledger: str, rows: list[LogRow]) -> None:
    from tacit.plots.spending import spending_over_time

    paid = [row for row in rows if row.price is not None]
    if not paid:
        raise click.ClickException("There is nothing to draw: no payment was selected.")
    caps = ([datetime.fromisoformat(row.entry.time) for row in rows], [float(row.terms.cap.main) for row in rows])
    sums: dict[str, tuple[list[datetime], list[float]]] = {"all": ([], [])}
    for row in paid:
        moment = datetime.fromisoformat(row.entry.time)
        for name, amount in (("all", row.charged), (f"by {row.analyst}", row.charged_to_analyst)):
            times, values = sums.setdefault(name, ([], []))
            times.append(moment)
            means = name == "all" and row.squares is not None  # what counts against the cap, where squares do too
            values.append(row.terms.meaning(amount, row.squares)[0] if means else float(amount.main))
    figure = spending_over_time(sums, cap=caps, symbol=rows[-1].terms.flavour.symbol, title=f"{ledger}: charged so far")
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph", UserWarning)  # a name in a script that the font does not have
            figure.savefig(target, dpi=150)
    except OSError as error:
        raise click.ClickException(f"{target} cannot be written: {error.strerror}.") from None
    except ValueError:
        raise click.ClickException(f"{target}: no such kind of picture. Name it .png, .svg or .pdf.") from None


def _table(headings: list[str], rows: list[list[str]]) -> None:
    cells = [[printable(cell) for cell in row] for row in rows]
    Screen().grid(headings, cells, whole=("#", "time"), margin=0, gap=2)
