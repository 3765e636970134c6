"""The shuffler: every order equally likely, nothing lost, wrong numbers refused."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from tacit.errors import InvalidParameter
from tacit.local import Shuffler, SubsetSelection
from tacit.local.shuffle.shuffler import uniform_order
from tacit.testing import seeded
from tests.statistical.fit import fits_cells


def test_all_orders_of_three_people_with_two_messages_are_equally_likely() -> None:
    source, orders = seeded(1), {order: i for i, order in enumerate(permutations(range(6)))}
    seen = np.zeros(720, dtype=np.int64)
    for _ in range(72_000):
        seen[orders[tuple(uniform_order(6, source).tolist())]] += 1
    assert fits_cells(seen, [1 / 720] * 720)
    assert not fits_cells(seen, [0.8 / 720] * 360 + [1.2 / 720] * 360)


def test_shuffling_each_persons_messages_apart_is_noticed() -> None:
    """Planted: people permuted as wholes have 6·8 orders, not 720."""
    source = seeded(2)
    seen = set()
    for _ in range(2000):
        people = np.arange(6).reshape(3, 2)[uniform_order(3, source)]
        seen.add(tuple(np.concatenate([row[uniform_order(2, source)] for row in people]).tolist()))
    assert len(seen) <= 48


def test_equal_keys_are_drawn_again() -> None:
    class Twice:
        secret, calls = False, 0

        def words(self, count: int) -> Any:
            self.calls += 1
            return np.array([5, 5, 1] if self.calls == 1 else [2, 3, 1], dtype=np.uint64)

    source: Any = Twice()
    assert uniform_order(3, source).tolist() == [2, 0, 1]
    assert source.calls == 2


def test_bytes_and_lists() -> None:
    sent = [[b"a", b"b"], [b"c"], b"d"]
    assert sorted(Shuffler().shuffle(sent, people=3)) == [b"a", b"b", b"c", b"d"]
    assert Shuffler().shuffle(np.zeros((4, 0))).size == 0


def test_rows_of_packed_bits_stay_whole_when_asked() -> None:
    r = SubsetSelection(epsilon=4, categories=range(100))
    reports = r.randomize(np.arange(100), entropy=seeded(3))
    mixed = Shuffler().shuffle(reports, people=100, whole_rows=True, entropy=seeded(4))
    assert mixed.shape == reports.shape
    assert not np.array_equal(mixed, reports)
    assert r.analyser().update(mixed).count == 100
    assert np.array_equal(r.estimate(mixed).values, r.estimate(reports).values)
    assert sorted(Shuffler().shuffle((b"a", b"b"))) == [b"a", b"b"]


@pytest.mark.parametrize(("given", "people"), [(7, None), ("abc", None), (np.zeros((3, 2)), 4), ([b"x"], 2)])
def test_wrong_numbers_are_refused(given: Any, people: int | None) -> None:
    with pytest.raises(InvalidParameter, match="messages"):
        Shuffler().shuffle(given, people=people)
