"""A tree that a person reads, drawn in text; and the hints that hang in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Branch", "Hint"]


@dataclass(frozen=True, slots=True)
class Hint:
    """A change that would lower the error of one aggregate, and the error it would have then; computed, not guessed."""

    aggregate: str
    change: str
    error: float
    halves: bool
    """Whether the error would be at most half of what it is."""

    def __str__(self) -> str:
        return f"{self.change}: ± {self.error:.4g}"


@dataclass(frozen=True, slots=True)
class Branch:
    """A line, and what belongs under it."""

    text: str
    below: tuple[Branch, ...] = ()

    def __str__(self) -> str:
        """The tree.

        >>> print(Branch("price", (Branch("keys", (Branch("rule"),)), Branch("count"))))
        price
        ├─ keys
        │  └─ rule
        └─ count
        """
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield self.text
        for at, one in enumerate(self.below):
            last = at == len(self.below) - 1
            first, rest = ("└─ ", "   ") if last else ("├─ ", "│  ")
            for number, line in enumerate(one._lines()):
                yield (rest if number else first) + line
