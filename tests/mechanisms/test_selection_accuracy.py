"""The price of a stated error: met, by the least ε that meets it, and true of the worst scores."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.errors import InvalidParameter, NotPrivate
from tacit.mechanisms.ranks.quantile import Quantile
from tacit.mechanisms.selection.exponential import Exponential
from tacit.mechanisms.selection.noisy_max import GUMBEL, LAPLACE, NoisyMax
from tacit.mechanisms.selection.permute_and_flip import PermuteAndFlip
from tacit.mechanisms.streams.above_threshold import AboveThreshold
from tacit.mechanisms.streams.sparse_vector import SparseVector
from tacit.mechanisms.streams.splits import IMPROVED
from tacit.privacy import REPLACE, LInf
from tacit.testing import seeded

FIELD = {"candidates": 100, "sensitivity": 2}
STREAM = {"length": 1000, "sensitivity": 2, "threshold": 50}

CASES = {
    "exponential": (lambda e: Exponential.for_accuracy(e, 0.05, **FIELD), lambda m: m.accuracy(0.05, candidates=100)),
    "flip": (lambda e: PermuteAndFlip.for_accuracy(e, 0.05, **FIELD), lambda m: m.accuracy(0.05, candidates=100)),
    "laplace": (
        lambda e: NoisyMax.for_accuracy(e, 0.05, noise=LAPLACE, **FIELD),
        lambda m: m.accuracy(0.05, candidates=100),
    ),
    "gumbel, five best, monotone": (
        lambda e: NoisyMax.for_accuracy(e, 0.05, noise=GUMBEL, optimal=5, monotone=True, **FIELD),
        lambda m: m.accuracy(0.05, candidates=100, optimal=5),
    ),
    "first": (lambda e: AboveThreshold.for_accuracy(e, 0.05, **STREAM), lambda m: m.accuracy(0.05, length=1000)),
    "sparse": (
        lambda e: SparseVector.for_accuracy(e, 0.05, hits=3, split=IMPROVED, **STREAM),
        lambda m: m.accuracy(0.05, length=1000),
    ),
    "quantile": (
        lambda e: Quantile.for_accuracy(0.25, e, 0.05, bounds=(0, 100), neighbours=REPLACE),
        lambda m: m.accuracy(0.05),
    ),
}


@pytest.mark.parametrize("error", [0.3, 7, 1e5])
@pytest.mark.parametrize("name", CASES)
def test_the_error_is_met_by_the_least_price_of_six_digits(name, error):
    build, off = CASES[name]
    m = build(error)
    assert off(m) <= error
    assert off(m) >= error * (1 - 3e-5)  # a price one unit of the sixth digit lower would not meet it
    assert build(2 * error).guarantee.eps == pytest.approx(m.guarantee.eps / 2, rel=2e-5)


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip])
def test_the_worst_scores_stay_within_beta(kind):
    """One best candidate, all others just beyond the error: the chance of any of them is at most β, and near it."""
    m = kind.for_accuracy(10, 0.05, **FIELD)
    beyond = 1 - m.probabilities([0.0] + [-10.000001] * 99)[0]
    assert 0.02 < beyond <= 0.05
    cheaper = kind(epsilon=m.guarantee.eps * 3 / 4, sensitivity=2)
    assert 1 - cheaper.probabilities([0.0] + [-10.000001] * 99)[0] > 0.05


def test_streams_stay_within_the_error():
    m = AboveThreshold.for_accuracy(20, 0.2, length=30, sensitivity=1, threshold=0)
    wrong = sum(bool(m.start(entropy=seeded(i)).ask_many(np.full(30, -20.001))[-1]) for i in range(300))
    assert wrong <= 60
    assert m.sensitivity == LInf(1)


def test_what_cannot_be_asked():
    with pytest.raises(InvalidParameter, match="always chosen"):
        PermuteAndFlip.for_accuracy(3, 0.05, candidates=1, sensitivity=1)
    for bad in (0, -1, float("nan"), "x"):
        with pytest.raises(InvalidParameter, match="error"):
            Exponential.for_accuracy(bad, 0.05, **FIELD)
    with pytest.raises(InvalidParameter, match="beta"):
        Exponential.for_accuracy(3, 0, **FIELD)
    with pytest.raises(NotPrivate):
        Exponential.for_accuracy(3, 0.05, candidates=5, sensitivity=LInf(1, neighbours=REPLACE), monotone=True)
