"""A screen of 80 columns is kept by help, plans and logs; pipes get whole lines."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tacit.cli.main import COMMANDS, cli
from tacit.cli.shared.folding import folded
from tests.cli.typing_commands import tacit
from tests.cli.visits import BY_CITY, furnish


def below(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """A command, and the commands below it."""
    yield path
    if isinstance(command, click.Group):
        for name, one in command.commands.items():
            yield from below(one, (*path, name))


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_keeps_to_80_columns(name: str) -> None:
    command = cli.get_command(click.Context(cli), name) if name else None
    for path in below(command, (name,)) if command is not None else [()]:
        ran = CliRunner().invoke(cli, [*path, "--help"])
        assert ran.exit_code == 0
        long = [line for line in ran.output.splitlines() if len(line) > 80]
        assert not long, path


def test_a_plan_and_a_log_keep_to_80_columns_on_a_screen(tmp_path: Path) -> None:
    furnish(tmp_path)
    plan = ("plan", "visits.toml", BY_CITY, "--epsilon", "0.5")
    whole = tacit(tmp_path, *plan).stdout
    tacit(tmp_path, "ask", "visits.toml", BY_CITY, "--epsilon", "0.5")
    lines = tacit(tmp_path, "log", "visits.toml").stdout.splitlines()
    assert len(lines) == 3  # headings, the beginning, one payment
    shown = tacit(tmp_path, *plan, columns=80).stdout
    assert max(map(len, whole.splitlines())) > 80 >= max(map(len, shown.splitlines()))
    log = tacit(tmp_path, "log", "visits.toml", columns=80).stdout.splitlines()
    assert max(map(len, log)) <= 80
    assert "ε 0.5, δ 1e-09" in log[2]
    assert log[3] == "    SELECT city, COUNT(*) AS visits, AVG(spend, contribution_bounds_per_row =>"


@pytest.mark.parametrize("width", [20, 40, 80])
def test_nothing_is_lost_by_folding(width: int) -> None:
    text = "price: ε 1\n├─ a unit that has many words to it, more than fit\n│  └─ " + "word " * 30 + "\n" + "x" * 200
    made = folded(text, width)
    bare = [one.replace("│", "").replace("├─", "").replace("└─", "").split() for one in (made, text)]
    assert bare[0] == bare[1]
    assert all(len(line) <= width or " " not in line.strip("│├└─ ") for line in made.splitlines())


@pytest.mark.parametrize("width", [30, 44, 60, 80])
@pytest.mark.parametrize(
    ("typed", "comment"),
    [
        ('tacit ask visits.toml "SELECT city, COUNT(*) FROM visits GROUP BY city" --epsilon 0.5 --csv out.csv', ""),
        (
            "tacit report visits.toml 4 --out answer.html --and --some --more --words",
            "one page that needs nothing else",
        ),
        ("tacit ask visits.toml \"SELECT COUNT(*) FROM visits WHERE city = 'a # b'\" --epsilon 0.5", ""),
    ],
)
def test_a_folded_command_is_the_same_command_when_it_is_typed(width: int, typed: str, comment: str) -> None:
    made = folded(f"  {typed}" + (f"    # {comment}" if comment else ""), width)
    lines = [line for line in made.split("\n") if not line.lstrip().startswith("# ")]
    assert all(line.endswith(" \\") for line in lines[:-1])
    words = shlex.split(made.replace("\\\n", ""), comments=True)
    assert [" ".join(word.split()) for word in words] == shlex.split(typed)
    assert " ".join(line.strip()[2:] for line in made.split("\n")[len(lines) :]) == comment
