"""All gradients together: exact for squares without noise, and as unsure with it as is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tacit.learn.linear.design import design_of
from tacit.learn.linear.pooling import Pool, usual_sizes
from tests.learn.linear.test_core import SCHEMA

WIDTH = 5


def bowl(seed: int = 0) -> tuple[Any, Any]:
    """Second moments, and where the loss is least."""
    rng = np.random.default_rng(seed)  # public: for tests
    rows = rng.normal(size=(50, WIDTH))
    return rows.T @ rows, rng.normal(size=(2, WIDTH))


def walk(pool: Pool, matrix: Any, least: Any, noise: float, steps: int, seed: int = 0, bend: float = 1.0) -> Any:
    rng, weights = np.random.default_rng(seed), np.zeros_like(least)
    for _ in range(steps):
        gradients = bend * (weights - least) @ matrix + noise * rng.normal(size=least.shape)
        weights = pool.step(weights, gradients)
    return pool.found(weights)


@pytest.mark.parametrize("bend", [0.5, 1.0, 1.6])
def test_without_noise_the_least_is_found_also_if_the_loss_bends_otherwise_than_supposed(bend: float) -> None:
    matrix, least = bowl()
    pool = Pool(matrix, 1e-9, 1.0, 1e-9, 100, np.full(WIDTH, 1e4))
    assert np.allclose(walk(pool, matrix, least, 0.0, 100, bend=bend), least, atol=0.02)


def test_the_covariance_is_that_of_many_walks() -> None:
    matrix, least = bowl()
    found = []
    for seed in range(400):
        pool = Pool(matrix, 1e-9, 1.0, 30.0, 12, np.linspace(0.5, 2, WIDTH))
        found.append(walk(pool, matrix, least, 30.0, 12, seed)[0])
    ratio = np.var(found, axis=0) / np.diag(pool.covariance())
    assert ((ratio > 0.7) & (ratio < 1.4)).all()


def test_the_more_the_noise_the_nearer_to_zero() -> None:
    matrix, least = bowl()
    sizes = [
        float(np.abs(walk(Pool(matrix, 1e-9, 1.0, noise, 12, np.ones(WIDTH)), matrix, least, 0.0, 12)).sum())
        for noise in (1.0, 100.0, 10_000.0)
    ]
    assert sizes[0] > sizes[1] > 10 * sizes[2]


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_whatever_was_drawn_the_weights_are_numbers(size: float) -> None:
    pool = Pool(np.full((WIDTH, WIDTH), size), size, 0.25, size, 3, np.ones(WIDTH))
    weights = pool.step(np.zeros((1, WIDTH)), np.full((1, WIDTH), size))
    assert np.isfinite(pool.step(weights, -weights)).all()
    assert np.isfinite(pool.covariance()).all()


def test_usual_sizes_follow_from_the_design() -> None:
    straight, curved = usual_sizes(design_of(SCHEMA)), usual_sizes(design_of(SCHEMA, (16, 4)))
    assert straight[:3].tolist() == [3.0, 8.0, 8.0]
    assert set(straight[3:]) == {0.6}
    assert curved[1:21].tolist() == [0.3] * 16 + [1.0] * 4
