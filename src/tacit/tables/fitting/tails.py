"""How far a weighted sum of discrete Laplace noises is off: its own tail, computed, and rounded against us.

Each weighted noise is made coarser, and a little wider, on one lattice for all; what is added up there is added up by
Fourier transform. Proof: docs/proofs/consistency.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

__all__ = ["laplace_sum_error", "laplace_sum_errors"]

Floats = npt.NDArray[np.float64]

_FINE = 250
"""Steps of the lattice in a standard deviation, at least."""
_LONGEST = 1 << 20
_MOST_KINDS = 64
_ASIDE = 1e-7
"""The share of β kept aside for each of two sums of uniform variables, and for weights that are next to nothing."""
_NOTHING = 1e-12
"""Weights below this, relative to the largest, are what doubles leave of 0."""
_SMALLEST = 1e-100
"""Of a Fourier coefficient: far below what rounding is counted with."""
_MOST_LAWS = 16
"""Different sums in one call: each takes a transform or more."""

Sum = tuple[Floats, npt.NDArray[np.intp], float]
"""Weights and scales, each pair once; how often each occurs; and how far the rest is off at most, but for its share."""


def laplace_sum_error(weights: Floats, scales: Floats, beta: float) -> float:
    """t with P[|Σ w_k X_k| > t] ≤ β, for independent discrete Laplace noises of these scales; ∞ if none is found."""
    return _error(_sum(weights, scales, beta), beta)


def laplace_sum_errors(weights: Floats, scales: Floats, beta: float) -> Floats:
    """The same for each row of weights. Rows of the same weights in another order share one computation."""
    known, made = dict[_Law, float](), list[float]()
    for row in weights:
        kinds, times, rest = _sum(row, scales, beta)
        law = _Law(kinds.tobytes(), times.tobytes())
        if law not in known:
            known[law] = _error_of(law, beta) if len(known) < _MOST_LAWS else math.inf
        made.append(known[law] + rest)
    return np.array(made)


@dataclass(frozen=True, slots=True)
class _Law:
    """The law of a weighted sum, as a key: margins of many sets, and plans that are compared, have few of them."""

    kinds: bytes
    times: bytes


@lru_cache(maxsize=512)
def _error_of(law: _Law, beta: float) -> float:
    kinds = np.frombuffer(law.kinds).reshape(-1, 2)
    return _error((kinds, np.frombuffer(law.times, dtype=np.intp), 0.0), beta)


def _error(found: Sum, beta: float) -> float:
    kinds, times, rest = found
    if not len(kinds):
        return 0.0
    if len(kinds) > _MOST_KINDS:
        return math.inf
    aside = beta * _ASIDE
    lattice = _Lattice.for_sum(kinds, times, aside)
    if lattice.size > _LONGEST:
        return math.inf
    tail, lost = lattice.tail(kinds, times)
    fits = np.flatnonzero(tail + lost + 3 * aside <= beta)
    if not len(fits):
        return math.inf
    smoothing = math.sqrt(float((times * kinds[:, 0] ** 2).sum()) * math.log(2 / aside) / 6)
    smoothing = min(smoothing, float((times * kinds[:, 0]).sum()) / 2)
    return float((int(fits[0]) + lattice.smear) * lattice.step + smoothing) * (1 + 1e-9) + rest


def _sum(weights: Floats, scales: Floats, beta: float) -> Sum:
    """The weights, rounded up to seven digits: a weight that is above such a number by 10⁻¹² of it counts as that."""
    sizes = np.abs(weights)
    small = sizes < _NOTHING * sizes.max(initial=0.0)
    left = sizes[small] @ (scales[small] * math.log(2 * len(weights) / (beta * _ASIDE)) + 1) if small.any() else 0.0
    kept = ~small & (sizes > 0)
    used = sizes[kept]
    digit = 10.0 ** (np.floor(np.log10(used)) - 6)
    rounded = np.ceil(used / digit - 1e-6) * digit * (1 + 3e-12)
    pairs, times = np.unique(rounded + 1j * scales[kept], return_counts=True)
    return np.column_stack([pairs.real, pairs.imag]), times, float(left) * (1 + 1e-9)


@dataclass(frozen=True, slots=True)
class _Lattice:
    """Steps that all weighted noises are put on; sums stay within ``half`` of them but for little."""

    step: float
    half: int
    smear: float
    """How many steps the places within their cells add up to, but for what was kept aside."""

    @classmethod
    def for_sum(cls, kinds: Floats, times: npt.NDArray[np.intp], aside: float) -> _Lattice:
        deviation = _deviation(kinds[:, 0], kinds[:, 1], times)
        smear = math.sqrt(float(times.sum()) * math.log(2 / aside) / 6)
        step = deviation / max(_FINE, 40 * smear)
        reach = deviation * 8 + float((kinds[:, 0] * (kinds[:, 1] + 1)).max()) * math.log(8 / aside)
        return cls(step, math.ceil(reach / step), smear)

    @property
    def size(self) -> int:
        """Of the Fourier transform."""
        return 1 << math.ceil(math.log2(2 * self.half + 2))

    def tail(self, kinds: Floats, times: npt.NDArray[np.intp]) -> tuple[Floats, float]:
        """At place j the chance of a sum further out than j steps, and at most what it may be too small by."""
        total, cut, laws = np.ones(self.size // 2 + 1), 0.0, []
        for (weight, scale), count in zip(kinds, times, strict=True):
            law, beyond = _on_lattice(float(weight), float(scale), self.step, self.half)
            folded = np.zeros(self.size)
            folded[: self.half + 1], folded[-self.half :] = law, law[:0:-1]
            total *= _power(np.fft.rfft(folded).real, int(count))
            cut += float(count) * beyond
            laws.append(law)
        chance = np.fft.irfft(total, self.size)
        further: Floats = 2 * np.cumsum(chance[self.size // 2 - 1 : 0 : -1])[::-1]
        rounding = 4e-15 * self.size * float(1 + times.sum())
        return further, cut + rounding + _outside(laws, times, self.half)


def _power(values: Floats, times: int) -> Floats:
    """Values of at most 1 to a whole power, by squaring; next to nothing is 0, as it is slow to add up."""
    found, square = np.ones_like(values), values
    while times:
        if times & 1:
            found = found * square
        times >>= 1
        if times:
            square = square * square
            square[square < _SMALLEST] = 0.0
    return found


def _deviation(weights: Floats, scales: Floats, times: npt.NDArray[np.intp]) -> float:
    """Of Σ w(X + U), in units of the widest of the noises: no square of a scale leaves the doubles."""
    widest = float((weights * np.maximum(scales, 1.0)).max())
    q, rest = np.exp(-1 / scales), -np.expm1(-1 / scales)
    with np.errstate(under="ignore"):
        squares = 2 * q * (weights / widest / rest) ** 2 + (weights / widest) ** 2 / 12
    return widest * math.sqrt(float((times * squares).sum()))


def _on_lattice(weight: float, scale: float, step: float, half: int) -> tuple[Floats, float]:
    """Chances of 0, 1, …, ``half`` steps (each on either side), and of more.

    Of a variable whose tail is that of w(X + U) halfway between the steps, U being uniform, and linear in between.
    """
    tails = _tail(np.asarray((np.arange(half + 1) + 0.5) * (step / weight), dtype=np.float64), scale)
    law = np.empty(half + 1)
    law[0], law[1:] = 1 - tails[0], (tails[:-1] - tails[1:]) / 2
    return law, float(tails[-1])


def _tail(at: Floats, scale: float) -> Floats:
    """P[|X + U| > at]: of a density that is constant between half steps."""
    q, rest = math.exp(-1 / scale), -math.expm1(-1 / scale)
    cell = np.floor(at + 0.5)
    with np.errstate(under="ignore"):
        power = np.exp(-cell / scale)
    further, here = 2 * q * power / (1 + q), np.where(cell == 0, 1.0, power) * (2 * rest / (1 + q))
    left = np.where(cell == 0, 0.5 - at, cell + 0.5 - at)
    found: Floats = further + here * left
    return found


def _outside(laws: list[Floats], times: npt.NDArray[np.intp], half: int) -> float:
    """At most this is the chance that a sum leaves the lattice, by Chernoff's bound."""
    tilt = _tilt(laws) / 2
    with np.errstate(over="ignore", under="ignore"):
        powers = np.cosh(tilt * np.arange(half + 1))
        grown = [float(2 * (law[law > 0] * powers[law > 0]).sum() - law[0]) for law in laws]
    if not all(map(math.isfinite, grown)):
        return math.inf
    exponent = sum(float(count) * math.log(one) for count, one in zip(times, grown, strict=True)) - tilt * half
    return 2 * math.exp(min(exponent, 0.0))


def _tilt(laws: list[Floats]) -> float:
    """The rate at which the slowest of the laws falls, per step."""
    rates = []
    for law in laws:
        known = np.flatnonzero(law > 1e-290)
        last = int(known[-1])
        middle = last // 2
        rates.append(math.log(law[middle] / law[last]) / (last - middle) if last > middle + 1 else 1.0)
    return min(rates)
