"""Every command of the shell with its real help: docs/reference/commands.md."""

from __future__ import annotations

import click
from click.testing import CliRunner

from tacit.cli.main import COMMANDS, cli


def page() -> str:
    lines = [
        "# Commands of the shell",
        "",
        "What each command says of itself with `--help`; `make pages` writes this page.",
        "",
        "| command | what it does |",
        "|---|---|",
        *(f"| [`tacit {name}`](#tacit-{name}) | {COMMANDS[name][1]} |" for name in sorted(COMMANDS)),
    ]
    for name in sorted(COMMANDS):
        lines += _told([name], 2)
    return "\n".join([*lines, ""])


def _told(words: list[str], level: int) -> list[str]:
    """The help of a command, and of those below it."""
    shown = CliRunner().invoke(cli, [*words, "--help"], prog_name="tacit", env={"COLUMNS": "90"})
    assert shown.exit_code == 0, (words, shown.output)
    lines = ["", f"{'#' * level} `tacit {' '.join(words)}`", "", "```text", shown.output.rstrip(), "```"]
    command = _command(words)
    if isinstance(command, click.Group):
        for below in command.list_commands(click.Context(command)):
            lines += _told([*words, below], level + 1)
    return lines


def _command(words: list[str]) -> click.Command:
    found: click.Command = cli
    for word in words:
        assert isinstance(found, click.Group)
        below = found.get_command(click.Context(found), word)
        assert below is not None
        found = below
    return found
