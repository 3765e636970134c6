"""From an open table to a model: one payment, one draw in a process of its own, and the model as the stored answer."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from tacit.errors import InvalidParameter
from tacit.ledger import Receipt
from tacit.ledger.requests import Claim
from tacit.privacy import Guarantee
from tacit.synth.counts.counting import Counting, Counts, Maps, Tables
from tacit.synth.domain.columns import Column, Dates, Listed, Numbers
from tacit.synth.domain.domain import Domain
from tacit.synth.domain.rules import Rule
from tacit.synth.made.saved import from_bytes, to_bytes
from tacit.synth.made.synthesis import Synthesis
from tacit.tables.engines.contract import Category, Engine, Quantised
from tacit.tables.engines.rows import BoundedRows, Chunk, Coded
from tacit.tables.engines.tabulate import Bins, tabulated
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Call, Expression, Literal
from tacit.tables.expressions.tree import Column as Named
from tacit.tables.plan.price import read_price
from tacit.tables.policy.policy import Policy

__all__ = ["VERSION", "SynthesisPlan", "TableRows", "coded", "fit_table", "plan_table", "protects"]

VERSION = 4
"""Raised when the same rows and the same noise would give another model: then it is another question."""


class Opened(Protocol):
    """An open table."""

    @property
    def policy(self) -> Policy: ...

    def reading(self, columns: list[Coded], *, rows_per_unit: object = None) -> BoundedRows: ...

    def pay_for(self, question: str, cost: Guarantee, draw: Any, *, fresh: bool = False) -> Claim: ...


class Method(Protocol):
    """A method at a price."""

    @property
    def guarantee(self) -> Guarantee: ...

    def check(self, domain: Domain) -> None: ...

    def made(self, counting: Counting, domain: Domain) -> Synthesis: ...


class TableRows:
    """The chosen rows of an open table, to be counted as often as a fit asks, without reading the source again."""

    def __init__(self, domain: Domain, asked: BoundedRows, rows: Iterable[Chunk]) -> None:
        self.reach = asked.most
        self._domain, self._asked, self._rows = domain, asked, rows

    def counted(self, tables: Tables, maps: Maps) -> list[Counts]:
        bins = []
        for column, coded, places in zip(self._domain.columns, self._asked.columns, maps, strict=True):
            unknown = column.cells if column.missing else 0
            bins.append(Bins.of(coded, places[[unknown, *range(column.cells)]].tolist()))
        return tabulated(self._asked, self._rows, bins, list(tables))

    def __repr__(self) -> str:
        return "TableRows(private)"


@dataclass(frozen=True)
class _Draw:
    """What runs after the payment: rows in, the model's bytes out."""

    method: Any
    domain: Domain
    asked: BoundedRows
    question: str = ""

    def request(self) -> tuple[str, dict[str, Any]]:
        """The same as a service is asked for it: where, and with what besides the price."""
        return "models", {
            "method": type(self.method).__name__.lower(),
            "columns": [column.name for column in self.domain.columns],
            "rows_per_unit": self.asked.most,
            "settings": {},
            "question": self.question,
        }

    def __call__(self, engine: Engine, receipt: Receipt) -> bytes:
        with engine.read(self.asked) as rows:
            return to_bytes(self.method.made(TableRows(self.domain.measured(), self.asked, rows), self.domain))


@dataclass(frozen=True, slots=True)
class SynthesisPlan:
    """What a fit on an open table would count and cost; free, and known without a row."""

    question: str
    cost: Guarantee
    protects: str
    domain: Domain
    asked: BoundedRows
    discovers: tuple[str, ...] = ()
    """Columns whose lists or bounds are bought first, from the same price."""

    def __str__(self) -> str:
        sizes = zip(self.domain.columns, self.domain.sizes, strict=True)
        lines = [
            f"  {column.name}: what it can have is found first, within the price"
            if column.name in self.discovers
            else f"  {column.name}: {size:,} values{', ordered' if column.ordered else ''}"
            for column, size in sizes
        ]
        return "\n".join(["makes up", *lines, f"price: {self.cost!r}; protects {self.protects}"])


def fit_table(
    method: Any,
    table: Opened,
    domain: object,
    rules: Iterable[Rule],
    rows_per_unit: int | None,
    fresh: bool,
) -> Synthesis:
    """Pay, then fit; or the model that was paid for already, free. All refusals come before the payment."""
    plan = plan_table(method, table, domain, rules, rows_per_unit)
    draw = _Draw(method, plan.domain, plan.asked, plan.question)
    claim = table.pay_for(plan.question, plan.cost, draw, fresh=fresh)
    assert claim.answer is not None
    return from_bytes(claim.answer)


def plan_table(
    method: Any, table: Opened, domain: object, rules: Iterable[Rule], rows_per_unit: int | None
) -> SynthesisPlan:
    """What a fit would count and cost; refuses what `fit_table` would refuse."""
    policy = table.policy
    read = Domain.of_policy(policy, rules=rules) if domain is None else _within(policy, domain, rules)
    method.check(read.measured())
    asked = table.reading(coded(policy, read), rows_per_unit=rows_per_unit)
    cost = read_price(policy, epsilon=None, delta=None, rho=None, price=method.guarantee)
    return SynthesisPlan(_question(method, policy, read, asked), cost, protects(policy, asked), read, asked)


def protects(policy: Policy, asked: BoundedRows) -> str:
    """Whom a fit protects, in words."""
    unit, rows = policy.unit.column, "one row" if asked.most == 1 else f"{asked.most} rows"
    return "each row" if unit is None else f"one {unit}, who counts with at most {rows}"


def coded(policy: Policy, domain: Domain) -> list[Coded]:
    """The columns of a table as a fit reads them; refuses those that do not fit the policy."""
    return [_coded(column, policy) for column in domain.measured().columns]


def _within(policy: Policy, domain: object, rules: Iterable[Rule]) -> Domain:
    """A domain that the caller gives: of a list, names take their columns from the policy."""
    if isinstance(domain, list | tuple) and all(isinstance(one, str | Listed | Numbers | Dates) for one in domain):
        return Domain.of_policy(policy, list(domain), rules)
    return Domain.of(domain, rules)


def _coded(column: Column, policy: Policy) -> Coded:
    """How an engine reads a column: 0 for what is unknown, then the values in order."""
    kinds = {name.lower(): declared.kind for name, declared in policy.columns.items()}
    kind = kinds.get(column.name.lower())  # capitals do not matter, as where columns are found
    if isinstance(column, Numbers) and (kind is None or kind.is_number):
        return _in_cells(Named(column.name), column)
    if isinstance(column, Dates) and kind in (None, Kind.DATE, Kind.TIMESTAMP):
        days = Call("date_diff", (Literal("day"), Literal(_FIRST_DAY), Named(column.name)))
        return _in_cells(days, column.in_days)
    if isinstance(column, Listed) and (kind is None or all(_fits(value, kind) for value in column.values)):
        return Category(Named(column.name), column.values)
    allowed = f"values of its kind in the policy, {kind}"
    raise InvalidParameter(
        f"domain of {column.name}", given=type(column).__name__, allowed=allowed, hint="Nothing was spent."
    )


_FIRST_DAY = datetime.date(1970, 1, 1)


def _in_cells(expression: Expression, numbers: Numbers) -> Quantised:
    """Cells of one width from the lower bound on."""
    width = numbers.width
    if numbers.whole and width == 1:
        return Quantised(expression, numbers.low, numbers.high, numbers.low - 1, Fraction(1))
    return Quantised(expression, numbers.low, numbers.low + numbers.cells * width, numbers.low - width / 2, width)


_KINDS: dict[Kind, tuple[str, ...]] = {
    Kind.INTEGER: ("int",),
    Kind.REAL: ("int", "float"),
    Kind.TEXT: ("str",),
    Kind.BOOLEAN: ("bool",),
    Kind.DATE: ("date",),
    Kind.TIMESTAMP: ("datetime",),
}


def _fits(value: object, kind: Kind) -> bool:
    return type(value).__name__ in _KINDS[kind]


def _question(method: Method, policy: Policy, domain: Domain, asked: BoundedRows) -> str:
    """One line that says all that the model depends on besides the policy: long lists by their digest."""
    said = {"domain": domain.to_dict(), "method": repr(method), "rows": asked.rows, "version": VERSION}
    said["settings"] = {name: repr(value) for name, value in sorted(vars(method).items())}
    digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
    return f"SYNTHESISE {len(domain.columns)} columns of {policy.table!r} by {type(method).__name__} ({digest[:32]})"
