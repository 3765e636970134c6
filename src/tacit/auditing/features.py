"""What to look at in an outcome: its form, its value, its bits and residues, and simple functions of many numbers.

A feature is a function of one outcome, fixed before the test: some have parameters that were fitted to a first part
of the sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from tacit.auditing.outcomes import Codes, Outcomes, Reals, form_words

__all__ = ["Feature", "fitted_features", "plain_features"]

MODULI = (2, 3, 4, 5, 7, 8, 10, 16, 64, 256, 1024)
_LOW_BITS = (1, 2, 4, 8, 12)
_MISSING = np.iinfo(np.int64).min
_BITWISE = 4  # of how many coordinates the bits are looked at
_COORDINATES = 16


@dataclass(frozen=True, slots=True)
class Feature:
    """A name and a function; ``ordered`` features are numbers, the others labels."""

    name: str
    of: Callable[[Outcomes], npt.NDArray[np.generic]]
    ordered: bool
    words: Callable[[int], str] = str


def plain_features(outcomes: Outcomes) -> Iterator[Feature]:
    """The features that need no fitting, for outcomes as wide as these."""
    yield Feature("form", lambda o: o.form, ordered=False, words=form_words)
    if outcomes.width:
        many = outcomes.width > 1 or bool((outcomes.counts != 1).any())
        for j in range(min(outcomes.width, _COORDINATES)):
            yield from _of_coordinate(j, f"output[{j}]" if many else "output", outcomes)
        if many:
            yield from _of_vector(outcomes)
    yield Feature("the whole output", lambda o: o.whole, ordered=False, words=_no_words)


def _no_words(code: int) -> str:
    return "a value"


def _of_coordinate(j: int, name: str, seen: Outcomes) -> Iterator[Feature]:
    shown = f"{name} - {seen.origin}" if seen.origin else name
    yield Feature(shown, lambda o: o.numbers[:, j], ordered=True)
    if j >= _BITWISE:
        return
    whole = seen.bits[:1000, j][seen.whole_number[:1000, j]]
    if whole.size and np.ptp(whole) > 1:
        yield Feature(name, lambda o: _where(o, j, True, o.bits[:, j]), ordered=False)
        for m in MODULI:
            yield Feature(f"{name} mod {m}", partial(_residue, j=j, modulus=m), ordered=False)
        yield Feature(
            f"trailing zero bits of {name}", lambda o: _where(o, j, True, _zeros(o.bits[:, j])), ordered=False
        )
    if not seen.whole_number[:, j].all():
        yield from _of_float(j, name)


def _of_float(j: int, name: str) -> Iterator[Feature]:
    def raw(o: Outcomes) -> Codes:
        return o.bits[:, j]

    yield Feature(f"{name}, to the last bit", lambda o: _where(o, j, False, raw(o)), ordered=False, words=_float_of)
    yield Feature(f"exponent of {name}", lambda o: _where(o, j, False, ((raw(o) >> 52) & 0x7FF) - 1023), ordered=False)
    yield Feature(f"sign bit of {name}", lambda o: _where(o, j, False, (raw(o) >> 63) & 1), ordered=False)
    yield Feature(f"exponent of the last bit of {name}", lambda o: _finest(o, j), ordered=True)
    for bits in _LOW_BITS:
        yield Feature(f"last {bits} bits of {name}", partial(_low_bits, j=j, bits=bits), ordered=False)
    yield Feature(f"fraction of {name}", lambda o: _fraction(o.numbers[:, j]), ordered=True)


def _float_of(code: int) -> str:
    return repr(float(np.int64(code).view(np.float64)))


def _where(o: Outcomes, j: int, whole: bool, codes: Codes) -> Codes:
    """The codes where the coordinate exists and is of the kind, else a code for missing."""
    present = (o.counts > j) & (o.whole_number[:, j] == whole)
    return np.where(present, codes, _MISSING)


def _residue(o: Outcomes, j: int, modulus: int) -> Codes:
    return _where(o, j, True, o.bits[:, j] % modulus)


def _low_bits(o: Outcomes, j: int, bits: int) -> Codes:
    return _where(o, j, False, o.bits[:, j] & ((1 << bits) - 1))


def _zeros(bits: Codes) -> Codes:
    last = (bits & -bits).view(np.uint64).astype(np.float64)
    found: Codes = np.where(bits == 0, 64, np.log2(np.maximum(last, 1)).astype(np.int64))
    return found


def _finest(o: Outcomes, j: int) -> Reals:
    """The exponent of the last set bit: the coarsest power of two that the float is a multiple of."""
    raw = o.bits[:, j]
    exponent = (raw >> 52) & 0x7FF
    mantissa = (raw & ((1 << 52) - 1)) | np.where(exponent > 0, np.int64(1) << 52, 0)
    place = np.maximum(exponent, 1) - 1075 + _zeros(mantissa)
    present = (o.counts > j) & ~o.whole_number[:, j] & (exponent < 0x7FF)
    found: Reals = np.where(present, np.where(mantissa == 0, 2000, place), np.nan).astype(np.float64)
    return found


def _fraction(values: Reals) -> Reals:
    with np.errstate(invalid="ignore"):
        return values - np.floor(values)


def _of_vector(seen: Outcomes) -> Iterator[Feature]:
    yield Feature("number of numbers", lambda o: o.counts.astype(np.float64), ordered=True)
    yield Feature("last number", _last, ordered=True)
    yield Feature("sum", lambda o: np.where(o.counts > 0, np.nansum(o.numbers, axis=1), np.nan), ordered=True)
    yield Feature("largest", lambda o: np.nanmax(_filled(o, -np.inf), axis=1), ordered=True)
    yield Feature("smallest", lambda o: np.nanmin(_filled(o, np.inf), axis=1), ordered=True)
    yield Feature("position of the largest", lambda o: np.argmax(_filled(o, -np.inf), axis=1), ordered=False)
    yield Feature("position of the smallest", lambda o: np.argmin(_filled(o, np.inf), axis=1), ordered=False)
    yield Feature("how many are not 0", lambda o: np.nansum(o.numbers != 0, axis=1).astype(np.float64), ordered=True)
    middle = float(np.nanmedian(seen.numbers[: 1 << 16])) if np.isfinite(seen.numbers[: 1 << 16]).any() else 0.0
    for level in sorted({0.0, middle}):
        yield Feature(f"first position above {level:g}", partial(_first, level=level), ordered=True)
    for j in range(min(seen.width - 1, _COORDINATES // 2)):
        yield Feature(f"output[{j + 1}] - output[{j}]", partial(_difference, j=j), ordered=True)


def _filled(o: Outcomes, value: float) -> Reals:
    found: Reals = np.where(np.isnan(o.numbers), value, o.numbers)
    return found


def _last(o: Outcomes) -> Reals:
    """The last number that is one: NaN marks a missing answer in some outputs."""
    present = ~np.isnan(o.numbers)
    place = o.width - 1 - np.argmax(present[:, ::-1], axis=1)
    found: Reals = np.where(present.any(axis=1), o.numbers[np.arange(len(o)), place], np.nan)
    return found


def _first(o: Outcomes, level: float) -> Reals:
    above = o.numbers > level
    found: Reals = np.where(above.any(axis=1), np.argmax(above, axis=1), o.width).astype(np.float64)
    return found


def _difference(o: Outcomes, j: int) -> Reals:
    with np.errstate(invalid="ignore"):
        return o.numbers[:, j + 1] - o.numbers[:, j]


def fitted_features(first: Outcomes, second: Outcomes) -> Iterator[Feature]:
    """Scores that separate the two samples along many coordinates at once."""
    width = min(first.width, _COORDINATES)
    if width < 2:
        return
    cuts = [_cuts(np.concatenate([first.numbers[:, j], second.numbers[:, j]])) for j in range(width)]
    tables = [_log_ratios(first.numbers[:, j], second.numbers[:, j], cuts[j]) for j in range(width)]

    def additive(o: Outcomes) -> Reals:
        columns = (tables[j][_cells(o.numbers[:, j], cuts[j])] for j in range(width))
        total: Reals = np.sum(np.stack(list(columns), axis=1), axis=1)
        return total

    yield Feature("sum of the coordinates' log-likelihood ratios", additive, ordered=True)
    direction = _separating(first, second, width)
    if direction is not None:
        limits, weights = direction
        shown = " + ".join(f"{w:.3g}·output[{j}]" for j, w in enumerate(weights) if w)
        yield Feature(shown, lambda o: np.clip(_zeroed(o, width), *limits) @ weights, ordered=True)


def _cuts(values: Reals) -> Reals:
    kept = values[np.isfinite(values)]
    return np.unique(np.quantile(kept, np.linspace(0, 1, 17)[1:-1])) if kept.size else np.zeros(1)


def _cells(values: Reals, cuts: Reals) -> Codes:
    return np.where(np.isnan(values), len(cuts) + 1, np.searchsorted(cuts, values, side="right"))


def _log_ratios(first: Reals, second: Reals, cuts: Reals) -> Reals:
    counts = [np.bincount(_cells(v, cuts), minlength=len(cuts) + 2) for v in (first, second)]
    found: Reals = np.log((counts[0] + 2.0) / (counts[1] + 2.0))
    return found


def _zeroed(o: Outcomes, width: int) -> Reals:
    return np.nan_to_num(o.numbers[:, :width], nan=0.0, posinf=0.0, neginf=0.0)


def _separating(first: Outcomes, second: Outcomes, width: int) -> tuple[tuple[Reals, Reals], Reals] | None:
    """Fisher's linear discriminant on values clipped to the central 99.8%."""
    both = [_zeroed(first, width), _zeroed(second, width)]
    pooled = np.concatenate(both)
    limits = np.quantile(pooled, 0.001, axis=0), np.quantile(pooled, 0.999, axis=0)
    clipped = [np.clip(values, *limits) for values in both]
    spread = np.cov(np.concatenate([values - values.mean(axis=0) for values in clipped]).T)
    sizes = np.sqrt(np.maximum(np.diag(spread), 1e-300))
    with np.errstate(all="ignore"):
        scaled = spread / sizes / sizes[:, None]
        shift = (clipped[0].mean(axis=0) - clipped[1].mean(axis=0)) / sizes
        try:
            weights = np.linalg.solve(scaled + 1e-6 * np.eye(width), shift) / sizes
        except np.linalg.LinAlgError:
            return None
    if not np.isfinite(weights).all() or not weights.any():
        return None
    return limits, weights / np.abs(weights).max()
