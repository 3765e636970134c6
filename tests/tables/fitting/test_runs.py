"""Runs of neighbours: the fit is the dense one, and errors shared between runs are those of each."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tacit import DiscreteGaussian, DiscreteLaplace
from tacit.mechanisms.additive.integer_mechanism import IntegerMechanism
from tacit.mechanisms.shared.estimate import BETA
from tacit.tables.estimators.noise import spread
from tacit.tables.fitting.least_squares import combination_errors, reconciliation
from tacit.tables.fitting.levels import in_runs
from tacit.tables.fitting.runs import Runs, rounded_up


def _noise(count: int, kind: str) -> tuple[IntegerMechanism, ...]:
    if kind == "Laplace":
        return tuple(DiscreteLaplace.of_scale(5 + at, sensitivity=1) for at in range(count))
    return tuple(DiscreteGaussian.of_scale(4 + 3 * at, sensitivity=1) for at in range(count))


@pytest.mark.parametrize("kind", ["Laplace", "Gaussian"])
@pytest.mark.parametrize(("size", "branching"), [(1, 2), (2, 2), (9, 3), (10, 3), (13, 2), (30, 4), (31, 5)])
def test_the_fit_is_the_dense_one(size: int, branching: int, kind: str) -> None:
    levels = in_runs(size, branching)
    noise = _noise(len(levels), kind)
    fit = Runs.of(levels, noise)
    each = tuple(one for level, one in zip(levels, noise, strict=True) for _ in range(level.size))
    dense = reconciliation(np.vstack([level.sums() for level in levels]), each)
    assert np.allclose(fit.cells, dense.cells, rtol=1e-10, atol=1e-13)
    wanted = np.random.default_rng(size).normal(size=(3, size))
    assert np.all(fit.errors(wanted, BETA) >= dense.errors(wanted, BETA) * (1 - 1e-9))
    assert np.all(fit.errors(wanted, BETA) <= dense.errors(wanted, BETA) * 1.01)


@pytest.mark.parametrize(("size", "branching"), [(10, 3), (13, 2), (30, 4), (64, 4)])
def test_runs_that_can_be_exchanged_share_their_error(size: int, branching: int) -> None:
    levels = in_runs(size, branching)
    fit = Runs.of(levels, _noise(len(levels), "Laplace"))
    for at, level in enumerate(levels):
        alone = fit.errors(level.sums(), BETA)
        assert np.allclose(fit.error(at, BETA), alone, rtol=1e-6)
        assert len(fit.error(at, BETA)) == level.size


def test_planted_fault_taking_all_runs_for_alike_is_seen() -> None:
    """The last run is shorter: its numbers are told by fewer others."""
    levels = in_runs(13, 4)
    fit = Runs.of(levels, _noise(len(levels), "Laplace"))
    alone = fit.errors(levels[0].sums(), BETA)
    assert not np.allclose(alone, alone[0], rtol=1e-3)
    assert np.allclose(fit.error(0, BETA), alone, rtol=1e-6)


def test_weights_are_only_ever_rounded_up_and_variances_hardly_grow() -> None:
    rng = np.random.default_rng(5)
    deviations = rng.uniform(1, 3, size=400)
    weights = np.vstack([rng.normal(size=400) * 0.7 ** np.arange(400), np.eye(1, 400)[0], np.ones(400)])
    made = rounded_up(weights, deviations)
    assert np.all(made >= np.abs(weights))
    variances = [((one * deviations) ** 2).sum(axis=1) for one in (made, weights)]
    assert np.all(variances[0] <= 1.005 * variances[1])
    assert len(np.unique(made[0])) < 0.9 * len(np.unique(np.abs(weights[0])))  # fewer kinds
    assert not made[1, 1:].any()  # nothing stays nothing


def test_intervals_of_runs_cover_and_shorter_ones_do_not() -> None:
    levels = in_runs(21, 4)
    noise = _noise(len(levels), "Laplace")
    fit, rng, times = Runs.of(levels, noise), np.random.default_rng(3), 4000
    drawn = []
    for level, one in zip(levels, noise, strict=True):
        q = 1 - np.exp(-1 / one.scale)
        drawn.append(rng.geometric(q, size=(times, level.size)) - rng.geometric(q, size=(times, level.size)))
    released = np.hstack(drawn).astype(float)
    cells = released @ fit.cells.T
    for at, level in enumerate(levels):
        off = np.abs(np.add.reduceat(cells, np.arange(0, 21, level.width), axis=1))
        covered = (off <= fit.error(at, BETA)).mean(axis=0)
        shorter = (off <= 0.8 * fit.error(at, BETA)).mean(axis=0)
        assert covered.min() > 0.95 - 5 * np.sqrt(0.05 * 0.95 / times)
        assert shorter.min() < 0.95


def test_a_thousand_buckets_take_a_few_sums_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not one for each bucket: counted, since seconds depend on the machine."""
    levels = in_runs(1000, 4)
    rows = []

    def counted(weights: object, noise: object, beta: Fraction) -> object:
        rows.append(len(weights))  # type: ignore[arg-type]
        return combination_errors(weights, noise, beta)  # type: ignore[arg-type]

    monkeypatch.setattr("tacit.tables.fitting.runs.combination_errors", counted)
    fit = Runs.of(levels, _noise(len(levels), "Gaussian"))
    made = [fit.error(at, BETA) for at in range(len(levels))]
    assert [len(one) for one in made] == [level.size for level in levels]
    assert sum(rows) <= 21
    assert spread(fit.noise[0]) < made[0].min() < 3 * spread(fit.noise[0])
