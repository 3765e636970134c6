"""Lists and bounds that nobody wrote down, bought inside the price of a fit: `fit(table, discover="0.1")`.

A share of the price goes to the columns that have neither, the same to each: keys of texts, bounds of numbers, by the
discoveries that `table.discover` makes. The fit has the rest. All of it is one request and one debit, the price.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tacit.errors import InvalidParameter
from tacit.ledger import Receipt
from tacit.privacy import ZCDP, ApproxDP, Guarantee, PureDP
from tacit.privacy.prices import price as exact
from tacit.synth.counts.memory import room_of
from tacit.synth.domain.columns import Column, Dates, Listed, Numbers
from tacit.synth.domain.domain import Domain, rules_of
from tacit.synth.domain.rules import Impossible, Rule
from tacit.synth.made.saved import from_bytes, to_bytes
from tacit.synth.made.synthesis import Synthesis
from tacit.synth.opened import VERSION, SynthesisPlan, TableRows, coded, fit_table, plan_table, protects
from tacit.tables.discovery.found import FoundBounds, FoundKeys
from tacit.tables.discovery.inside import Inside
from tacit.tables.engines.access import Access
from tacit.tables.engines.contract import Engine
from tacit.tables.engines.reading import bounded_rows
from tacit.tables.expressions.kinds import Kind
from tacit.tables.plan.price import read_price
from tacit.tables.policy.policy import ColumnPolicy, Policy, Role

__all__ = ["fit_discovered", "plan_discovered"]

_MOST = Fraction(1, 2)
_FEWEST, _MANY = 1000, 100_000
"""Between these, how many values of a column are taken into a list, by the memory of the fit."""
_FARTHEST = 2**53


@dataclass(frozen=True, slots=True)
class _Parts:
    """What is bought of which columns, and what is left for the fit."""

    columns: tuple[ColumnPolicy, ...]
    wanted: tuple[ColumnPolicy, ...]
    given: dict[str, Column]
    """Columns that the caller described."""
    each: Guarantee
    each_pure: Guarantee
    rest: Guarantee

    def known(self, policy: Policy, unknown: Callable[[ColumnPolicy], Any]) -> tuple[Any, ...]:
        """Every column as it was given or declared, and what stands for those that are wanted."""
        return tuple(
            unknown(column)
            if column in self.wanted
            else self.given.get(column.name) or Domain.of_policy(policy, [column.name]).columns[0]
            for column in self.columns
        )


@dataclass(frozen=True)
class _Draw:
    """What runs after the payment of all of it: discoveries, then the fit with the domain that they gave."""

    method: Any
    policy: Policy
    columns: tuple[Column | Inside[FoundKeys] | Inside[FoundBounds], ...]
    wanted: tuple[ColumnPolicy, ...]
    rules: tuple[Rule, ...]
    rows_per_unit: int | None
    price: Guarantee
    """Of all of it: what the stored model says that it promises."""

    def __call__(self, engine: Engine, receipt: Receipt) -> bytes:
        undeclared, found = iter(self.wanted), list[Column]()
        most = _most_found(self.method.memory, len(self.wanted))
        for column in self.columns:
            if isinstance(column, Inside):
                found.append(_found(next(undeclared), column(engine, receipt), most))
            else:
                found.append(column)
        domain = Domain(tuple(found), self.rules)
        asked = bounded_rows(self.policy, coded(self.policy, domain), rows=self.rows_per_unit)
        with engine.read(asked) as rows:
            made = self.method.made(TableRows(domain.measured(), asked, rows), domain)
        return to_bytes(_whole(made, self.price))


def fit_discovered(
    method: Any, table: Any, names: object, rules: Iterable[Rule], rows_per_unit: int | None, part: object, fresh: bool
) -> Synthesis:
    """One payment, then discoveries and the fit; or the model that was paid for already. Refusals come before it."""
    parts = _parts(method.guarantee, table, names, part)
    if not parts.wanted:
        return fit_table(method, table, names, rules, rows_per_unit, fresh)
    plan = _plan(method, table, parts, rules, rows_per_unit, part)
    smaller = copy.copy(method)
    smaller._price = parts.rest
    smaller.check_price()
    columns = parts.known(table.policy, lambda column: _planned(column, table, parts))
    draw = _Draw(smaller, table.policy, columns, parts.wanted, plan.domain.rules, rows_per_unit, method.guarantee)
    claim = table.pay_for(plan.question, plan.cost, draw, fresh=fresh)
    assert claim.answer is not None
    return from_bytes(claim.answer)


def plan_discovered(
    method: Any, table: Any, names: object, rules: Iterable[Rule], rows_per_unit: int | None, part: object
) -> SynthesisPlan:
    """What that would count and cost; free. Refuses what `fit_discovered` would refuse."""
    parts = _parts(method.guarantee, table, names, part)
    if not parts.wanted:
        return plan_table(method, table, names, rules, rows_per_unit)
    return _plan(method, table, parts, rules, rows_per_unit, part)


def _plan(
    method: Any, table: Any, parts: _Parts, given: Iterable[Rule], rows_per_unit: int | None, part: object
) -> SynthesisPlan:
    """Refuses what the fit would, with stand-ins for what is not known yet; what is found has at most as many cells."""
    policy: Policy = table.policy
    rules = rules_of(given)
    named = {name for rule in rules for name in _named(rule)}
    if named & {column.name for column in parts.wanted}:
        allowed = "rules between columns whose values the policy has: what is discovered is not known yet"
        raise InvalidParameter("rules", given=sorted(named), allowed=allowed, hint="Nothing was spent.")
    domain = Domain(parts.known(policy, lambda column: Listed(column.name, (), missing=True)), rules)
    asked = bounded_rows(policy, coded(policy, domain), rows=rows_per_unit)
    wanted = tuple(column.name for column in parts.wanted)
    method.check(_widest(domain.measured(), set(wanted), _most_found(method.memory, len(wanted))))
    cost = read_price(policy, epsilon=None, delta=None, rho=None, price=method.guarantee)
    question = _question(method, parts, rules, rows_per_unit, part)
    return SynthesisPlan(question, cost, protects(policy, asked), domain, asked, wanted)


def _most_found(memory: int, wanted: int) -> int:
    """How many values of each column there is memory for: by public parameters alone."""
    return min(max(room_of(memory) // (4 * 800 * wanted), _FEWEST), _MANY)


def _widest(domain: Domain, wanted: set[str], most: int) -> Domain:
    """The domain with as many values as discoveries may find."""
    many = tuple(
        Numbers(column.name, 1, most, whole=True, bins=most, missing=True) if column.name in wanted else column
        for column in domain.columns
    )
    return Domain(many, domain.rules)


def _named(rule: Rule) -> tuple[str, ...]:
    return rule.columns if isinstance(rule, Impossible) else (rule.column, rule.then)


def _question(method: Any, parts: _Parts, rules: tuple[Rule, ...], rows_per_unit: int | None, part: object) -> str:
    """One line that says all that the model depends on besides the policy."""
    said = {
        "columns": [column.name for column in parts.columns],
        "discover": str(exact(part, "discover")),
        "given": {name: column.to_dict() for name, column in parts.given.items()},
        "method": repr(method),
        "rows": rows_per_unit,
        "rules": [rule.to_dict() for rule in rules],
        "settings": {name: repr(value) for name, value in sorted(vars(method).items())},
        "version": VERSION,
    }
    digest = hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()[:32]
    names = ", ".join(column.name for column in parts.wanted)
    return f"SYNTHESISE {len(parts.columns)} columns, DISCOVERING {names}, by {type(method).__name__} ({digest})"


def _whole(made: Synthesis, price: Guarantee) -> Synthesis:
    """The model at the price of all of it, with a word on the columns of which nothing was found."""
    lost = [column.name for column in made.domain.columns if not column.cells]
    note = f"Nothing was found of {', '.join(lost)}: too few people have any one value. All of it is missing here."
    return replace(made, guarantee=price, notes=(*made.notes, *([note] if lost else [])))


def _parts(price: Guarantee, table: Any, names: object, part: object) -> _Parts:
    """How the price is shared; refuses what cannot be bought."""
    if not isinstance(getattr(table, "_access", None), Access):
        allowed = "a table that is opened here; at a service, buy lists with table.discover and give them as domain="
        raise InvalidParameter("discover", given=part, allowed=allowed, hint="Nothing was spent.")
    policy: Policy = table.policy
    given = dict[str, Column]()
    share = exact(part, "discover")
    if not 0 < share <= _MOST:
        raise InvalidParameter("discover", given=part, allowed="a share of the price above 0, at most 1/2")
    if names is None:
        columns = tuple(one for one in policy.columns.values() if one.role in (Role.PRIVATE, Role.PUBLIC))
    elif isinstance(names, list | tuple) and all(isinstance(one, str | Listed | Numbers | Dates) for one in names):
        given = {one.name: one for one in names if not isinstance(one, str)}
        columns = tuple(Domain.declared(policy, one if isinstance(one, str) else one.name) for one in names)
    else:
        allowed = "names of columns, or columns as Listed, Numbers, Dates, where some are discovered"
        raise InvalidParameter("domain", given=type(names).__name__, allowed=allowed)
    wanted = tuple(
        one
        for one in columns
        if one.keys is None and one.bounds is None and one.kind is not Kind.BOOLEAN and one.name not in given
    )
    for column in wanted:
        if column.kind in (Kind.DATE, Kind.TIMESTAMP):
            Domain.of_policy(policy, [column.name])  # says what to type: days are not discovered
    each = share / max(1, len(wanted))
    texts = sum(column.kind is Kind.TEXT for column in wanted)
    if isinstance(price, ZCDP):
        if texts:
            _refuse_lists(price)
        return _Parts(
            columns, wanted, given, ZCDP(price.rho * each), ZCDP(price.rho * each), ZCDP(price.rho * (1 - share))
        )
    if isinstance(price, PureDP):
        if texts:
            _refuse_lists(price)
        return _Parts(
            columns, wanted, given, PureDP(price.eps * each), PureDP(price.eps * each), PureDP(price.eps * (1 - share))
        )
    if not isinstance(price, ApproxDP):
        raise InvalidParameter("price", given=price, allowed="a price in ε, (ε, δ) or ρ, as the ledger keeps")
    leak = price.dlt * each
    rest = ApproxDP(price.eps * (1 - share), price.dlt - leak * texts)
    return _Parts(columns, wanted, given, ApproxDP(price.eps * each, leak), PureDP(price.eps * each), rest)


def _refuse_lists(price: Guarantee) -> None:
    hint = "Or write the lists into the policy, keys = [...]. Nothing was spent."
    raise InvalidParameter("price", given=price, allowed="(ε, δ) with δ above 0, to discover lists", hint=hint)


def _planned(column: ColumnPolicy, table: Any, parts: _Parts) -> Inside[FoundKeys] | Inside[FoundBounds]:
    """The discovery of a column, without its payment."""
    found: Inside[FoundKeys] | Inside[FoundBounds]
    if column.kind is Kind.TEXT:
        found = table.discover.keys_inside(column.name, parts.each)
    else:
        found = table.discover.bounds_inside(column.name, parts.each_pure)
    return found


def _found(column: ColumnPolicy, found: FoundKeys | FoundBounds, most: int) -> Column:
    """A column as it was discovered; of which nothing was found, all is missing."""
    if isinstance(found, FoundKeys):
        keys = sorted(str(key) for key in found.keys if key is not None)
        return Listed(column.name, tuple(keys[:most]), missing=True)
    low, high = found.low, found.high
    if low is None or high is None or low >= high or max(abs(low), abs(high)) > _FARTHEST:
        return Listed(column.name, (), missing=True)
    whole = column.kind is Kind.INTEGER and low.denominator == high.denominator == 1
    return Numbers(column.name, low, high, whole=whole, missing=True)
