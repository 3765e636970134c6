"""The bits of one number of an outcome: residues of whole numbers; exponents, last bits, how fine a float is."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from tacit.auditing.looking.feature import Feature
from tacit.auditing.reading.outcomes import MISSING, Codes, Outcomes, Reals

__all__ = ["bit_features", "finest", "trailing_zeros"]

MODULI = (2, 3, 4, 5, 7, 8, 10, 16, 64, 256, 1024)
_LOW_BITS = (1, 2, 4, 8, 12)


def bit_features(j: int, name: str, seen: Outcomes) -> Iterator[Feature]:
    """What can be said of the bits of a coordinate, as a whole number and as a float, whichever was seen."""
    whole = seen.bits[:1000, j][seen.whole_number[:1000, j]]
    if whole.size and np.ptp(whole) > 1:
        yield Feature(name, lambda o: _where(o, j, True, o.bits[:, j]), ordered=False)
        for m in MODULI:
            yield Feature(f"{name} mod {m}", partial(_residue, j=j, modulus=m), ordered=False, burden=1)
        yield Feature(
            f"trailing zero bits of {name}",
            lambda o: _where(o, j, True, trailing_zeros(o.bits[:, j])),
            ordered=False,
            burden=1,
        )
    if not seen.whole_number[:, j].all():
        yield from _of_float(j, name)


def _of_float(j: int, name: str) -> Iterator[Feature]:
    def raw(o: Outcomes) -> Codes:
        return o.bits[:, j]

    yield Feature(
        f"{name}, to the last bit", lambda o: _where(o, j, False, raw(o)), ordered=False, words=_float_of, burden=3
    )
    yield Feature(
        f"exponent of {name}", lambda o: _where(o, j, False, ((raw(o) >> 52) & 0x7FF) - 1023), ordered=False, burden=2
    )
    yield Feature(f"sign bit of {name}", lambda o: _where(o, j, False, (raw(o) >> 63) & 1), ordered=False, burden=2)
    fineness = f"exponent of the last bit of {name}"
    yield Feature(fineness, lambda o: _finest(o, j), ordered=True, ranges=partial(_fineness, name), burden=1)
    for bits in _LOW_BITS:
        yield Feature(f"last {bits} bits of {name}", partial(_low_bits, j=j, bits=bits), ordered=False, burden=3)
    yield Feature(f"fraction of {name}", lambda o: _fraction(o.numbers[:, j]), ordered=True, burden=1)


def _fineness(name: str, _: str, low: float | None, high: float | None, closed: bool) -> str:
    """A range of the exponent of the last bit: how fine the float is."""
    top = None if high is None else int(high) if closed else int(np.ceil(high)) - 1
    bottom = None if low is None else int(np.ceil(low))
    if bottom is None:
        return f"{name} finer than 2^{(top or 0) + 1}" if top is not None else f"{name} any number"
    if top is None:
        return f"{name} a multiple of 2^{bottom}"
    if top == bottom:
        return f"the last bit of {name} is 2^{top}"
    return f"the last bit of {name} between 2^{bottom} and 2^{top}"


def _float_of(code: int) -> str:
    return repr(float(np.int64(code).view(np.float64)))


def _where(o: Outcomes, j: int, whole: bool, codes: Codes) -> Codes:
    """The codes where the coordinate exists and is of the kind, else a code for missing."""
    present = (o.counts > j) & (o.whole_number[:, j] == whole)
    return np.where(present, codes, MISSING)


def _residue(o: Outcomes, j: int, modulus: int) -> Codes:
    return _where(o, j, True, o.bits[:, j] % modulus)


def _low_bits(o: Outcomes, j: int, bits: int) -> Codes:
    return _where(o, j, False, o.bits[:, j] & ((1 << bits) - 1))


def trailing_zeros(bits: Codes) -> Codes:
    """How many zeros a whole number ends in, in binary; 64 for zero itself."""
    last = (bits & -bits).view(np.uint64).astype(np.float64)
    found: Codes = np.where(bits == 0, 64, np.log2(np.maximum(last, 1)).astype(np.int64))
    return found


def finest(raw: Codes) -> Reals:
    """The exponent of the last set bit of floats: the coarsest power of two that each is a multiple of."""
    exponent = (raw >> 52) & 0x7FF
    mantissa = (raw & ((1 << 52) - 1)) | np.where(exponent > 0, np.int64(1) << 52, 0)
    place = np.maximum(exponent, 1) - 1075 + trailing_zeros(mantissa)
    known = np.where(mantissa == 0, 2000, place)
    found: Reals = np.where(exponent < 0x7FF, known, np.nan).astype(np.float64)
    return found


def _finest(o: Outcomes, j: int) -> Reals:
    present = (o.counts > j) & ~o.whole_number[:, j]
    found: Reals = np.where(present, finest(o.bits[:, j]), np.nan)
    return found


def _fraction(values: Reals) -> Reals:
    with np.errstate(invalid="ignore"):
        return values - np.floor(values)
