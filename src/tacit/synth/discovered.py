"""Lists and bounds that nobody wrote down, bought inside the price of a fit: `fit(table, discover="0.1")`.

A share of the price goes to the columns that have neither, the same to each: keys of texts, bounds of numbers, by the
discoveries that `table.discover` makes. The fit has the rest. All of it is on record, and adds up to the price.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tacit.errors import BudgetExceeded, InvalidParameter
from tacit.ledger.amounts import Amount
from tacit.privacy import ZCDP, ApproxDP, Guarantee, PureDP
from tacit.privacy.prices import price as exact
from tacit.synth.domain.columns import Column, Listed, Numbers
from tacit.synth.domain.domain import Domain
from tacit.synth.domain.rules import Rule
from tacit.synth.made.saved import from_bytes
from tacit.synth.made.synthesis import Synthesis
from tacit.synth.opened import fit_table
from tacit.tables.engines.access import Access
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.policy import ColumnPolicy, Policy, Role

__all__ = ["fit_discovered"]

_MOST = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class _Parts:
    """What is bought of which columns, and what is left for the fit."""

    columns: tuple[ColumnPolicy, ...]
    wanted: tuple[ColumnPolicy, ...]
    each: Guarantee
    each_pure: Guarantee
    rest: Guarantee


def fit_discovered(
    method: Any, table: Any, names: object, rules: Iterable[Rule], rows_per_unit: int | None, part: object, fresh: bool
) -> Synthesis:
    """Buy what the policy does not say, then fit. Refusals come before the first payment."""
    if not isinstance(getattr(table, "_access", None), Access):  # a service would refuse the fit, with lists paid for
        allowed = "a table that is opened here; at a service, buy lists with table.discover and give them as domain="
        raise InvalidParameter("discover", given=part, allowed=allowed, hint="Nothing was spent.")
    parts = _parts(method.guarantee, table.policy, names, part)
    if not parts.wanted:
        return fit_table(method, table, [column.name for column in parts.columns], rules, rows_per_unit, fresh)
    smaller = copy.copy(method)
    smaller._price = parts.rest
    mark = json.dumps([[column.name for column in parts.columns], str(exact(part, "discover")), repr(method)])
    question = f"SYNTHESISE WITH DISCOVERED VALUES {mark}"
    if not fresh and (claim := table.recall(question, parts.rest)) is not None:
        return _whole(from_bytes(claim.answer), method.guarantee, parts.columns)
    _check_left(method.guarantee, table)
    found = [
        _bought(column, table, parts) if column in parts.wanted else _declared(column, table.policy)
        for column in parts.columns
    ]
    known = [column for column in found if column is not None]
    if not known:
        hint = f"{len(parts.wanted)} discoveries were paid; their answers are on record."
        raise InvalidParameter("discover", given=part, allowed="a share that finds values in some column", hint=hint)
    domain = Domain(tuple(known), tuple(rules))
    made = fit_table(smaller, table, domain, (), rows_per_unit, fresh, question=question)
    return _whole(made, method.guarantee, parts.columns)


def _whole(made: Synthesis, price: Guarantee, columns: Sequence[ColumnPolicy]) -> Synthesis:
    """The model at the price of all of it, with a word on the columns of which nothing was found."""
    lost = [column.name for column in columns if column.name not in made.domain.names]
    note = f"Nothing was found of {', '.join(lost)}: too few people have any one value. They are not in this table."
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


def _check_left(price: Guarantee, table: Any) -> None:
    """The whole price must be there before a part of it is paid."""
    amount = table.policy.terms.flavour.amount
    asked: Amount = amount(price.to(ApproxDP) if isinstance(price, PureDP) else price)
    if not asked.within(amount(table.remaining)):
        raise BudgetExceeded(asked=price, left=table.remaining)


def _bought(column: ColumnPolicy, table: Any, parts: _Parts) -> Column | None:
    """A column as it was discovered; None if nothing was found."""
    if column.kind is Kind.TEXT:
        keys = [key for key in table.discover.keys(column.name, price=parts.each).keys if key is not None]
        return Listed(column.name, tuple(sorted(keys)), missing=True) if keys else None
    found = table.discover.bounds(column.name, price=parts.each_pure)
    if found.low is None or found.high is None or found.low >= found.high:
        return None
    whole = column.kind is Kind.INTEGER and found.low.denominator == found.high.denominator == 1
    return Numbers(column.name, found.low, found.high, whole=whole, missing=True)


def _declared(column: ColumnPolicy, policy: Policy) -> Column:
    return Domain.of_policy(policy, [column.name]).columns[0]
