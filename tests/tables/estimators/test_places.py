"""Where a group stands among others changes no bit of its numbers: with private keys the order comes from rows."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit import DiscreteLaplace
from tacit.privacy import PureDP
from tacit.tables.estimators import base
from tacit.tables.estimators.base import Noisy
from tacit.tables.estimators.noise import LaplaceNoise
from tests.tables.visits import write_visits

ESTIMATORS = Path(base.__file__).parent
WEIGHTS = [(Fraction(1, 3), Fraction(-2, 7)), (Fraction(5, 3), Fraction(1, 9), Fraction(7, 11))]


def differing(read: Any) -> int:
    """How many groups have another number where they stand in another place."""
    rng, found = np.random.default_rng(5), 0
    for weights in WEIGHTS:
        for groups in range(1, 40):
            values = rng.integers(-(10**9), 10**9, (len(weights), groups)).astype(np.float64)
            order = rng.permutation(groups)
            found += int((read(values, weights)[order] != read(values[:, order], weights)).sum())
    return found


def test_a_sum_of_parts_does_not_depend_on_the_place() -> None:
    noise, mechanism = LaplaceNoise(PureDP(1)), DiscreteLaplace(epsilon=1, sensitivity=1)
    assert differing(lambda values, weights: Noisy(values, mechanism, noise).read(weights)) == 0


def test_a_product_of_matrices_would_be_noticed() -> None:
    def product(values: Any, weights: Any) -> Any:
        return np.tensordot(np.array(weights, dtype=np.float64), values, axes=1)

    if differing(product) == 0:
        pytest.skip("the matrices of this machine round every place alike")


def test_estimators_multiply_no_matrices() -> None:
    forbidden = re.compile(r"tensordot|einsum|matmul|\.dot\(|\b\w+ @ \w+|linalg")
    for path in ESTIMATORS.glob("*.py"):
        assert not forbidden.search(path.read_text(encoding="utf-8")), path.name


def test_two_releases_of_a_column_are_told_apart(tmp_path: Path) -> None:
    """The same words, other bounds: each has its own scale, and its own share of the price."""
    own = "spend, contribution_bounds_per_row => (0, 2)"
    sql = f"SELECT AVG(spend) AS a, SUM(spend) AS b, AVG({own}) AS c, SUM({own}) AS d FROM visits"
    with tacit.open(write_visits(tmp_path, users=50), analyst="ada", ledger=tacit.InMemory()) as table:
        told = table.sql(sql, epsilon=1).disclosure().noise
    assert [one.outputs for one in told] == [("a", "b"), ("c", "d")]
    assert [Fraction(one.share) for one in told] == [Fraction(1, 2)] * 2
    assert told[0].sensitivity != told[1].sensitivity or told[0].scale != told[1].scale
