"""The tail of a few Laplace noises, against the convolution of their densities on a fine lattice."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from tacit.tables.estimators import tails
from tacit.tables.estimators.tails import laplace_furthest, laplace_tail

Floats = npt.NDArray[np.float64]
SCALES = [
    [1.0],
    [1.0, 0.5],
    [1.0, 1.0],
    [1.0, 1.0000001],
    [1.0, 1.0, 1.0],
    [0.25, 0.25, 0.75],
    [1.0, 0.999, 0.5],
    [1.0, 0.0, 0.3],
    [2.0, 2.0, 2.0, 2.0],
    [1.0, 0.2, 0.2, 0.9],
]
STEP, HALF = 1 / 64, 1 << 13


def by_convolution(scales: list[float], at: float) -> float:
    """P[|Σ b L| > t] of the laws on a lattice: each number is rounded to its nearest place."""
    total = np.ones(2 * HALF, dtype=np.complex128)
    places = np.arange(-HALF, HALF) * STEP
    for scale in scales:
        if scale:
            edges = np.append(places - STEP / 2, places[-1] + STEP / 2)
            below = np.where(
                edges < 0, np.exp(np.minimum(edges, 0) / scale) / 2, 1 - np.exp(-np.abs(edges) / scale) / 2
            )
            total *= np.fft.fft(np.fft.ifftshift(np.diff(below)))
    law = np.fft.fftshift(np.fft.ifft(total).real)
    return float(law[np.abs(places) > at].sum())


def column(scales: list[float]) -> Floats:
    return np.array(scales, dtype=np.float64)[:, None]


@pytest.mark.parametrize("scales", SCALES, ids=str)
def test_the_tail_is_that_of_the_convolution(scales: list[float]) -> None:
    for at in (0.5, 2.0, 6.0, 15.0):
        mine = float(laplace_tail(np.array([at]), column(scales))[0])
        slack = len(scales) * STEP  # what rounding to the lattice moves
        assert by_convolution(scales, at + slack) - 1e-9 <= mine
        assert mine <= by_convolution(scales, at - slack) * 1.03 + 1e-6


@pytest.mark.parametrize("beta", [0.3, 0.05, 1e-3])
@pytest.mark.parametrize("scales", SCALES, ids=str)
def test_quantiles_are_not_too_short(scales: list[float], beta: float) -> None:
    far = float(laplace_furthest(column(scales), beta)[0])
    assert by_convolution(scales, far + len(scales) * STEP) <= beta
    assert by_convolution(scales, far * 0.98 - len(scales) * STEP) > beta


def test_where_doubles_cannot_tell_each_noise_is_bounded_by_itself() -> None:
    far = float(laplace_furthest(column([1.0] * 4), 1e-9)[0])
    assert far == pytest.approx(4 * np.log(4e9))


def test_planted_fault_scales_that_are_not_moved_apart_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tails, "_APART", dict.fromkeys(range(6), 1e-12))
    with pytest.raises(AssertionError):
        test_the_tail_is_that_of_the_convolution([1.0, 1.0, 1.0])
