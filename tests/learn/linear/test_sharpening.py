"""What is known of second moments without a row: true of the rows' own, and nearer to them than what was released."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tacit.learn.linear.design import UNIT, design_of
from tacit.learn.linear.sharpening import sharpened
from tests.learn.linear.test_core import SCHEMA, codes


def moments(bins: Any, count: int = 400) -> Any:
    design = design_of(SCHEMA, bins)
    return design, design.prepare(codes(count)).products(design) / UNIT**2


def noisy(matrix: Any, noise: float, seed: int = 0) -> Any:
    drawn = noise * np.random.default_rng(seed).normal(size=matrix.shape)  # public: for tests
    return matrix + np.triu(drawn) + np.triu(drawn, 1).T


@pytest.mark.parametrize("bins", [(), (16, 4)])
def test_without_noise_the_moments_are_as_they_are(bins: Any) -> None:
    """So what is taken as known (who never meets, which bin lies in which) is true of every row."""
    design, exact = moments(bins)
    found, blur = sharpened(design, exact, 1e-9)
    assert np.allclose(found, exact, atol=1e-6)
    assert blur < 1e-7


@pytest.mark.parametrize("bins", [(), (16, 4)])
@pytest.mark.parametrize("noise", [1.0, 30.0])
def test_they_are_nearer_to_the_truth_than_what_was_released(bins: Any, noise: float) -> None:
    design, exact = moments(bins)
    released = noisy(exact, noise)
    found, blur = sharpened(design, released, noise)
    assert np.array_equal(found, found.T)
    assert np.linalg.norm(found - exact) < 0.7 * np.linalg.norm(released - exact)
    assert 0 < blur < noise * np.sqrt(design.width)


def test_what_noise_explains_is_as_if_columns_told_nothing_of_each_other() -> None:
    design, exact = moments(())
    found, _ = sharpened(design, exact, 1e6)
    one, other = (
        slice(start, start + block.size) for start, block in zip(design.starts, design.blocks[:2], strict=False)
    )
    means = exact[0] / exact[0, 0]
    assert np.allclose(found[one, other], exact[0, 0] * np.outer(means[one], means[other]))


@pytest.mark.parametrize("huge", [1e300, -1e300])
def test_whatever_was_drawn_the_result_is_made_of_numbers(huge: float) -> None:
    design, exact = moments((16, 4), 0)
    found, blur = sharpened(design, exact + huge, 1e300)
    assert np.isfinite(found).all()
    assert np.isfinite(blur)
