"""What a table is asked to keep: k, the three kinds of l, t. A wish to be checked, never a guarantee."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Integral, Real

from tacit.errors import InvalidParameter

__all__ = ["SLACK", "Limits", "exact"]

SLACK = 1e-9
"""Entropies and distances are floats: a limit is kept if it is kept to nine digits."""
_FURTHEST = 300


@dataclass(frozen=True, slots=True)
class Limits:
    """The least k and l and the greatest t that every class must keep; None asks nothing.

    ``distinct_l``, ``entropy_l`` and ``recursive`` = (c, l) hold for each sensitive column, and so does ``t``, by the
    ordered distance where the column is of numbers and by the equal distance otherwise.

    >>> Limits(k=5, distinct_l=2, t=0.3)
    Limits(k=5, distinct_l=2, entropy_l=None, recursive=None, t=0.3)
    >>> Limits(k=0)
    Traceback (most recent call last):
    ...
    tacit.errors.InvalidParameter: k: given 0; allowed: a whole number of at least 1.
    """

    k: int | None = None
    distinct_l: int | None = None
    entropy_l: float | None = None
    recursive: tuple[float | Fraction, int] | None = None
    t: float | None = None

    def __post_init__(self) -> None:
        _whole("k", self.k)
        _whole("distinct_l", self.distinct_l)
        if self.entropy_l is not None and not (_is_real(self.entropy_l) and self.entropy_l >= 1):
            raise InvalidParameter("entropy_l", given=self.entropy_l, allowed="a number of at least 1")
        if self.t is not None and not (_is_real(self.t) and 0 <= self.t <= 1):
            raise InvalidParameter("t", given=self.t, allowed="a number from 0 to 1")
        if self.recursive is not None:
            if not isinstance(self.recursive, tuple) or len(self.recursive) != 2:
                raise InvalidParameter("recursive", given=self.recursive, allowed="a pair (c, l)")
            if exact("c", self.recursive[0]) <= 0:
                raise InvalidParameter("c", given=self.recursive[0], allowed="a number above 0")
            _whole("l", self.recursive[1])

    @property
    def of_sensitive(self) -> bool:
        """Whether something is asked of sensitive columns."""
        return any(one is not None for one in (self.distinct_l, self.entropy_l, self.recursive, self.t))

    @property
    def monotone(self) -> bool:
        """Whether a part of a class that fails fails too: so for k and distinct l only."""
        return self.entropy_l is None and self.recursive is None and self.t is None

    @property
    def words(self) -> str:
        """The limits as people write them."""
        named = {"k": self.k, "distinct l": self.distinct_l, "entropy l": self.entropy_l, "t": self.t}
        parts = [f"{name} {'≤' if name == 't' else '≥'} {value}" for name, value in named.items() if value is not None]
        if self.recursive is not None:
            parts.append(f"recursive ({self.recursive[0]}, {self.recursive[1]})-diversity")
        return ", ".join(parts)


def exact(name: str, value: object) -> Fraction:
    """A number as typed: 0.1 is one tenth. One of more digits than a float can have is none."""
    try:
        if isinstance(value, Fraction | Integral) and not isinstance(value, bool):
            return Fraction(value)
        typed = Decimal(str(value))
        if typed.is_finite() and abs(typed.adjusted()) > _FURTHEST:
            raise ValueError
        return Fraction(typed)
    except (InvalidOperation, OverflowError, ValueError):
        raise InvalidParameter(name, given=value, allowed="a number") from None


def _whole(name: str, value: object) -> None:
    if value is None:
        return
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise InvalidParameter(name, given=value, allowed="a whole number of at least 1")


def _is_real(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
