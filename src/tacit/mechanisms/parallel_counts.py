"""Many streams of the square-root factorisation side by side: what an audit draws.

Its integers have 128 bits and more. The totals, which are small, are computed in floats and kept where an error bound
settles how they round; elsewhere they are computed in integers.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeGuard

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.factorisations import _BITS, PrefixState, _root
from tacit.noise.entropy import BitSource
from tacit.noise.exact import LazyUniform
from tacit.noise.floors import Integers
from tacit.noise.gaussian import _CENTRAL_CELLS, _SURE_COIN, RoundedGaussianSampler

__all__ = ["narrow_totals", "root_totals"]

_SLACK = 2.0**-40  # of 1 + all that is added up: ten roundings of 2⁻⁵² each would do
_WIDEST = 1 << 50


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


def narrow_totals(sampler: object, increments: list[int]) -> TypeGuard[RoundedGaussianSampler]:
    """Whether the totals are so small that floats settle nearly all of them."""
    return (
        isinstance(sampler, RoundedGaussianSampler) and 37 < sampler._bits <= 60 and sum(map(abs, increments)) < _WIDEST
    )


def root_totals(
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
