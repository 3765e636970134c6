"""`tacit ask`: one question in SQL, one private answer."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from contextlib import nullcontext
from pathlib import Path
from shlex import quote

import click

from tacit.cli.shared.ledgers import LEDGER_OPTION, ledger_beside
from tacit.cli.shared.progress import waiting_for_another
from tacit.cli.shared.questions import (
    WithoutPolicy,
    begins_by_default,
    has_no_policy,
    open_for_asking,
    open_for_planning,
    policy_options,
    price_options,
    reading_options,
    show_answer,
    show_answers,
    targets,
)
from tacit.cli.shared.text_days import tell_text_days
from tacit.errors import InvalidParameter, MissingPackage
from tacit.ledger import ledger_at
from tacit.tables.release.answer import Answer
from tacit.tables.session.table import Table, without_explain
from tacit.tables.sql.parse import statements, states_price

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
    help="The question, in a file; several are answered as a batch, at one price.",
)
@price_options
@click.option(
    "--within", multiple=True, metavar="ERROR|NAME=ERROR", help="Find and pay the price that keeps errors this small."
)
@click.option(
    "--bias",
    is_flag=False,
    flag_value="0.1",
    metavar="[SHARE]",
    help="Spend a share of the price on how many rows the limits cut.  [0.1]",
)
@policy_options
@click.option("--analyst", metavar="NAME", help="Who asks, and whose account pays.  [default: the user's name]")
@click.option("--fresh", is_flag=True, help="Pay again and draw anew; without it, asking again is free.")
@click.option("--json", "as_json", is_flag=True, help="Print the disclosure as JSON, with a version and all numbers.")
@click.option("--csv", type=_FILE, metavar="FILE", help="Also write the answer as CSV; n_low and n_high follow n.")
@click.option("--parquet", type=_FILE, metavar="FILE", help="Also write the answer as Parquet.")
@click.option("--report", type=_FILE, metavar="FILE", help="Also write the disclosure as one HTML page.")
@click.option("--plot", type=_FILE, metavar="FILE", help="Also draw the answer: .png, .svg or .pdf.")
@LEDGER_OPTION
@click.option(
    "--server", metavar="URL", help="Ask a service: POLICY is then the table's name, the key is in TACIT_KEY."
)
@reading_options
def ask(
    where: Path,
    sql: str | None,
    sql_file: Path | None,
    epsilon: str | None,
    rho: str | None,
    delta: str | None,
    within: tuple[str, ...],
    bias: str | None,
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
    ledger: Path | str | None,
    server: str | None,
) -> None:
    """Ask in SQL; the answer is private, has error bars, and is paid for first.

    \b
    tacit ask visits.toml "SELECT city, COUNT(*) AS n FROM visits GROUP BY city" --epsilon 0.5
    tacit ask visits.csv "SELECT COUNT(*) FROM visits" --unit user_id --epsilon 1
    tacit ask visits.toml -f question.sql --epsilon 0.5     # - is standard input
    tacit ask visits.toml "SELECT COUNT(*) FROM visits" --within 20

    The second form needs no policy: --unit, --type and the like say what it would. Statements with semicolons between
    them are one batch at one price, which is cheaper than one by one. SELECT WITH DIFFERENTIAL_PRIVACY
    OPTIONS(epsilon = 0.5) says the price in the statement, as Google's SQL does. Asking the same again at the same
    price is free. EXPLAIN before the SELECT shows the plan and spends nothing, as tacit plan does.

    Exit codes: 0 answered, 1 refused (nothing was spent), 2 wrong usage, 3 the budget does not allow it (nothing was
    spent), 4 paid for but no answer could be drawn.
    """
    questions = statements(_question(sql, sql_file))
    sql, is_batch = questions[0], len(questions) > 1
    if epsilon is None and rho is None and not within and (is_batch or not states_price(without_explain(sql))):
        raise click.UsageError("Say what the answer may cost: --epsilon 0.5. `tacit plan` shows what that buys.")
    if is_batch:
        _refuse_for_a_batch(within, bias, csv, parquet, report, plot)
    _check_targets(csv, parquet, report, plot)
    without = WithoutPolicy(unit, budget, groups, rows, types, reading)
    if sql.lstrip()[:8].strip().upper() == "EXPLAIN" and not is_batch:
        with _at(server, where) if server else open_for_planning(where, without, ledger) as table:
            question = table.query(without_explain(sql))
            errors = targets(within) if within else None
            click.echo(str(question.plan(epsilon=epsilon, delta=delta, rho=rho, within=errors, bias=bias)))
        return
    begins = server is None and begins_by_default(where, without, ledger)
    opened = _at(server, where) if server else open_for_asking(where, without, analyst=analyst, ledger=ledger)
    with opened as table:
        before = table.entries
        if server is None and has_no_policy(where, without):
            tell_text_days(table, questions, types)
        with waiting_for_another("drawing the answer") if sys.stderr.isatty() else nullcontext():
            if is_batch:
                answers = list(table.batch(questions).ask(epsilon=epsilon, delta=delta, rho=rho, fresh=fresh))
            else:
                answers = [_alone(table, sql, epsilon, delta, rho, within, bias, fresh)]
        changed = sys.stderr.isatty() and table.has_changed  # who can see it here can see the files
    again, place = answers[0].receipt.entry < before, where if ledger is None else ledger
    if begins:
        book = ledger_at(ledger or ledger_beside(where)).name
        beside = where.with_suffix(".toml")
        why = f"{beside.name} was not used" if beside.is_file() else "There is no policy yet"
        said = f"{why}: {book} was opened with a total of ε 3, δ 1e-8"
        click.echo(f"{said} (--budget sets another, once).", err=True)
    if as_json and is_batch:
        click.echo(json.dumps([one.disclosure().to_dict() for one in answers], ensure_ascii=False, indent=2))
    elif as_json:
        click.echo(answers[0].to_json())
    elif server is not None:
        click.echo(repr(answers[0]))
    elif is_batch:
        show_answers(place, answers, again, analyst)
    else:
        show_answer(place, answers[0], again, analyst)
    if changed:
        say = f"tacit data {quote(str(where))} --new --reason …"
        click.echo(
            f"The data's files have changed since their version began; who owns them says so by: {say}", err=True
        )
    _write(answers[0], csv, parquet, report, plot)


def _alone(
    table: Table,
    sql: str,
    epsilon: str | None,
    delta: str | None,
    rho: str | None,
    within: tuple[str, ...],
    bias: str | None,
    fresh: bool,
) -> Answer:
    """One question, paid for at its price or at the one that keeps its errors small."""
    question = table.query(sql)
    if within:
        found = question.plan(epsilon=epsilon, rho=rho, delta=delta, within=targets(within), bias=bias)
        flavour = table.policy.terms.flavour
        click.echo(f"paying {flavour.words(flavour.price(found.cost))} for errors within {', '.join(within)}", err=True)
        return question.ask(price=found.asked, fresh=fresh, bias=bias)
    return question.ask(epsilon=epsilon, delta=delta, rho=rho, fresh=fresh, bias=bias)


def _refuse_for_a_batch(
    within: tuple[str, ...],
    bias: str | None,
    csv: Path | None,
    parquet: Path | None,
    report: Path | None,
    plot: Path | None,
) -> None:
    """What is said of one question alone."""
    said = {"--within": within or None, "--bias": bias, "--csv": csv, "--parquet": parquet, "--plot": plot}
    for option, given in {**said, "--report": report}.items():
        if given is not None:
            hint = "A batch is shown, and --json has all of it; tacit report writes its pages. Nothing was spent."
            raise InvalidParameter(option, given="with several statements", allowed="one statement", hint=hint)


def _at(server: str, where: Path) -> Table:
    """The table of that name at a service."""
    from tacit.remote.connect import connect  # needed for --server only

    return connect(server, os.environ.get("TACIT_KEY", ""), table=str(where))


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
