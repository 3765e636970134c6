"""The two grids bracket the pair, and the transform's error stays below its stated bound."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from tacit.privacy.losses.fourier import _convolve, _fast_length, _Tilted, add_up
from tacit.privacy.losses.gaussian import GaussianPair
from tacit.privacy.losses.grid import cut
from tacit.privacy.losses.laplace import LaplacePair
from tacit.privacy.losses.outline import Outline
from tacit.privacy.losses.sampled import PoissonSampledPair
from tacit.privacy.losses.tails import SpectralTails, WeightedTails, _falling

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
    part = _Tilted(weights, np.arange(size), 0, int(np.argmax(weights)), 0.0, 0.0, 1.0)
    spectrum = _convolve([part], [count], length, 0)
    found, noise = spectrum.weights(), spectrum.noise
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


@pytest.mark.parametrize(
    ("start", "rate"), [(0.0, 1e-5), (500.0, 1e-3), (900.0, 0.4), (-3.0, 7.0), (690.0, 0.1), (1e6, 1e4)]
)
def test_tables_of_powers_are_exact(start, rate):
    """A table clipped at e^700 must not fall before the function itself does."""
    found = _falling(start, rate, 3000)
    exact = np.exp(np.minimum(start - rate * np.arange(3000), 700.0))
    assert np.all(np.abs(found - exact) <= 1e-12 * exact + 1e-307)


PLANS = [
    [(LaplacePair(0.02), 900)],
    [(PoissonSampledPair(GaussianPair(1.0), 0.05), 400)],
    [(PoissonSampledPair(GaussianPair(1.0), 0.05), 400), (LaplacePair(0.3), 20)],
    [(GaussianPair(0.05), 200)],
]


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("tilt", [0.3, 1.0, 9.0])
def test_sums_from_frequencies_agree_with_sums_of_weights(plan, tilt):
    """Two ways to the same tails: each bounds the other's truth, and they differ by less than their noise."""
    parts = tuple(plan)
    window = Outline.of(parts, 1e-20)[0].window(tilt, 1e-8)
    step = (window.top - window.bottom) / 20_000
    total = add_up([(cut(pair, step, 0.0, 1e-20).dear(), n) for pair, n in parts], tilt, window)
    by_weights = {side: WeightedTails.of(total, side) for side in (1, -1)}
    by_frequencies = {side: SpectralTails.of(total, side) for side in (1, -1)}
    for j in range(0, total.length, total.length // 37):
        for which in (0, 1):
            over, under = by_frequencies[1].at(j)[which], by_frequencies[-1].at(j)[which]
            assert under <= by_weights[1].at(j)[which] * (1 + 1e-12)
            assert over >= by_weights[-1].at(j)[which] * (1 - 1e-12)
            middle = total.bottom + total.step * j
            if abs(middle - (window.bottom + window.top) / 2) < (window.top - window.bottom) / 8:
                assert over <= under * (1 + 1e-6)


@pytest.mark.parametrize("pair", PAIRS)
def test_wider_cells_are_bounds_too(pair):
    """Cells of several steps where little depends on them: dear stays above the truth, cheap below."""
    weight = Outline.of(((pair, 1),), 1e-18)[0].weight(0, 4.0, False)
    cells = cut(pair, 1e-4, 0.0, 1e-18, lambda: weight)
    even = cut(pair, 1e-4, 0.0, 1e-18)
    assert cells.places.size < 0.6 * even.places.size
    dear, cheap = cells.dear(), cells.cheap(4.0)
    assert dear.masses.sum() == pytest.approx(1, abs=1e-12)
    for epsilon in np.linspace(-0.4, 1.2, 33):
        truth = _truth(pair, epsilon, False)
        assert _profile(cheap, epsilon) <= truth + 1e-12
        assert truth <= _profile(dear, epsilon) + 1e-12


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
