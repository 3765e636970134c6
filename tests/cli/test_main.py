"""The front door: help without loading anything, version, errors on one line."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from tacit.cli.main import COMMANDS, cli


def test_help_lists_every_command_with_its_line() -> None:
    shown = CliRunner().invoke(cli, ["--help"]).output
    for name, (_, line) in COMMANDS.items():
        assert name in shown
        assert line.split(":")[0].split(";")[0][:30] in " ".join(shown.split())


def test_every_command_loads_and_explains_itself() -> None:
    context = click.Context(cli)
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        assert command.help, f"tacit {name} has no help"


def test_the_package_runs_as_the_command() -> None:
    ran = subprocess.run([sys.executable, "-m", "tacit", "frobnicate"], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert "Usage: tacit " in ran.stderr


def test_an_unknown_command_is_wrong_usage() -> None:
    ran = CliRunner().invoke(cli, ["frobnicate"])
    assert ran.exit_code == 2
    assert "frobnicate" in ran.output


def test_an_error_of_ours_is_one_line_and_exit_code_one() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", "from tacit.cli.main import main; main()", "account", "gaussian", "--delta", "1e-6"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1
    assert ran.stderr.startswith("tacit: scale")
    assert len(ran.stderr.strip().splitlines()) == 1


ENDS = """
import atexit, sys, threading
from tacit.cli import main
atexit.register(lambda: print("told of the end"))
main.main = lambda: {}
main.command()
"""


@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        ("print('done')", 0, "done\ntold of the end\n"),
        ("(print('refused'), sys.exit(3))", 3, "refused\ntold of the end\n"),
        ("sys.exit(None)", 0, "told of the end\n"),
        ("sys.exit('in words')", 1, "told of the end\n"),
        ("threading.Timer(0.2, print, ['a thread']).start()", 0, "a thread\ntold of the end\n"),
    ],
)
def test_a_command_ends_at_once_and_leaves_nothing_unsaid(body: str, code: int, said: str) -> None:
    ran = subprocess.run([sys.executable, "-c", ENDS.format(body)], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (code, said), ran.stderr


def test_a_command_whose_output_is_closed_ends_well() -> None:
    closed = "import sys; sys.stdout = None\n" + ENDS.format("None").replace('print("told of the end")', "None")
    ran = subprocess.run([sys.executable, "-c", closed], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
