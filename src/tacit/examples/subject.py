"""What can be audited, and the shape of an entry in a registry of mechanisms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from tacit.noise.entropy import BitSource

__all__ = ["TOGETHER", "Entry", "Pair", "Subject"]

Pair = tuple[Any, Any]

TOGETHER = 1 << 16
"""How many runs are drawn at once, where that is possible."""


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


class Entry(Protocol):
    """Mechanisms of one kind in a registry, which is a mapping from a name to such an entry."""

    @property
    def examples(self) -> tuple[Callable[[], Any], ...]:
        """Each makes one mechanism of the kind."""

    def knows(self, mechanism: object) -> bool:
        """Whether a mechanism is of this kind."""

    def subject(self, mechanism: Any, entropy: BitSource | None) -> Subject:
        """A mechanism of this kind as something to audit, with neighbours at its stated sensitivity."""
