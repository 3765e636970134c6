"""Continual counting: matrices against their definitions, the promise, errors as theory says, streams."""

from __future__ import annotations

import copy
import math
from fractions import Fraction

import numpy as np
import pytest

from tacit.errors import Exhausted, InvalidParameter, NotPrivate
from tacit.mechanisms.streams.continual_count import ContinualCount
from tacit.mechanisms.streams.factorisations import BINARY_TREE, SQUARE_ROOT
from tacit.privacy import ZCDP, ApproxDP, GaussianDP, PureDP
from tacit.testing import seeded


def matrix(factorisation, horizon):
    """C, column by column: what the noise is put on when one step is 1 and the others 0."""
    columns = []
    for step in range(horizon):
        state = factorisation.start(horizon)
        column = []
        for t in range(horizon):
            column.append(state.push(int(t == step)))
            state.total(column[-1])
        columns.append(column)
    return columns


@pytest.mark.parametrize("factorisation", [BINARY_TREE, SQUARE_ROOT], ids=lambda f: f.name)
@pytest.mark.parametrize("horizon", [1, 2, 7, 8, 13])
def test_column_norms_are_those_of_the_matrix(factorisation, horizon):
    columns = matrix(factorisation, horizon)
    assert factorisation.sum_of_column(horizon) == max(sum(map(abs, column)) for column in columns)
    assert factorisation.square_of_column(horizon) == max(sum(x * x for x in column) for column in columns)


@pytest.mark.parametrize("factorisation", [BINARY_TREE, SQUARE_ROOT], ids=lambda f: f.name)
def test_without_noise_the_totals_are_exact(factorisation):
    increments = [3, 0, -5, 10**15, 7, 7, 0, 1, -(10**9)] * 20
    state = factorisation.start(180)
    totals = [state.total(state.push(x)) for x in increments]
    assert totals == np.cumsum(np.array(increments, dtype=object)).tolist()


def test_square_root_is_a_root():
    horizon = 300
    root = np.array(matrix(SQUARE_ROOT, 1)[0] + [0], dtype=object)
    state = SQUARE_ROOT.start(horizon)
    column = np.array([state.push(int(t == 0)) for t in range(horizon)], dtype=object)
    assert column[0] == root[0] == 1 << 64
    exact = [Fraction(math.comb(2 * j, j), 4**j) for j in range(horizon)]
    assert all(abs(Fraction(int(c), 1 << 64) - e) <= Fraction(1, 1 << 64) for c, e in zip(column, exact, strict=True))
    product = np.convolve(column.astype(float), column.astype(float))[:horizon] / 2.0**128
    assert product == pytest.approx(np.ones(horizon))


@pytest.mark.parametrize(
    ("price", "guarantee"),
    [
        ({"epsilon": 1}, PureDP(1)),
        ({"rho": 0.5}, ZCDP(0.5)),
        ({"mu": 1}, GaussianDP(1)),
        ({"epsilon": 1, "delta": 1e-6}, ApproxDP(1, 1e-6)),
    ],
)
def test_noise_is_calibrated_to_the_column(price, guarantee):
    m = ContinualCount(horizon=100, sensitivity=2, **price)
    assert m.guarantee == guarantee
    size = 7 * 2 if "delta" not in price and "epsilon" in price else math.sqrt(7) * 2
    assert float(m._noise.sensitivity.value) == pytest.approx(size)
    user = ContinualCount(horizon=100, sensitivity=2, steps=3, **price)
    assert user.scale == pytest.approx(3 * m.scale)
    assert (m.protects, user.protects) == ("event", "user of up to 3 steps")


@pytest.mark.parametrize(
    "m",
    [
        ContinualCount(horizon=63, epsilon=2, sensitivity=1),
        ContinualCount(horizon=63, rho=0.5, sensitivity=1),
        ContinualCount(horizon=63, mu=1, sensitivity=1),
        ContinualCount(horizon=63, rho=0.5, sensitivity=1, factorisation=SQUARE_ROOT),
    ],
    ids=["laplace", "gaussian", "rounded", "root"],
)
def test_errors_as_theory_says(m):
    bits = seeded(25)
    runs = 400
    errors = np.array([m.start(entropy=bits).add_many(np.ones(63, dtype=int)) for _ in range(runs)]) - np.arange(1, 64)
    for step in (1, 8, 31, 63):
        found = errors[:, step - 1]
        expected = m.standard_error(step)
        assert np.std(found) == pytest.approx(expected, rel=0.25, abs=0.35)
        assert abs(np.mean(found)) < 6 * expected / math.sqrt(runs) + 0.1
    assert (np.abs(errors[:, 62]) > m.accuracy(0.05)).mean() < 0.15
    assert (np.abs(errors).max(axis=1) > m.accuracy(0.05, size=63)).mean() < 0.15


def test_square_root_beats_the_tree():
    """Root: σ(1.07 + ln(T)/π) or less; tree: σ·log₂(T)/√2 or so."""
    tree, root = (
        ContinualCount(horizon=1023, rho=0.5, sensitivity=1, factorisation=f) for f in (BINARY_TREE, SQUARE_ROOT)
    )
    worst = root.standard_error(1023)
    assert worst <= 1.07 + math.log(1023) / math.pi
    assert worst < tree.standard_error(1023) / 3
    assert tree.standard_error(1023) == pytest.approx(10)
    assert tree.standard_error(1024 // 2) == pytest.approx(math.sqrt(10))


def test_reusing_noise_per_step_would_be_cheaper_and_wrong():
    """Independent noise of scale 1/ε on every total costs horizon·ε: what the tree saves."""
    m = ContinualCount(horizon=1023, epsilon=1, sensitivity=1)
    naive = 1023
    assert m.accuracy(0.05) < naive / 5


def test_stream_ends_at_the_horizon():
    m = ContinualCount(horizon=3, epsilon=1, sensitivity=1)
    stream = m.start()
    assert isinstance(stream.add(1), int)
    with pytest.raises(Exhausted, match="2 steps are left"):
        stream.add_many([1, 1, 1])
    assert stream.add_many(np.array([1, 1])).dtype == np.int64
    with pytest.raises(Exhausted):
        stream.add(1)
    with pytest.raises(NotPrivate):
        copy.deepcopy(stream)
    assert repr(stream) == "<CountStream: 0 steps left>"


def test_large_totals_do_not_overflow():
    stream = ContinualCount(horizon=4, epsilon=1, sensitivity=1).start()
    assert abs(stream.add(10**30) - 10**30) < 10**4
    assert abs(int(stream.add_many([2**62, 2**62])[-1]) - 10**30 - 2**63) < 10**4


@pytest.mark.parametrize("bad", [1.5, "a", None, [1, 2], float("nan")])
def test_bad_increments(bad):
    stream = ContinualCount(horizon=4, epsilon=1, sensitivity=1).start()
    with pytest.raises(InvalidParameter):
        stream.add(bad)
    with pytest.raises(InvalidParameter):
        stream.add_many([bad])
    assert stream.steps_left == 4


def test_bad_parameters():
    for bad in ({"horizon": 0}, {"steps": 5}, {"sensitivity": 0.5}, {"factorisation": "tree"}):
        with pytest.raises(InvalidParameter):
            ContinualCount(**({"horizon": 4, "epsilon": 1, "sensitivity": 1} | bad))
    with pytest.raises(NotPrivate, match="SQUARE_ROOT"):
        ContinualCount(horizon=4, epsilon=1, sensitivity=1, factorisation=SQUARE_ROOT)
    m = ContinualCount(horizon=4, rho=1, sensitivity=1)
    assert m == ContinualCount(horizon=4, rho=1, sensitivity=1)
    assert "one event changes" in m.explain()
