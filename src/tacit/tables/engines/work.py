"""What a question took, counted by the engine itself: the same on every machine, however fast it is."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Work"]


@dataclass(frozen=True, slots=True)
class Work:
    """Counts of all operators together. Private: they depend on rows as the answer does, so nobody else is told."""

    rows: int
    """Rows that operators gave to the next."""
    scanned: int
    """Rows that were read from sources."""
    memory: int
    """Bytes that were set aside."""
    steps: int
    """Operators."""

    def __add__(self, other: Work) -> Work:
        return Work(
            self.rows + other.rows,
            self.scanned + other.scanned,
            self.memory + other.memory,
            self.steps + other.steps,
        )

    def to_dict(self) -> dict[str, int]:
        """As plain JSON values."""
        return {"rows": self.rows, "scanned": self.scanned, "memory": self.memory, "steps": self.steps}
