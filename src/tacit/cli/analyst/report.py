"""`tacit report`: what must be said about an answer that was given, from the record."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

import click

from tacit.cli.shared.ledgers import Place, ledger_of
from tacit.errors import LedgerError
from tacit.ledger.names import analyst_name
from tacit.report.disclosure import Disclosure
from tacit.tables.release.batch_answers import Answers

__all__ = ["report"]

_ZIP = b"PK"
"""How models begin: a zip of JSON and arrays."""


@click.command()
@click.argument("where", metavar="POLICY|DATA|LEDGER", type=Place())
@click.argument("number", type=int)
@click.option("--json", "as_json", is_flag=True, help="Print the disclosure as JSON, with a version and all numbers.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write an HTML page.")
@click.option("--analyst", metavar="NAME", help="Only if the answer was given to this analyst.")
def report(where: Path | str, number: int, as_json: bool, out: Path | None, analyst: str | None) -> None:
    """The disclosure of answer NUMBER: unit, price, mechanisms, limits, intervals, and what is not covered. Free.

    \b
    tacit report visits.toml 4                      # the answer as it was given
    tacit report visits.toml 4 --out answer.html    # one page that needs nothing else
    tacit report visits.ledger 4 --json

    The answers of a batch are told one after the other, as pages answer-0.html, answer-1.html, …

    The number stands under each answer, and in `tacit log`. Neither the data nor the budget is touched.

    Exit codes: 0 done, 1 there is no such answer, 2 wrong usage, 4 it was paid for but no answer was stored.
    """
    with ledger_of(where).open() as ledger:
        claim = ledger.recall(number)
    if analyst is not None and claim.receipt.analyst != analyst_name(analyst):
        raise LedgerError(f"Answer #{number} was not given to {analyst}. `tacit log --analyst` lists theirs.")
    assert claim.answer is not None  # recall gives stored answers only
    if claim.answer.startswith(_ZIP):
        raise LedgerError(
            f"Answer #{number} is a model, which tells its disclosure itself: the same `tacit learn` or `tacit synth` "
            "again writes it, free."
        )
    disclosures = [answer.disclosure() for answer in Answers.read(claim.answer, claim.receipt)]
    for at, disclosure in enumerate(disclosures):
        page = out if out is None or len(disclosures) == 1 else out.with_stem(f"{out.stem}-{at}")
        _show(disclosure, where, number, page, as_json, claim.receipt.terms.data)


def _show(
    disclosure: Disclosure, where: Path | str, number: int, out: Path | None, as_json: bool, current: int
) -> None:
    if out is not None:
        from tacit.report.page import to_html

        try:
            out.write_text(to_html(disclosure), encoding="utf-8")
        except OSError as error:
            raise click.FileError(str(out), error.strerror) from None
        click.echo(f"wrote {out}", err=as_json)
    if as_json:
        click.echo(disclosure.to_json())
    elif out is None:
        from tacit.report import words
        from tacit.report.terminal import show

        parts = [*words.spent(disclosure), f"tacit report {quote(str(where))} {number} --out answer.html"]
        click.echo(f" {disclosure.question}")
        notes = words.notes(disclosure, current)
        show(disclosure.columns, words.footnote(disclosure), parts, everything="--json has all", notes=notes)
