"""Our own mechanisms as subjects of an audit: how each is run, and neighbours at its stated sensitivity."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.errors import InvalidParameter
from tacit.local.protocol import Randomizer
from tacit.local.registry import RANDOMIZERS
from tacit.mechanisms.base import AdditiveMechanism
from tacit.mechanisms.registry import MECHANISMS
from tacit.mechanisms.selection_registry import SELECTIONS, Selection
from tacit.noise.entropy import BitSource

__all__ = ["Pair", "Subject", "every_subject", "subject_of"]

Pair = tuple[Any, Any]

_BATCH = 1 << 16


@dataclass(frozen=True, slots=True)
class Subject:
    """Something to audit: a function of the data, what it claims, and neighbouring inputs."""

    name: str
    run: Callable[[Any], Any]
    claim: Any
    pairs: tuple[Pair, ...]
    batch: int = 1
    distribution: Callable[[Any], Any] | None = None
    """The law of the outcome, where the mechanism gives it."""
    repeated: Callable[[Any, int], Any] | None = None
    """(data, count) → that many independent outcomes at array speed, one in each row; used if ``batch`` is above 1."""


def subject_of(
    mechanism: Any, entropy: BitSource | None = None, *, selections: Sequence[Selection] = SELECTIONS
) -> Subject | None:
    """One of our mechanisms as a subject; None for anything else.

    ``selections`` are the kinds that do not add noise to a number: those of `tacit.mechanisms`, or of another part.
    """
    if isinstance(mechanism, AdditiveMechanism):
        return _additive(mechanism, entropy)
    if isinstance(mechanism, Randomizer):
        return _randomizer(mechanism, entropy)
    kind = _selection_for(mechanism, selections)
    if kind is not None:
        run, many = kind.run, kind.many
        return Subject(
            name=repr(mechanism),
            run=lambda data: run(mechanism, data, entropy),
            claim=mechanism.guarantee,
            pairs=(_at_sensitivity(kind.neighbours, mechanism),),
            batch=1 if many is None else _BATCH,
            distribution=getattr(mechanism, "probabilities", None),
            repeated=None if many is None else lambda data, count: many(mechanism, data, count, entropy),
        )
    return None


def every_subject(entropy: BitSource | None = None, *, selections: Sequence[Selection] = SELECTIONS) -> list[Subject]:
    """Every example of the registries."""
    mechanisms: list[Any] = [example() for entry in MECHANISMS for example in entry.examples]
    mechanisms += [build() for kind in selections for build in kind.build]
    mechanisms += [example() for randomizer in RANDOMIZERS for example in randomizer.examples]
    return [found for found in (subject_of(m, entropy, selections=selections) for m in mechanisms) if found is not None]


def _randomizer(randomizer: Randomizer[Any], entropy: BitSource | None) -> Subject:
    """A randomizer on two values of one person; many reports at array speed."""
    entry = next((e for e in RANDOMIZERS if isinstance(randomizer, e.randomizer)), None)
    assert entry is not None, "a randomizer joins the registry"
    repeat = entry.repeat
    return Subject(
        name=repr(randomizer),
        run=lambda value: randomizer.randomize(value, entropy=entropy),
        claim=randomizer.one_report,
        pairs=(entry.neighbours,),
        batch=_BATCH,
        repeated=lambda value, count: randomizer.randomize(repeat(value, count), entropy=entropy),
    )


def _additive(mechanism: AdditiveMechanism, entropy: BitSource | None) -> Subject:
    entry = next((e for e in MECHANISMS if isinstance(mechanism, e.mechanism)), None)
    # With a stated granule arrays have to be multiples of it: whole numbers are.
    whole = entry is not None and (entry.whole or getattr(mechanism, "_granule", None) is not None)
    bounds = getattr(mechanism, "bounds", None)
    many = None if entry is None else entry.many
    return Subject(
        name=repr(mechanism),
        run=lambda data: mechanism.release(data, entropy=entropy),
        claim=mechanism.guarantee,
        pairs=_moved(mechanism, whole, bounds),
        batch=_BATCH if entry is not None and (entry.arrays or many is not None) else 1,
        repeated=None if many is None else lambda data, count: many(mechanism, data, count, entropy),
    )


def _moved(mechanism: AdditiveMechanism, whole: bool, bounds: tuple[float, float] | None) -> tuple[Pair, ...]:
    """Values at the stated distance: at zero, off any lattice, where floats are coarse, and at the bounds."""
    distance = mechanism.sensitivity.value
    if whole:
        step = int(distance)
        if not step:
            return ((0, 0),)
        return (0, step), (2**60 + 128, 2**60 + 128 + step)
    near = _below(distance)
    if bounds is not None:
        low, high = bounds
        return (low, low + near), (high - near, high)
    third = float(distance) / 3
    return (0.0, near), (third, float(_below(Fraction(third) + distance)))


def _below(exact: Fraction) -> float:
    found = float(exact)
    return found if Fraction(found) <= exact else math.nextafter(found, -math.inf)


def _selection_for(mechanism: Any, selections: Sequence[Selection]) -> Selection | None:
    """The registry's kind that this one belongs to: an equal example, or one of the same class and monotony."""
    alike = []
    for kind in selections:
        for build in kind.build:
            example = build()
            if example == mechanism:
                return kind
            if type(example) is type(mechanism) and _monotone(example) == _monotone(mechanism):
                alike.append(kind)
    return alike[0] if alike else None


def _monotone(mechanism: Any) -> bool:
    return bool(getattr(mechanism, "monotone", False))


def _at_sensitivity(pair: Pair, mechanism: Any) -> Pair:
    """The registry's neighbours are for a sensitivity of 1 and a threshold of 0: stretch and shift them."""
    stated = getattr(mechanism, "sensitivity", None)
    size = getattr(stated, "value", None)
    if size is None or isinstance(stated, Fraction):
        return pair
    shift = Fraction(getattr(mechanism, "threshold", 0))
    if size == 1 and not shift:
        return pair
    if not all(isinstance(data, list) for data in pair):
        raise InvalidParameter("mechanism", given=mechanism, allowed="one whose neighbours are known", hint="")
    moved = tuple([_plain(shift + size * value) for value in data] for data in pair)
    return moved[0], moved[1]


def _plain(exact: Fraction) -> Fraction | int:
    return exact.numerator if exact.denominator == 1 else exact
