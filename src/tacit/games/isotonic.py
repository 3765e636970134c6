"""The falling list nearest to given numbers, in the sense of least squares: pool adjacent violators, at array speed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["falling"]

Reals = npt.NDArray[np.float64]


def falling(values: npt.NDArray[np.generic]) -> Reals:
    """The non-increasing list with the least sum of squared distances.

    Every maximal run of blocks that rise is pooled at once, until none rises: pooling adjacent violators in any order
    gives the one solution (Ayer et al. 1955).

    >>> falling(np.array([3, 1, 2, 5, 0])).tolist()
    [3.0, 2.6666666666666665, 2.6666666666666665, 2.6666666666666665, 0.0]
    """
    sums = values.astype(np.float64)
    sizes = np.ones(sums.size)
    while sums.size > 1:
        means = sums / sizes
        starts = np.flatnonzero(np.concatenate(([True], means[1:] <= means[:-1])))
        if starts.size == sums.size:
            break
        sums, sizes = np.add.reduceat(sums, starts), np.add.reduceat(sizes, starts)
    return np.repeat(sums / sizes, sizes.astype(np.intp)) if sums.size else sums
