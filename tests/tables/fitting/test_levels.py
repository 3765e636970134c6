"""Levels: every cell is in exactly one block, blocks are named by keys or by runs, and sums are exact."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tacit.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from tacit.tables.fitting.fits import fit_of
from tacit.tables.fitting.levels import Level, by_keys, in_runs
from tacit.tables.fitting.margins import Margins
from tacit.tables.fitting.runs import Runs

LEVELS = [
    *(Level((2, 3, 4), kept) for size in range(4) for kept in itertools.combinations(range(3), size)),
    *(Level((7,), (0,), width) for width in (1, 2, 3, 5, 7, 9)),
    Level((4, 5), (1,), 2),
    Level((), ()),
    Level((1, 2), (1,)),
]


@pytest.mark.parametrize("level", LEVELS, ids=str)
def test_every_cell_is_in_one_block(level: Level) -> None:
    sums = level.sums()
    assert sums.shape == (level.size, level.cells)
    assert (sums.sum(axis=0) == 1).all()
    cells = np.arange(level.cells) * 7 - 3
    assert (sums @ cells).tolist() == level.added(cells).tolist()
    assert level.is_finest == (sums.sum(axis=1) == 1).all()


@pytest.mark.parametrize("level", LEVELS, ids=str)
def test_blocks_are_those_of_an_oracle(level: Level) -> None:
    """Cells in the order of the product; a block is told by what is left of its keys."""
    blocks: dict[tuple[int, ...], list[int]] = {}
    for number, cell in enumerate(itertools.product(*map(range, level.sizes))):
        blocks.setdefault(tuple(cell[axis] // level.width for axis in level.kept), []).append(number)
    cells = np.arange(level.cells) ** 2
    assert level.added(cells).tolist() == [sum(n**2 for n in blocks[name]) for name in sorted(blocks)]


def test_sums_are_exact_beyond_doubles() -> None:
    large = np.array([2**62, 3, -(2**62), 2**80], dtype=object)
    assert Level((2, 2), (0,)).added(large).tolist() == [2**62 + 3, 2**80 - 2**62]
    assert Level((4,), (0,), 3).added(large).tolist() == [3, 2**80]


def test_runs_grow_until_one_holds_all() -> None:
    assert [(one.width, one.size) for one in in_runs(67, 4)] == [(1, 67), (4, 17), (16, 5), (64, 2), (256, 1)]
    assert [one.size for one in in_runs(1, 2)] == [1]


def test_margins_are_fitted_in_closed_form_and_runs_block_by_block() -> None:
    noise = tuple(DiscreteGaussian.of_scale(3 + at, sensitivity=1) for at in range(3))
    closed, runs = fit_of(by_keys((3, 2), [(0, 1), (1,), ()]), noise), fit_of(in_runs(9, 3), noise)
    assert isinstance(closed, Margins)
    assert isinstance(runs, Runs)
    assert fit_of(in_runs(9, 3), noise) is runs  # solved once
    for fit, levels in ((closed, by_keys((3, 2), [(0, 1), (1,), ()])), (runs, in_runs(9, 3))):
        rough = [np.random.default_rng(at).normal(size=level.size) for at, level in enumerate(levels)]
        finest, *coarser = fit.fitted(rough)
        for level, values in zip(levels[1:], coarser, strict=True):
            assert np.allclose(level.sums() @ finest, values)
