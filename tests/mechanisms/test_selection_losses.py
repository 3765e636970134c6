"""The loss distributions of what selects, thresholds and responds: never cheaper than they may be, and worth having."""

from __future__ import annotations

import pytest

from tacit.errors import NotPrivate
from tacit.mechanisms.ranks.quantile import Quantile
from tacit.mechanisms.ranks.quantiles import Quantiles
from tacit.mechanisms.responses.randomized_response import RandomizedResponse
from tacit.mechanisms.selection.exponential import Exponential
from tacit.mechanisms.selection.noisy_max import GUMBEL, LAPLACE, NoisyMax
from tacit.mechanisms.selection.permute_and_flip import PermuteAndFlip
from tacit.mechanisms.selection.private_selection import PrivateSelection
from tacit.mechanisms.selection.top_k import TopK
from tacit.mechanisms.streams.above_threshold import AboveThreshold
from tacit.mechanisms.streams.continual_count import ContinualCount
from tacit.mechanisms.streams.gaussian_threshold import GaussianAboveThreshold
from tacit.mechanisms.streams.naive_threshold import NaiveThreshold
from tacit.mechanisms.streams.numeric_sparse import NumericSparse
from tacit.mechanisms.streams.sparse_vector import SparseVector
from tacit.mechanisms.streams.splits import IMPROVED
from tacit.privacy import REPLACE

PURE = [
    Exponential(epsilon=1, sensitivity=1),
    PermuteAndFlip(epsilon=1, sensitivity=1),
    NoisyMax(epsilon=1, sensitivity=1, noise=GUMBEL),
    NoisyMax(epsilon=1, sensitivity=1, noise=LAPLACE),
    TopK(3, epsilon=1, sensitivity=1),
    TopK(3, epsilon=1, sensitivity=1, noise=GUMBEL),
    PrivateSelection(epsilon=1, runs=5),
    Quantile(0.3, bounds=(0, 1), epsilon=1),
    Quantiles([0.3, 0.6], bounds=(0, 1), epsilon=1),
    Quantiles([0.3, 0.6], bounds=(0, 1), epsilon=1, neighbours=REPLACE),
    AboveThreshold(epsilon=1, threshold=0, sensitivity=1),
    AboveThreshold(epsilon=1, threshold=0, sensitivity=1, split=IMPROVED, monotone=True),
    SparseVector(epsilon=1, threshold=0, sensitivity=1, hits=4, split=IMPROVED),
    SparseVector(epsilon=1, threshold=0, sensitivity=2, hits=4, monotone=True),
    NumericSparse(epsilon=1, threshold=0, sensitivity=2, hits=4),
    NaiveThreshold(epsilon=1, threshold=0, sensitivity=2, length=4),
    RandomizedResponse(epsilon=1),
    RandomizedResponse(epsilon=1, categories=range(5)),
    ContinualCount(horizon=7, epsilon=1, sensitivity=1),
]


@pytest.mark.parametrize("m", PURE, ids=repr)
def test_at_no_delta_it_is_the_price(m):
    assert m.loss.neighbours is m.guarantee.neighbours
    assert m.loss.epsilon(0) == pytest.approx(1, rel=1e-4)
    assert m.loss.epsilon(0.05) < 1


def test_composition_of_bounded_range_is_cheaper_than_of_pure():
    em, pf = (100 * m(epsilon=0.1, sensitivity=1).loss for m in (Exponential, PermuteAndFlip))
    assert em.epsilon(1e-6) < 0.8 * pf.epsilon(1e-6)


def test_the_books_delta_is_more_than_is_spent():
    m = SparseVector(epsilon=1, delta=1e-6, threshold=0, sensitivity=1, hits=200)
    assert m.loss.epsilon(1e-6) < 1
    n = NumericSparse(epsilon=1, delta=1e-6, threshold=0, sensitivity=1, hits=200)
    assert n.loss.epsilon(1e-6) < 1
    g = GaussianAboveThreshold(epsilon=1, delta=1e-6, threshold=0, sensitivity=1, length=9)
    assert g.loss.epsilon(1e-6) == pytest.approx(1, rel=1e-4)


def test_counts_with_gaussian_noise():
    assert ContinualCount(horizon=7, mu=1, sensitivity=1).loss.epsilon(1e-6) == pytest.approx(4.887, rel=0.1)
    with pytest.raises(NotPrivate):
        _ = ContinualCount(horizon=7, rho=1, sensitivity=1).loss
