"""How much memory a fit takes, from public sizes alone: what its cap is held against before anything is paid.

Bytes, measured and rounded up (tests/synth/methods/test_memory.py holds fits to them). Rows are not among them: those
of an open table lie on disk, those of a frame are with the caller, and as codes take 1 to 4 bytes a value more.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["BASE", "longest_compared", "of_one_way", "of_pairs", "room_of"]

BASE = 4_000_000
"""For what does not grow: chunks of rows that are counted, small tables, text."""
_KEPT, _SMOOTHED, _COMPARED = 160, 600, 64


def room_of(memory: int) -> int:
    """The bytes that a fit may hold of so many megabytes; a quarter is for smoothers that compare values.

    >>> room_of(16)
    12000000
    """
    return memory * 750_000


def longest_compared(memory: int) -> int:
    """How many values a column may have for smoothers that compare all of them with all.

    >>> [longest_compared(memory) for memory in (16, 64, 1024)]
    [250, 500, 2000]
    """
    return min(2000, int((memory * 250_000 / _COMPARED) ** 0.5))


def of_one_way(sizes: Sequence[int]) -> int:
    """One-way counts of columns with so many values: all of them, and what smoothing one of them takes."""
    return BASE + _KEPT * sum(sizes) + _SMOOTHED * max(sizes)


def of_pairs(sizes: Sequence[int], each: int) -> int:
    """All tables of two of columns with so many bins, at so many bytes a cell."""
    width = sum(sizes)
    return each * (width**2 - sum(size**2 for size in sizes)) // 2
