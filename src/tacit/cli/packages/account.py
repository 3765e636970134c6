"""`tacit account`: what a plan costs, by every method, without touching any data."""

from __future__ import annotations

import json
import math
import tomllib
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from tacit.errors import InvalidParameter
from tacit.privacy.plan import FAMILIES, Plan, Step
from tacit.privacy.prices import failure_probability
from tacit.report.terminal import BOLD, Marked, Screen

__all__ = ["account"]

JSON_VERSION = 1


@click.command()
@click.argument("what", metavar="MECHANISM|PLAN.toml")
@click.option("--scale", "--sigma", "scale", metavar="B", help="Scale of the noise: b for Laplace, σ for Gaussian.")
@click.option("--epsilon", metavar="E", help="ε of one use, for the mechanisms that are described by it.")
@click.option("--failure", metavar="D", help="δ of one use, for MECHANISM approximate.")
@click.option("--sensitivity", metavar="S", help="How far one unit moves the answer.  [default: 1]")
@click.option("--categories", metavar="K", help="Answers to choose from, for randomized-response.  [default: 2]")
@click.option("--sampling", default="1", metavar="Q", help="Each unit is in the sample with this probability.")
@click.option("--steps", default=1, metavar="N", help="How often the mechanism is used.", show_default=True)
@click.option("--delta", metavar="D", help="The δ to state ε at; a plan file may have its own.")
@click.option("--plot", "plot", type=click.Path(path_type=Path, file_okay=False), help="Folder for three pictures.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def account(
    what: str,
    scale: str | None,
    epsilon: str | None,
    failure: str | None,
    sensitivity: str | None,
    categories: str | None,
    sampling: str,
    steps: int,
    delta: str | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """What does a plan cost? ε by each method there is, the best first.

    \b
    tacit account gaussian --sigma 1 --sampling 0.01 --steps 10000 --delta 1e-5
    tacit account laplace --scale 100 --steps 1000 --delta 1e-6 --plot figures
    tacit account plan.toml

    A plan file lists steps, and δ:

    \b
    delta = 1e-6
    [[step]]
    mechanism = "gaussian"      # one of the names below
    scale = 50
    times = 1000                # sampling = 0.01 for a Poisson sample

    MECHANISM is approximate, discrete-gaussian, discrete-laplace, exponential, gaussian, laplace, pure or
    randomized-response. Neighbours are add-remove: one unit more or less.
    """
    if what in FAMILIES:
        given = {
            "scale": scale,
            "epsilon": epsilon,
            "failure": failure,
            "sensitivity": sensitivity,
            "categories": categories,
        }
        numbers = {name: value for name, value in given.items() if value is not None}
        plan = Plan((Step.of(what, numbers, sampling=sampling, count=steps),))
        stated: object = delta
    else:
        plan, own = _read(Path(what))
        stated = delta if delta is not None else own
    if stated is None:
        raise InvalidParameter("--delta", given=None, allowed="a number from 0 up to, but not including, 1")
    exact = failure_probability(stated)
    costs = plan.by_method(exact)
    lower = plan.lower(exact)
    if as_json:
        methods = [{"method": cost.method, "epsilon": _finite(cost.epsilon)} for cost in costs]
        found = {"version": JSON_VERSION, "delta": float(exact), "lower": _finite(lower), "methods": methods}
        click.echo(json.dumps(found, indent=2))
    else:
        _table(costs, lower, exact)
    if plot is not None:
        for path in _draw(plan, exact, plot):
            click.echo(f"wrote {path}", err=as_json)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _table(costs: tuple[Any, ...], lower: float | None, delta: Fraction) -> None:
    screen, rows = Screen(), []
    for i, cost in enumerate(costs):
        value = _digits(cost.epsilon, ROUND_CEILING) if math.isfinite(cost.epsilon) else "none"
        rows.append([Marked(one, BOLD if i == 0 else "") for one in (cost.method, value, "best" if i == 0 else "")])
    screen.line(f"ε at δ = {float(delta):g}, add-remove")
    screen.grid(["method", "ε", ""], rows, right=[False, True, False])
    if lower is not None:
        least = _digits(lower, ROUND_FLOOR) if math.isfinite(lower) else "∞"
        screen.line(f"No proof can give less than ε = {least} for these mechanisms.")


def _digits(value: float, rounding: str) -> str:
    """Six digits: of an upper bound rounded up, of a lower one down, so that what is printed still holds."""
    exact = Context(prec=6, rounding=rounding).create_decimal_from_float(value)
    return f"{float(exact):.6g}"


def _read(path: Path) -> tuple[Plan, object]:
    allowed = f"a mechanism ({', '.join(sorted(FAMILIES))}) or a plan file"
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise InvalidParameter("MECHANISM|PLAN.toml", given=str(path), allowed=allowed) from None
    try:
        found = tomllib.loads(text, parse_float=str)
    except tomllib.TOMLDecodeError as error:
        raise InvalidParameter(str(path), given=str(error), allowed="a TOML file with [[step]] tables") from None
    steps = found.get("step")
    if not isinstance(steps, list) or not steps or not all(isinstance(step, dict) for step in steps):
        raise InvalidParameter(f"{path}: step", given=steps, allowed="one [[step]] table for each mechanism")
    return Plan(tuple(_step(path, i, step) for i, step in enumerate(steps, 1))), found.get("delta")


def _step(path: Path, number: int, table: dict[str, Any]) -> Step:
    numbers = {name: value for name, value in table.items() if name not in ("mechanism", "sampling", "times")}
    try:
        return Step.of(
            str(table.get("mechanism")), numbers, sampling=table.get("sampling", 1), count=table.get("times", 1)
        )
    except InvalidParameter as error:
        where = f"{path}, step {number}: {error.name}"
        raise InvalidParameter(where, given=error.given, allowed=error.allowed, hint=error.hint) from None


def _draw(plan: Plan, delta: Fraction, folder: Path) -> list[Path]:
    from tacit.plots.accounting import epsilon_by_steps, privacy_profile, trade_off

    folder.mkdir(parents=True, exist_ok=True)
    loss = plan.loss
    top = max(loss.epsilon(delta) if delta else 1.0, 1e-3)
    epsilons = [top * 1.25 * i / 60 for i in range(61)]
    deltas = loss.profile(epsilons)
    profile = privacy_profile(epsilons, {"this plan": deltas}, title="Privacy profile: the δ that each ε needs")
    levels = [i / 200 for i in range(201)]
    misses = [_least_miss(level, epsilons, deltas) for level in levels]
    curve = trade_off(levels, misses, title="Telling one unit's presence from its absence")
    table: dict[str, list[float]] = {}
    variants = _growing(plan)
    for at, (_, variant) in enumerate(variants):
        for cost in variant.by_method(delta):
            table.setdefault(cost.method, [math.inf] * len(variants))[at] = cost.epsilon
    best = min(table, key=lambda method: table[method][-1])
    uses = [count for count, _ in variants]
    growth = epsilon_by_steps(uses, table, best=best, title="ε against the number of steps", delta=float(delta))
    paths = []
    for name, figure in (("profile", profile), ("trade_off", curve), ("steps", growth)):
        paths.append(folder / f"{name}.png")
        figure.savefig(paths[-1], dpi=150)
    return paths


def _growing(plan: Plan) -> list[tuple[int, Plan]]:
    """The plan with ever more steps: up to its own count if it is one mechanism, repeated up to 100 times otherwise."""
    if len(plan.steps) == 1 and plan.steps[0].count > 1:
        only = plan.steps[0]
        counts = sorted({max(1, round(only.count ** (i / 8))) for i in range(9)})
        return [(n, Plan((Step(only.mechanism, only.numbers, only.sampling, n),))) for n in counts]
    whole = sum(step.count for step in plan.steps)
    return [(whole * n, plan.repeated(n)) for n in (1, 2, 3, 6, 10, 18, 32, 56, 100)]


def _least_miss(level: float, epsilons: list[float], deltas: list[float]) -> float:
    """The least false negative rate at this false positive rate that the profile allows, in both directions."""
    best = 0.0
    for epsilon, delta in zip(epsilons, deltas, strict=True):
        best = max(best, 1 - delta - math.exp(epsilon) * level, math.exp(-epsilon) * (1 - delta - level))
    return best
