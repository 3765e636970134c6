"""Many quantiles: the promise of the recursion by enumeration, its law, duplicates, bad input."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from tacit.errors import InvalidParameter
from tacit.mechanisms.ranks.quantiles import Quantiles
from tacit.privacy import REPLACE
from tacit.testing import seeded
from tests.mechanisms.divergence import max_divergence, multisets
from tests.mechanisms.ranks.test_quantile import distance
from tests.statistical.fit import fits_cells

LEVELS = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))


def chances(data, line, share, each):
    factor = each / (2 * max(share, 1 - share))
    masses = {y: np.exp(-float(factor * distance(data, y, share))) for y in line}
    total = sum(masses.values())
    return {y: m / total for y, m in masses.items()}


def joint(data, line, each):
    """P[three quartiles]: the median first, then each half on its own part of the data and of the line."""
    out = {}
    half = Fraction(1, 2)
    for middle, p in chances(data, line, half, each).items():
        left = chances([x for x in data if x <= middle], [y for y in line if y <= middle], half, each)
        right = chances([x for x in data if x > middle], [y for y in line if y >= middle], half, each)
        out |= {(a, middle, b): p * left[a] * right[b] for a, b in itertools.product(left, right)}
    return out


def test_promise_of_the_recursion_without_spreading():
    """Two levels at ε/2 each; spreading is a coin per value, so the promise with it is a mixture of these."""
    line = range(3)
    laws = {data: joint(data, line, 0.5) for data in multisets(3, 4)}
    worst = 0.0
    for data in multisets(3, 3):
        for extra in line:
            p, q = laws[data], laws[tuple(sorted((*data, extra)))]
            keys = list(p)
            a, b = [p[k] for k in keys], [q[k] for k in keys]
            worst = max(worst, max_divergence(a, b), max_divergence(b, a))
    assert 0.4 < worst <= 1 + 1e-9


def spread_law(data, points, each):
    """The law with one bit of spreading: a mixture over all bits, folded back to the points."""
    out = {}
    for bits in itertools.product([0, 1], repeat=len(data)):
        fine = tuple(2 * x + bit for x, bit in zip(data, bits, strict=True))
        for found, p in joint(fine, range(2 * points), each).items():
            key = tuple(y // 2 for y in found)
            out[key] = out.get(key, 0.0) + p / 2 ** len(data)
    return out


def test_promise_with_spreading():
    laws = {data: spread_law(data, 2, 0.5) for data in multisets(2, 4)}
    worst = 0.0
    for data in multisets(2, 3):
        for extra in range(2):
            p, q = laws[data], laws[tuple(sorted((*data, extra)))]
            a, b = list(p.values()), [q[k] for k in p]
            worst = max(worst, max_divergence(a, b), max_divergence(b, a))
    assert 0.2 < worst <= 1 + 1e-9


def test_draws_with_spreading_follow_the_law():
    data = [0, 0, 1, 2]
    m = Quantiles([0.25, 0.5, 0.75], bounds=(0, 2), granule=1, epsilon=6)
    m._spread = 1
    law = spread_law(data, 3, 3.0)
    seen = dict.fromkeys(law, 0)
    bits = seeded(26)
    for _ in range(3_000):
        seen[tuple(int(x) for x in m.release(data, entropy=bits))] += 1
    assert fits_cells(list(seen.values()), list(law.values()))
    off = joint(data, range(3), 3.0)
    assert not fits_cells(list(seen.values()), [off.get(k, 0.0) for k in law])


def test_full_price_at_every_level_is_caught():
    laws = {data: joint(data, range(3), 1.0) for data in multisets(3, 5)}
    worst = max(
        max_divergence([laws[d][k] for k in laws[d]], [laws[tuple(sorted((*d, x)))][k] for k in laws[d]])
        for d in multisets(3, 4)
        for x in range(3)
    )
    assert worst > 1.02


def test_draws_follow_the_law():
    data = [0, 0, 1, 3, 3, 3]
    m = Quantiles([0.25, 0.5, 0.75], bounds=(0, 3), granule=1, epsilon=3)
    m._spread = 0
    law = joint(data, range(4), 1.5)
    seen = dict.fromkeys(law, 0)
    bits = seeded(11)
    for _ in range(3_000):
        seen[tuple(int(x) for x in m.release(data, entropy=bits))] += 1
    assert fits_cells(list(seen.values()), list(law.values()))
    off = joint(data, range(4), 2.1)
    assert not fits_cells(list(seen.values()), list(off.values()))


def test_duplicates_split_like_any_values():
    m = Quantiles([0.05, 0.3, 0.5, 0.9], bounds=(0, 10), granule=1, epsilon=2)
    data = [1] * 1000 + [2] * 6000 + [3] * 3000
    assert m.release(data, entropy=seeded(1)).tolist() == [1, 2, 2, 3]
    assert m.release([7] * 5000, entropy=seeded(2)).tolist() == [7, 7, 7, 7]


def test_tiny_data_and_order():
    m = Quantiles([0, 0.1, 0.5, 0.9, 1], bounds=(0, 100), epsilon=1)
    for data in ([], [5], [5, 5, 5]):
        out = m.release(data)
        assert (np.diff(out) >= 0).all()
        assert 0 <= out[0] <= out[-1] <= 100
    assert m.levels == 3


def test_accuracy_in_ranks():
    data = np.random.default_rng(3).random(20_001)
    m = Quantiles([0.1, 0.25, 0.5, 0.75, 0.9], bounds=(0, 1), epsilon=1)
    bits = seeded(12)
    for _ in range(20):
        ranks = np.searchsorted(np.sort(data), m.release(data, entropy=bits))
        assert np.abs(ranks - 20_001 * np.array(m.quantiles)).max() <= m.accuracy(1e-6) + 1


def test_replacement_costs_a_group_of_two():
    once = Quantiles([0.5], bounds=(0, 1), epsilon=1)
    twice = Quantiles([0.5], bounds=(0, 1), epsilon=1, neighbours=REPLACE)
    assert twice._each == once._each / 2
    assert Quantiles([0.5], bounds=(0, 1), rho=0.5, neighbours=REPLACE)._each == 1


@pytest.mark.parametrize("bad", [[], [0.5, 0.25], [0.5, 0.5], [1.1], "half", [Fraction(1, 99991), Fraction(1, 99989)]])
def test_bad_quantiles(bad):
    with pytest.raises(InvalidParameter):
        Quantiles(bad, bounds=(0, 1), epsilon=1)


def test_repr_and_explanation():
    m = Quantiles([0.25, 0.75], bounds=(0, 1), rho=0.1)
    assert repr(m).startswith("Quantiles([0.25, 0.75], promise=ZCDP(0.1)")
    assert "ranks" in m.explain()
