"""Public coins: for what is made of released numbers alone. Nothing private is drawn with them; anybody may know them.

The one place in the package that may use a replayable generator; tests/noise/test_entropy.py holds that.
"""

from __future__ import annotations

import numpy as np

__all__ = ["Public", "public_coins"]

Public = np.random.Generator
"""Coins whose seed is public."""


def public_coins(seed: object) -> Public:
    """The coins of a seed: the same rows from the same model each time; without a seed, others each time.

    >>> public_coins(7).integers(0, 10, 3).tolist() == public_coins(7).integers(0, 10, 3).tolist()
    True
    """
    return np.random.default_rng(seed)  # type: ignore[arg-type]
