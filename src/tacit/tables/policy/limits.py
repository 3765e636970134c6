"""How much of one unit counts."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of one unit counts: in at most so many groups, with at most so many rows in each."""

    groups: int = 1
    rows: int = 1
