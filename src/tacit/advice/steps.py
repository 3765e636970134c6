"""`tacit checklist`: the twelve steps from data to a release, done or open as far as policy and ledger show.

No row is read: a policy, the entries of a ledger, and the permissions of files say all there is.
"""

from __future__ import annotations

import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote

from tacit.errors import PolicyError, TacitError
from tacit.ledger import SqliteLedger, beside
from tacit.ledger.amounts import NOTHING
from tacit.ledger.budget import Budget
from tacit.ledger.verification import Verification
from tacit.privacy.prices import text
from tacit.tables.engines.registry import backend_for
from tacit.tables.engines.source import table_folder
from tacit.tables.policy.file import address, read
from tacit.tables.policy.policy import ColumnPolicy, Policy, Role
from tacit.tables.session.open_others import book_of

__all__ = ["DONE", "INDENT", "OPEN", "STEPS", "UNSEEN", "Checklist", "Step", "checklist"]

DONE, OPEN, UNSEEN = "done", "open", "yours"
INDENT = " " * 16
"""Before the command that serves a step, below what the step shows."""


@dataclass(frozen=True, slots=True)
class Step:
    """One of the twelve: its state, what shows it, and the command that serves it."""

    name: str
    what: str
    state: str
    shows: str
    command: str


@dataclass(frozen=True, slots=True)
class Checklist:
    """The twelve steps of one policy."""

    policy: str
    steps: tuple[Step, ...]

    @property
    def open(self) -> tuple[Step, ...]:
        """The steps that are still to be done."""
        return tuple(step for step in self.steps if step.state == OPEN)

    def __str__(self) -> str:
        marks = {DONE: "✓", OPEN: "○", UNSEEN: "·"}
        lines = []
        for number, step in enumerate(self.steps, start=1):
            lines.append(f"{marks[step.state]} {number:>2}  {step.name:<10} {step.shows}")
            lines.append(f"{INDENT}{step.command}")
        done = sum(step.state == DONE for step in self.steps)
        left = f"{len(self.open)} open" if self.open else "none open"
        lines += ["", f"{done} done, {left}, {len(self.steps) - done - len(self.open)} that only you can see (·)."]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the steps are judged by: the policy or why it cannot be read, and what its ledger says."""

    path: Path
    policy: Policy | None
    problem: str
    budget: Budget | None = None
    verification: Verification | None = None
    ledger: Path | None = None
    files: tuple[Path, ...] = ()
    answers: int = 0
    asked: str = field(default="SELECT COUNT(*) AS n FROM …")

    @property
    def typed(self) -> str:
        """The policy as it is typed in a shell."""
        return quote(str(self.path))


def checklist(path: str | Path) -> Checklist:
    """The twelve steps for a policy file; reads no row.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> draft = Path(folder.name) / "visits.toml"
    >>> _ = draft.write_text('version = 1\\nsource = "visits.csv"\\nunit = "?"\\n[columns]\\n')
    >>> [step.name for step in checklist(draft).open][:3]
    ['classify', 'prepare', 'budget']
    >>> folder.cleanup()
    """
    where = Path(path)
    if where.suffix != ".toml" and where.is_file():  # data: the policy lies beside them
        data, where = where, where.with_suffix(".toml")
        if not where.is_file():
            raise PolicyError(f"{data} is no policy, and there is none beside it. Draft one: tacit init {data}")
    if not where.is_file():
        raise PolicyError(f"There is no policy {where}. Draft one: tacit init data.csv")
    seen = _look(where)
    return Checklist(str(where), tuple(_judged(name, what, judge, seen) for name, what, judge in STEPS))


def _look(where: Path) -> _Seen:
    try:
        policy = read(where)
    except PolicyError as error:
        return _Seen(where, None, str(error).partition(" The line is:")[0])
    asked = f"SELECT COUNT(*) AS n FROM {policy.table}"
    try:
        data = address(policy, where)
        if isinstance(data, str):  # of a table in a database
            own: tuple[Path, ...] = ()
            ledger = book_of(backend_for(data).source(data))
        else:
            own, ledger = (data,), beside(table_folder(data) or data)
    except (TacitError, OSError, ValueError):
        return _Seen(where, policy, "", asked=asked)
    files = tuple(file for file in (*own, ledger) if file.is_file())
    if not ledger.is_file():
        return _Seen(where, policy, "", files=files, ledger=ledger, asked=asked)
    with SqliteLedger(ledger).open() as opened:
        answers = sum(entry.kind == "released" for entry in opened.history())
        return _Seen(where, policy, "", opened.budget(), opened.verify(), ledger, files, answers, asked)


Judge = Callable[[_Seen], tuple[str, str, str]]
"""state, what shows it, the command."""


def _judged(name: str, what: str, judge: Judge, seen: _Seen) -> Step:
    state, shows, command = judge(seen)
    return Step(name, what, state, shows, command)


def _classify(seen: _Seen) -> tuple[str, str, str]:
    if seen.policy is None:
        return OPEN, f"the policy cannot be read: {seen.problem}", f"edit {seen.typed}"
    roles = [column.role for column in seen.policy.columns.values()]
    counted = ", ".join(f"{roles.count(role)} {role}" for role in Role if role in roles)
    if not seen.policy.unit.is_row and Role.IDENTIFIER not in roles:
        return (
            OPEN,
            f"no column is an identifier ({counted}): the one that names the unit should be",
            f"edit {seen.typed}",
        )
    return DONE, f"{len(roles)} columns: {counted}", f"tacit describe {seen.typed}"


def _prepare(seen: _Seen) -> tuple[str, str, str]:
    if seen.policy is None:
        return OPEN, "who is protected, and bounds of what is added up", f"edit {seen.typed}"
    bare = [one.name for one in seen.policy.columns.values() if _needs_bounds(one)]
    if bare:
        shows = f"no bounds for {', '.join(bare)}: they can be counted, not added up"
        return OPEN, shows, "tacit discover bounds --help"
    unit = "each row" if seen.policy.unit.is_row else f"one {seen.policy.unit.column}"
    limits = seen.policy.limits
    return (
        DONE,
        f"unit {unit}, {limits.groups} groups, {limits.rows} rows each; bounds stated",
        f"tacit check {seen.typed}",
    )


def _needs_bounds(column: ColumnPolicy) -> bool:
    asked = column.role in (Role.PRIVATE, Role.PUBLIC) and column.keys is None
    return asked and column.kind.is_number and column.bounds is None and column.group_bounds is None


def _budget(seen: _Seen) -> tuple[str, str, str]:
    if seen.policy is None:
        return OPEN, "how much may be learned in all", f"edit {seen.typed}"
    delta = seen.policy.delta or seen.policy.terms.cap.delta
    if delta and seen.policy.population is None:
        shows = f"{seen.policy.terms}; δ is not checked against the number of people: tacit explain delta {text(delta)}"
        return (
            OPEN,
            shows,
            f"edit {seen.typed}: above [limits], population = 10000 says that there are more than so many",
        )
    return DONE, f"{seen.policy.terms}", f"tacit budget {seen.typed}"


def _questions(seen: _Seen) -> tuple[str, str, str]:
    command = f'tacit plan {seen.typed} "{seen.asked}" --epsilon 0.5'
    if seen.answers:
        return DONE, f"{seen.answers} were stated and asked", command
    return OPEN, "none was asked yet; planning is free", command


def _run(seen: _Seen) -> tuple[str, str, str]:
    command = f'tacit ask {seen.typed} "{seen.asked}" --epsilon 0.5'
    if seen.answers:
        return DONE, f"{seen.answers} answers were paid for and released", command
    return (
        OPEN,
        "no answer was released yet" if seen.budget else "there is no ledger: the first answer makes it",
        command,
    )


def _noise(seen: _Seen) -> tuple[str, str, str]:
    return (
        DONE,
        "secret bits of the operating system, exact laws; a seed is refused",
        "tacit audit --all --samples 10000",
    )


def _test(seen: _Seen) -> tuple[str, str, str]:
    return (
        UNSEEN,
        "audit what you built yourself; ours are audited on each change",
        f"tacit audit --policy {seen.typed}",
    )


def _utility(seen: _Seen) -> tuple[str, str, str]:
    command = f'tacit plan {seen.typed} "{seen.asked}"'
    if seen.answers:
        return UNSEEN, "are the intervals small enough, in the smallest group too?", f"tacit report {seen.typed} 1"
    return OPEN, "see the errors at several prices first", command


def _document(seen: _Seen) -> tuple[str, str, str]:
    command = f"tacit report {seen.typed} 1 --out answer.html"
    if seen.answers:
        return UNSEEN, "publish each answer with its disclosure", command
    return OPEN, "nothing to document yet", command


def _secure(seen: _Seen) -> tuple[str, str, str]:
    loose = [file for file in seen.files if file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)]
    if loose:
        names = " ".join(quote(str(file)) for file in loose)
        return (
            OPEN,
            "other users of this machine can open " + ", ".join(file.name for file in loose),
            f"chmod 600 {names}",
        )
    if not seen.files:
        return UNSEEN, "the data are elsewhere: who can read them?", "docs/threat_model.md"
    return DONE, "data and ledger are for their owner alone", "docs/threat_model.md"


def _educate(seen: _Seen) -> tuple[str, str, str]:
    spent = seen.policy.terms.cap.main if seen.policy is not None else None
    symbol = "rho" if seen.policy is not None and seen.policy.terms.flavour.name == "rho" else "epsilon"
    value = "3" if spent is None else text(spent)
    return UNSEEN, "do those who read the answers know what the budget means?", f"tacit explain {symbol} {value}"


def _monitor(seen: _Seen) -> tuple[str, str, str]:
    if seen.budget is None or seen.verification is None:
        return OPEN, "there is no ledger to watch yet", f"tacit log {seen.typed}"
    if not seen.verification.sound:
        return OPEN, "the ledger's chain is broken", f"tacit verify {seen.typed}"
    if seen.budget.head.charged == NOTHING:
        return OPEN, "nothing was charged yet", f"tacit log {seen.typed}"
    locked = [one.analyst for one in seen.budget.accounts if one.locked]
    if locked:
        return OPEN, f"locked: {', '.join(locked)}", f"tacit unlock {seen.typed} --help"
    return (
        DONE,
        f"the chain of {seen.verification.entries} entries holds; left: {_words(seen.budget)}",
        f"tacit log {seen.typed}",
    )


def _words(budget: Budget) -> str:
    return budget.terms.flavour.words(budget.left)


STEPS: tuple[tuple[str, str, Judge], ...] = (
    ("classify", "what each column is: identifier, private, public, forbidden", _classify),
    ("prepare", "who is protected, limits and bounds", _prepare),
    ("budget", "how much may be learned in all", _budget),
    ("questions", "what is to be asked, and at what price", _questions),
    ("run", "ask privately", _run),
    ("noise", "noise that is safe", _noise),
    ("test", "verify by audits", _test),
    ("utility", "whether the answers are good enough", _utility),
    ("document", "what must be said beside a number", _document),
    ("secure", "who can open the files", _secure),
    ("educate", "that readers know what it means", _educate),
    ("monitor", "what was charged, and whether the book holds", _monitor),
)
