"""`tacit learn`: a private model of one column, from a table; and predictions from a model."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from tacit.cli.packages.predict import predict
from tacit.cli.shared.ledgers import LEDGER_OPTION
from tacit.cli.shared.progress import waiting_for_another
from tacit.cli.shared.questions import WithoutPolicy, open_for_asking, open_for_planning, package_price, price_options
from tacit.cli.shared.writing import check_target, written
from tacit.errors import InvalidParameter
from tacit.learn.estimators.registry import ESTIMATORS
from tacit.tables.policy.policy import Policy
from tacit.tables.session.table import Table

__all__ = ["learn"]

_FILE = click.Path(dir_okay=False, path_type=Path)
_POLICY = click.Path(exists=True, dir_okay=False, path_type=Path)


class _WithDefault(click.Group):
    """``tacit learn POLICY …`` is ``tacit learn fit POLICY …``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, "-h", "--help"):
            args = ["fit", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_WithDefault)
def learn() -> None:
    """A private model that predicts one column of a table from others; paid for once, used for free.

    \b
    tacit learn visits.toml --target plan --epsilon 1 -o plan.model
    tacit learn visits.toml --target plan --epsilon 1 --show-plan    # free: what it would read, cost and release
    tacit learn predict plan.model new_people.csv -o predicted.csv

    `tacit learn fit --help` lists the options of the first.
    """


@learn.command()
@click.argument("where", metavar="POLICY", type=_POLICY)
@click.option("--target", metavar="COLUMN", help="What to learn: a column with public keys, or a number with bounds.")
@click.option("--method", metavar="NAME", help="How: logistic-regression, decision-tree, ...  [by the target]")
@click.option("--columns", metavar="A,B,...", help="What to learn from.  [all columns that may be asked about]")
@click.option("--rows-per-unit", type=click.IntRange(1), metavar="N", help="Rows of one person that count.  [1]")
@price_options
@click.option("-o", "--output", type=_FILE, metavar="FILE", help="Where to write the model.")
@click.option("--show-plan", is_flag=True, help="Show what would be read, paid and released, and spend nothing.")
@click.option("--analyst", metavar="NAME", help="Who asks, and whose account pays.  [default: the user's name]")
@click.option("--fresh", is_flag=True, help="Pay again and learn anew; without it, learning the same again is free.")
@click.option("--json", "as_json", is_flag=True, help="Print the model's disclosure as JSON.")
@LEDGER_OPTION
def fit(
    where: Path,
    target: str | None,
    method: str | None,
    columns: str | None,
    rows_per_unit: int | None,
    epsilon: str | None,
    rho: str | None,
    delta: str | None,
    output: Path | None,
    show_plan: bool,
    analyst: str | None,
    fresh: bool,
    as_json: bool,
    ledger: Path | str | None,
) -> None:
    """Learn a column: one request, paid like a question, whose stored answer is the model.

    The same table, target, method, columns and price again give the same model, free. Without --delta the policy's δ
    per question is used; --delta 0 promises pure ε, with more noise.

    Exit codes: 0 done, 1 refused (nothing was spent), 2 wrong usage, 3 the budget does not allow it (nothing was
    spent), 4 paid for but no model could be drawn.
    """
    if epsilon is None and rho is None:
        raise click.UsageError("Say what the model may cost: --epsilon 1. --show-plan shows what that buys.")
    if output is None and not show_plan:
        raise click.UsageError("Say where to write the model: -o plan.model")
    check_target("--output", output)
    opened = (
        open_for_planning(where, _NOTHING, ledger)
        if show_plan
        else open_for_asking(where, _NOTHING, analyst=analyst, ledger=ledger)
    )
    with opened as table:
        model = _estimator(
            table.policy, target, method, package_price(table.policy, epsilon, rho, delta), rows_per_unit
        )
        named = None if columns is None else [name.strip() for name in next(csv.reader([columns]))]
        if show_plan:
            click.echo(str(model.plan(table, target=target, columns=named)))
            return
        before = table.entries
        with waiting_for_another("learning"):
            model.fit(table, target=target, columns=named, fresh=fresh)
        _tell(table, model, as_json, again=model.disclosure_["entry"] < before)
    assert output is not None
    written(output, model.save)


_NOTHING = WithoutPolicy(None, None, None, None)


def _estimator(
    policy: Policy, target: str | None, method: str | None, price: Mapping[str, Any], rows: int | None
) -> Any:
    """The method that was named, or the plainest for what the target is."""
    known = {kind.replace(" ", "-"): path for kind, path in ESTIMATORS.items()}
    if method is None:
        method = "logistic-regression" if _is_listed(policy, target) else "linear-regression"
    if method not in known:
        allowed = f"one of {', '.join(sorted(known))}"
        raise InvalidParameter("--method", given=method, allowed=allowed, hint="Nothing was spent.")
    home, _, name = known[method].rpartition(".")
    more = {} if rows is None else {"rows_per_unit": rows}
    return getattr(import_module(home), name)(**price, **more)


def _is_listed(policy: Policy, target: str | None) -> bool:
    """Whether the target is one of a list, as far as the policy knows it; what it does not know is refused later."""
    found = {name.lower(): column for name, column in policy.columns.items()}.get((target or "").lower())
    return found is None or found.keys is not None or not found.kind.is_number


def _tell(table: Table, model: Any, as_json: bool, *, again: bool) -> None:
    told = model.disclosure_
    if as_json:
        click.echo(json.dumps(told, ensure_ascii=False, indent=1))
        return
    spent = f"spent nothing: learned before, for {model.guarantee!r}" if again else f"spent {model.guarantee!r}"
    learned = f"{told['estimator']} of {told['target']['name']}" if told["target"] else told["estimator"]
    click.echo(f"{learned} from {len(told['columns'])} columns; protects {told['protects']}")
    click.echo(f"{spent}; {table.remaining!r} left; #{told['number']}")


learn.add_command(predict)
