"""Inference: the same as brute force, and as another algorithm; tables agree with each other."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from tacit.synth.models.graph import GraphModel, Target, fit_graph
from tacit.synth.models.junction import cells_of, junction_tree
from tacit.synth.models.mixture import Mixture, PairTable, Triple, descended, fitting, pooled, shrunk
from tacit.synth.models.stacked import ALL, fit_stacked, nearest
from tacit.synth.public_coins import public_coins

SIZES = (2, 3, 2, 4, 3)
SETS = [[(0, 1), (1, 2), (2, 3), (0, 3)], [(0, 1), (1, 2)], [(0, 1, 2), (3, 4)], [(0, 4), (1, 4), (2, 4), (3, 4)], []]


def summed(joint: Any, kept: tuple[int, ...]) -> Any:
    return joint.sum(axis=tuple(axis for axis in range(joint.ndim) if axis not in kept))


def brute(tree: Any, factors: Any) -> tuple[Any, float]:
    logs = np.zeros(SIZES)
    for clique, factor in zip(tree.cliques, factors, strict=True):
        logs = logs + factor.reshape([SIZES[at] if at in clique else 1 for at in range(5)])
    scale = float(np.log(np.exp(logs).sum()))
    return np.exp(logs - scale), scale


@pytest.mark.parametrize("sets", SETS, ids=str)
def test_tables_conditions_and_scale_equal_brute_force(sets: Any) -> None:
    random = np.random.default_rng(1)
    tree = junction_tree(SIZES, sets)
    factors = [random.normal(size=tree.shape(clique)) for clique in tree.cliques]
    logs, scale = tree.marginals(factors)
    joint, whole = brute(tree, factors)
    assert scale == pytest.approx(whole, abs=1e-9)
    model = GraphModel(tree, tuple(factors), tuple(logs))
    for width in (1, 2, 3):
        for columns in combinations(range(5), width):
            assert np.allclose(model.table(columns), summed(joint, columns))
    assert np.allclose(model.table((3, 0)), summed(joint, (0, 3)).T)
    given = model.given({1: 2}).table((0, 3))
    assert np.allclose(given, summed(joint, (0, 1, 3))[:, 2] / summed(joint, (1,))[2])
    assert cells_of(SIZES, sets) == tree.cells


@pytest.mark.parametrize("sets", SETS[:4], ids=str)
def test_without_noise_the_fit_is_that_of_iterative_proportional_fitting(sets: Any) -> None:
    random = np.random.default_rng(2)
    true = random.dirichlet(np.ones(int(np.prod(SIZES)))).reshape(SIZES)
    targets = [Target(tuple(one), summed(true, one), 1e-4) for one in sets]
    start = [np.full(size, 1 / size) for size in SIZES]
    fitted = fit_graph(SIZES, targets, start=start, steps=20_000, tolerance=1e-9)
    other = np.full(SIZES, 1 / np.prod(SIZES))
    for _ in range(500):  # the largest entropy among laws with these tables, by another way
        for one in sets:
            axes = [axis for axis in range(5) if axis not in one]
            ratio = summed(true, one) / summed(other, one)
            other = other * np.expand_dims(ratio, axes)
    for columns in combinations(range(5), 2):
        assert np.abs(fitted.table(columns) - summed(other, columns)).max() < 2e-4
    assert fitted.converged


def test_a_warm_start_on_another_tree_keeps_the_law() -> None:
    random = np.random.default_rng(3)
    true = random.dirichlet(np.ones(int(np.prod(SIZES)))).reshape(SIZES)
    first = [Target(one, summed(true, one), 1e-4) for one in [(0, 1), (1, 2), (2, 3), (0, 3)]]
    model = fit_graph(SIZES, first, start=[summed(true, (at,)) for at in range(5)])
    more = fit_graph(SIZES, [*first, Target((1, 3), summed(true, (1, 3)), 1e-4)], start=[], before=model, steps=0)
    assert np.allclose(more.table((0, 1)), model.table((0, 1)))
    assert np.allclose(more.table((2, 3)), model.table((2, 3)))


def test_a_mixture_equals_its_brute_force_and_its_tables_agree() -> None:
    random = np.random.default_rng(4)
    laws = tuple(random.dirichlet(np.ones(size), size=6).T for size in SIZES)
    weights = random.dirichlet(np.ones(6))
    joint = sum(w * np.einsum("a,b,c,d,e->abcde", *(law[:, at] for law in laws)) for at, w in enumerate(weights))
    model = Mixture(laws, weights)
    for width in (1, 2, 3):
        for columns in combinations(range(5), width):
            assert np.allclose(model.table(columns), summed(joint, columns))
    assert np.allclose(model.given({3: 1}).table((0, 2)), summed(joint, (0, 2, 3))[..., 1] / summed(joint, (3,))[1])
    assert np.allclose(model.table((0, 1, 2)).sum(axis=2), model.table((0, 1)))


def test_a_mixture_finds_the_tables_it_is_given() -> None:
    random = np.random.default_rng(5)
    true = random.dirichlet(np.full(24, 0.3)).reshape(2, 3, 4)
    ones = [(summed(true, (at,)), summed(true, (at,)), np.full(true.shape[at], 1e-8)) for at in range(3)]
    pairs = {pair: PairTable(summed(true, pair), 1e-3) for pair in combinations(range(3), 2)}
    (fitted,) = descended(fitting(ones, pairs), 60, 2, [400], public_coins(1))
    for pair in pairs:
        assert np.abs(fitted.table(pair) - summed(true, pair)).sum() < 0.05  # independence is 0.5 away or more
    far = shrunk(PairTable(summed(true, (0, 1)), 1.0), summed(true, (0,)), summed(true, (1,)))
    assert np.allclose(far.shares, np.outer(summed(true, (0,)), summed(true, (1,))))


def test_a_search_that_stops_twice_is_one_search() -> None:
    random = np.random.default_rng(5)
    true = random.dirichlet(np.full(24, 0.3)).reshape(2, 3, 4)
    ones = [(summed(true, (at,)), summed(true, (at,)), np.full(true.shape[at], 1e-8)) for at in range(3)]
    task = fitting(ones, {pair: PairTable(summed(true, pair), 1e-3) for pair in combinations(range(3), 2)})
    early, late = descended(task, 10, 2, [5, 40], public_coins(1))
    (alone,) = descended(task, 10, 2, [40], public_coins(1))
    assert all(np.array_equal(a, b) for a, b in zip(late.laws, alone.laws, strict=True))
    assert late.misfit < early.misfit


def test_weights_of_kinds_are_the_best_on_the_simplex() -> None:
    random = np.random.default_rng(6)
    for size in (1, 2, 4):
        made = random.normal(size=(30, size))
        square, line = made.T @ made, made.T @ random.normal(size=30)
        weights = nearest(square, line)
        assert np.all(weights >= 0)
        assert weights.sum() == pytest.approx(1)
        best = weights @ square @ weights - 2 * line @ weights
        for other in random.dirichlet(np.ones(size), 2000):
            assert best <= other @ square @ other - 2 * line @ other + 1e-6


def test_weights_are_the_best_where_kinds_are_much_alike() -> None:
    """Steps down the slope stop early there, and take a bit of everything."""
    random = np.random.default_rng(8)
    alike = random.random(3000) + 1e-3 * random.normal(size=(8, 3000))
    true = 0.7 * alike[2] + 0.3 * alike[5]
    weights = nearest(alike @ alike.T * 1e4, alike @ true * 1e4)
    assert weights[[2, 5]] == pytest.approx([0.7, 0.3], abs=1e-3)
    assert nearest(np.ones((3, 3)), np.ones(3)).sum() == 1  # all the same: any will do


def test_the_slope_of_tables_of_three_is_that_of_their_distance() -> None:
    random = np.random.default_rng(9)
    sizes, width = (2, 3, 4), 5
    laws = np.concatenate([random.dirichlet(np.ones(size), width).T for size in sizes]).astype(np.float32)
    places = (slice(0, 2), slice(2, 5), slice(5, 9))
    triple = Triple(places, random.random(sizes).astype(np.float32), np.float32(0.7))

    def distance(given: Any) -> float:
        """Squares, summed cell by cell; the slope is per component, so times their number."""
        parts, found = [given[place] for place in places], 0.0
        for a, b, c in product(*map(range, sizes)):
            told = sum(parts[0][a, k] * parts[1][b, k] * parts[2][c, k] for k in range(width)) / width
            found += 0.7 * (told - float(triple.table[a, b, c])) ** 2 * width
        return found

    pulled = np.zeros_like(laws)
    triple.pull(laws, pulled)
    exact, step = laws.astype(np.float64), 1e-5
    for row, component in product(range(9), range(width)):
        up, down = exact.copy(), exact.copy()
        up[row, component] += step
        down[row, component] -= step
        slope = (distance(up) - distance(down)) / (2 * step)
        assert pulled[row, component] == pytest.approx(slope, rel=1e-3, abs=1e-4)


def test_stacking_trusts_tables_as_far_as_they_foretell() -> None:
    """Of noise alone it makes independence, of tables without noise the tables; and its model is one mixture."""
    random = np.random.default_rng(7)
    law = [np.full(4, 0.25)] * 4
    ones = [(one, one, np.full(4, 1e-6)) for one in law]
    noisy = {pair: PairTable(1 / 16 + random.normal(0, 0.02, (4, 4)), 0.02) for pair in combinations(range(4), 2)}
    drowned = fit_stacked(ones, noisy, components=20, fits=2, steps=60)
    alone = np.mean([np.abs(table.shares - 1 / 16).sum() for table in noisy.values()])
    assert np.mean([np.abs(drowned.table(pair) - 1 / 16).sum() for pair in noisy]) < 0.5 * alone
    joint = np.full((4, 4), 0.02) + 0.17 * np.eye(4)
    clear = {pair: PairTable(joint, 1e-4) for pair in noisy}
    told = fit_stacked(ones, clear, components=40, fits=2, steps=300)
    assert np.mean([np.abs(told.table(pair) - joint).sum() for pair in clear]) < 0.1  # independence: 1.0
    assert told.weights.sum() == pytest.approx(1)
    again = fit_stacked(ones, clear, components=40, fits=2, steps=300)
    assert all(np.array_equal(a, b) for a, b in zip(told.laws, again.laws, strict=True))


@pytest.mark.parametrize("kind", ALL, ids=[kind.moved.__name__.strip("_") for kind in ALL])
def test_every_way_to_move_a_table_leaves_a_clear_one_and_is_total(kind: Any) -> None:
    first, second = np.array([0.5, 0.3, 0.2]), np.array([0.6, 0.4])
    away = np.array([[1.0, -1], [-1, 1], [0, 0]]) * 0.1
    clear = PairTable(np.outer(first, second) + away, 1e-6)
    assert np.allclose(kind.moved(clear, first, second).shares, clear.shares, atol=1e-4)
    for odd in (np.zeros((3, 2)), np.full((3, 2), -1e9), np.full((3, 2), 1e12)):
        assert np.all(np.isfinite(kind.moved(PairTable(odd, 5.0), first, second).shares))
    single = kind.moved(PairTable(np.ones((1, 1)), 0.1), np.ones(1), np.ones(1))
    assert np.all(np.isfinite(single.shares))


def test_pooled_mixtures_are_means_of_theirs() -> None:
    one, other = (Mixture((np.array([[p], [1 - p]]),) * 2, np.ones(1)) for p in (0.9, 0.2))
    both = pooled([one, other], np.array([0.25, 0.75]))
    assert np.allclose(both.table((0, 1)), 0.25 * one.table((0, 1)) + 0.75 * other.table((0, 1)))
