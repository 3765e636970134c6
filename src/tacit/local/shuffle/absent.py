"""People who stay silent or send what they like: a stated share of them is counted as hiding nobody."""

from __future__ import annotations

import math

from tacit.errors import InvalidParameter
from tacit.privacy.prices import Price, price

__all__ = ["honest_of"]


def honest_of(n: int, absent: Price) -> int:
    """How many of n people are honest if at most the share ``absent`` is not; one at least, the one who is protected.

    >>> honest_of(1000, "0.1"), honest_of(3, "0.5")
    (900, 1)
    """
    share = price(absent, "absent", allowed="a share from 0 up to, but not including, 1")
    if not 0 <= share < 1:
        raise InvalidParameter("absent", given=absent, allowed="a share from 0 up to, but not including, 1")
    return max(1, math.floor((1 - share) * n))
