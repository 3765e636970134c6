"""Terms of ``group_by`` that stand for several sets of keys: ``rollup``, ``cube``, ``grouping_sets``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from tacit.errors import InvalidParameter
from tacit.tables.python.columns import Term
from tacit.tables.query.key_sets import MOST_NESTED, cube_of, few_sets, rollup_of, too_deep

__all__ = ["KeySets", "cube", "grouping_sets", "rollup"]

Key = str | Term
Part = Key | Sequence[Key]


class _How(Enum):
    ROLLUP = "rollup"
    CUBE = "cube"
    SETS = "grouping_sets"


@dataclass(frozen=True, slots=True, repr=False)
class KeySets:
    """What `rollup`, `cube` and `grouping_sets` give to ``group_by``."""

    how: _How
    parts: tuple[object, ...]

    def __repr__(self) -> str:
        return f"{self.how.value}({', '.join(map(repr, self.parts))})"

    def sets(self, place: Callable[[Key], int], depth: int = 0) -> list[tuple[int, ...]]:
        """The sets, each key by its place."""
        if depth > MOST_NESTED:
            raise too_deep()
        if self.how is _How.SETS:
            found: list[tuple[int, ...]] = []
            for one in self.parts:
                found += one.sets(place, depth + 1) if isinstance(one, KeySets) else [self._part(one, place)]
                few_sets(len(found))
            return found
        parts = [self._part(one, place) for one in self.parts]
        return rollup_of(parts) if self.how is _How.ROLLUP else cube_of(parts)

    def _part(self, part: object, place: Callable[[Key], int]) -> tuple[int, ...]:
        listed = [part] if isinstance(part, str | Term) else part
        if not isinstance(listed, tuple | list) or not all(isinstance(one, str | Term) for one in listed):
            allowed = 'keys, or lists of keys: rollup("city", ["plan", "age"])'
            raise InvalidParameter(self.how.value, given=part, allowed=allowed)
        return tuple(place(one) for one in listed)


def rollup(*keys: Part) -> KeySets:
    """For ``group_by``: groups by all keys, by all but the last, and so on, and one of everything.

    A list is one key: ``rollup("country", ["city", "plan"])``.

    >>> rollup("country", "city")
    rollup('country', 'city')
    """
    return KeySets(_How.ROLLUP, _some(keys, _How.ROLLUP))


def cube(*keys: Part) -> KeySets:
    """For ``group_by``: groups by every choice of the keys."""
    return KeySets(_How.CUBE, _some(keys, _How.CUBE))


def grouping_sets(*sets: Part | KeySets) -> KeySets:
    """For ``group_by``: groups by each of these lists of keys; ``[]`` is one group of everything.

    A list may be made by `rollup` or `cube` too.
    """
    return KeySets(_How.SETS, _some(sets, _How.SETS))


def _some(parts: tuple[object, ...], how: _How) -> tuple[object, ...]:
    if not parts:
        raise InvalidParameter(how.value, given="no keys", allowed=f'keys: {how.value}("city", "plan")')
    return parts
