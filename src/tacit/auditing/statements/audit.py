"""One statement, asked of made-up neighbours: may anything but the noise tell them apart?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self

from tacit.auditing.audit import audit as run_audit
from tacit.auditing.result import AuditResult
from tacit.auditing.statements.coupling import ROUNDS, coupled, told
from tacit.auditing.statements.made_up import PEOPLE, Person, write_table
from tacit.errors import TacitError
from tacit.ledger import InMemory, Receipt, Request
from tacit.tables.engines.backend import TableSources
from tacit.tables.engines.contract import Engine, Integers
from tacit.tables.engines.registry import backend_for
from tacit.tables.engines.work import Work
from tacit.tables.plan.plan import Plan
from tacit.tables.policy.file import address, read
from tacit.tables.policy.policy import Policy
from tacit.tables.session.open import open as open_table
from tacit.tables.session.open_others import open_others
from tacit.tables.session.table import Table

__all__ = ["MOST_ADDED", "Finding", "StatementAudit", "StatementAuditor"]

Price = dict[str, Any]
"""As keywords of ``Table.sql``: {"epsilon": 1}, {"rho": "0.1", "delta": 1e-9}."""
_ANALYST = "auditor"

MOST_ADDED = 100_000
"""Rows that one unit may add to each step of a statement, in the mean: as many as it may have after a join."""
SIZES = (2, 40)
"""How many units the made-up tables have: with few, one person moves every sum; with many, groups are crowded."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A statement on one pair of neighbours: what an analyst would be told of each, and what it took."""

    person: str
    units: int
    differs: str
    """What told the two apart: outcome, error, plan, price, columns, answer; empty if nothing did."""
    detail: str
    """The two beside each other."""
    compared: int
    """How many answers with coupled noise were compared."""
    work: tuple[Work, Work] | None
    rows: int
    """How many rows the person has."""

    @property
    def added(self) -> float:
        """How many rows more each step of the engine handled, in the mean, because of the person."""
        return 0.0 if self.work is None else (self.work[1].rows - self.work[0].rows) / max(self.work[1].steps, 1)

    @property
    def violated(self) -> bool:
        """Whether the pair can be told apart for nothing, or one unit can make as much work as it likes."""
        return bool(self.differs) or self.added > MOST_ADDED

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        work = None if self.work is None else [one.to_dict() for one in self.work]
        return {
            "person": self.person,
            "units": self.units,
            "differs": self.differs,
            "detail": self.detail,
            "compared": self.compared,
            "work": work,
            "added": self.added,
            "violated": self.violated,
        }


@dataclass(frozen=True, slots=True)
class StatementAudit:
    """What the audit of one statement found. That nothing was found proves nothing."""

    sql: str
    outcome: str
    """answered, or the code of the refusal."""
    price: str
    findings: tuple[Finding, ...]
    leaked: AuditResult | None
    """What answers to the worst pair prove by their frequencies; None if none were drawn."""

    @property
    def violated(self) -> bool:
        """Whether anything is wrong."""
        return any(one.violated for one in self.findings) or (self.leaked is not None and self.leaked.violated)

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "sql": self.sql,
            "outcome": self.outcome,
            "price": self.price,
            "violated": self.violated,
            "findings": [one.to_dict() for one in self.findings],
            "leaked": None if self.leaked is None else self.leaked.to_dict(),
        }


class StatementAuditor:
    """Asks statements of tables that are made up from a policy: with and without one unit of each kind.

    The policy's own data are not read. Use it as a context: the made-up tables go with it.
    """

    def __init__(self, policy: str | Path, people: Sequence[Person] = PEOPLE, sizes: Sequence[int] = SIZES) -> None:
        self._policy = read(policy)
        self._people, self._sizes = tuple(people), tuple(sizes)
        self._stack = ExitStack()
        self._opened: dict[tuple[str, int], _Opened] = {}

    @property
    def flavour(self) -> str:
        """What a price is said in: epsilon or rho."""
        return self._policy.terms.flavour.name

    def __enter__(self) -> Self:
        self._folder = Path(self._stack.enter_context(TemporaryDirectory(prefix="tacit-audit-")))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def audit(self, sql: str, price: Price, *, samples: int = 0, confidence: float = 0.999) -> StatementAudit:
        """Everything that a statement tells of each pair; ``price`` is as for ``Table.sql``, such as {"epsilon": 1}."""
        findings, outcome, cost, asked = list[Finding](), "", "", dict[int, _Asked]()
        for base, other, person in self._pairs():
            for one in (base, other):
                if id(one) not in asked:
                    asked[id(one)] = one.outcome(sql, price)
            first, second = asked[id(base)], asked[id(other)]
            outcome, cost = first.told, first.price
            findings.append(_finding(base, other, person, first, second))
        leaked = self._leaked(sql, price, samples, confidence) if samples and outcome == "answered" else None
        return StatementAudit(sql, outcome, cost, tuple(findings), leaked)

    def _pairs(self) -> Iterator[tuple[_Opened, _Opened, Person]]:
        for units in self._sizes:
            for person in self._people:
                yield self._open(None, units), self._open(person, units), person

    def _open(self, person: Person | None, units: int) -> _Opened:
        key = ("nobody" if person is None else person.name, units)
        if key not in self._opened:
            place = self._folder / f"{key[0].replace(' ', '-')}-{units}"
            opened = _Opened(write_table(self._policy, place, person, units), units)
            self._opened[key] = opened
            self._stack.callback(opened.close)
        return self._opened[key]

    def _leaked(self, sql: str, price: Price, samples: int, confidence: float) -> AuditResult:
        """By how often answers occur; of the first person, among few."""
        sides = [self._open(None, self._sizes[0]), self._open(self._people[0], self._sizes[0])]
        with sides[0].opened() as table:
            plan = table.query(sql).plan(**price)
        found = [one.found(plan) for one in sides]
        receipt = sides[0].receipt(plan)

        def answer(side: int) -> str:
            """Without the ledger's hash, which is the same on both sides and could not be read."""
            return told(plan, found[side], receipt)[1].replace(receipt.head, "")

        return run_audit(
            answer,
            neighbours=(0, 1),
            claim=plan.cost,
            samples=samples,
            confidence=confidence,
        )


@dataclass(frozen=True, slots=True)
class _Asked:
    """What an analyst sees of a statement before and after paying, noisy numbers apart."""

    told: str
    error: str
    plan: Plan | None
    text: str
    price: str
    columns: tuple[str, ...]


class _Opened:
    """One made-up table: as analysts find it, and with an engine of its own whose integers can be looked at."""

    def __init__(self, path: Path, units: int) -> None:
        self.units = units
        self.policy: Policy = read(path)
        self._path = path

    @cached_property
    def engine(self) -> Engine:
        with self.opened() as table:
            policy = table.policy  # with what public tables hold
        place = address(policy, self._path)
        backend = backend_for(place)
        source = backend.source(place, policy.options, policy.table)
        others = open_others(policy, self._path.parent, backend)
        return backend.engine(TableSources(source, policy, others), "one key for all tables")

    def opened(self) -> Table:
        """The table with its whole budget."""
        return open_table(self._path, ledger=InMemory(), analyst=_ANALYST)

    def outcome(self, sql: str, price: Price) -> _Asked:
        """Query, plan and ask, through the front door."""
        plan, text, cost, columns = None, "", "", tuple[str, ...]()
        try:
            with self.opened() as table:
                question = table.query(sql)
                plan = question.plan(**price)
                text, cost = str(plan), repr(plan.cost)
                columns = question.ask(**price).columns
        except TacitError as error:
            return _Asked(error.code, f"{error}", plan, text, cost, columns)
        except Exception as fault:
            return _Asked("broken", f"{type(fault).__name__}: {fault}", plan, text, cost, columns)
        return _Asked("answered", "", plan, text, cost, columns)

    def found(self, plan: Plan) -> list[Integers]:
        return [self.engine.run(one) for one in plan.passes.bounded]

    def work(self, plan: Plan) -> Work:
        return sum((self.engine.work(one) for one in plan.passes.bounded), start=Work(0, 0, 0, 0))

    def receipt(self, plan: Plan) -> Receipt:
        """As for a first payment."""
        book = InMemory().open("audited", self.policy.terms)
        claim = book.spend(Request(_ANALYST, plan.question, self.policy.fingerprint()), plan.cost)
        assert claim.receipt is not None
        return claim.receipt

    def close(self) -> None:
        if "engine" in self.__dict__:
            self.engine.close()


def _finding(base: _Opened, other: _Opened, person: Person, one: _Asked, two: _Asked) -> Finding:
    rows = 1 if base.policy.unit.is_row else person.rows
    differs, detail = _said_differently(one, two)
    if not differs and one.told in _WRONG:
        differs, detail = _WRONG[one.told], one.error
    if differs or one.told != "answered" or one.plan is None:
        return Finding(person.name, base.units, differs, detail, 0, None, rows)
    found = (base.found(one.plan), other.found(one.plan))
    receipt = base.receipt(one.plan)
    for wanted in ROUNDS:
        first, second = coupled(one.plan, found, receipt, wanted)
        if first != second:
            differs, detail = "answer", _first_difference(first, second)
            break
    work = (base.work(one.plan), other.work(one.plan))
    return Finding(person.name, base.units, differs, detail, len(ROUNDS), work, rows)


_WRONG = {"broken": "an error of its own", "answer-lost": "a lost answer"}
"""Outcomes that are wrong even if they are the same for both."""


def _said_differently(one: _Asked, two: _Asked) -> tuple[str, str]:
    """What an analyst is told without paying, or is told beside the numbers."""
    for name, first, second in (
        ("outcome", one.told, two.told),
        ("error", one.error, two.error),
        ("plan", one.text, two.text),
        ("price", one.price, two.price),
        ("columns", repr(one.columns), repr(two.columns)),
    ):
        if first != second:
            return name, _first_difference((name, first), (name, second))
    return "", ""


def _first_difference(first: tuple[str, str], second: tuple[str, str]) -> str:
    if first[0] != second[0]:
        return f"{first[0]} {first[1][:80]!r} against {second[0]} {second[1][:80]!r}"
    one, two = first[1], second[1]
    at = next((i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    start = max(at - 30, 0)
    return f"…{one[start : at + 30]!r} against …{two[start : at + 30]!r}"
