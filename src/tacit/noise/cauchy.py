"""Cauchy noise of any rational scale around a whole number, rounded to whole numbers and clamped, exactly.

P[floor(C + ½) ≤ m] of the ideal law for every m: a float computation settles nearly every floor, and
`tacit.noise.exact` the rest. Error budget: docs/proofs/noise_that_follows.md.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.noise.entropy import BitSource
from tacit.noise.exact import LazyUniform, decide_floor, flint, rational
from tacit.noise.floors import Integers, Reals, chunks

__all__ = ["rounded_cauchy"]

_SLACK = 2.0**-40
"""Bound on the error of s·cot(πu) in units of s·(1 + |cot(πu)|); it is below 2⁻⁴³ with 64 ulp for each function."""

_FLOOR = 1 << 43
"""Words below this, or as close to 2⁶⁴, leave too few leading bits; their sample is open."""

_LARGEST = 2.0**60


def rounded_cauchy(
    centre: int, scale: Fraction, low: int, high: int, count: int, entropy: BitSource
) -> npt.NDArray[np.int64]:
    """``count`` draws of floor(centre + scale·Z + ½), moved to the nearer of low and high if they lie outside.

    Z has the standard Cauchy law; low ≤ centre ≤ high, and all three are below 2⁵² in size.

    >>> from tacit.testing import seeded
    >>> rounded_cauchy(7, Fraction(1, 1000), 0, 15, 5, seeded(1)).tolist()
    [7, 7, 7, 7, 7]
    """
    out = np.empty(count, dtype=np.int64)
    for where in chunks(count):
        out[where] = _chunk(centre, scale, low, high, entropy.words(where.stop - where.start), entropy)
    return out


def _chunk(
    centre: int, scale: Fraction, low: int, high: int, words: npt.NDArray[np.uint64], entropy: BitSource
) -> Integers:
    wide = float(min(scale, Fraction(2) ** 900))
    with np.errstate(all="ignore"):
        noise = wide * _cotangents(words)
        slack = _SLACK * (wide + np.abs(noise))
        values = np.clip(noise, -_LARGEST, _LARGEST) + (centre + 0.5)
        slack += 2.0**-50 * np.abs(values)
        below, above = np.floor(values - slack), np.floor(values + slack)
    first, last = np.clip(below, low, high), np.clip(above, low, high)
    closed = (first == last) & (words >= _FLOOR) & (words < np.uint64((1 << 64) - _FLOOR)) & np.isfinite(slack)
    settled: Integers = np.where(closed, first, centre).astype(np.int64)
    for i in np.flatnonzero(~closed):
        settled[i] = min(max(_settle(centre, scale, int(words[i]), entropy), low), high)
    return settled


def _cotangents(words: npt.NDArray[np.uint64]) -> Reals:
    """cot(πu) of u = (w + ½)/2⁶⁴, by the smaller of u and 1 - u: small numbers keep their digits."""
    flipped = words >= np.uint64(1 << 63)
    near = np.where(flipped, ~words, words)
    shares = (near.astype(np.float64) + 0.5) * 2.0**-64
    found: Reals = np.where(flipped, -1.0, 1.0) / np.tan(np.pi * shares)
    return found


def _settle(centre: int, scale: Fraction, word: int, entropy: BitSource) -> int:
    def exact(u: Any) -> Any:
        arb = flint().arb
        return arb(rational(scale)) * (u * arb.pi()).cot() + rational(Fraction(2 * centre + 1, 2))

    extra = 128 + max(0, scale.numerator.bit_length() - scale.denominator.bit_length())
    return decide_floor(exact, [LazyUniform(word, 64, entropy)], extra_precision=extra)
