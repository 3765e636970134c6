"""From names of keys to a workload: one statement about the finest groups, and the levels that sum them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from tacit.errors import InvalidParameter, NotPrivate
from tacit.privacy.prices import positive
from tacit.tables.check.check import check
from tacit.tables.engines.access import Access
from tacit.tables.engines.contract import BoundedQuery
from tacit.tables.plan.plan import needed
from tacit.tables.python.aggregates import count
from tacit.tables.python.columns import Term
from tacit.tables.python.selection import Selection
from tacit.tables.query.to_sql import to_sql
from tacit.tables.query.tree import Query
from tacit.tables.workloads.levels import margin, ranges
from tacit.tables.workloads.workload import Workload

__all__ = ["margins_of", "ranges_of"]


def margins_of(
    access: Access,
    levels: Sequence[Sequence[str]],
    where: str | Term | None,
    weights: Sequence[object] | None,
    keys: Mapping[str, Term],
) -> Workload:
    """Counts by each list of keys."""
    if not levels or not all(map(_is_level, levels)):
        raise InvalidParameter("levels", given=levels, allowed='lists of keys, each once, as in margins([], ["city"])')
    names = tuple(dict.fromkeys(name for level in levels for name in level))
    text, bounded, names = _finest(access, names, where, keys)
    listed = bounded.public_keys or ()
    made = tuple(margin(names, listed, level) for level in levels)
    return Workload(access, text, bounded, made, _weights(weights, len(made)))


def ranges_of(access: Access, key: str, branching: int, where: str | Term | None, keys: Mapping[str, Term]) -> Workload:
    """Counts by one ordered key, and of blocks of it."""
    text, bounded, names = _finest(access, (key,), where, keys)
    made = ranges(names[0], bounded.public_keys or (), branching)
    return Workload(access, text, bounded, made, [Fraction(1)] * len(made))


def _finest(
    access: Access, names: Sequence[str], where: str | Term | None, keys: Mapping[str, Term]
) -> tuple[str, BoundedQuery, tuple[str, ...]]:
    """The statement about the finest groups: as SQL, as an engine gets it, and the names of its keys in order."""
    unused = [name for name in keys if name not in names]
    if unused:
        raise InvalidParameter("keys", given=unused[0], allowed=f"keys that a level names: {', '.join(names)}")
    plain = [name for name in names if name not in keys]
    named = {name: keys[name] for name in names if name in keys}
    selection: Selection[Query] = Selection(access.policy.table, lambda query: query, access.policy.tables())
    if where is not None:
        selection = selection.where(where)
    tree = selection.group_by(*plain, **named).query(n=count())
    checked = check(tree, access.policy)
    bounded = needed(checked, access.policy)[2]
    if bounded.public_keys is None:
        raise NotPrivate("Counts that add up need keys that are public: list them in the policy. Nothing was spent.")
    return to_sql(checked.query), bounded, (*plain, *named)


def _is_level(given: object) -> bool:
    if isinstance(given, str) or not isinstance(given, Sequence):
        return False
    return all(isinstance(one, str) for one in given) and len(set(given)) == len(given)


def _weights(given: Sequence[object] | None, size: int) -> list[Fraction]:
    if given is None:
        return [Fraction(1)] * size
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != size:
        raise InvalidParameter("weights", given=given, allowed=f"a list of {size} numbers, one per level")
    return [positive(one, "weights") for one in given]
