"""What `tacit ask` and `tacit plan` share: opening a table, reading prices and errors as typed, showing answers."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from typing import Any

import click

from tacit.cli.shared.ledgers import ledger_beside
from tacit.errors import InvalidParameter
from tacit.ledger import InMemory, Ledger, ledger_at
from tacit.privacy import ApproxDP, Guarantee
from tacit.report import words
from tacit.report.disclosure import Disclosure
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.policy import Policy
from tacit.tables.policy.reading import joined
from tacit.tables.release.answer import Answer
from tacit.tables.session.open import open as open_table
from tacit.tables.session.table import Table

__all__ = [
    "DEFAULT_BUDGET",
    "WithoutPolicy",
    "begins_by_default",
    "has_no_policy",
    "open_for_asking",
    "open_for_planning",
    "package_price",
    "policy_options",
    "price_options",
    "reading_options",
    "show_answer",
    "show_answers",
    "targets",
]

DEFAULT_BUDGET = ApproxDP(3, "1e-8")
"""What a data file without a policy and without a ledger may give away in all, unless --budget says otherwise."""


_READING = (
    "format",
    "encoding",
    "delimiter",
    "decimal",
    "skip",
    "trim",
    "header",
    "table",
    "date_format",
    "null",
)
_OPTIONS = {"dates": "date-format", "header": "no-header"}  # of [reading], where the shell has another name


@dataclass(frozen=True, slots=True)
class WithoutPolicy:
    """What the command line says in place of a policy file: enough for counting."""

    unit: str | None
    budget: str | None
    groups: int | None
    rows: int | None
    types: tuple[str, ...] = ()
    reading: Mapping[str, str] = field(default_factory=dict)

    def open(
        self, where: Path, budget: Guarantee | None, analyst: str | None, ledger: Ledger | Path | str | None
    ) -> Table:
        """The table, under its policy file unless a unit was given."""
        reading = next((f"--{_OPTIONS.get(one, one)}" for one in self.reading), "")
        said = (
            ("--groups", self.groups),
            ("--rows", self.rows),
            ("--type", self.types or None),
            (reading, reading or None),
        )
        for option, given in said:
            if given is not None and not has_no_policy(where, self):
                raise InvalidParameter(option, given="beside a policy file", allowed="nothing: the policy file says it")
        try:
            return open_table(
                where,
                unit=self.unit,
                budget=budget,
                types=self._types() or None,
                reading=self.reading or None,
                name=self.reading.get("table"),
                groups=self.groups or 1,
                rows=self.rows or 1,
                analyst=analyst,
                ledger=ledger,
            )
        except InvalidParameter as error:
            raise _as_typed(error, where) from None

    def _types(self) -> dict[str, str]:
        found = dict[str, str]()
        for typed in self.types:
            column, equals, kind = typed.rpartition("=")
            if not equals or kind not in [one.value for one in Kind]:
                allowed = f"COLUMN=TYPE, the type one of {', '.join(one.value for one in Kind)}"
                raise InvalidParameter("--type", given=typed, allowed=allowed)
            found[column] = kind
        return found


def price_options(command: Any) -> Any:
    """--epsilon, --rho and --delta."""
    return _with(
        command,
        click.option("--epsilon", metavar="E", help="Price of the whole question, for a ledger of ε."),
        click.option("--rho", metavar="R", help="Price of the whole question, for a ledger of ρ."),
        click.option("--delta", metavar="D", help="The δ it may use.  [default: the policy's]"),
    )


def package_price(policy: Policy, epsilon: str | None, rho: str | None, delta: str | None) -> dict[str, Any]:
    """The typed price as estimators and synthesizers take it; in ε with the policy's δ, unless one is said."""
    if epsilon is None:
        return {"rho": rho} if delta is None else {"rho": rho, "delta": delta}
    if delta is None:
        return {"epsilon": epsilon, "delta": policy.delta} if policy.delta else {"epsilon": epsilon}
    return {"epsilon": epsilon, "delta": delta}


def policy_options(command: Any) -> Any:
    """--unit, --budget, --groups, --rows and --type, for a data file without a policy."""
    most = click.IntRange(1)
    return _with(
        command,
        click.option("--unit", metavar="COLUMN", help="Without a policy: the column that tells people apart."),
        click.option("--budget", metavar="E[,D]", help="Without a policy: what may be learned in all.  [3,1e-8]"),
        click.option(
            "--groups", metavar="N", type=most, help="Without a policy: groups that one person counts in.  [1]"
        ),
        click.option("--rows", metavar="N", type=most, help="Without a policy: rows of one person in a group.  [1]"),
        click.option(
            "--type", "types", multiple=True, metavar="COLUMN=TYPE", help="Without a policy: what a column holds."
        ),
    )


def open_for_asking(where: Path, without: WithoutPolicy, *, analyst: str | None, ledger: Path | str | None) -> Table:
    """The table, with its durable ledger."""
    total = DEFAULT_BUDGET if begins_by_default(where, without, ledger) else _total(without.budget)
    return without.open(where, total, analyst, ledger)


def begins_by_default(where: Path, without: WithoutPolicy, ledger: Path | str | None) -> bool:
    """Whether a payment would begin a ledger with a total that nobody named: no policy, no ledger, no --budget."""
    if without.budget is not None or not has_no_policy(where, without):
        return False
    return not ledger_at(ledger or ledger_beside(where)).exists()


def open_for_planning(where: Path, without: WithoutPolicy, ledger: Path | str | None) -> Table:
    """The table with a ledger that forgets, unless the one on record has to say which flavour it keeps."""
    book = ledger_at(ledger or ledger_beside(where))
    if not has_no_policy(where, without):
        return without.open(where, None, None, InMemory())
    if without.budget is None and book.exists():
        return without.open(where, None, None, book)
    return without.open(where, _total(without.budget) or DEFAULT_BUDGET, None, InMemory())


def _as_typed(error: InvalidParameter, where: Path) -> InvalidParameter:
    """The same, in the words of the shell."""
    if error.name not in ("unit", "budget"):
        return error
    allowed = error.allowed.replace("tacit.ROW", "row")
    if error.given is not None:
        return InvalidParameter(f"--{error.name}", given=error.given, allowed=allowed, hint="Leave it out.")
    hint = f"For example --unit user_id; or draft a policy that says it once: tacit init {where}"
    return InvalidParameter("--unit", given="nothing", allowed=allowed, hint=hint)


def has_no_policy(where: Path, without: WithoutPolicy) -> bool:
    """Whether a data file is to be opened as the options describe it: `tacit.open` finds a policy beside the data."""
    if where.suffix == ".toml":
        return False
    return without.unit is not None or not where.name or not where.with_suffix(".toml").is_file()


def _with(command: Any, *options: Any) -> Any:
    for option in reversed(options):
        command = option(command)
    return command


def _total(typed: str | None) -> Guarantee | None:
    if typed is None:
        return None
    epsilon, _, delta = typed.partition(",")
    try:
        return ApproxDP(epsilon.strip(), delta.strip() or 0)
    except InvalidParameter as error:
        raise InvalidParameter("--budget", given=typed, allowed="ε, or ε and δ, as in 3 or 3,1e-8") from error


def targets(typed: tuple[str, ...]) -> float | dict[str, float]:
    """One error for every output, or one for each that is named: --within 5, or --within n=5 --within spend=1."""
    named: dict[str, float] = {}
    for one in typed:
        name, equals, error = one.rpartition("=")
        try:
            value = float(error)
        except ValueError:
            allowed = "an error such as 1, or the name of an output and its error such as spend=1"
            raise InvalidParameter("--within", given=one, allowed=allowed) from None
        if not equals:
            if len(typed) > 1:
                raise InvalidParameter("--within", given=one, allowed="NAME=ERROR, if it is given more than once")
            return value
        named[name] = value
    return named


def show_answer(where: Path | str, answer: Answer, again: bool, analyst: str | None) -> None:
    """One answer, with its price and how to see it again."""
    from tacit.report.terminal import show

    disclosure = answer.disclosure()
    show(
        disclosure.columns,
        words.footnote(disclosure),
        _parts(where, answer, again, analyst),
        everything="--csv FILE or --json has all",
        notes=words.notes(disclosure, answer.receipt.terms.data),
    )


def show_answers(where: Path | str, answers: Sequence[Answer], again: bool, analyst: str | None) -> None:
    """The answers of a batch, one after the other; the price of all under the last."""
    from tacit.report.terminal import show

    for at, answer in enumerate(answers):
        disclosure = answer.disclosure()
        is_last = at == len(answers) - 1
        click.echo(f" [{at}] {disclosure.question}")
        show(
            disclosure.columns,
            words.footnote(disclosure),
            _parts(where, answer, again, analyst) if is_last else [],
            everything="--json has all",
            notes=words.notes(disclosure, answer.receipt.terms.data) if is_last else [],
        )
        if not is_last:
            click.echo()


def _parts(where: Path | str, answer: Answer, again: bool, analyst: str | None) -> list[str]:
    asked_by = "" if analyst is None else f" --analyst {quote(analyst)}"
    number = answer.receipt.number
    return [*words.spent(_as_of_now(answer), again=again), f"tacit report {quote(str(where))} {number}{asked_by}"]


def _as_of_now(answer: Answer) -> Disclosure:
    """The disclosure with what has been charged by now: an answer that was stored earlier knows less."""
    main, delta = answer.receipt.charged_so_far.texts()
    most, leak = answer.receipt.terms.cap.texts()
    disclosure = answer.disclosure()
    means = disclosure.charged.means if answer.receipt.squares is None else answer.receipt.means_by_squares
    charged = replace(disclosure.charged, main=main, delta=delta, means=means)
    return replace(disclosure, charged=charged, cap=replace(disclosure.cap, main=most, delta=leak))


def reading_options(command: Any) -> Any:
    """--encoding, --delimiter, … as one mapping, ``reading``; directly above the function."""

    @functools.wraps(command)
    def collected(**given: Any) -> Any:
        reading = dict[str, str]()
        lists = {"date_format": "dates", "null": "null"}
        for option in _READING:
            value = given.pop(f"read_{option}")
            if value not in (None, ()):
                reading[lists.get(option, option)] = joined(value)
        if reading.get("delimiter") == "\\t":
            reading["delimiter"] = "\t"
        return command(reading=reading, **given)

    formats = "What the file is, where its name does not say it: csv, sqlite, …"
    for option in (
        click.option("--table", "read_table", metavar="NAME", help="The table or sheet in the file."),
        click.option("--header/--no-header", "read_header", default=None, help="Whether the first line names columns."),
        click.option("--trim", "read_trim", is_flag=True, default=None, help="Leave out blanks around texts."),
        click.option("--skip", "read_skip", type=click.IntRange(0), metavar="N", help="Lines before the header."),
        click.option("--null", "read_null", multiple=True, metavar="TEXT", help="A text that stands for null."),
        click.option(
            "--date-format", "read_date_format", multiple=True, metavar="F", help="How days are written: %d/%m/%Y."
        ),
        click.option("--decimal", "read_decimal", metavar="C", help="The decimal mark of numbers: . or ,"),
        click.option("--delimiter", "read_delimiter", metavar="C", help=r"Between fields: , ; | or \t"),
        click.option("--encoding", "read_encoding", metavar="NAME", help="Of the text: utf-8, latin-1, utf-16, …"),
        click.option("--format", "read_format", metavar="NAME", help=formats),
    ):
        collected = option(collected)
    return collected
