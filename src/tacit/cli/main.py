"""The front door of the shell: lists the commands without loading them."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from importlib import import_module
from typing import NoReturn

import click

from tacit.cli.shared.folding import folded
from tacit.errors import InvalidParameter, TacitError
from tacit.version import VERSION

__all__ = ["COMMANDS", "cli", "command", "main"]

COMMANDS: dict[str, tuple[str, str]] = {
    "account": ("tacit.cli.packages.account:account", "What a plan costs, by every method; touches no data."),
    "advise": ("tacit.cli.guide.advise:advise", "Which mechanism to use: ranked, with the call to paste; free."),
    "amend": ("tacit.cli.owner.changes:amend", "Change what may be learned in all; signed into the ledger."),
    "anonymity": ("tacit.cli.anonymity.anonymity:anonymity", "k-anonymity and its kin, and attacks that undo them."),
    "ask": ("tacit.cli.analyst.ask:ask", "Ask one question in SQL: a private answer with error bars, paid for first."),
    "audit": ("tacit.cli.audit.audit:audit", "Prove a leak, or find none: any mechanism, ours or not."),
    "budget": ("tacit.cli.owner.ledger:budget", "What has been charged to a ledger, and what is left."),
    "check": ("tacit.cli.owner.check:check", "Whether the data are what the policy says; for the owner's eyes."),
    "checklist": ("tacit.cli.guide.checklist:checklist", "Twelve steps from data to release: done, or open."),
    "data": ("tacit.cli.owner.changes:data", "Which version of the data it is; say that they have changed."),
    "demo": ("tacit.cli.story.demo:demo", "The whole story on a table it makes up: policy, questions, plot, report."),
    "describe": ("tacit.cli.owner.describe:describe", "What may be asked: columns, types, bounds, keys, examples."),
    "discover": ("tacit.cli.owner.discover:discover", "Bounds, keys and limits for a policy, bought privately."),
    "explain": ("tacit.cli.guide.explain:explain", "What a word means, in numbers of your own."),
    "init": ("tacit.cli.owner.init:init", "Draft a policy for a table; hints from its rows stay on your screen."),
    "learn": (
        "tacit.cli.packages.learn:learn",
        "A private model of a column of a table, paid for once; and predictions.",
    ),
    "local": ("tacit.cli.packages.local:local", "Protocols for people who do not trust the collector: simulate them."),
    "log": ("tacit.cli.owner.ledger:log", "The entries of a ledger; filters, JSON, a plot of spending over time."),
    "plan": ("tacit.cli.analyst.plan:plan", "What a question would cost, or how precise it would be; free."),
    "serve": ("tacit.cli.owner.serve:serve", "Tables for many analysts: an API and a page."),
    "report": (
        "tacit.cli.analyst.report:report",
        "What must be said about an answer that was given: text, JSON or a page.",
    ),
    "shell": ("tacit.cli.analyst.shell:shell", "Question after question about one table, each with its price."),
    "synth": ("tacit.cli.packages.synth:synth", "A synthetic table that can be shared, paid for once."),
    "unlock": ("tacit.cli.owner.ledger:unlock", "Let an analyst pay again whose answers were lost too often."),
    "verify": ("tacit.cli.owner.ledger:verify", "Whether a ledger's hash chain holds; with --head, its tail too."),
}
"""name: (where the command lives, what it does in one line)."""


_OPTIONS = (
    "epsilon", "rho", "delta", "analyst", "bias", "expected_rows", "within", "groups", "rows", "target", "columns",
    "rows_per_unit",
)  # fmt: skip
_EXIT_CODES = {"budget-exceeded": 3, "answer-lost": 4, "account-locked": 6}
_REFUSED_AUDIT = 2  # so that 1 means a violation
_OBJECTS = 500_000
"""Made before garbage is looked for. A command loads fewer, which stay: looking among them takes time for nothing."""


class _Formatter(click.HelpFormatter):
    """Help of at most 80 columns, examples included."""

    def write(self, string: str) -> None:
        super().write(folded(string))


class _Context(click.Context):
    """A context whose help keeps to 80 columns."""

    formatter_class = _Formatter


def _narrow(command: click.Command) -> click.Command:
    """The command, and those below it, with help that keeps to 80 columns."""
    command.context_class = _Context
    if isinstance(command, click.Group):
        for one in command.commands.values():
            _narrow(one)
    return command


class _LazyGroup(click.Group):
    """Loads a command's module when the command is called, so that ``tacit --help`` is fast."""

    context_class = _Context

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return _narrow(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, message="tacit %(version)s")
def cli() -> None:
    """Differential privacy you can point at a table.

    \b
    tacit init visits.csv   draft a policy: who is protected, what may be learned
    tacit ask visits.toml "SELECT ..." --epsilon 0.5

    Exit codes: 0 done, 1 refused or a problem found (the message says which), 2 wrong usage, 3 the budget does not
    allow it (nothing was spent), 4 paid for but there is no answer, 5 an audit was blind, 6 the account is locked
    (nothing was spent), 70 a fault in Tacit itself. Of an audit 1 means a proven violation, and 2 everything refused.
    """


def _as_typed(error: TacitError) -> str:
    """The message, in which a parameter that was typed as an option is named like one."""
    asks = sys.argv[1:2] in (["ask"], ["plan"], ["discover"], ["learn"], ["synth"])
    if not (asks and isinstance(error, InvalidParameter) and error.name in _OPTIONS):
        return str(error)
    option = f"--{error.name.replace('_', '-')}"
    return str(InvalidParameter(option, given=error.given, allowed=error.allowed, hint=error.hint))


def command() -> NoReturn:
    """`main` as a process of its own, which ends without taking down piece by piece what was loaded.

    That takes a fifth of the time of a question, and the system takes it all back at once. Whatever asked to be told of
    the end is told; who has threads that go on ends as usual.
    """
    code: int | str | None = 0
    try:
        main()
    except SystemExit as ended:
        code = ended.code
    if threading.active_count() > 1 or isinstance(code, str):
        sys.exit(code)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:  # closed from the beginning
                stream.flush()
        except (OSError, ValueError):  # nobody reads any more
            code = code or 1
    os._exit(code or 0)


def main() -> None:
    """Run the command line; errors are one paragraph on standard error, not a traceback.

    A fault of ours is told by its name alone: its message may contain what nobody should see.
    """
    gc.set_threshold(_OBJECTS)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a process without threads is doubled in no time, for the draw
    try:
        cli(prog_name="tacit", standalone_mode=True)
    except TacitError as error:
        click.echo(f"tacit: {_as_typed(error)}", err=True)
        sys.exit(_EXIT_CODES.get(error.code, _REFUSED_AUDIT if sys.argv[1:2] == ["audit"] else 1))
    except KeyboardInterrupt:  # between commands: within them click says the same
        click.echo("Aborted!", err=True)
        sys.exit(1)
    except Exception as fault:
        if os.environ.get("TACIT_TRACEBACK"):
            raise
        kind = type(fault).__name__
        click.echo(
            f"tacit: a fault in Tacit itself ({kind}); please report it. Its message is not shown, because it may tell "
            "something about the data; the data's owner sees it with TACIT_TRACEBACK=1.",
            err=True,
        )
        sys.exit(70)
