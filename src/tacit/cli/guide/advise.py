"""`tacit advise`: which mechanism to use, for a price or for an error; touches no data."""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from tacit.advice.options import Advice, Option
from tacit.advice.ranking import advise as advised
from tacit.advice.ranking import said_next
from tacit.advice.situations.choices import Choice, TopChoices
from tacit.advice.situations.devices import DeviceSum
from tacit.advice.situations.means import MeanSurvey
from tacit.advice.situations.numbers import Histogram, Numbers
from tacit.advice.situations.ranks import Ranks
from tacit.advice.situations.surveys import Survey
from tacit.advice.situations.thresholds import Thresholds
from tacit.advice.situations.totals import RunningTotals
from tacit.advice.text import WIDTH, as_text, promise_text
from tacit.cli.shared.folding import screen_width
from tacit.errors import InvalidParameter, PolicyError
from tacit.privacy.neighbours import ADD_REMOVE, REPLACE
from tacit.privacy.sensitivity import L1, L2, LInf, Norm

__all__ = ["advise"]

JSON_VERSION = 1
_NORMS: dict[str, Norm] = {"l1": L1, "l2": L2, "linf": LInf}


@click.group()
def advise() -> None:
    """Which mechanism to use: ranked by the error at your numbers, with the call to paste. Touches no data.

    \b
    tacit advise numbers --count 100 --sensitivity 1 --epsilon 1 --delta 1e-6
    tacit advise choice --candidates 50 --sensitivity 1 --rho 0.1
    tacit advise thresholds --length 1000 --sensitivity 1 --error 50
    tacit advise survey --categories 12 --people 10000 --epsilon 1

    Say what is to be released, what is known of it, and a price or an error that may be exceeded with probability
    --beta. What cannot be had is listed with the reason. Exit codes: 0 done, 1 refused, 2 wrong usage.
    """


def _priced(command: Callable[..., Any]) -> Callable[..., None]:
    """Adds the options of a price and of the output to a command that returns a situation."""

    @click.option("--epsilon", metavar="E", help="The price, as ε.")
    @click.option("--delta", metavar="D", help="δ beside ε, or beside --error: for mechanisms that need one.")
    @click.option("--rho", metavar="R", help="The price, as ρ of zero-concentrated privacy.")
    @click.option("--mu", metavar="M", help="The price, as μ of Gaussian privacy.")
    @click.option("--error", metavar="X", help="Instead of a price: the error to meet; the least ε comes first.")
    @click.option("--beta", default="0.05", show_default=True, metavar="B", help="How often the error is exceeded.")
    @click.option("--json", "as_json", is_flag=True, help="Print JSON instead; it carries a version.")
    @functools.wraps(command)
    def run(
        *,
        epsilon: str | None,
        delta: str | None,
        rho: str | None,
        mu: str | None,
        error: str | None,
        beta: str,
        as_json: bool,
        **what: Any,
    ) -> None:
        try:
            made = advised(command(**what), epsilon=epsilon, delta=delta, rho=rho, mu=mu, error=error, beta=beta)
        except InvalidParameter as refused:
            raise _as_typed(refused) from None
        click.echo(json.dumps(_plain(made), ensure_ascii=False, indent=2) if as_json else _typed(made))

    return run


_DASHED = (
    "epsilon", "delta", "rho", "mu", "error", "beta", "count", "cells", "groups", "rows", "candidates", "length",
    "hits", "threshold", "horizon", "steps", "categories", "people", "bounds", "quantiles", "granule", "trusted",
    "sensitivity", "expected_rows",
)  # fmt: skip


_NEXT = {
    "epsilon": "Type --epsilon 1.",
    "delta": "Type --epsilon 1 --delta 1e-6.",
    "rho": "Type --rho 0.1.",
    "mu": "Type --mu 0.5.",
    "error": "Type --error 10, in the units of what is released.",
    "beta": "Type --beta 0.05.",
    "sensitivity": "Say how far one unit can move it: --sensitivity 1 for a count.",
    "count": "Type --count 1.",
    "cells": "Type --cells 50.",
    "groups": "Type --groups 1.",
    "rows": "Type --rows 1.",
    "candidates": "Type --candidates 50.",
    "quantiles": "Type --quantiles 0.25,0.5,0.75.",
    "bounds": "Type --bounds 0 100.",
    "granule": "Type --granule 1.",
    "length": "Type --length 1000.",
    "hits": "Type --hits 1.",
    "threshold": "Type --threshold 100.",
    "horizon": "Type --horizon 365.",
    "steps": "Type --steps 1.",
    "categories": "Type --categories 12.",
    "people": "Type --people 10000.",
    "expected_rows": "Type --expected-rows 20000.",
}
"""The line to type, where a refusal does not say it."""


def _as_typed(refused: InvalidParameter) -> InvalidParameter:
    """The same in the words of the shell."""
    name, given, allowed, hint = refused.name, refused.given, refused.allowed, refused.hint
    if name == "price" and (given is None or isinstance(given, list)):
        given = " and ".join(f"--{one}" for one in given) if given else None
        allowed, hint = "exactly one of --epsilon, --rho, --mu or --error", "Type --epsilon 1."
    elif name == "sensitivity":
        allowed, hint = "a number above 0", ""
    name = _SPELLED.get(name, name)
    if name == "bounds" and isinstance(given, tuple):
        given = f"{given[0]} {given[1]}"
        allowed = "two finite numbers, the lower one first" if "pair" in allowed else allowed
    shown = f"--{name}".replace("_", "-") if name in _DASHED else name
    return InvalidParameter(shown, given=given, allowed=_in_shell(allowed), hint=_next(name, hint))


def _next(name: str, hint: str) -> str:
    """The line to type: of the shell, where it is the library's own."""
    return _NEXT[name] if name in _NEXT and (not hint or hint == said_next(name)) else _in_shell(hint)


_SPELLED = {"q": "quantiles"}
"""What the library calls otherwise than the shell."""


def _typed(made: Advice) -> str:
    """Advice as text; calls are Python's, reasons are the shell's."""
    calls, mark, reasons = as_text(made, min(WIDTH, screen_width() or WIDTH)).partition("\nLeft out:")
    return calls + mark + _in_shell(reasons)


def _in_shell(text: str) -> str:
    """Keywords of Python as options."""
    told = text.replace("delta= (--delta)", "--delta").replace("trusted='shuffler'", "--trusted shuffler")
    return _KEYWORD.sub(lambda found: f"--{found[1]} {found[2]}".rstrip().replace("_", "-"), told)


_KEYWORD = re.compile(r"\b(delta|epsilon|rho|mu|error|expected_rows)=((?:\w|[.-](?=\w))*)")


def _sensitive(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options of a sensitivity, which arrives as one value."""

    @click.option("--sensitivity", metavar="S", help="How far one unit can move each value.")
    @click.option(
        "--norm",
        type=click.Choice(list(_NORMS)),
        default="linf",
        show_default=True,
        help="How far all values together: l1, l2; each of them: linf.",
    )
    @click.option("--replace", is_flag=True, help="Neighbours replace one unit, instead of adding or removing one.")
    @functools.wraps(command)
    def run(*, sensitivity: str | None, norm: str, replace: bool, **rest: Any) -> Any:
        stated = None
        if sensitivity is not None:
            stated = _NORMS[norm](sensitivity, neighbours=REPLACE if replace else ADD_REMOVE)
        return command(sensitivity=stated, **rest)

    return run


def _pair(bounds: tuple[str, str] | None) -> Any:
    """Bounds as they are typed in Python: whole numbers plain, others as exact texts."""
    return None if not bounds else tuple(int(one) if re.fullmatch(r"[+-]?[0-9]{1,15}", one) else one for one in bounds)


@advise.command()
@click.option("--count", default=1, show_default=True, metavar="K", help="How many numbers.")
@_priced
@_sensitive
@click.option("--whole", is_flag=True, help="They are whole numbers, and stay so.")
@click.option("--together", is_flag=True, help="Rank by the largest error of all, not by each number's own.")
@click.option("--bounds", nargs=2, metavar="LOW HIGH", help="Answers must lie between these, for one number.")
def numbers(count: int, sensitivity: Any, whole: bool, together: bool, bounds: tuple[str, str] | None) -> Numbers:
    """One number or several: counts, sums, means."""
    return Numbers(count, sensitivity, whole=whole, together=together, bounds=_pair(bounds))


@advise.command()
@click.option("--cells", required=True, type=int, metavar="K", help="How many disjoint cells.")
@click.option("--groups", default=1, show_default=True, metavar="P", help="In how many cells one unit may be.")
@click.option("--rows", default=1, show_default=True, metavar="R", help="With how many rows in each.")
@click.option("--together", is_flag=True, help="Rank by the largest error of all, not by each cell's own.")
@_priced
def histogram(cells: int, groups: int, rows: int, together: bool) -> Histogram:
    """Counts in disjoint cells whose names are public."""
    return Histogram(cells, groups=groups, rows=rows, together=together)


@advise.command()
@click.option("--candidates", required=True, type=int, metavar="K", help="How many there are to choose from.")
@click.option("--monotone", is_flag=True, help="Adding a unit moves all scores the same way, as counts.")
@_priced
@_sensitive
def choice(candidates: int, sensitivity: Any, monotone: bool) -> Choice:
    """The best of several candidates, by their scores."""
    return Choice(candidates, sensitivity, monotone=monotone)


@advise.command()
@click.option("--count", required=True, type=int, metavar="K", help="How many are to be chosen.")
@click.option("--candidates", required=True, type=int, metavar="N", help="How many there are to choose from.")
@click.option("--monotone", is_flag=True, help="Adding a unit moves all scores the same way, as counts.")
@_priced
@_sensitive
def top(count: int, candidates: int, sensitivity: Any, monotone: bool) -> TopChoices:
    """The best few of several candidates."""
    return TopChoices(count, candidates, sensitivity, monotone=monotone)


@advise.command()
@click.option("--quantiles", default="0.5", show_default=True, metavar="Q,Q,…", help="Which, from 0 to 1.")
@click.option("--bounds", nargs=2, required=True, metavar="LOW HIGH", help="Public bounds of the values.")
@click.option("--granule", metavar="G", help="The step of the answers.")
@_priced
def quantiles(quantiles: str, bounds: tuple[str, str], granule: str | None) -> Ranks:
    """The median, quartiles, any list of quantiles."""
    return Ranks(quantiles.replace(" ", "").split(","), _pair(bounds), granule)


@advise.command()
@click.option("--length", required=True, type=int, metavar="N", help="How many values will be compared.")
@click.option("--hits", default=1, show_default=True, metavar="C", help="How many of them may be told.")
@click.option("--threshold", default="0", show_default=True, metavar="T", help="The threshold, for the call to paste.")
@click.option("--monotone", is_flag=True, help="Adding a unit moves all values the same way, as counts.")
@_priced
@_sensitive
def thresholds(length: int, sensitivity: Any, hits: int, threshold: str, monotone: bool) -> Thresholds:
    """A stream of values: which of them reach a threshold."""
    try:
        stated: float = int(threshold) if threshold.lstrip("-").isdecimal() else float(threshold)
    except ValueError:
        stated = math.nan
    if not math.isfinite(stated):
        raise InvalidParameter("threshold", given=threshold, allowed="a finite number")
    return Thresholds(length, sensitivity, hits=hits, threshold=stated, monotone=monotone)


@advise.command()
@click.option("--horizon", required=True, type=int, metavar="T", help="How many steps there are.")
@click.option("--steps", default=1, show_default=True, metavar="S", help="How many of them one unit may touch.")
@_priced
@_sensitive
def totals(horizon: int, sensitivity: Any, steps: int) -> RunningTotals:
    """Running totals of whole numbers, one at each step."""
    return RunningTotals(horizon, sensitivity, steps=steps)


_TRUSTED = click.option(
    "--trusted",
    type=click.Choice(["nobody", "shuffler", "curator"]),
    default="nobody",
    show_default=True,
    help="Whom the people trust.",
)
_PEOPLE = click.option("--people", required=True, type=int, metavar="N", help="How many take part, which is public.")


@advise.command()
@click.option("--categories", required=True, type=int, metavar="K", help="How many answers there are.")
@_PEOPLE
@_TRUSTED
@_priced
def survey(categories: int, people: int, trusted: Any) -> Survey:
    """Shares of categories, from people who need not trust you."""
    return Survey(categories, people, trusted)


@advise.command()
@_PEOPLE
@click.option("--bounds", nargs=2, default=("0", "1"), show_default=True, metavar="LOW HIGH", help="Of the number.")
@_TRUSTED
@_priced
def mean(people: int, bounds: tuple[str, str], trusted: Any) -> MeanSurvey:
    """The mean of a number, from people who need not trust you."""
    return MeanSurvey(people, _pair(bounds), trusted)


@advise.command("sum")
@_PEOPLE
@click.option("--bounds", nargs=2, default=("0", "1"), show_default=True, metavar="LOW HIGH", help="Of each number.")
@click.option("--bits", is_flag=True, help="Each device holds 0 or 1.")
@click.option("--trusted", type=click.Choice(["shuffler", "nobody"]), default="shuffler", show_default=True)
@_priced
def device_sum(people: int, bounds: tuple[str, str], bits: bool, trusted: Any) -> DeviceSum:
    """A sum over devices that do not trust whoever adds up."""
    return DeviceSum(people, _pair(bounds), bits=bits, trusted=trusted)


@advise.command()
@click.argument("policy", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("sql")
@click.option(
    "--expected-rows", type=int, metavar="N", help="Rows that you expect in a group: a mean's error needs it."
)
@_priced
def question(policy: Path, sql: str, expected_rows: int | None) -> Any:
    """A question about a table: whether to pay for it in ε or in ρ. From the policy alone; no row is read."""
    from tacit.advice.situations.questions import TableQuestion
    from tacit.cli.shared.questions import WithoutPolicy, open_for_planning

    if not policy.exists():
        raise PolicyError(f"There is no policy {policy}. Draft one: tacit init data.csv")
    with open_for_planning(policy, WithoutPolicy(None, None, None, None), None) as table:
        return TableQuestion(table.query(sql), expected_rows)


def _plain(advice: Advice) -> dict[str, Any]:
    left_out = [{"name": one.name, "reason": one.reason} for one in advice.left_out]
    return {
        "version": JSON_VERSION,
        "kind": "tacit advice",
        "situation": advice.situation.title(),
        "asked": advice.asked,
        "measured_as": advice.measured_as,
        "options": [_option(one) for one in advice.options],
        "left_out": left_out,
    }


def _option(one: Option) -> dict[str, Any]:
    return {
        "name": one.name,
        "call": one.call,
        "promise": promise_text(one.promise),
        "scale": one.scale,
        "error": one.error,
        "comes_to": one.comes_to,
        "error_grows": one.error_grows,
        "time_grows": one.time_grows,
        "why": one.why,
    }
