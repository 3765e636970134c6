"""What an owner does to a ledger on record: another version of the data, other caps."""

from __future__ import annotations

import getpass
import os
import re
import shlex
from dataclasses import replace
from pathlib import Path

import click

from tacit.cli.shared.folding import echo_folded
from tacit.cli.shared.ledgers import Place, ledger_of
from tacit.errors import PolicyError
from tacit.ledger import Terms
from tacit.privacy import ZCDP, ApproxDP, Promise
from tacit.tables.policy.file import parse, read
from tacit.tables.policy.reader import Lines
from tacit.tables.session.open import open as open_table

__all__ = ["amend", "data"]

_NOTE = "for the owner's eyes: they depend on rows"


@click.command()
@click.argument("where", metavar="POLICY|DATA", type=Place())
@click.option("--new", is_flag=True, help="The data have changed: raise their version by one, on record.")
@click.option("--reason", metavar="TEXT", help="What has changed; it stays on record, and analysts see it in the log.")
@click.option("--owner", metavar="NAME", help="Who says so.  [default: the user's name]")
def data(where: Path, new: bool, reason: str | None, owner: str | None) -> None:
    """Which version of the data the ledger is at; with --new, the next one.

    \b
    tacit data visits.toml
    tacit data visits.toml --new --reason "November was appended"

    For the owner. Answers say of which version they are. The budget goes on: appended rows are about people who may be
    in old ones. Answers of before are kept; who asks the same again gets them, is told that there is a newer version,
    and draws anew with --fresh.

    Exit codes: 0 done, 1 refused, 2 wrong usage.
    """
    if new and reason is None:
        raise click.UsageError('Say what has changed: --reason "November was appended".')
    with open_table(where) as table:
        if new:
            who = getpass.getuser() if owner is None else owner
            receipt = table.new_data(reason=str(reason), owner=who)
            click.echo(f"The data are of version {table.data_version} now; entry {receipt.entry}, head {receipt.head}")
            return
        click.echo(f"version {table.data_version} of the data")
        if table.size_and_time is not None:
            size, written = table.size_and_time
            click.echo(f"{size:,} bytes, written {written:%Y-%m-%d %H:%M} UTC ({_NOTE})")
        if table.has_changed:
            again = shlex.join(["tacit", "data", str(where), "--new", "--reason", "…"])
            echo_folded(f"The files have changed since that version began. To say so to everybody: {again}")


@click.command()
@click.argument("policy", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--epsilon", metavar="E", help="The total from now on, of a ledger of ε.")
@click.option("--rho", metavar="R", help="The total from now on, of a ledger of ρ.")
@click.option("--delta", metavar="D", help="The δ of the total from now on.")
@click.option("--reason", required=True, metavar="TEXT", help="Why; it stays on record.")
@click.option("--owner", metavar="NAME", help="Who changes it.  [default: the user's name]")
def amend(
    policy: Path, epsilon: str | None, rho: str | None, delta: str | None, reason: str, owner: str | None
) -> None:
    """Change what may be learned in all: in the policy and, signed into its chain, in the ledger.

    \b
    tacit amend visits.toml --epsilon 6 --reason "the board agreed to the spring survey"
    tacit amend visits.toml --reason "…"      # take over the [budget] as it is written in the policy by now

    For the owner. A larger total promises less to everybody in the data, for all that was answered before too. What has
    been charged stays charged; a total below it allows nothing more. Unit and flavour cannot be changed.

    Exit codes: 0 amended, 1 refused (nothing was changed), 2 wrong usage.
    """
    before = read(policy)
    text = policy.read_text(encoding="utf-8-sig")
    changed = {key: value for key, value in (("epsilon", epsilon), ("rho", rho), ("delta", delta)) if value is not None}
    for key, value in changed.items():
        text = _with_line(text, key, value, policy.name)
    after = parse(text, policy.name)
    wanted = replace(after.terms, total=_total(before.terms, changed)) if changed else after.terms
    if after.terms != wanted:
        raise PolicyError(f"{policy.name}: change [budget] by hand, then: tacit amend {policy} --reason …")
    who = getpass.getuser() if owner is None else owner
    with ledger_of(policy).open() as ledger:
        old = ledger.budget().terms
        receipt = ledger.amend(after.terms, owner=who, reason=reason)
    if changed:
        _write(policy, text)
    echo_folded(f"{ledger.name}: {old}\n  is now {after.terms}")
    click.echo(f"entry {receipt.entry} says so, with the reason; head {receipt.head}")


def _with_line(text: str, key: str, value: str, name: str) -> str:
    """The policy with another number on one line of [budget], and all else as it was."""
    lines, path = Lines.of(text), ("budget", key)
    at = lines.places.get(path)
    if at is None:
        raise PolicyError(f"{name} has no {key} in [budget]: write it there, then amend without --{key}.")
    every = text.split("\n")
    line, times = re.subn(rf"(\b{key}\s*=\s*)[^\s,#}}]+", rf"\g<1>{value}", every[at - 1], count=1)
    if not times:
        raise PolicyError(f"{name}:{at}: change {key} by hand, then amend without --{key}.")
    every[at - 1] = line
    return "\n".join(every)


def _total(terms: Terms, changed: dict[str, str]) -> Promise:
    """The total with the numbers that were typed."""
    main, delta = terms.cap.texts()
    main, delta = changed.get(terms.flavour.name, main), changed.get("delta", delta)
    return ZCDP(main, delta) if terms.flavour.name == "rho" else ApproxDP(main, delta)


def _write(policy: Path, text: str) -> None:
    """In one step: whoever reads it meanwhile reads the old or the new."""
    beside = policy.with_name(f".{policy.name}.new")
    beside.write_text(text, encoding="utf-8")
    os.chmod(beside, policy.stat().st_mode & 0o777)
    os.replace(beside, policy)
