"""Several mechanisms that share a price: one promise for all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tacit.advice.prices import share_of
from tacit.privacy.composition import Guarantee

__all__ = ["Several", "each_at_its_share"]


@dataclass(frozen=True, slots=True)
class Several:
    """Mechanisms that are used one after the other, and what they promise together."""

    mechanisms: tuple[Any, ...]
    guarantee: Guarantee

    @property
    def scale(self) -> float:
        """The largest."""
        return max(float(one.scale) for one in self.mechanisms)


def each_at_its_share(makes: list[Callable[[Guarantee], Any]], promise: Guarantee) -> Several:
    """One mechanism by each maker, at an equal share of the promise."""
    share = share_of(promise, len(makes))
    return Several(tuple(make(share) for make in makes), promise)
