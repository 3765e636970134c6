"""Parts of the code that advice says to paste."""

from __future__ import annotations

import math
from fractions import Fraction

from tacit.privacy.neighbours import ADD_REMOVE
from tacit.privacy.prices import text
from tacit.privacy.sensitivity import Sensitivity

__all__ = ["sensitivity_text"]


def sensitivity_text(sensitivity: Sensitivity, *, bare: bool = False) -> str:
    """A sensitivity as it is typed; ``bare``: as a number where that says the same.

    >>> from tacit.privacy.sensitivity import L1, L2
    >>> sensitivity_text(L1(1), bare=True), sensitivity_text(L2.sqrt(5)), sensitivity_text(L1("0.1"))
    ('1', 'tacit.L2.sqrt(5)', 'tacit.L1("0.1")')
    """
    exact = sensitivity.is_exact
    number = _typed(sensitivity.value if exact else sensitivity.square)
    where = "" if sensitivity.neighbours is ADD_REMOVE else ", neighbours=tacit.REPLACE"
    if bare and exact and not where:
        return number
    return f"tacit.{sensitivity.norm}{'' if exact else '.sqrt'}({number}{where})"


def _typed(exact: Fraction) -> str:
    """A number of data as it is typed: a float is the binary number it is, so what it is not is quoted."""
    written = text(exact)
    nearest = math.nan if "/" in written else float(written)
    return written if math.isfinite(nearest) and Fraction(nearest) == exact else f'"{written}"'
