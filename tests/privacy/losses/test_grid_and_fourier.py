"""The two grids bracket the pair, and the transform's error stays below its stated bound."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from tacit.privacy.losses.fourier import _convolve, _fast_length, _Tilted
from tacit.privacy.losses.gaussian import GaussianPair
from tacit.privacy.losses.grid import cut
from tacit.privacy.losses.laplace import LaplacePair
from tacit.privacy.losses.sampled import PoissonSampledPair

PAIRS = [LaplacePair(0.5), GaussianPair(0.4), PoissonSampledPair(GaussianPair(1.0), 0.05)]


def _profile(grid, epsilon: float) -> float:
    losses = grid.losses()
    return float((grid.masses * np.maximum(0, -np.expm1(np.minimum(epsilon - losses, 0)))).sum()) + grid.infinite


def _truth(pair, epsilon: float, backward: bool) -> float:
    if backward:
        cells = pair.cells(np.array([-math.inf, -epsilon]))
        return float(cells.q[0] - math.exp(epsilon) * cells.p[0])
    cells = pair.cells(np.array([epsilon, math.inf]))
    return float(cells.p[0] - math.exp(epsilon) * cells.q[0])


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("step", [0.3, 0.05, 0.003])
@pytest.mark.parametrize("backward", [False, True])
def test_dear_is_above_and_cheap_below_everywhere(pair, step, backward):
    cells = cut(pair, step, 0.0, 1e-18)
    cells = cells.reversed() if backward else cells
    dear, cheap = cells.dear(), cells.cheap(3.0)
    assert dear.masses.sum() == pytest.approx(1, abs=1e-12)
    for epsilon in np.linspace(-0.6, 1.5, 43):
        truth = _truth(pair, epsilon, backward)
        assert _profile(cheap, epsilon) <= truth + 1e-12
        assert truth <= _profile(dear, epsilon) + 1e-12


@pytest.mark.parametrize("pair", PAIRS)
def test_dear_meets_the_truth_on_grid_points(pair):
    """Connect the dots: no error at the dots."""
    dear = cut(pair, 0.1, 0.0, 1e-18).dear()
    for j in range(-3, 4):
        assert _profile(dear, 0.1 * j) == pytest.approx(_truth(pair, 0.1 * j, False), abs=1e-12)


@pytest.mark.parametrize("pair", PAIRS)
def test_both_grids_err_by_the_square_of_the_step(pair):
    def error(step: float, kind: str) -> float:
        cells = cut(pair, step, pair.lattice.anchor if pair.lattice else 0.0, 1e-18)
        grid = cells.dear() if kind == "dear" else cells.cheap(0.0)
        mean = float((grid.masses * grid.losses()).sum())
        fine = cut(pair, 1e-4, 0.0, 1e-18).dear()
        return abs(mean - float((fine.masses * fine.losses()).sum()))

    for kind in ("dear", "cheap"):
        assert error(0.02, kind) < 0.35 * error(0.04, kind) + 1e-7


@pytest.mark.parametrize("count", [1, 3, 40, 1000])
@pytest.mark.parametrize("size", [2, 5])
def test_transform_error_is_within_its_bound(count, size):
    rng = np.random.default_rng(count * size)
    weights = rng.random(size)
    weights /= weights.sum()
    length = _fast_length(count * (size - 1) + 1)
    found, noise = _convolve([_Tilted(weights, 0.0, 0.0, 1.0)], [count], length)
    exact = [Fraction(1)]
    base = [Fraction(float(w)) for w in weights]
    power = count
    square = base
    while power:
        if power & 1:
            exact = _times(exact, square)
        square = _times(square, square) if power > 1 else square
        power >>= 1
    errors = [abs(Fraction(float(found[i])) - exact[i]) for i in range(len(exact))]
    assert max(errors) <= Fraction(noise)
    assert noise < 1e-9


def _times(a: list[Fraction], b: list[Fraction]) -> list[Fraction]:
    """The product of two polynomials, rounded to 200 bits, far below what is tested."""
    scale = 1 << 200
    x = [int(v * scale) for v in a]
    y = [int(v * scale) for v in b]
    out = [0] * (len(x) + len(y) - 1)
    for i, p in enumerate(x):
        if p:
            for j, q in enumerate(y):
                out[i + j] += p * q
    return [Fraction(v, scale * scale) for v in out]


@pytest.mark.parametrize("least", [1, 2, 3, 100, 129, 1000, 12345])
def test_fast_lengths(least):
    length = _fast_length(least)
    assert length >= least
    assert length % 2 == 0
    assert length <= max(2 * least, 2)
