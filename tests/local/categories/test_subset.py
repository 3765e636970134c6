"""Subsets: uniform among those of their size, whatever the rate of the first coins; a planted fault."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from tacit.local.categories import subset
from tacit.local.categories.subset import SubsetSelection
from tacit.testing import seeded
from tests.local.laws import law_of, number_of
from tests.statistical.fit import fits_cells


def seen(r: SubsetSelection, value: int, draws: int) -> dict[int, int]:
    found, times = np.unique(r.randomize(np.full(draws, value), entropy=seeded(1)), axis=0, return_counts=True)
    return {number_of(row): int(n) for row, n in zip(found, times, strict=True)}


@pytest.mark.parametrize("rate", [0, 20, 64, 127])
def test_sets_are_uniform_whatever_the_rate_of_the_coins(rate: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subset, "_rate", lambda k, size: rate)
    r = SubsetSelection(epsilon=1, categories=range(6), size=3)
    law, found = law_of(r, 2), seen(r, 2, 60_000)
    assert fits_cells([found.get(y, 0) for y in sorted(law)], [float(law[y]) for y in sorted(law)])


def test_additions_that_are_not_uniform_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: places drawn from the lower half come up twice as often."""
    honest = subset.uniform_places
    monkeypatch.setattr(
        subset, "uniform_places", lambda k, n, bits: np.where(honest(3, n, bits) < 2, 0, 3) + honest(3, n, bits)
    )
    monkeypatch.setattr(subset, "_rate", lambda k, size: 0)
    r = SubsetSelection(epsilon=1, categories=range(6), size=3)
    law, found = law_of(r, 2), seen(r, 2, 60_000)
    assert not fits_cells([found.get(y, 0) for y in sorted(law)], [float(law[y]) for y in sorted(law)])


def test_every_report_has_its_size() -> None:
    for k, size in ((2, 1), (9, 8), (100, 27), (257, 3)):
        r = SubsetSelection(epsilon=1, categories=range(k), size=size)
        rows = r.randomize(np.arange(500) % k)
        assert set(np.unpackbits(rows, axis=1)[:, :k].sum(axis=1)) == {size}


def test_a_set_of_another_size_is_refused() -> None:
    r = SubsetSelection(epsilon=1, categories=range(5), size=2)
    rows = np.packbits(np.array([[1, 1, 0, 0, 0], [1, 1, 1, 0, 0]], dtype=np.uint8), axis=1)
    analyser = r.analyser().update(rows)
    assert (analyser.count, analyser.refused) == (1, 1)


def test_the_size_is_the_best_there_is() -> None:
    for k in (3, 10, 50):
        for epsilon in (0.1, 1, 3):
            chosen = SubsetSelection(epsilon=epsilon, categories=range(k))
            errors = [SubsetSelection(epsilon=epsilon, categories=range(k), size=d).scale for d in range(1, k)]
            assert chosen.scale == pytest.approx(min(errors))
    assert len(list(combinations(range(4), 2))) == 6
