"""Lists and bounds that nobody wrote down, bought inside the price of a fit: `fit(table, discover="0.1")`.

A share of the price goes to the columns that have neither, the same to each: keys of texts, bounds of numbers, by the
discoveries that `table.discover` makes. The fit has the rest. All of it is one request and one debit, the price.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tacit.errors import InvalidParameter
from tacit.ledger import Receipt
from tacit.privacy import ZCDP, ApproxDP, Guarantee, PureDP
from tacit.privacy.prices import price as exact
from tacit.synth.counts.memory import room_of
from tacit.synth.domain.columns import Column, Listed, Numbers
from tacit.synth.domain.domain import Domain
from tacit.synth.domain.rules import Impossible, Rule
from tacit.synth.made.saved import from_bytes, to_bytes
from tacit.synth.made.synthesis import Synthesis
from tacit.synth.opened import VERSION, TableRows, coded, fit_table
from tacit.tables.discovery.found import FoundBounds, FoundKeys
from tacit.tables.discovery.inside import Inside
from tacit.tables.engines.access import Access
from tacit.tables.engines.contract import Engine
from tacit.tables.engines.reading import bounded_rows
from tacit.tables.expressions.kinds import Kind
from tacit.tables.plan.price import read_price
from tacit.tables.policy.policy import ColumnPolicy, Policy, Role

__all__ = ["fit_discovered"]

_MOST = Fraction(1, 2)
_FEWEST, _MANY = 1000, 100_000
"""Between these, how many values of a column are taken into a list, by the memory of the fit."""
_FARTHEST = 2**53


@dataclass(frozen=True, slots=True)
class _Parts:
    """What is bought of which columns, and what is left for the fit."""

    columns: tuple[ColumnPolicy, ...]
    wanted: tuple[ColumnPolicy, ...]
    each: Guarantee
    each_pure: Guarantee
    rest: Guarantee


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
    if not isinstance(getattr(table, "_access", None), Access):
        allowed = "a table that is opened here; at a service, buy lists with table.discover and give them as domain="
        raise InvalidParameter("discover", given=part, allowed=allowed, hint="Nothing was spent.")
    parts = _parts(method.guarantee, table.policy, names, part)
    if not parts.wanted:
        return fit_table(method, table, [column.name for column in parts.columns], rules, rows_per_unit, fresh)
    listed = tuple(rules)
    _check(method, table.policy, parts, listed, rows_per_unit)
    smaller = copy.copy(method)
    smaller._price = parts.rest
    columns = tuple(
        _planned(column, table, parts) if column in parts.wanted else _declared(column, table.policy)
        for column in parts.columns
    )
    draw = _Draw(smaller, table.policy, columns, parts.wanted, listed, rows_per_unit, method.guarantee)
    cost = read_price(table.policy, epsilon=None, delta=None, rho=None, price=method.guarantee)
    claim = table.pay_for(_question(method, parts, listed, rows_per_unit, part), cost, draw, fresh=fresh)
    assert claim.answer is not None
    return from_bytes(claim.answer)


def _check(method: Any, policy: Policy, parts: _Parts, rules: tuple[Rule, ...], rows_per_unit: int | None) -> None:
    """Refuse what the fit would, with stand-ins for what is not known yet; what is found has at most as many cells."""
    named = {name for rule in rules for name in _named(rule)}
    if named & {column.name for column in parts.wanted}:
        allowed = "rules between columns whose values the policy has: what is discovered is not known yet"
        raise InvalidParameter("rules", given=sorted(named), allowed=allowed, hint="Nothing was spent.")
    stand_ins = tuple(
        Listed(column.name, (), missing=True) if column in parts.wanted else _declared(column, policy)
        for column in parts.columns
    )
    domain = Domain(stand_ins, rules)
    bounded_rows(policy, coded(policy, domain), rows=rows_per_unit)
    most = _most_found(method.memory, len(parts.wanted))
    method.check(_widest(domain.measured(), {column.name for column in parts.wanted}, most))


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


def _parts(price: Guarantee, policy: Policy, names: object, part: object) -> _Parts:
    """How the price is shared; refuses what cannot be bought."""
    share = exact(part, "discover")
    if not 0 < share <= _MOST:
        raise InvalidParameter("discover", given=part, allowed="a share of the price above 0, at most 1/2")
    if names is None:
        columns = tuple(one for one in policy.columns.values() if one.role in (Role.PRIVATE, Role.PUBLIC))
    elif isinstance(names, Sequence) and not isinstance(names, str) and all(isinstance(one, str) for one in names):
        columns = tuple(Domain.declared(policy, name) for name in names)
    else:
        raise InvalidParameter(
            "domain", given=type(names).__name__, allowed="names of columns, where some are discovered"
        )
    wanted = tuple(one for one in columns if one.keys is None and one.bounds is None and one.kind is not Kind.BOOLEAN)
    for column in wanted:
        if column.kind in (Kind.DATE, Kind.TIMESTAMP):
            allowed = 'bounds of its own, domain={"day": (first, last)}: days are not discovered'
            raise InvalidParameter(f"domain of {column.name}", given=None, allowed=allowed, hint="Nothing was spent.")
    each = share / max(1, len(wanted))
    texts = sum(column.kind is Kind.TEXT for column in wanted)
    if isinstance(price, ZCDP):
        if texts:
            _refuse_lists(price)
        return _Parts(columns, wanted, ZCDP(price.rho * each), ZCDP(price.rho * each), ZCDP(price.rho * (1 - share)))
    if isinstance(price, PureDP):
        if texts:
            _refuse_lists(price)
        return _Parts(
            columns, wanted, PureDP(price.eps * each), PureDP(price.eps * each), PureDP(price.eps * (1 - share))
        )
    if not isinstance(price, ApproxDP):
        raise InvalidParameter("price", given=price, allowed="a price in ε, (ε, δ) or ρ, as the ledger keeps")
    leak = price.dlt * each
    rest = ApproxDP(price.eps * (1 - share), price.dlt - leak * texts)
    return _Parts(columns, wanted, ApproxDP(price.eps * each, leak), PureDP(price.eps * each), rest)


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


def _declared(column: ColumnPolicy, policy: Policy) -> Column:
    return Domain.of_policy(policy, [column.name]).columns[0]
