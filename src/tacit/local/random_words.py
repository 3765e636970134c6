"""Uniform words of a few bits, from no more secret bits than their type holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.noise.entropy import BitSource

__all__ = ["random_words"]


def random_words(bits: int, count: int, dtype: np.dtype[Any], entropy: BitSource) -> npt.NDArray[Any]:
    """``count`` uniform words below 2^bits, of this unsigned type.

    >>> from tacit.testing import seeded
    >>> int(random_words(3, 1000, np.dtype("u2"), seeded(1)).max())
    7
    """
    words = entropy.words(-(-count * dtype.itemsize // 8)).view(dtype)[:count]
    kept: npt.NDArray[Any] = words & dtype.type((1 << bits) - 1)
    return kept
