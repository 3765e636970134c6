"""The sets of keys that ROLLUP, CUBE and several terms of GROUP BY stand for; a set is a tuple of keys."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import TypeVar

from tacit.tables.query.canonical import MOST_SETS
from tacit.tables.query.refusals import NotUnderstood

__all__ = ["MOST_NESTED", "crossed", "cube_of", "few_sets", "rollup_of", "too_deep"]

MOST_NESTED = 2
"""How deep GROUPING SETS may stand in each other."""

Key = TypeVar("Key")


def rollup_of(parts: Sequence[tuple[Key, ...]]) -> list[tuple[Key, ...]]:
    """All parts, all but the last, and so on.

    >>> rollup_of([("city",), ("plan", "age")])
    [('city', 'plan', 'age'), ('city',), ()]
    """
    few_sets(len(parts))
    return [tuple(itertools.chain(*parts[:size])) for size in range(len(parts), -1, -1)]


def cube_of(parts: Sequence[tuple[Key, ...]]) -> list[tuple[Key, ...]]:
    """Every choice of the parts.

    >>> cube_of([("city",), ("plan",)])
    [('city', 'plan'), ('city',), ('plan',), ()]
    """
    few_sets(2 ** min(len(parts), MOST_SETS))
    kept = itertools.product((True, False), repeat=len(parts))
    return [tuple(itertools.chain(*itertools.compress(parts, chosen))) for chosen in kept]


def crossed(terms: Iterable[Sequence[tuple[Key, ...]]]) -> list[tuple[Key, ...]]:
    """One set of each term, in every combination.

    >>> crossed([[("city",)], [("plan",), ()]])
    [('city', 'plan'), ('city',)]
    """
    found: list[tuple[Key, ...]] = [()]
    for sets in terms:
        found = [before + keys for before in found for keys in sets]
        few_sets(len(found))
    return found


def few_sets(count: int) -> None:
    """Refuse more sets than a statement may have."""
    if count > MOST_SETS:
        hint = "Each is paid for: name those that you need, GROUPING SETS ((a, b), (a), ())."
        raise NotUnderstood("GROUP BY", f"would make more than {MOST_SETS} sets of keys", hint)


def too_deep() -> NotUnderstood:
    """GROUPING SETS in each other."""
    return NotUnderstood("GROUPING SETS", "is nested too deep", "Write the sets one beside the other.")
