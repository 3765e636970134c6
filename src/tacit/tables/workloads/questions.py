"""From names of keys to a workload: one statement about the finest groups, and the levels that sum them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from tacit.errors import InvalidParameter, NotPrivate
from tacit.privacy.prices import positive, text
from tacit.tables.check.check import Checked, check
from tacit.tables.engines.access import Access
from tacit.tables.expressions.tree import Column, Key, Value
from tacit.tables.fitting.levels import Level, by_keys, in_runs
from tacit.tables.fitting.shares import Design, better_shares, largest, root_mean_square
from tacit.tables.plan.demands import Demand, Statement, demanded, of_level
from tacit.tables.plan.joint import shares_of
from tacit.tables.python.aggregates import count
from tacit.tables.python.columns import Term
from tacit.tables.python.selection import Selection
from tacit.tables.query.to_sql import to_sql
from tacit.tables.query.tree import Query
from tacit.tables.workloads.workload import Said, Workload

__all__ = ["margins_of", "ranges_of", "workload_of"]

Cells = tuple[tuple[Value, ...], ...]


def margins_of(
    access: Access,
    levels: Sequence[Sequence[str]],
    where: str | Term | None,
    weights: str | Sequence[object] | None,
    keys: Mapping[str, Term],
) -> Workload:
    """Counts by each list of keys."""
    if not levels or not all(map(_is_level, levels)):
        raise InvalidParameter("levels", given=levels, allowed='lists of keys, each once, as in margins([], ["city"])')
    names = tuple(dict.fromkeys(name for level in levels for name in level))
    checked, names, domains = _finest(access, names, where, keys)
    made = by_keys([len(one) for one in domains], [[names.index(name) for name in level] for level in levels])
    titled = [f"by {', '.join(level)}" if level else "in all" for level in levels]
    named = [
        _cells(one, [names.index(name) for name in level], domains) for one, level in zip(made, levels, strict=True)
    ]
    shares = _aimed(weights, made, checked, access) if isinstance(weights, str) else _stated(weights, len(made))
    said = (("levels", [list(level) for level in levels]), ("weights", [text(one) for one in shares]))
    return _workload(access, checked, made, titled, [tuple(level) for level in levels], named, shares, said)


def ranges_of(access: Access, key: str, branching: int, where: str | Term | None, keys: Mapping[str, Term]) -> Workload:
    """Counts by one ordered key, and of blocks of it."""
    checked, (name,), (values,) = _finest(access, (key,), where, keys)
    if not isinstance(branching, int) or branching < 2:
        raise InvalidParameter("branching", given=branching, allowed="a whole number from 2 on")
    made = in_runs(len(values), branching)
    titled = [f"{name}, {level.width} at a time" for level in made]
    named = [
        tuple((run[0], run[-1]) for run in (values[at : at + one.width] for at in range(0, len(values), one.width)))
        for one in made
    ]
    columns = [(f"{name}_from", f"{name}_to")] * len(made)
    said = (("key", name), ("branching", branching))
    return _workload(access, checked, made, titled, columns, named, shares_of([Fraction(1)] * len(made)), said)


def workload_of(
    access: Access,
    finest: Query,
    *,
    levels: Sequence[Sequence[str]] | None,
    weights: Sequence[object] | None,
    key: str | None,
    branching: int | None,
) -> Workload:
    """The workload again, from the question about its finest groups and what was said besides."""
    plain = replace(finest, outputs=(), where=None, keys=())
    named = {one.name: finest.keys[one.expression.index] for one in finest.outputs if isinstance(one.expression, Key)}
    if plain != Query(finest.table, ()) or len(named) != len(finest.keys):
        allowed = "SELECT keys, COUNT(*) AS n FROM table WHERE condition GROUP BY keys"
        raise InvalidParameter("workload", given="another statement", allowed=allowed, hint="Nothing was spent.")
    keys = {name: Term(one) for name, one in named.items() if one != Column(name)}
    where = None if finest.where is None else Term(finest.where)
    if key is not None:
        return ranges_of(access, key, 4 if branching is None else branching, where, keys)
    return margins_of(access, levels or (), where, weights, keys)


def _workload(
    access: Access,
    checked: Checked,
    levels: Sequence[Level],
    titled: Sequence[str],
    columns: Sequence[tuple[str, ...]],
    named: Sequence[Cells],
    shares: Sequence[Fraction],
    said: Said,
) -> Workload:
    """The statement about the finest groups, and what each level takes of it."""
    finest, demands = demanded(checked, access.policy), list[Demand]()
    for at, level in enumerate(levels):
        own = of_level(finest, level, tuple(map(Column, columns[at])), named[at])
        demands.append(replace(own, weight=shares[at], at=at, title=titled[at]))
    told = ", ".join(f"{title}: {share}" for title, share in zip(titled, shares, strict=True))
    question = f"-- counts that add up ({told})\n{to_sql(checked.query)}"
    return Workload(access, Statement(checked, tuple(demands), called=question), tuple(columns), said)


def _cells(level: Level, places: Sequence[int], domains: Sequence[Sequence[Value]]) -> Cells:
    """The names of its blocks, in their order: a value for each of the keys at these places."""
    blocks = itertools.product(*(domains[axis] for axis in level.kept))
    return tuple(tuple(block[level.kept.index(place)] for place in places) for block in blocks)


def _finest(
    access: Access, names: Sequence[str], where: str | Term | None, keys: Mapping[str, Term]
) -> tuple[Checked, tuple[str, ...], list[tuple[Value, ...]]]:
    """The question about the finest groups, the names of its keys in order, and the values of each."""
    unused = [name for name in keys if name not in names]
    if unused:
        raise InvalidParameter("keys", given=unused[0], allowed=f"keys that a level names: {', '.join(names)}")
    plain = [name for name in names if name not in keys]
    named = {name: keys[name] for name in names if name in keys}
    selection: Selection[Query] = Selection(access.policy.table, lambda query: query, access.policy.tables())
    if where is not None:
        selection = selection.where(where)
    checked = check(selection.group_by(*plain, **named).query(n=count()), access.policy)
    domains = [one for one in checked.key_domains if one is not None]
    if len(domains) < len(checked.key_domains):
        raise NotPrivate("Counts that add up need keys that are public: list them in the policy. Nothing was spent.")
    if len(domains) < len(names):
        raise InvalidParameter("keys", given=", ".join(names), allowed="each key once, under one name")
    return checked, (*plain, *named), domains


def _is_level(given: object) -> bool:
    if isinstance(given, str) or not isinstance(given, Sequence):
        return False
    return all(isinstance(one, str) for one in given) and len(set(given)) == len(given)


def _stated(given: Sequence[object] | None, size: int) -> tuple[Fraction, ...]:
    if given is None:
        return shares_of([Fraction(1)] * size)
    if not isinstance(given, Sequence) or len(given) != size:
        raise InvalidParameter("weights", given=given, allowed=_allowed(size))
    return shares_of([positive(one, "weights") for one in given])


def _aimed(aim: str, levels: Sequence[Level], checked: Checked, access: Access) -> tuple[Fraction, ...]:
    """Shares for the smallest error that was asked for: of all counts together, or of the level that is told worst.

    By the noise that the ledger's flavour has: Laplace's, whose variance falls with the square of a share and is the
    same for each level, or Gaussian, whose variance falls with the share and grows with a unit's groups.
    """
    groups, twice = demanded(checked, access.policy).need.groups, access.policy.terms.flavour.name == "epsilon"
    even = np.array([1.0 if twice else groups if level.is_finest else groups**2 for level in levels])
    aims = {"rms": root_mean_square([level.size for level in levels]), "largest": largest}
    if aim not in aims:
        raise InvalidParameter("weights", given=aim, allowed=_allowed(len(levels)))
    design = Design.of(levels[0].sizes, [level.kept for level in levels])
    return better_shares(design, even, 2 if twice else 1, aims[aim])


def _allowed(size: int) -> str:
    return f"a list of {size} numbers, one per level; or 'rms' (of all counts) or 'largest', the error to be made small"
