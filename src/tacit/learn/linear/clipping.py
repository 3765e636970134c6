"""How large a row's factor may be: the largest whole k with k·‖x‖ ≤ C, in closed form and in whole numbers."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

__all__ = ["largest_factors", "whole_root"]

Integers = npt.NDArray[np.int64]


def largest_factors(square_of_limit: int, squares: Integers) -> Integers:
    """The largest whole k with k²·‖x‖² ≤ C², for each row's ‖x‖² ≥ 1.

    >>> largest_factors(100, np.array([1, 2, 3, 101])).tolist()
    [10, 7, 5, 0]
    """
    return whole_root(square_of_limit // squares)  # k² ≤ C²/‖x‖² for whole k² exactly if k² ≤ floor(C²/‖x‖²)


def whole_root(values: Integers) -> Integers:
    """floor(√v) of whole numbers below 2⁶², whatever the rounding of the machine's square root.

    >>> whole_root(np.array([0, 15, 16, 10**18 - 1, 10**18])).tolist()
    [0, 3, 4, 999999999, 1000000000]
    """
    roots = np.sqrt(values.astype(np.float64)).astype(np.int64)
    roots -= roots * roots > values
    roots += (roots + 1) * (roots + 1) <= values
    return roots


def whole_root_of(value: int) -> int:
    """floor(√v) of one."""
    return math.isqrt(value)
