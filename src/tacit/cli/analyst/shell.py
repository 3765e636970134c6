"""`tacit shell`: question after question about one table, each with its price before it is paid."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from tacit.cli.shared.folding import echo_folded
from tacit.cli.shared.progress import waiting_for_another
from tacit.cli.shared.questions import WithoutPolicy, open_for_asking, show_answer, show_answers
from tacit.errors import InvalidParameter, TacitError
from tacit.ledger.caps import refuse_too_little
from tacit.ledger.terms import Terms
from tacit.privacy.prices import text
from tacit.report.numbers import number, printable
from tacit.tables.expressions.operators import OPERATORS
from tacit.tables.plan.plan import Plan
from tacit.tables.policy.policy import Role
from tacit.tables.query.functions import AGGREGATES, LEVELS, PAIRS
from tacit.tables.query.to_sql import name_to_sql
from tacit.tables.release.batch_answers import Answers
from tacit.tables.session.batch import Batch
from tacit.tables.session.table import Question, Table, without_explain
from tacit.tables.sql.parse import statements

__all__ = ["Shell", "completions", "matching", "shell"]

_KEYWORDS = (
    "SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "AS", "AND", "OR", "NOT", "IN", "IS NULL",
    "BETWEEN", "LIKE", "CASE", "WHEN", "THEN", "ELSE", "END", "COUNT", "DISTINCT", "JOIN", "USING", "WITH", "EXPLAIN",
)  # fmt: skip
_HELP = """\
 SELECT … ;              a question; its price and errors come before it is paid
 EXPLAIN SELECT … ;      how it would be answered; free
 \\price epsilon 0.5      what the next questions cost (also rho)
 \\budget                 what has been charged, and what is left
 \\columns                what may be asked about
 \\batch a.sql            the statements of a file, together at one price
 \\clear                  forget the statement that was begun
 \\help, \\quit            (or Ctrl-D)"""
_COMMANDS = ("\\batch", "\\budget", "\\clear", "\\columns", "\\help", "\\price", "\\quit")
_BEFORE = " \t\n,()=<>+-*/;"
"""Where a word begins that can be completed."""


@click.command()
@click.argument("where", metavar="POLICY|DATA", type=click.Path(path_type=Path))
@click.option("--epsilon", metavar="E", help="Price of each question, for a ledger of ε.  [0.1; \\price changes it]")
@click.option("--rho", metavar="R", help="Price of each question, for a ledger of ρ.  [0.005]")
@click.option("--yes", is_flag=True, help="Pay without being asked; without it, only a terminal can pay.")
@click.option("--unit", metavar="COLUMN", help="Without a policy: the column that tells people apart.")
@click.option("--analyst", metavar="NAME", help="Who asks, and whose account pays.  [default: the user's name]")
@click.option(
    "--ledger", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="The ledger.  [beside the data]"
)
def shell(
    where: Path,
    epsilon: str | None,
    rho: str | None,
    yes: bool,
    unit: str | None,
    analyst: str | None,
    ledger: Path | None,
) -> None:
    """Ask question after question; each shows its price and its errors before it is paid.

    \b
    tacit shell visits.toml
    visits> SELECT city, COUNT(*) AS n FROM visits GROUP BY city;

    A statement ends with a semicolon. The tabulator completes columns, functions and commands; \\help lists commands.
    What was typed is kept in ~/.tacit_history (TACIT_HISTORY names another file; empty, none).

    Exit codes: 0 done, 1 the table cannot be opened, 2 wrong usage.
    """
    without = WithoutPolicy(unit, None, None, None)
    with open_for_asking(where, without, analyst=analyst, ledger=ledger) as table:
        flavour = table.policy.terms.flavour.name
        given = {name: value for name, value in (("epsilon", epsilon), ("rho", rho)) if value is not None}
        if len(given) > 1 or (given and flavour not in given):
            raise InvalidParameter(
                "price", given=" and ".join(given), allowed=f"a price in {flavour}, as in the ledger"
            )
        price = given.get(flavour) or _usual_price(table.policy.terms)
        made = Shell(table, where if ledger is None else ledger, price, analyst, _always if yes else _asked)
        with _line_editing(completions(table)):
            made.run(_typed)


def _usual_price(terms: Terms) -> str:
    """A small price, and never one that the owner's least price refuses."""
    usual = "0.1" if terms.flavour.name == "epsilon" else "0.005"
    return usual if Fraction(usual) >= terms.smallest else text(terms.smallest)


class Shell:
    """A table, the price of the next question, and a statement that is being typed."""

    def __init__(self, table: Table, where: Path, price: str, analyst: str | None, pays: Callable[[str], bool]) -> None:
        self._table = table
        self._where = where
        self._price = price
        self._analyst = analyst
        self._pays = pays
        self._begun = ""

    @property
    def prompt(self) -> str:
        """The name of the table; while a statement is being typed, an arrow of the same width."""
        name = printable(self._table.policy.table)
        return f"{' ' * (len(name) - 1)}-> " if self._begun else f"{name}> "

    def run(self, typed: Callable[[str], str]) -> None:
        """Read lines until they end; what is refused is told, and the next line is read."""
        click.echo(f"a question costs {self._words()}; {self._left()} is left; \\help lists commands")
        while True:
            try:
                line = typed(self.prompt)
            except EOFError:
                click.echo()
                return
            except KeyboardInterrupt:  # forget what was begun
                self._begun = ""
                click.echo()
                continue
            if not self.take(line):
                return

    def take(self, line: str) -> bool:
        """One line; False if it was the last."""
        try:
            if line.strip() == "\\clear":
                self._begun = ""
                return True
            if line.strip().startswith("\\") and (not self._begun or line.split()[0] in self._commands):
                return self._command(line.strip())  # what was begun stays
            self._begun = f"{self._begun}\n{line}" if self._begun else line.strip() and line
            if line.rstrip().endswith(";"):
                whole, self._begun = self._begun, ""
                for one in statements(whole):
                    self._statement(one)
        except TacitError as error:
            self._begun = ""
            click.echo(f"tacit: {error}", err=True)
        except KeyboardInterrupt:
            click.echo("Aborted. If it was being drawn it is paid for: tacit log shows it.", err=True)
        return True

    def _command(self, line: str) -> bool:
        name, *rest = line.split(maxsplit=1)
        if name not in self._commands:
            raise InvalidParameter("command", given=name, allowed=", ".join(_COMMANDS))
        act = self._commands[name]
        if act is None:
            return False
        act(rest[0].strip() if rest else "")
        return True

    @property
    def _commands(self) -> dict[str, Callable[[str], None] | None]:
        """What each command does; None ends."""
        return {
            "\\budget": lambda _: self._budget(),
            "\\columns": lambda _: self._columns(),
            "\\d": lambda _: self._columns(),
            "\\price": self._set_price,
            "\\batch": self._batch,
            "\\help": lambda _: click.echo(_HELP),
            "\\?": lambda _: click.echo(_HELP),
            **dict.fromkeys(("\\q", "\\quit", "\\exit")),
        }

    def _statement(self, sql: str) -> None:
        if sql.lstrip()[:8].strip().upper() == "EXPLAIN":
            echo_folded(repr(self._table.query(without_explain(sql)).plan(**self._given())))
            return
        question = self._table.query(sql)
        self._ask(question, {} if question.states_price else self._given())

    def _batch(self, name: str) -> None:
        try:
            typed = Path(name).expanduser().read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError):
            raise InvalidParameter("\\batch", given=name, allowed="a readable file of SQL") from None
        self._ask(self._table.batch(statements(typed)), self._given())

    def _ask(self, question: Question | Batch, price: dict[str, Any]) -> None:
        """Tell the price and the errors; pay if so decided; show the answer."""
        if not self._pays(self._told(question.plan(**price))):
            click.echo(" not asked; nothing was spent")
            return
        before = self._table.entries
        with waiting_for_another("drawing the answer"):
            found = question.ask(**price)
        again = found.receipt.entry < before
        if isinstance(found, Answers):
            show_answers(self._where, list(found), again, self._analyst)
        else:
            show_answer(self._where, found, again, self._analyst)

    def _told(self, plan: Plan) -> str:
        flavour = self._table.policy.terms.flavour
        errors = [f"{one.name} ± {number(float(f'{one.error:.3g}'))}" for one in plan.lines if one.error is not None]
        shown = "; ".join(errors[:3]) + ("; …" if len(errors) > 3 else "")
        return f"{flavour.words(flavour.price(plan.cost))} of {self._left()} left" + (f" ({shown})" if shown else "")

    def _given(self) -> dict[str, Any]:
        return {self._table.policy.terms.flavour.name: self._price}

    def _words(self) -> str:
        return f"{self._table.policy.terms.flavour.symbol} {self._price}"

    def _left(self) -> str:
        flavour = self._table.policy.terms.flavour
        return flavour.words(flavour.price(self._table.remaining))

    def _set_price(self, typed: str) -> None:
        flavour = self._table.policy.terms.flavour.name
        name, _, value = typed.rpartition(" ")
        if name.strip() not in ("", flavour) or not value:
            raise InvalidParameter("\\price", given=typed, allowed=f"\\price {flavour} 0.5: the ledger's currency")
        price: dict[str, Any] = {flavour: value}
        plan = self._table.query(_smallest(self._table)).plan(**price)  # is it a price?
        terms = self._table.policy.terms
        refuse_too_little(terms, terms.flavour.price(plan.cost))
        self._price = value
        click.echo(f" {self._words()} for each question from now on")

    def _budget(self) -> None:
        click.echo(f" {self._left()} is left to you; a question costs {self._words()}")
        if self._table.entries:  # looking begins no ledger
            terms, words = self._table.policy.terms, self._table.policy.terms.flavour.words
            charged = self._table.ledger.budget().head.charged
            click.echo(f" {words(charged)} of {words(terms.cap)} has been charged to everybody")

    def _columns(self) -> None:
        for one in self._table.policy.columns.values():
            if one.role is not Role.FORBIDDEN:
                bounds = "" if one.bounds is None else f", {float(one.bounds[0]):g} to {float(one.bounds[1]):g}"
                click.echo(f" {printable(name_to_sql(one.name))}  {one.kind}, {one.role.value}{bounds}")


def _smallest(table: Table) -> str:
    return f"SELECT COUNT(*) AS n FROM {name_to_sql(table.policy.table)}"


def completions(table: Table) -> list[str]:
    """What the tabulator completes: columns and tables, functions, words of SQL, commands of the shell."""
    policy = table.policy
    columns = [one.name for one in policy.columns.values() if one.role is not Role.FORBIDDEN]
    others = [other.name for other in policy.others.values()]
    others += [name for other in policy.others.values() for name in other.columns]
    functions = {*AGGREGATES, *PAIRS, *LEVELS, *(name for one in OPERATORS.values() for name in one.sql)}
    named = [name_to_sql(one) for one in dict.fromkeys([policy.table, *columns, *others])]
    return [*named, *sorted(f"{one.upper()}(" for one in functions if one.isidentifier()), *_KEYWORDS, *_COMMANDS]


def matching(begun: str, words: Iterable[str]) -> list[str]:
    """The words that begin so: as it is typed if there are any, else in either case.

    What a terminal completes is what all of them begin with: ``month`` and ``MONTH(`` would have nothing in common.

    >>> matching("mon", ['"month"', "money", "MONTH("]), matching("cou", ["COUNT(", "city"])
    (['"month"', 'money'], ['COUNT('])
    """
    listed = [(one, one if begun.startswith('"') else one.removeprefix('"')) for one in words]
    found = [one for one, read in listed if read.lower().startswith(begun.lower())]
    return [one for one, read in listed if read.startswith(begun)] or found


def _typed(prompt: str) -> str:
    """A line of standard input; a terminal is prompted."""
    if sys.stdin.isatty():
        return input(prompt)
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\n")


def _always(told: str) -> bool:
    click.echo(f" paying {told}")
    return True


def _asked(told: str) -> bool:
    """Whether a person says yes; nobody can where there is no terminal."""
    if not sys.stdin.isatty():
        click.echo(f" price {told}; --yes pays")
        return False
    return click.confirm(f" pay {told}?", default=False)


@contextmanager
def _line_editing(words: Iterable[str]) -> Iterator[None]:
    """History and completion, where standard input is a terminal and Python has readline."""
    readline = _readline() if sys.stdin.isatty() else None
    if readline is None:
        yield
        return
    listed = list(words)

    def complete(text: str, state: int) -> str | None:
        return [*matching(text, listed), *[None] * (state + 1)][state]

    readline.set_completer(complete)
    readline.set_completer_delims(_BEFORE)
    edit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if edit else "tab: complete")
    history = _history()
    if history is not None:
        with suppress(OSError):
            readline.read_history_file(history)
    readline.set_history_length(2000)
    try:
        yield
    finally:
        readline.set_completer(None)
        if history is not None:
            with suppress(OSError):
                os.close(os.open(history, os.O_CREAT | os.O_WRONLY, 0o600))  # questions are for nobody else
                readline.write_history_file(history)


def _readline() -> ModuleType | None:
    try:
        import readline
    except ImportError:
        return None
    return readline


def _history() -> str | None:
    named = os.environ.get("TACIT_HISTORY")
    return named or None if named is not None else str(Path.home() / ".tacit_history")
