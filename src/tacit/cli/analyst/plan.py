"""`tacit plan`: what a question would cost, or how precise it would be; free, and the same whatever the data are."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tacit.cli.analyst.on_engine import OnEngine, engine_options, on_engine
from tacit.cli.shared.folding import echo_folded
from tacit.cli.shared.ledgers import LEDGER_OPTION
from tacit.cli.shared.questions import (
    WithoutPolicy,
    open_for_planning,
    policy_options,
    price_options,
    reading_options,
    targets,
)
from tacit.report import words
from tacit.report.disclosure import Amount
from tacit.report.numbers import number
from tacit.tables.plan.plan import Plan
from tacit.tables.plan.told import output_name, plan_values
from tacit.tables.session.table import Question, without_explain

__all__ = ["plan"]

JSON_VERSION = 1
_PRICES = {"epsilon": ("0.1", "0.2", "0.5", "1", "2"), "rho": ("0.001", "0.005", "0.02", "0.1", "0.5")}


@click.command()
@click.argument("where", metavar="POLICY|DATA", type=click.Path(path_type=Path))
@click.argument("sql")
@price_options
@policy_options
@click.option(
    "--within", multiple=True, metavar="ERROR|NAME=ERROR", help="Find the price that keeps errors this small."
)
@click.option(
    "--expected-rows", metavar="N", type=int, help="Rows that you expect in a group: a mean's error needs it."
)
@click.option("--bias", is_flag=False, flag_value="0.1", metavar="[SHARE]", help="As in tacit ask.")
@LEDGER_OPTION
@click.option("--sql", "with_sql", is_flag=True, help="Show the statement that the engine would run, too.")
@engine_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead; it carries a version.")
@reading_options
def plan(
    where: Path,
    sql: str,
    epsilon: str | None,
    rho: str | None,
    delta: str | None,
    unit: str | None,
    budget: str | None,
    groups: int | None,
    rows: int | None,
    types: tuple[str, ...],
    reading: dict[str, str],
    within: tuple[str, ...],
    expected_rows: int | None,
    bias: str | None,
    ledger: Path | str | None,
    with_sql: bool,
    engine: str | None,
    table_rows: int,
    partitions: int,
    largest_unit: str,
    as_json: bool,
) -> None:
    """What a question would cost, or how large its errors would be. Free, and independent of the data.

    \b
    tacit plan visits.toml "SELECT AVG(spend) FROM visits" --epsilon 0.5 --expected-rows 20000
    tacit plan visits.toml "SELECT AVG(spend) AS spend FROM visits" --within spend=1 --expected-rows 20000
    tacit plan visits.toml "SELECT city, COUNT(*) FROM visits GROUP BY city"     # errors at several prices

    Errors are those that noise exceeds once in twenty times, per group.

    Exit codes: 0 done, 1 refused (the message says why), 2 wrong usage. Nothing is ever spent.
    """
    with open_for_planning(where, WithoutPolicy(unit, budget, groups, rows, types, reading), ledger) as table:
        question = table.query(without_explain(sql))
        flavour = table.policy.terms.flavour.name
        if within:
            found = question.plan(within=targets(within), delta=delta, expected_rows=expected_rows, bias=bias)
        elif epsilon is not None or rho is not None or question.states_price:
            found = question.plan(epsilon=epsilon, rho=rho, delta=delta, expected_rows=expected_rows, bias=bias)
        else:
            plans = _several(question, flavour, delta, expected_rows)
            on = engine and on_engine(engine, plans[0], table_rows, partitions, largest_unit)
            if as_json:
                _echo_json(plans, on)
            else:
                _table(plans)
                _echo_lines(on)
            return
    on = engine and on_engine(engine, found, table_rows, partitions, largest_unit)
    if as_json:
        _echo_json([found], on)
    else:
        click.echo(str(found)) if with_sql else echo_folded(repr(found))
        _echo_lines(on)


def _echo_lines(on: OnEngine | str | None) -> None:
    if isinstance(on, OnEngine):
        click.echo("\n" + "\n".join(on.lines()))


def _several(question: Question, flavour: str, delta: str | None, rows: int | None) -> list[Plan]:
    prices = _PRICES[flavour]
    if flavour == "rho":
        return [question.plan(rho=one, delta=delta, expected_rows=rows) for one in prices]
    return [question.plan(epsilon=one, delta=delta, expected_rows=rows) for one in prices]


def _table(plans: list[Plan]) -> None:
    from tacit.report.terminal import show_grid

    first = plans[0]
    headings = ["price", *(output_name(first, line) for line in first.lines)]
    headings += [] if first.keys is None else ["shows groups from"]
    rows = []
    for one in plans:
        cells = ["?" if line.error is None else f"± {number(_three_digits(line.error))}" for line in one.lines]
        cells += [] if one.keys is None else [f"{number(float(one.keys.threshold))} units on"]
        rows.append([_price(one), *cells])
    click.echo(f" {first.question}")
    show_grid(headings, rows, [False] + [True] * (len(headings) - 1))
    click.echo(" errors that noise exceeds once in twenty times, in each group")
    if any(line.error is None for line in first.lines):
        click.echo(" ? depends on how many rows a group has, which is secret: --expected-rows N")


def _three_digits(error: float) -> float:
    return float(f"{error:.3g}")


def _price(one: Plan) -> str:
    flavour = one.policy.terms.flavour
    main, delta = flavour.price(one.cost).texts()
    return words.amount(flavour.symbol, Amount(main, delta))


def _echo_json(plans: list[Plan], on: OnEngine | str | None = None) -> None:
    made = {
        "version": JSON_VERSION,
        "kind": "tacit plan",
        "question": plans[0].question,
        "flavour": plans[0].policy.terms.flavour.name,
        "engine_sql": plans[0].engine_sql,
        "plans": [plan_values(plan) for plan in plans],
    }
    if isinstance(on, OnEngine):
        made["engine"] = on.values()
    click.echo(json.dumps(made, ensure_ascii=False, indent=2))
