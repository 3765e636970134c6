"""Smoothed counts: nearer to the truth than noisy ones where something is smooth or rare, and never much further."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tacit.synth.counts import smoothing
from tacit.synth.counts.smoothing import of_total, smoothed

ROWS = 50_000


def law(kind: str, size: int) -> Any:
    places = np.arange(size)
    if kind == "smooth":
        made = np.exp(-0.5 * ((places - 0.4 * size) / (0.2 * size)) ** 2) + 0.01
    elif kind == "spikes":
        made = np.where(places % 9 == 0, 1.0, 0.001)
    else:
        made = 1 / (1.0 + places) ** 1.3
    return made / made.sum()


def errors(kind: str, size: int, scale: float, *, ordered: bool) -> tuple[float, float]:
    """Mean L1 of noisy counts of the right total, and of smoothed ones."""
    random, found = np.random.default_rng(3), []
    true = ROWS * law(kind, size)
    for _ in range(6):
        noisy = true + random.normal(0, scale, size)
        plain, smooth = of_total(noisy, ROWS), smoothed(noisy, scale, ROWS, ordered=ordered)
        assert smooth.counts.min() >= 0
        assert smooth.counts.sum() == pytest.approx(ROWS)
        assert scale**2 <= smooth.risk <= size * scale**2
        found.append((np.abs(plain - true).sum(), np.abs(smooth.counts - true).sum()))
    plain_error, smooth_error = np.mean(found, axis=0)
    return float(plain_error), float(smooth_error)


@pytest.mark.parametrize(
    ("kind", "size", "ordered", "scale", "gain"),
    [
        ("smooth", 100, True, 60.0, 0.5),
        ("smooth", 100, True, 400.0, 0.5),
        ("spikes", 100, True, 60.0, 1.0),
        ("spikes", 100, True, 400.0, 1.0),
        ("rare", 150, False, 60.0, 1.01),
        ("rare", 150, False, 400.0, 0.9),
        ("rare", 12, False, 400.0, 1.1),
    ],
)
def test_smoothing_gains_where_it_can(kind: str, size: int, ordered: bool, scale: float, gain: float) -> None:
    plain, smooth = errors(kind, size, scale, ordered=ordered)
    assert smooth <= gain * plain


def test_little_noise_is_left_alone() -> None:
    true = ROWS * law("spikes", 60)
    noisy = true + np.random.default_rng(1).normal(0, 2, 60)
    assert np.abs(smoothed(noisy, 2.0, ROWS, ordered=True).counts - noisy).max() < 12


def test_a_smoother_that_is_always_wrong_has_no_say(monkeypatch: pytest.MonkeyPatch) -> None:
    noisy = ROWS * law("spikes", 60) + np.random.default_rng(1).normal(0, 50, 60)
    before = smoothed(noisy, 50.0, ROWS, ordered=True).counts
    real = smoothing._smoothers

    def more(size: int, longest: int, *, ordered: bool) -> Any:
        return [*real(size, longest, ordered=ordered), lambda counts, scale: np.full(len(counts), ROWS / len(counts))]

    monkeypatch.setattr(smoothing, "_smoothers", more)
    assert np.allclose(smoothed(noisy, 50.0, ROWS, ordered=True).counts, before)


@pytest.mark.parametrize(
    "counts", [[0.0], [-5.0, -7.0], [0.0] * 5, [-1e9] * 8, [1e12, 0, 0, 0, 0], [3.0] * 2500, [1e17, -1e17, 3.0]]
)
@pytest.mark.parametrize("ordered", [True, False])
def test_every_table_is_smoothed(counts: list[float], ordered: bool) -> None:
    for total in (1.0, 1e6):
        made = smoothed(np.array(counts), 3.0, total, ordered=ordered).counts
        assert np.isfinite(made).all()
        assert made.min() >= 0
        assert made.sum() == pytest.approx(total)
