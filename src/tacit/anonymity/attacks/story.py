"""What an attack has to tell: how many it names or unveils, and the question to ask through Tacit instead."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Closing", "Story"]

Columns = dict[str, list[object]]


@dataclass(frozen=True, slots=True)
class Closing:
    """The attacker's question about one victim, put to a table that answers privately.

    ``worlds`` are the table in which the victim has the diagnosis and the one in which not; all else is the same, and
    known to the attacker. Every statement counts; in the first world the counts with ``signs`` add up to ``gap`` more.
    """

    table: str
    unit: str
    worlds: tuple[Columns, Columns]
    statements: tuple[str, ...]
    signs: tuple[int, ...]
    without: int
    """What the counts, with their signs, add up to where the victim does not have it."""
    gap: int = 1

    def guess(self, answers: tuple[float, ...]) -> bool:
        """Whether the victim has it, as somebody who knows everything else would guess."""
        found = sum(sign * answer for sign, answer in zip(self.signs, answers, strict=True))
        return found - self.without > self.gap / 2


@dataclass(frozen=True, slots=True)
class Story:
    """An attack on a release, as it went."""

    name: str
    title: str
    told: tuple[str, ...]
    targets: int
    learned: int
    """Of the targets, those about whom the attacker now knows the truth."""
    closing: Closing

    @property
    def rate(self) -> float:
        """The share of targets about whom the truth was learned."""
        return self.learned / self.targets
