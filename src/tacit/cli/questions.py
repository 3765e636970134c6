"""What `tacit ask` and `tacit plan` share: opening a table and reading prices as typed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tacit.errors import InvalidParameter
from tacit.ledger import InMemory, beside
from tacit.privacy import ApproxDP, Guarantee
from tacit.tables.opening import open as open_table
from tacit.tables.session import Table

__all__ = ["DEFAULT_BUDGET", "budget_option", "open_for_asking", "open_for_planning", "price_options"]

DEFAULT_BUDGET = ApproxDP(3, "1e-8")
"""What a data file without a policy and without a ledger may give away in all, unless --budget says otherwise."""


def price_options(command: Any) -> Any:
    """--epsilon, --rho and --delta."""
    options = (
        click.option("--epsilon", metavar="E", help="Price of the whole question, for a ledger of ε."),
        click.option("--rho", metavar="R", help="Price of the whole question, for a ledger of ρ."),
        click.option("--delta", metavar="D", help="The δ it may use.  [default: the policy's]"),
    )
    for option in reversed(options):
        command = option(command)
    return command


def budget_option(command: Any) -> Any:
    """--unit and --budget, for a data file without a policy."""
    options = (
        click.option("--unit", metavar="COLUMN", help="Without a policy: the column that tells people apart."),
        click.option(
            "--budget", metavar="E[,D]", help="Without a policy: what may be learned in all.  [default: 3,1e-8]"
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def open_for_asking(
    where: Path, *, unit: str | None, budget: str | None, analyst: str | None, ledger: Path | None
) -> Table:
    """The table, with its durable ledger; a data file without policy and ledger gets one, and it is said."""
    total = _total(budget)
    if unit is not None and total is None and not (ledger or beside(where)).exists():
        total = DEFAULT_BUDGET
        click.echo(
            f"There is no policy yet: {(ledger or beside(where)).name} is opened with a total of ε 3, δ 1e-8. "
            "--budget sets another, once.",
            err=True,
        )
    return open_table(where, unit=unit, budget=total, analyst=analyst, ledger=ledger)


def open_for_planning(where: Path, *, unit: str | None, budget: str | None, ledger: Path | None) -> Table:
    """The table with a ledger that forgets, unless the one on record has to say which flavour it keeps."""
    book = ledger or beside(where)
    if unit is None or (budget is None and book.exists()):
        return open_table(where, unit=unit, ledger=InMemory() if unit is None else book)
    return open_table(where, unit=unit, budget=_total(budget) or DEFAULT_BUDGET, ledger=InMemory())


def _total(typed: str | None) -> Guarantee | None:
    if typed is None:
        return None
    epsilon, _, delta = typed.partition(",")
    try:
        return ApproxDP(epsilon.strip(), delta.strip() or 0)
    except InvalidParameter as error:
        raise InvalidParameter("--budget", given=typed, allowed="ε, or ε and δ, as in 3 or 3,1e-8") from error
