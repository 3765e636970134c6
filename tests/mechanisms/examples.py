"""Every registered mechanism with each of its examples, and what the contract suite has to know to use them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.examples.additive import ADDITIVE, Additive
from tacit.mechanisms.shared.base import AdditiveMechanism
from tests.mechanisms.laws import granule_of

__all__ = ["ENTRIES", "EXAMPLES", "Example"]


@dataclass(frozen=True)
class Example:
    """One mechanism as the registry builds it, and what the suite has to know to use it."""

    entry: Additive
    make: Callable[[], AdditiveMechanism]
    number: int

    @property
    def name(self) -> str:
        return f"{self.entry.mechanism.__name__}-{self.number}"

    def value(self, m: AdditiveMechanism) -> int | float:
        """A value away from any bounds, that float16 and int8 can hold; whole if all releases are."""
        return 7 if granule_of(m) == 1 else 7.25

    def coordinates(self, count: int) -> int:
        """How many coordinates ``count`` releases have that are drawn at once where arrays can be."""
        return count if self.entry.arrays else 1

    def options(self, method: Callable[..., Any], m: AdditiveMechanism) -> dict[str, Any]:
        """What ``of_scale`` or ``for_accuracy`` need beside the scale or the error, as ``m`` has it."""
        known: dict[str, Any] = {
            "sensitivity": m.sensitivity,
            "bounds": self.entry.bounds,
            "delta": getattr(m.guarantee, "dlt", None),
            "granule": getattr(m, "_granule", None),
        }
        return {name: known[name] for name in inspect.signature(method).parameters if name in known}

    def neighbours(self, m: AdditiveMechanism) -> list[tuple[Fraction, Fraction]]:
        """Pairs of values at the stated distance: in the middle, unaligned with any lattice, and at the bounds."""
        distance = m.sensitivity.value
        if self.entry.whole:
            distance = Fraction(int(distance))
        start = Fraction(self.value(m))
        pairs = [(start, start + distance), (start + distance, start)]
        if not self.entry.whole:
            odd = start + Fraction(1, 3)
            pairs += [(odd, odd + distance), (odd, odd - distance)]
        if self.entry.bounds is not None:
            low, high = map(Fraction, self.entry.bounds)
            pairs += [(low, low + distance), (high - distance, high), (high, high - distance)]
        return pairs


ENTRIES = list(ADDITIVE.values())
EXAMPLES = [Example(entry, make, number) for entry in ENTRIES for number, make in enumerate(entry.examples, start=1)]
