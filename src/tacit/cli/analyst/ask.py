"""`tacit ask`: one question in SQL, one private answer."""

from __future__ import annotations

import importlib.util
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from shlex import quote

import click

from tacit.cli.shared.ledgers import ledger_beside
from tacit.cli.shared.progress import waiting_for_another
from tacit.cli.shared.questions import (
    WithoutPolicy,
    begins_by_default,
    open_for_asking,
    open_for_planning,
    policy_options,
    price_options,
)
from tacit.cli.shared.reading import reading_options
from tacit.errors import InvalidParameter, MissingPackage
from tacit.report import words
from tacit.report.disclosure import Disclosure
from tacit.tables.release.answer import Answer
from tacit.tables.session.table import without_explain
from tacit.tables.sql.parse import states_price

__all__ = ["ask"]

_PICTURES = (".png", ".svg", ".pdf")
_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("where", metavar="POLICY|DATA", type=click.Path(path_type=Path))
@click.argument("sql", required=False)
@click.option(
    "-f",
    "--file",
    "sql_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The question, in a file.",
)
@price_options
@policy_options
@click.option("--analyst", metavar="NAME", help="Who asks, and whose account pays.  [default: the user's name]")
@click.option("--fresh", is_flag=True, help="Pay again and draw anew; without it, asking again is free.")
@click.option("--json", "as_json", is_flag=True, help="Print the disclosure as JSON, with a version and all numbers.")
@click.option("--csv", type=_FILE, metavar="FILE", help="Also write the answer as CSV; n_low and n_high follow n.")
@click.option("--parquet", type=_FILE, metavar="FILE", help="Also write the answer as Parquet.")
@click.option("--report", type=_FILE, metavar="FILE", help="Also write the disclosure as one HTML page.")
@click.option("--plot", type=_FILE, metavar="FILE", help="Also draw the answer: .png, .svg or .pdf.")
@click.option("--ledger", type=_FILE, metavar="FILE", help="The ledger.  [default: beside the data]")
@reading_options
def ask(
    where: Path,
    sql: str | None,
    sql_file: Path | None,
    epsilon: str | None,
    rho: str | None,
    delta: str | None,
    unit: str | None,
    budget: str | None,
    groups: int | None,
    rows: int | None,
    types: tuple[str, ...],
    reading: dict[str, str],
    analyst: str | None,
    fresh: bool,
    as_json: bool,
    csv: Path | None,
    parquet: Path | None,
    report: Path | None,
    plot: Path | None,
    ledger: Path | None,
) -> None:
    """Ask one question in SQL; the answer is private, has error bars, and is paid for first.

    \b
    tacit ask visits.toml "SELECT city, COUNT(*) AS n FROM visits GROUP BY city" --epsilon 0.5
    tacit ask visits.csv "SELECT COUNT(*) FROM visits" --unit user_id --epsilon 1
    tacit ask visits.toml -f question.sql --epsilon 0.5        # or - for standard input

    The second form needs no policy: --unit, --type and the like say what it would. SELECT WITH DIFFERENTIAL_PRIVACY
    OPTIONS(epsilon = 0.5) says the price in the statement, as Google's SQL does. Asking the same again at the same
    price is free. EXPLAIN before the SELECT shows the plan and spends nothing, as tacit plan does.

    Exit codes: 0 answered, 1 refused (nothing was spent), 2 wrong usage, 3 the budget does not allow it (nothing was
    spent), 4 paid for but no answer could be drawn.
    """
    sql = _question(sql, sql_file)
    if epsilon is None and rho is None and not states_price(without_explain(sql)):
        raise click.UsageError("Say what the answer may cost: --epsilon 0.5. `tacit plan` shows what that buys.")
    _check_targets(csv, parquet, report, plot)
    without = WithoutPolicy(unit, budget, groups, rows, types, reading)
    if sql.lstrip()[:8].strip().upper() == "EXPLAIN":
        with open_for_planning(where, without, ledger) as table:
            click.echo(str(table.explain(sql, epsilon=epsilon, delta=delta, rho=rho)))
        return
    begins = begins_by_default(where, without, ledger)
    with open_for_asking(where, without, analyst=analyst, ledger=ledger) as table:
        before = table.entries
        question = table.query(sql)
        with waiting_for_another("drawing the answer") if sys.stderr.isatty() else nullcontext():
            answer = question.ask(epsilon=epsilon, delta=delta, rho=rho, fresh=fresh)
        changed = sys.stderr.isatty() and table.has_changed  # who can see it here can see the files
    again = answer.receipt.number < before
    if begins:
        book = (ledger or ledger_beside(where)).name
        said = f"There is no policy yet: {book} was opened with a total of ε 3, δ 1e-8"
        click.echo(f"{said} (--budget sets another, once).", err=True)
    if as_json:
        click.echo(answer.to_json())
    else:
        _show(where if ledger is None else ledger, answer, again, analyst)
    if changed:
        say = f"tacit data {quote(str(where))} --new --reason …"
        click.echo(
            f"The data's files have changed since their version began; who owns them says so by: {say}", err=True
        )
    _write(answer, csv, parquet, report, plot)


def _question(typed: str | None, file: Path | None) -> str:
    """The question as typed, in a file, or, for -, on standard input."""
    if (typed is None) == (file is None):
        raise click.UsageError('Say one question: "SELECT …", or -f FILE, or - for standard input.')
    if file is not None:
        try:
            return file.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError):
            raise InvalidParameter("-f", given=str(file), allowed="a readable file of UTF-8 text") from None
    assert typed is not None
    return sys.stdin.read() if typed == "-" else typed


def _show(where: Path, answer: Answer, again: bool, analyst: str | None) -> None:
    from tacit.report.terminal import show  # rich: needed for tables only

    disclosure = answer.disclosure()
    asked_by = "" if analyst is None else f" --analyst {quote(analyst)}"
    parts = [
        *words.spent(_as_of_now(answer), again=again),
        f"tacit report {quote(str(where))} {disclosure.entry}{asked_by}",
    ]
    notes = words.notes(disclosure, answer.receipt.terms.data)
    show(
        disclosure.columns,
        words.footnote(disclosure),
        parts,
        everything="--csv FILE or --json has all",
        notes=notes,
    )


def _as_of_now(answer: Answer) -> Disclosure:
    """The disclosure with what has been charged by now: an answer that was stored earlier knows less."""
    main, delta = answer.receipt.charged_so_far.texts()
    most, leak = answer.receipt.terms.cap.texts()
    disclosure = answer.disclosure()
    charged = replace(disclosure.charged, main=main, delta=delta)
    return replace(disclosure, charged=charged, cap=replace(disclosure.cap, main=most, delta=leak))


def _check_targets(csv: Path | None, parquet: Path | None, report: Path | None, plot: Path | None) -> None:
    """Whether everything can be written, before anything is paid."""
    for option, path in (("--csv", csv), ("--parquet", parquet), ("--report", report), ("--plot", plot)):
        if path is not None and not path.absolute().parent.is_dir():
            folder = f"a file in a folder that exists, and {path.absolute().parent} does not"
            raise InvalidParameter(option, given=str(path), allowed=folder, hint="Nothing was spent.")
    if plot is not None and plot.suffix not in _PICTURES:
        allowed = f"a picture: {', '.join(_PICTURES)}"
        raise InvalidParameter("--plot", given=str(plot), allowed=allowed, hint="Nothing was spent.")
    if parquet is not None and importlib.util.find_spec("pyarrow") is None:
        raise MissingPackage("pyarrow", extra="frames")
    if plot is not None and importlib.util.find_spec("matplotlib") is None:
        raise MissingPackage("matplotlib", extra="plots")


def _write(answer: Answer, csv: Path | None, parquet: Path | None, report: Path | None, plot: Path | None) -> None:
    writers = ((csv, answer.to_csv), (parquet, answer.to_parquet), (report, answer.report), (plot, answer.plot))
    for path, write in writers:
        if path is None:
            continue
        try:
            write(path)
        except OSError as error:
            hint = f"{error.strerror}. The answer is on record: asking again is free."
            raise click.FileError(str(path), hint) from None
        click.echo(f"wrote {path}", err=True)
