"""Mechanisms, guarantees and losses composed together: the best bound that holds for what each of them states."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from tacit.errors import InvalidParameter, NotPrivate
from tacit.privacy import composition
from tacit.privacy.bounds.dominating import dominating_loss
from tacit.privacy.composition import Composable
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.neighbours import Neighbours
from tacit.privacy.prices import failure_probability, float_down, non_negative

__all__ = ["Composed", "compose"]


@dataclass(frozen=True, slots=True)
class _Item:
    """One thing that was composed: its loss, its guarantee, or both."""

    loss: LossDistribution | None
    guarantee: Composable | None


@dataclass(frozen=True, slots=True)
class Composed:
    """A plan fixed in advance of which some parts state a loss distribution, some a guarantee, some both.

    Every number is the least of the bounds that hold; `how` says which one that was.
    """

    items: tuple[_Item, ...]
    neighbours: Neighbours

    @property
    def loss(self) -> LossDistribution | None:
        """The loss of the whole plan, where every part has one or a guarantee with a dominating pair."""
        losses = [item.loss for item in self.items]
        return None if any(loss is None for loss in losses) else LossDistribution.compose(filter(None, losses))

    @property
    def guarantee(self) -> Composable | None:
        """The composition of the guarantees, where every part states one."""
        promises = [item.guarantee for item in self.items]
        return None if any(promise is None for promise in promises) else composition.compose(promises)

    def epsilon(self, delta: object) -> float:
        """The smallest ε that is provable at this δ."""
        return min(self.bounds(delta).values())

    def how(self, delta: object) -> str:
        """The name of the bound that gives `epsilon`."""
        found = self.bounds(delta)
        return min(found, key=found.__getitem__)

    def bounds(self, delta: object) -> dict[str, float]:
        """ε at δ by every bound that applies."""
        level = failure_probability(delta)
        found: dict[str, float] = {}
        guarantee, loss = self.guarantee, self.loss
        if guarantee is not None:
            found.update(_bounds(guarantee, level))
        if loss is not None:
            try:
                found["loss distribution"] = loss.epsilon(float_down(level))
            except InvalidParameter:  # losses too large for a grid: the guarantees remain
                if guarantee is None:
                    raise
        if guarantee is None and loss is None:
            found["both, δ shared"] = self._shared(level)
        if not found:
            found["none"] = math.inf
        return found

    def delta(self, epsilon: object) -> float:
        """The smallest δ that is provable at this ε."""
        level = non_negative(epsilon, "epsilon")
        guarantee, loss = self.guarantee, self.loss
        found = [1.0]
        if guarantee is not None:
            found.append(guarantee.delta(level))
        if loss is not None:
            try:
                found.append(loss.delta(max(0.0, float_down(level))))
            except InvalidParameter:
                if guarantee is None:
                    raise
        if guarantee is None and loss is None:
            found.append(self._shared_delta(level))
        return min(found)

    def _halves(self) -> tuple[LossDistribution, Composable]:
        """The parts that only have a loss, and the guarantees of the others."""
        losses = [item.loss for item in self.items if item.loss is not None and item.guarantee is None]
        promises = [item.guarantee for item in self.items if item.guarantee is not None]
        return LossDistribution.compose(losses), composition.compose(promises)

    def _shared(self, delta: Fraction) -> float:
        """Half of δ for each kind, ε added: basic composition, concurrent (Vadhan & Zhang 2023)."""
        loss, promise = self._halves()
        if not delta:
            return math.inf
        total = loss.epsilon(float_down(delta / 2)) + promise.epsilon(delta / 2)
        return math.nextafter(total, math.inf)

    def _shared_delta(self, epsilon: Fraction) -> float:
        loss, promise = self._halves()
        total = loss.delta(max(0.0, float_down(epsilon / 2))) + promise.delta(epsilon / 2)
        return min(1.0, math.nextafter(total, math.inf))


def compose(items: Iterable[object]) -> Composable | Composed:
    """Mechanisms, guarantees and losses together: a plan fixed in advance, answered by the best bound that holds.

    Guarantees alone give their `Composition`; as soon as something states a loss distribution, that is used as well.

    >>> from tacit.privacy import PureDP
    >>> compose([PureDP(1), PureDP(2)])
    PureDP(1) + PureDP(2)
    >>> both = compose([PureDP(0.1), 100 * LossDistribution.gaussian(50)])
    >>> both.how(1e-6), round(both.epsilon(1e-6), 3)
    ('loss distribution', 0.905)
    """
    listed = list(items)
    if not listed:
        raise InvalidParameter("items", given=[], allowed="at least one mechanism, guarantee or loss distribution")
    made = tuple(_item(item) for item in listed)
    if all(isinstance(item, Composable) for item in listed):
        return composition.compose(listed)
    relations = {_neighbours(item) for item in made}
    if len(relations) > 1:
        hint = "Turn the add-remove ones into replace ones with .to_replace(), a group of two; there is no way back."
        raise NotPrivate(f"Parts about different neighbours (add-remove and replace) cannot be composed. {hint}")
    return Composed(made, relations.pop())


def _item(item: object) -> _Item:
    if isinstance(item, LossDistribution):
        return _Item(item, None)
    promise = getattr(item, "guarantee", item)
    if isinstance(promise, Composable):
        return _Item(_loss_of(item, promise), promise)
    allowed = "mechanisms, guarantees, compositions and loss distributions"
    raise InvalidParameter("items", given=item, allowed=allowed)


def _loss_of(item: object, promise: Composable) -> LossDistribution | None:
    """The loss that a mechanism states, or that of the worst mechanism its guarantee allows."""
    try:
        stated = getattr(item, "loss", None)
    except NotPrivate:  # a mechanism whose loss depends on more than its sensitivity says so
        stated = None
    if isinstance(stated, LossDistribution):
        return stated
    losses = [(dominating_loss(part), often) for part, often in promise.parts]
    if any(loss is None for loss, _ in losses):
        return None
    return LossDistribution.compose(often * loss for loss, often in losses if loss is not None)


def _neighbours(item: _Item) -> Neighbours:
    if item.guarantee is not None:
        return item.guarantee.neighbours
    assert item.loss is not None
    return item.loss.neighbours


def _bounds(guarantee: Composable, delta: Fraction) -> dict[str, float]:
    return {name: epsilon for name, epsilon in guarantee.bounds(delta).items() if math.isfinite(epsilon)}
