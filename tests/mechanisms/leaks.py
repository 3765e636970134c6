"""Which events tell two neighbours apart by more than the promise allows? Every bit, residue and pattern is tried.

For an event seen c times in n draws, Chernoff's bound gives limits on its probability that fail with chance e^(-L),
whatever that probability is. An event leaks if even its lower limit under one neighbour exceeds e^ε times its upper
limit under the other, plus δ. All events are fixed beforehand and L pays for their number, so that `ALARM` bounds the
chance that a mechanism which keeps its promise is called leaky.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["ALARM", "Leak", "leaks", "lower_limit", "upper_limit"]

ALARM = 1e-7
MODULI = (2, 3, 4, 5, 7, 8, 11, 13, 16, 64, 256, 1024)
_FAMILIES = 256  # more than are ever tried

Labels = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Leak:
    """An event that separates the neighbours: its family, its label, and what is proven of its two probabilities."""

    family: str
    label: int
    at_least: float
    at_most: float


def leaks(
    first: npt.NDArray[np.generic],
    second: npt.NDArray[np.generic],
    *,
    epsilon: float,
    delta: float = 0.0,
    origin: float = 0,
    granule: float = 1.0,
    scale: float = 1.0,
) -> list[Leak]:
    """The events that leak; ``origin`` and ``granule`` are public and place the outcomes on the lattice."""
    found = []
    for family, ones, others, size in _families(first, second, origin, granule, scale):
        exponent = math.log(4 * _FAMILIES) + math.log(size) - math.log(ALARM)
        labels, counts = _counts(ones, others, size)
        trials = len(ones), len(others)
        for mine, its in ((0, 1), (1, 0)):
            low = lower_limit(counts[mine], trials[mine], exponent)
            high = upper_limit(counts[its], trials[its], exponent)
            over = np.flatnonzero(low > math.exp(epsilon) * high + delta)
            found += [Leak(family, int(labels[i]), float(low[i]), float(high[i])) for i in over]
    return found


def _counts(ones: Labels, others: Labels, size: float) -> tuple[Labels, tuple[Labels, Labels]]:
    if size <= 1 << 16:
        counts = np.bincount(ones, minlength=int(size)), np.bincount(others, minlength=int(size))
        seen = np.flatnonzero(counts[0] + counts[1])
        return seen, (counts[0][seen], counts[1][seen])
    seen, place = np.unique(np.concatenate([ones, others]), return_inverse=True)
    return seen, (
        np.bincount(place[: len(ones)], minlength=len(seen)),
        np.bincount(place[len(ones) :], minlength=len(seen)),
    )


def _families(
    first: npt.NDArray[np.generic], second: npt.NDArray[np.generic], origin: float, granule: float, scale: float
) -> Iterator[tuple[str, Labels, Labels, float]]:
    """Labels of both samples, and how many labels a family can have."""
    raw = [np.ascontiguousarray(sample).view(np.int64) for sample in (first, second)]
    offsets = [(sample - sample.dtype.type(origin)).astype(np.float64) for sample in (first, second)]
    multiples = [np.round(np.clip(offset / granule, -(2.0**62), 2.0**62)).astype(np.int64) for offset in offsets]
    cells = [np.clip(np.floor(offset / scale * 4), -100, 100).astype(np.int64) + 100 for offset in offsets]
    is_float = first.dtype.kind == "f"
    for bit in range(64):
        yield f"bit {bit}", (raw[0] >> bit) & 1, (raw[1] >> bit) & 1, 2
    if is_float:
        heads = [(r >> 52) & 0xFFF for r in raw]
        yield "sign and exponent", heads[0], heads[1], 1 << 12
        for bit in range(52):
            yield (
                f"exponent and bit {bit}",
                (heads[0] << 1) | ((raw[0] >> bit) & 1),
                (heads[1] << 1) | ((raw[1] >> bit) & 1),
                1 << 13,
            )
        fine = [_finest_bit(offset) for offset in offsets]
        yield "finest bit", fine[0], fine[1], 1 << 12
        joint = [(f << 8) | c for f, c in zip(fine, cells, strict=True)]
        yield "finest bit and cell", joint[0], joint[1], float(1 << 20)
        off_lattice = [(offset / granule != np.round(offset / granule)).astype(np.int64) for offset in offsets]
        yield "off the lattice", off_lattice[0], off_lattice[1], 2
    yield "cell", cells[0], cells[1], 256
    for modulus in MODULI:
        residues = [np.mod(m, modulus) for m in multiples]
        yield f"multiple mod {modulus}", residues[0], residues[1], modulus
        if modulus <= 16:
            joint = [(r << 8) | c for r, c in zip(residues, cells, strict=True)]
            yield f"multiple mod {modulus} and cell", joint[0], joint[1], 1 << 12
    yield "exact value", raw[0], raw[1], 2.0**64
    yield from _repeats(raw)


def _finest_bit(values: npt.NDArray[np.float64]) -> Labels:
    """The exponent of the last set bit of each float: 2^(it) is the coarsest lattice the float lies on."""
    mantissa, exponent = np.frexp(values)
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    last = np.where(whole == 0, 1, whole & -whole).astype(np.float64)
    return (exponent.astype(np.int64) - 53 + np.log2(last).astype(np.int64) + 2048) & 0xFFF


def _repeats(raw: list[Labels]) -> Iterator[tuple[str, Labels, Labels, float]]:
    """Outcomes that a first quarter of the draws had under one neighbour only, looked for in the other three."""
    quarter = len(raw[0]) // 4
    known = [np.unique(r[:quarter]) for r in raw]
    for mine, its in ((0, 1), (1, 0)):
        only = np.setdiff1d(known[mine], known[its], assume_unique=True)
        hits = [np.isin(r[quarter:], only).astype(np.int64) for r in raw]
        yield f"seen before under {('first', 'second')[mine]} only", hits[0], hits[1], 2


def _divergence(share: npt.NDArray[np.float64], p: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """KL of a coin of probability ``share`` from one of probability ``p``."""
    with np.errstate(all="ignore"):
        heads = np.where(share > 0, share * np.log(share / p), 0)
        tails = np.where(share < 1, (1 - share) * np.log((1 - share) / (1 - p)), 0)
    return heads + tails


def lower_limit(counts: Labels, trials: int, exponent: float) -> npt.NDArray[np.float64]:
    """The least probability under which counts this large have chance e^(-exponent) or more."""
    distinct, place = np.unique(counts, return_inverse=True)
    share = distinct / trials
    low, high = np.zeros(len(distinct)), share.copy()
    for _ in range(60):
        middle = (low + high) / 2
        far = _divergence(share, np.maximum(middle, 1e-300)) > exponent / trials
        low, high = np.where(far, middle, low), np.where(far, high, middle)
    return np.where(distinct > 0, low, 0.0)[place]


def upper_limit(counts: Labels, trials: int, exponent: float) -> npt.NDArray[np.float64]:
    """The largest probability under which counts this small have chance e^(-exponent) or more."""
    distinct, place = np.unique(counts, return_inverse=True)
    share = distinct / trials
    low, high = share.copy(), np.ones(len(distinct))
    for _ in range(60):
        middle = (low + high) / 2
        far = _divergence(share, np.minimum(middle, 1 - 1e-16)) > exponent / trials
        low, high = np.where(far, low, middle), np.where(far, middle, high)
    return high[place]
