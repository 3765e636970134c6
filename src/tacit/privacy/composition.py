"""Composition: many promises about the same data are one promise, and the parts are kept.

Because the parts are kept, ``.epsilon(delta)`` can use the tightest bound that is valid for them. The model is k-fold
adaptive composition: each mechanism may be chosen from earlier answers, its promise was fixed in advance. (If the
promises too are chosen from earlier answers, use `tacit.privacy.filters`.) Proofs: docs/proofs/composition.md.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

from tacit.errors import InvalidParameter, NotPrivate
from tacit.privacy.bounds.basic import Basic
from tacit.privacy.bounds.bound import Bound
from tacit.privacy.bounds.dominating import Dominating, composed_loss
from tacit.privacy.bounds.gaussian import Gaussian
from tacit.privacy.bounds.optimal import Optimal
from tacit.privacy.bounds.renyi import Renyi
from tacit.privacy.bounds.shared import Shared
from tacit.privacy.neighbours import ADD_REMOVE, REPLACE, Neighbours
from tacit.privacy.prices import failure_probability, non_negative, six_digits, times
from tacit.privacy.promise import Promise, no_conversion, same_neighbours

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution

_SIMPLE: tuple[Bound, ...] = (Basic(), Optimal(), Gaussian(), Renyi(), Dominating())
BOUNDS: tuple[Bound, ...] = (*_SIMPLE, Shared(_SIMPLE))
"""Every bound that `Composition` tries; the smallest answer is given."""


class Composable(Promise):
    """A promise that adds and multiplies: ``+`` composes two, ``k *`` composes k copies, and both keep the parts."""

    __slots__ = ()

    @property
    @abstractmethod
    def parts(self) -> tuple[tuple[Part, int], ...]:
        """The promises composed here, each with how often."""

    def __add__(self, other: object) -> Composable:
        if isinstance(other, Composable):
            return together((*self.parts, *other.parts))
        if type(other) is int and other == 0:  # so that sum() works without a start
            return self
        return NotImplemented

    __radd__ = __add__

    def __mul__(self, k: object) -> Composable:
        count = times(k, "k")
        return together([(part, count * often) for part, often in self.parts])

    __rmul__ = __mul__

    @abstractmethod
    def group(self, k: int) -> Composable: ...

    @abstractmethod
    def to_replace(self) -> Composable: ...

    @property
    def loss(self) -> LossDistribution | None:
        """The loss of the worst mechanisms that keep the parts, or None where a part allows no single worst one."""
        return composed_loss(self.parts)

    def how(self, delta: object) -> str:
        """The name of the bound that `epsilon` uses at ``delta``."""
        return min(self.bounds(delta).items(), key=lambda item: item[1])[0]

    def bounds(self, delta: object) -> dict[str, float]:
        """ε at ``delta`` by every bound that applies; all are valid, the smallest is what `epsilon` returns."""
        level = failure_probability(delta)
        found = {bound.name: bound.epsilon(self.parts, level) for bound in BOUNDS}
        return {name: epsilon for name, epsilon in found.items() if math.isfinite(epsilon)} or {"none": math.inf}


class Part(Composable):
    """A promise that compositions are made of."""

    __slots__ = ()

    adds_up: ClassVar[bool] = False  # whether a composition without leaks says no more than the sum of its amounts

    @property
    def parts(self) -> tuple[tuple[Part, int], ...]:
        return ((self, 1),)

    @abstractmethod
    def group(self, k: int) -> Part: ...

    @abstractmethod
    def to_replace(self) -> Part: ...

    def before_replacing(self) -> Self:
        """This promise, if it is about add-remove neighbours: only then may it be turned into a replace one."""
        if self.neighbours is REPLACE:
            raise NotPrivate(f"{self!r} is already about replacement; leave .to_replace() out.")
        return self


class Guarantee(Part):
    """One promise of one kind, stated by its numbers alone."""

    __slots__ = ()

    symbol: ClassVar[str] = ""
    """The letter of the number that adds up."""

    @abstractmethod
    def amounts(self) -> tuple[Fraction, ...]:
        """The exact numbers that add up when guarantees of this kind are composed."""

    @abstractmethod
    def of_amounts(self, *amounts: Fraction) -> Self:
        """A guarantee like this one with other amounts."""

    @property
    def main(self) -> Fraction:
        """The number that adds up, beside the δ: the ε of `ApproxDP`, the ρ of `ZCDP`."""
        return self.amounts()[0]

    def scaled(self, share: Fraction) -> Self:
        """A guarantee of this kind with that share of `main`, and the same δ."""
        main, *rest = self.amounts()
        return self.of_amounts(main * share, *rest)

    def rounded_up(self) -> Self:
        """A guarantee that promises no more than this one, its number rounded up to six digits for people to read."""
        main, *rest = self.amounts()
        return self.of_amounts(six_digits(main), *rest)

    def range_of_each(self, count: int = 1) -> Fraction:
        """The widest range of privacy loss that each of ``count`` choices may have for this to hold, rounded down.

        What has bounded range is the exponential mechanism and the like; `NotPrivate` where nothing is proved.
        """
        raise NotPrivate(f"{self!r} is no price of a choice: it is not proved how wide its privacy loss may range.")

    def price_of(self, promise: Promise) -> Self:
        """What ``promise`` costs in guarantees of this kind; `NotPrivate` if it implies none of them."""
        return promise.to(type(self))

    def where(self) -> str:
        """The neighbour relation as the last argument of a repr, if it is not the default."""
        return "" if self.neighbours is ADD_REMOVE else f", neighbours={self.neighbours!r}"


@dataclass(frozen=True, slots=True, init=False, repr=False, eq=False)
class Composition(Composable):
    """Several guarantees about the same data, holding together; made by ``+``, ``k *`` and `compose`.

    >>> from tacit.privacy import PureDP, ZCDP
    >>> plan = 10 * PureDP(0.1) + ZCDP(0.5)
    >>> plan
    10 * PureDP(0.1) + ZCDP(0.5)
    >>> (10 * PureDP(0.1)).to(PureDP)
    PureDP(1)
    >>> plan.how(1e-6)
    'renyi'
    """

    kind: ClassVar[str] = "composition"

    merged: tuple[tuple[Part, int], ...]

    def __init__(self, parts: Iterable[tuple[Part, int]]) -> None:
        merged: dict[Part, int] = {}
        for part, often in parts:
            if not isinstance(part, Part):
                raise InvalidParameter("parts", given=part, allowed="pairs of a promise and how often")
            merged[part] = merged.get(part, 0) + times(often, "times")
        kept = tuple((part, often) for part, often in merged.items() if often)
        for part, _ in kept:
            same_neighbours(kept[0][0], part, "composed")
        object.__setattr__(self, "merged", kept)

    @property
    def parts(self) -> tuple[tuple[Part, int], ...]:
        return self.merged

    @property
    def neighbours(self) -> Neighbours:  # type: ignore[override]
        """The relation of the parts; a composition of nothing holds for either and says add-remove."""
        return self.parts[0][0].neighbours if self.parts else ADD_REMOVE

    @property
    def holds_for_all_neighbours(self) -> bool:
        return not self.parts

    def as_pure(self) -> Fraction | None:
        return _total((often, part.as_pure()) for part, often in self.parts)

    def as_approx(self) -> tuple[Fraction, Fraction] | None:
        return _totals((often, part.as_approx()) for part, often in self.parts)

    def as_gaussian(self) -> Fraction | None:
        return _total((often, part.as_gaussian()) for part, often in self.parts)

    def as_zcdp(self) -> tuple[Fraction, Fraction] | None:
        return _totals((often, part.as_zcdp()) for part, often in self.parts)

    def as_renyi(self, alpha: Fraction) -> Fraction | None:
        return _total((often, part.as_renyi(alpha)) for part, often in self.parts)

    def epsilon(self, delta: object = 0) -> float:
        level = failure_probability(delta)
        return min(bound.epsilon(self.parts, level) for bound in BOUNDS)

    def delta(self, epsilon: object) -> float:
        level = non_negative(epsilon, "epsilon")
        return min(1.0, *(bound.delta(self.parts, level) for bound in BOUNDS))

    def group(self, k: int) -> Composable:
        return together([(part.group(k), often) for part, often in self.parts])

    def to_replace(self) -> Composable:
        return together([(part.to_replace(), often) for part, often in self.parts])

    @classmethod
    def implied_by(cls, promise: Promise, at: Mapping[str, object]) -> Self:
        raise no_conversion(promise, "a composition", "Name the kind to convert to, such as ApproxDP.")

    def covers(self, promise: Promise) -> bool:
        """Whether every part of ``promise`` is a part of this one, or the sum of this one covers it."""
        kinds = {type(part) for part, _ in self.parts}
        if len(kinds) == 1 and (kind := kinds.pop()).adds_up and not any(part.leak for part, _ in self.parts):
            return self.to(kind).covers(promise)
        mine = dict(self.parts)
        return isinstance(promise, Composable) and all(often <= mine.get(part, 0) for part, often in promise.parts)

    def to_dict(self) -> dict[str, Any]:
        listed = [{"guarantee": part.to_dict(), "times": often} for part, often in self.parts]
        return {"kind": self.kind, "parts": listed}

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Self:
        return cls((Guarantee.from_dict(item["guarantee"]), times(item["times"], "times")) for item in values["parts"])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Composition) and dict(self.parts) == dict(other.parts)

    def __hash__(self) -> int:
        return hash(frozenset(self.parts))

    def __repr__(self) -> str:
        listed = (repr(part) if often == 1 else f"{often} * {part!r}" for part, often in self.parts)
        return " + ".join(listed) or "NOTHING_SPENT"


NOTHING_SPENT = Composition(())


def together(parts: Iterable[tuple[Part, int]]) -> Composable:
    """The composition of the parts; a single part once is that part itself."""
    made = Composition(parts)
    return made.parts[0][0] if len(made.parts) == 1 and made.parts[0][1] == 1 else made


def _total(items: Iterable[tuple[int, Fraction | None]]) -> Fraction | None:
    total = Fraction(0)
    for often, value in items:
        if value is None:
            return None
        total += often * value
    return total


def _totals(items: Iterable[tuple[int, tuple[Fraction, Fraction] | None]]) -> tuple[Fraction, Fraction] | None:
    first, second = Fraction(0), Fraction(0)
    for often, pair in items:
        if pair is None:
            return None
        first, second = first + often * pair[0], second + often * pair[1]
    return None if second >= 1 else (first, second)
