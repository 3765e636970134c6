"""`compose`: mechanisms, guarantees and losses as one promise, answered by the best bound that holds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

from tacit.errors import InvalidParameter, NotPrivate
from tacit.privacy.composition import Composable, Composition, Part, together
from tacit.privacy.neighbours import Neighbours
from tacit.privacy.promise import Promise, no_conversion, same_neighbours

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution

__all__ = ["StatedLoss", "compose"]


def compose(items: Iterable[object]) -> Composable:
    """Mechanisms, guarantees and losses together: a plan fixed in advance, answered by the best bound that holds.

    The result adds, multiplies and compares like every guarantee. What has a ``guarantee`` or a ``loss`` can be
    composed; as soon as something states its loss distribution, that is used as well.

    >>> from tacit.privacy import PureDP
    >>> compose([PureDP(1), PureDP(1), 2 * PureDP("0.5")])
    2 * PureDP(1) + 2 * PureDP(0.5)
    >>> from tacit.privacy.loss_distribution import LossDistribution
    >>> both = compose([PureDP(0.1), 100 * LossDistribution.gaussian(50)])
    >>> both.how(1e-6), round(both.epsilon(1e-6), 3)
    ('loss distribution', 0.905)
    >>> (2 * both + PureDP(1)).epsilon(1e-6) < 2 * both.epsilon(5e-7) + 1
    True
    """
    found = [pair for item in items for pair in _parts_of(item)]
    if not found:
        raise InvalidParameter("items", given=[], allowed="at least one mechanism, guarantee or loss distribution")
    return together(found)


def _parts_of(item: object) -> tuple[tuple[Part, int], ...]:
    if isinstance(item, Composable):
        return item.parts
    promise, loss = getattr(item, "guarantee", None), _loss_of(item)
    if promise is not None and not isinstance(promise, Composable):
        raise _not_composable(item)
    if loss is not None:
        return ((StatedLoss(loss, promise), 1),)
    if promise is None:
        raise _not_composable(item)
    return promise.parts


def _loss_of(item: object) -> LossDistribution | None:
    """The loss that a mechanism states; a loss distribution is its own."""
    try:
        stated = getattr(item, "loss", None)
    except (NotPrivate, InvalidParameter):  # it depends on more than the sensitivity, or is too large to be computed
        return None
    if stated is None:
        return None
    from tacit.privacy.loss_distribution import LossDistribution  # loads numpy: only where something has a loss

    if not isinstance(stated, LossDistribution):
        raise _not_composable(item)
    return stated


def _not_composable(item: object) -> InvalidParameter:
    allowed = "mechanisms, guarantees, compositions and loss distributions"
    return InvalidParameter("items", given=item, allowed=allowed)


@dataclass(frozen=True, slots=True, repr=False)
class StatedLoss(Part):
    """What a mechanism states of itself: its loss distribution, and the guarantee that it keeps, if it has one."""

    distribution: LossDistribution
    stated: Composable | None = None

    def __post_init__(self) -> None:
        if self.stated is not None:
            same_neighbours(self, self.stated, "stated together")

    @property
    def neighbours(self) -> Neighbours:  # type: ignore[override]
        return self.distribution.neighbours

    @property
    def stated_loss(self) -> LossDistribution:
        return self.distribution

    @property
    def only_a_loss(self) -> bool:
        return self.stated is None

    # What follows from the guarantee beside the loss; from a loss alone nothing follows in these terms.

    def as_pure(self) -> Fraction | None:
        return None if self.stated is None else self.stated.as_pure()

    def as_approx(self) -> tuple[Fraction, Fraction] | None:
        return None if self.stated is None else self.stated.as_approx()

    def as_gaussian(self) -> Fraction | None:
        return None if self.stated is None else self.stated.as_gaussian()

    def as_zcdp(self) -> tuple[Fraction, Fraction] | None:
        return None if self.stated is None else self.stated.as_zcdp()

    def as_renyi(self, alpha: Fraction) -> Fraction | None:
        return None if self.stated is None else self.stated.as_renyi(alpha)

    @property
    def leak(self) -> Fraction:
        return Fraction(0) if self.stated is None else self.stated.leak

    def renyi_beyond_leak(self, alpha: Fraction) -> Fraction | None:
        return None if self.stated is None else self.stated.renyi_beyond_leak(alpha)

    def renyi_estimate(self, alpha: float) -> float:
        return math.inf if self.stated is None else self.stated.renyi_estimate(alpha)

    def highest_order(self) -> Fraction | None:
        return None if self.stated is None else self.stated.highest_order()

    # What people ask.

    def epsilon(self, delta: object = 0) -> float:
        return Composition([(self, 1)]).epsilon(delta)

    def delta(self, epsilon: object) -> float:
        return Composition([(self, 1)]).delta(epsilon)

    def group(self, k: int) -> StatedLoss:
        return StatedLoss(self.distribution.group(k), None if self.stated is None else self.stated.group(k))

    def to_replace(self) -> StatedLoss:
        loss = self.before_replacing().distribution.to_replace()
        return StatedLoss(loss, None if self.stated is None else self.stated.to_replace())

    def covers(self, promise: Promise) -> bool:
        """Whether ``promise`` is this very one: no other is known to have the smaller loss everywhere."""
        return promise == self

    @classmethod
    def implied_by(cls, promise: Promise, at: Mapping[str, object]) -> Self:
        raise no_conversion(promise, "a loss distribution", "Name the kind to convert to, such as ApproxDP.")

    def to_dict(self) -> dict[str, Any]:
        hint = "Write .to(ApproxDP, delta=1e-6) first, or compose the guarantees alone."
        raise InvalidParameter("guarantee", given=self, allowed="what JSON can hold: no loss distribution", hint=hint)

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Self:
        raise InvalidParameter("guarantee", given=values, allowed="JSON of a guarantee; a loss distribution has none")

    def __repr__(self) -> str:
        return repr(self.distribution) if self.stated is None else f"<{self.stated!r} by {self.distribution.plan()}>"
