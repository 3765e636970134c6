"""How mixed the rows on both sides of a split are, in whole numbers: the score by which splits are chosen.

F(n₁, …, n_K) = ½·(n - max nₖ) + ¼·(n - Σ nₖ²/n): half the rows that a majority vote gets wrong, and half of Gini's
impurity times rows, halved. A row more makes it larger by at least 0 and at most 1. Proof: docs/proofs/trees.md.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["UNIT", "purity"]

UNIT = 64
"""The whole number that stands for 1: by so much one row moves a score, at most."""

_STEP = UNIT // 4

Integers = npt.NDArray[np.int64]


def purity(counts: Integers) -> Integers:
    """floor(-UNIT·F), exactly, for counts of classes along the last axis that sum to less than 2⁵⁰.

    >>> purity(np.array([[3, 1], [5, 0], [0, 0]])).tolist()     # F = ½·1 + ¼·(4 - 10/4) = 0.875
    [-56, 0, 0]
    """
    total = counts.sum(axis=-1)
    wrong = total - counts.max(axis=-1)
    found: Integers = _STEP * (-2 * wrong - total) + _scaled_ratio(counts, total)
    return found


def _scaled_ratio(counts: Integers, total: Integers) -> Integers:
    """floor(_STEP·Σ nₖ²/n), 0 for n = 0: a quotient in floats, corrected by a remainder that wraps around 2⁶⁴.

    The quotient is off by less than n·2⁻⁴⁵, so that the true remainder is below n²·2⁻⁴⁴ < 2⁶² in size and survives the
    wrapping; one exact division of it corrects the quotient.
    """
    divisor = np.maximum(total, 1)
    reals = counts.astype(np.float64)
    guess = (_STEP * (reals * reals).sum(axis=-1) / divisor).astype(np.int64)
    with np.errstate(over="ignore"):
        remainder = _STEP * (counts * counts).sum(axis=-1) - guess * divisor  # modulo 2⁶⁴
    corrected: Integers = guess + remainder // divisor
    return corrected
