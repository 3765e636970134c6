"""`tacit demo`: the main job on a table that it makes up, so that nothing has to be downloaded or trusted."""

from __future__ import annotations

import contextlib
import difflib
import importlib.util
import shlex
import subprocess
import sys
from pathlib import Path

import click

from tacit.cli.story.demo_table import POLICY, write_visits
from tacit.cli.story.demos import DEMOS
from tacit.errors import BudgetExceeded, InvalidParameter

__all__ = ["demo"]

_BY_CITY = "SELECT city, COUNT(*) AS visits, AVG(spend) AS spend FROM visits GROUP BY city"
_MEAN = "SELECT AVG(spend) AS spend FROM visits"
_MONTHS = "SELECT month(day) AS month, SUM(spend) AS spend FROM visits WHERE city = 'Aarhus' GROUP BY month(day)"
_COUNT = "SELECT COUNT(*) FROM visits"


@click.command()
@click.argument("name", required=False)
@click.option("--list", "listed", is_flag=True, help="The short demos, each of one thing.")
@click.option(
    "--rows", default=100_000, show_default=True, type=click.IntRange(1, 10_000_000), help="Size of the table."
)
@click.option(
    "--out",
    default=Path("demo-output"),
    show_default=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder for the table, its policy, its ledger, the plot and the page.",
)
def demo(name: str | None, listed: bool, rows: int, out: Path) -> None:
    """From a CSV to private answers: every command as you would type it, and what it really prints.

    With a NAME, a short demo of one thing; --list shows which there are:

    \b
    tacit demo --list
    tacit demo averaging

    Exit codes: 0 done, 1 a command of the story failed or a file could not be written, 2 wrong usage.
    """
    if listed:
        for one, short in DEMOS.items():
            click.echo(f"  {one:<10} {short.shows}")
        click.echo("Without a name: the whole story, from a CSV to answers, a plot and a page.")
        return
    if name is not None:
        _short(name)
        return
    known = (out / "visits.csv").exists()
    try:
        out.mkdir(parents=True, exist_ok=True)
        if not known:
            write_visits(out / "visits.csv", rows)
    except OSError as error:
        raise click.FileError(str(out), error.strerror) from None
    with contextlib.chdir(out):
        _story(known)
    click.echo(f"\nAll of it is in {out}/. Open {out / 'answer.html'} to see what a disclosure says.")


def _short(name: str) -> None:
    if name not in DEMOS:
        near = difflib.get_close_matches(name, DEMOS, n=1, cutoff=0.5)
        hint = f"Did you mean {near[0]}? tacit demo {near[0]}" if near else "tacit demo --list"
        raise InvalidParameter("NAME", given=name, allowed=f"one of {', '.join(DEMOS)}", hint=hint)
    DEMOS[name].run()


def _story(known: bool) -> None:
    if known:
        _say("The table, its policy and its ledger are from an earlier run: what was asked then is free now.")
    else:
        _say("A table of visits was made up: a few people come all the time, cells are empty, amounts are absurd.")
    policy = Path("visits.toml")
    if not policy.exists():
        _type_apart("init", "visits.csv")
        policy.write_text(POLICY, encoding="utf-8")
        _say("The owner fills in what only people know: who is protected, the bounds, how much may be learned.")
        click.echo(_indented(POLICY))
    _say("Anybody may now plan for free: nothing here looks at the data.")
    _type("plan", "visits.toml", _MEAN, "--within", "1", "--expected-rows", "20000")
    _say("A question is paid for first, answered privately, and kept: asking again is free.")
    _type("ask", "visits.toml", _BY_CITY, "--epsilon", "0.5", "--report", "answer.html", *_picture("by_city.png"))
    _type("ask", "visits.toml", _MONTHS, "--epsilon", "0.5", *_picture("by_month.png"))
    _say("Without a policy there are no bounds: it counts only, and one row of each person unless --rows says more.")
    _say("The ledger belongs to the data, not to the policy: it is the same one.")
    _type("ask", "visits.csv", _COUNT, "--unit", "user_id", "--epsilon", "1")
    _say("What does not fit is refused, by whichever door.")
    _type("ask", "visits.toml", _MEAN, "--epsilon", "2")
    _type("budget", "visits.ledger")


def _picture(name: str) -> list[str]:
    return [] if importlib.util.find_spec("matplotlib") is None else ["--plot", name]


def _type(*words: str) -> None:
    """Run a command as typed and show what it prints; a refusal is part of the story, anything else ends it."""
    root = click.get_current_context().find_root().command
    click.secho(f"$ tacit {' '.join(map(_quoted, words))}", bold=True)
    try:
        root.main(args=list(words), prog_name="tacit", standalone_mode=False)
    except BudgetExceeded as refusal:
        click.echo(f"tacit: {refusal}")
    click.echo()


def _type_apart(*words: str) -> None:
    """The same in a process of its own: the engine's threads stay there, and draws here can be forked."""
    click.secho(f"$ tacit {' '.join(map(_quoted, words))}", bold=True)
    ran = subprocess.run([sys.executable, "-m", "tacit", *words], capture_output=True, text=True, check=False)
    click.echo(ran.stdout)
    if ran.returncode:
        click.echo(ran.stderr, err=True, nl=False)
        sys.exit(ran.returncode)


def _quoted(word: str) -> str:
    """A word as people type it: in double quotes if it is SQL."""
    return f'"{word}"' if " " in word and not set('"$`\\!') & set(word) else shlex.quote(word)


def _say(text: str) -> None:
    click.secho(f"# {text}", dim=True)


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" if line.strip() else "\n" for line in text.splitlines())
