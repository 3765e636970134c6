"""Many streams of running totals side by side: what an audit draws.

The integers of the square-root factorisation have 128 bits and more. The totals, which are small, are computed in
floats and kept where an error bound settles how they round; elsewhere they are computed in integers.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.streams.continual_count import ContinualCount
from tacit.mechanisms.streams.factorisations import _BITS, BINARY_TREE, SQUARE_ROOT, PrefixState, _root
from tacit.noise.entropy import BitSource
from tacit.noise.exact import LazyUniform
from tacit.noise.floors import Integers
from tacit.noise.gaussian import _CENTRAL_CELLS, _SURE_COIN, RoundedGaussianSampler

__all__ = ["count_totals"]

_SLACK = 2.0**-40  # of 1 + all that is added up: ten roundings of 2⁻⁵² each would do
_WIDEST = 1 << 50
_LARGE = 1e12  # noise of a larger scale is drawn in Python integers, so that it cannot saturate


def count_totals(m: ContinualCount, increments: list[int], count: int, entropy: BitSource) -> npt.NDArray[Any]:
    """The totals of many independent streams of the same increments, a row for each.

    The tree's state adds up whatever it is given, so that each of its numbers may be an array of one per stream.
    """
    sampler = getattr(getattr(m._noise, "_noise", None), "_sampler", None)
    if m._factorisation == SQUARE_ROOT and _narrow(sampler, increments):
        return _root_totals(m._factorisation.start(m._horizon), sampler, increments, count, entropy)
    if m._factorisation != BINARY_TREE or m._noise.scale > _LARGE:
        rows = [m.start(entropy=entropy).add_many(increments) for _ in range(count)]
        return np.array([[int(total) for total in row] for row in rows])
    state: Any = m._factorisation.start(m._horizon)
    shape = (count, len(increments))
    noise = m._noise.release(np.zeros(shape, dtype=np.int64), entropy=entropy)
    return np.stack([state.total(state.push(x) + noise[:, i]) for i, x in enumerate(increments)], axis=1)


class _Wide:
    """floor(σZ + ½) for a σ beyond int64, as cell·2^bits + low."""

    def __init__(self, sampler: RoundedGaussianSampler, count: int, entropy: BitSource) -> None:
        self._bits = bits = sampler._bits
        with np.errstate(all="ignore"):
            self._cells, settled = sampler._cells.chunk(np.zeros(count), entropy)
        for i, cell in settled.items():
            self._cells[i] = cell
        self._low: Integers = (entropy.words(count) >> np.uint64(64 - bits)).view(np.int64)
        coins = entropy.words(count)
        sure = (np.abs(self._cells) <= _CENTRAL_CELLS) & (coins < np.uint64(_SURE_COIN))
        for i in np.flatnonzero(~sure).tolist():
            place, coin = LazyUniform(int(self._low[i]), bits, entropy), LazyUniform(int(coins[i]), 64, entropy)
            if not sampler._accepts(int(self._cells[i]), place, coin):
                self._low[i] = sampler._inside(int(self._cells[i]), entropy) & ((1 << bits) - 1)

    def reals(self) -> npt.NDArray[np.float64]:
        """In units of 2⁶⁴, within 2⁻⁵¹ of themselves."""
        return self._cells * 2.0 ** (self._bits - _BITS) + self._low * 2.0**-_BITS

    def exact(self, row: int) -> int:
        return (int(self._cells[row]) << self._bits) + int(self._low[row])


def _narrow(sampler: object, increments: list[int]) -> TypeGuard[RoundedGaussianSampler]:
    """Whether the totals are so small that floats settle nearly all of them."""
    return (
        isinstance(sampler, RoundedGaussianSampler) and 37 < sampler._bits <= 60 and sum(map(abs, increments)) < _WIDEST
    )


def _root_totals(
    state: PrefixState, sampler: RoundedGaussianSampler, increments: list[int], count: int, entropy: BitSource
) -> Integers:
    """The totals of ``count`` streams like this fresh one, a row for each."""
    root = [int(r) for r in _root(len(increments))]
    out = np.empty((count, len(increments)), dtype=np.int64)
    exact: list[int] = []
    noise: list[_Wide] = []
    for step, increment in enumerate(increments):
        exact.append(state.push(increment))
        noise.append(_Wide(sampler, count, entropy))
        weights = root[step::-1]
        base = sum(w * x for w, x in zip(weights, exact, strict=True))
        values = np.full(count, float(Fraction(base, 1 << (2 * _BITS)) + Fraction(1, 2)))
        slack = np.abs(values) + 1
        for w, z in zip(weights, noise, strict=True):
            part = w * 2.0**-_BITS * z.reals()
            values += part
            slack += np.abs(part)
        slack *= _SLACK
        floors = np.floor(values)
        out[:, step] = floors
        offset = values - floors
        for i in np.flatnonzero(~((offset > slack) & (offset < 1 - slack))).tolist():
            scaled = base + sum(w * z.exact(i) for w, z in zip(weights, noise, strict=True))
            out[i, step] = (scaled + (1 << (2 * _BITS - 1))) >> (2 * _BITS)
    return out
