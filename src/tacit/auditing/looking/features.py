"""What to look at in an outcome: its form, its numbers, their bits and residues, and simple functions of many numbers.

A feature is a function of one outcome, fixed before the test: some have parameters that were fitted to a first part
of the sample.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tacit.auditing.looking.bits import bit_features
from tacit.auditing.looking.feature import Feature
from tacit.auditing.looking.screening import screened
from tacit.auditing.looking.seen import seen_before
from tacit.auditing.looking.vectors import additive, differences, separating, vector_features
from tacit.auditing.reading.outcomes import Outcomes, form_words

__all__ = ["every_feature", "few_features"]

_COORDINATES = 16
_BITWISE = 4  # of how many coordinates the bits are looked at in any case
_MOVING = 8  # of how many neighbouring coordinates the difference is
_ADDED = 256
_SEPARATED = 64


def few_features(first: Outcomes, second: Outcomes) -> Iterator[Feature]:
    """The simplest: all that a small sample can judge."""
    yield Feature("form", lambda o: o.form, ordered=False, words=form_words)
    wider = _wider(first, second)
    for j in range(min(wider.width, _BITWISE)):
        yield _coordinate(j, wider)
    if _many(wider):
        yield Feature("sum", lambda o: np.where(o.counts > 0, np.nansum(o.numbers, axis=1), np.nan), ordered=True)
    yield from _marks(first, second)


def every_feature(first: Outcomes, second: Outcomes) -> Iterator[Feature]:
    """All there is to look at, for outcomes like these; where numbers are many, those that a screening points at."""
    yield Feature("form", lambda o: o.form, ordered=False, words=form_words)
    yield from _marks(first, second)
    wider = _wider(first, second)
    if wider.width:
        yield from _of_numbers(first, second, wider)
    yield Feature("the whole output", lambda o: o.whole, ordered=False, words=_no_words, burden=3)
    yield seen_before(first, second)


def _wider(first: Outcomes, second: Outcomes) -> Outcomes:
    """The outcomes with more in them decide what can be looked at."""
    return max(first, second, key=lambda o: (bool((o.counts != 1).any()), len(np.unique(o.form[:1000]))))


def _many(seen: Outcomes) -> bool:
    return seen.width > 1 or bool((seen.counts != 1).any())


def _no_words(code: int) -> str:
    return "a value"


def _marks(first: Outcomes, second: Outcomes) -> Iterator[Feature]:
    for name in dict.fromkeys([*first.marks, *second.marks]):
        ordered = all(part.mark(name).dtype.kind == "f" for part in (first, second))
        words = str if ordered else form_words
        yield Feature(name, lambda o, name=name: o.mark(name), ordered=ordered, words=words)  # type: ignore[misc]


def _coordinate(j: int, seen: Outcomes) -> Feature:
    name = _name(j, seen)
    shown = f"{name} - {seen.origin}" if seen.origin else name
    return Feature(shown, lambda o: o.numbers[:, j], ordered=True)


def _name(j: int, seen: Outcomes) -> str:
    words = form_words(int(seen.form[0]))
    if "#" in words and bool((seen.form == seen.form[0]).all()):
        return f"number {j + 1} in {words}" if _many(seen) else f"the number in {words}"
    return f"output[{j}]" if _many(seen) else "output"


def _of_numbers(first: Outcomes, second: Outcomes, wider: Outcomes) -> Iterator[Feature]:
    width = wider.width
    screen = screened(first, second) if width > 1 else None
    wide = width > _COORDINATES
    close = dict.fromkeys([*range(_BITWISE), *screen.values]) if wide and screen else range(width)
    fine = dict.fromkeys([*range(min(width, _BITWISE)), *(screen.bits[:_BITWISE] if screen else ())])
    for j in close:
        yield _coordinate(j, wider)
    for j in fine:
        yield from bit_features(j, _name(j, wider), wider)
    if screen is None:
        return
    yield from vector_features(wider)
    moving = [(j, j + 1) for j in range(min(width - 1, _MOVING))]
    yield from differences(list(dict.fromkeys([*moving, *screen.adjacent[:_BITWISE], *screen.alike])))
    yield from differences(screen.opposite, sign=+1)
    yield additive(first, second, range(min(width, _ADDED)))
    direction = separating(first, second, range(min(width, _SEPARATED)))
    if direction is not None:
        yield direction
