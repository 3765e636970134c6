"""One quantile: the promise over all small data sets, the law of the draws, awkward data, bad input."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from tacit.errors import InvalidParameter
from tacit.mechanisms.ranks import line
from tacit.mechanisms.ranks.quantile import Quantile, sorted_values
from tacit.mechanisms.ranks.quantiles import Quantiles
from tacit.privacy import ADD_REMOVE, REPLACE, ZCDP
from tacit.testing import seeded
from tests.mechanisms.divergence import max_divergence, multisets, renyi
from tests.statistical.fit import fits_cells

POINTS = 4


def distance(data, point, q):
    """How far q·n lies from the ranks of the point."""
    below = sum(x < point for x in data)
    upto = sum(x <= point for x in data)
    target = q * len(data)
    return max(0, below - target, target - upto)


def law(data, q, factor, points=POINTS):
    masses = [math.exp(-factor * float(distance(data, y, q))) for y in range(points)]
    return [m / math.fsum(masses) for m in masses]


def drawn_law(data, q, factor, points=POINTS):
    """The same from the tickets that the mechanism draws from."""
    window = line._Window(
        line.SortedPoints(np.array(data, dtype=np.int64)), q * len(data), line.Line(0, points - 1), factor
    )
    masses = np.zeros(points)
    for stretch in (window.near, *window.far()):
        for start, weight, score in zip(stretch.starts, stretch.weights, stretch.scores, strict=True):
            masses[start : start + weight] += math.exp(float(window.scale) * score)
    return masses / masses.sum()


LEVELS = [Fraction(0), Fraction(1, 2), Fraction(1, 3), Fraction(9, 10), Fraction(1)]


@pytest.mark.parametrize("far", [60.0, 0.2])
@pytest.mark.parametrize("q", LEVELS)
def test_tickets_have_the_law_of_the_definition(q, far, monkeypatch):
    monkeypatch.setattr(line, "_FAR", far)
    for data in multisets(POINTS, 5):
        assert drawn_law(data, q, Fraction(2, 3)) == pytest.approx(law(data, q, 2 / 3), rel=1e-12)


@pytest.mark.parametrize("q", LEVELS)
def test_promise_over_all_small_data_sets(q):
    factor = 1 / Quantile(q, bounds=(0, 3), granule=1, epsilon=1).scale
    assert factor == pytest.approx(0.5 / max(q, 1 - q))
    worst = 0.0
    for data in multisets(POINTS, 5):
        for extra in range(POINTS):
            more = sorted((*data, extra))
            p, r = law(data, q, factor), law(more, q, factor)
            worst = max(worst, max_divergence(p, r), max_divergence(r, p))
    assert 0.3 < worst <= 1 + 1e-9


@pytest.mark.parametrize("q", LEVELS)
def test_promise_under_replacement(q):
    m = Quantile(q, bounds=(0, 3), granule=1, epsilon=1, neighbours=REPLACE)
    assert m.sensitivity == 1
    worst = 0.0
    for data in multisets(POINTS, 4):
        for i in range(len(data)):
            for other in range(POINTS):
                changed = sorted((*data[:i], *data[i + 1 :], other))
                worst = max(worst, max_divergence(law(data, q, 0.5), law(changed, q, 0.5)))
    assert worst <= 1 + 1e-9


def test_dropping_the_factor_two_is_caught():
    """Scores of a median move both ways: a value added at one end raises some and lowers others."""
    half = Fraction(1, 2)
    assert max_divergence(law((0, 1), half, 2.0, 400), law((0, 1, 399), half, 2.0, 400)) > 1.5


def test_zcdp_price():
    m = Quantile(0.5, bounds=(0, 3), granule=1, rho=0.125)
    assert m.guarantee == ZCDP(0.125)
    assert m.scale == 1
    for data in multisets(3, 4):
        for extra in range(3):
            p, r = law(data, Fraction(1, 2), 1, 3), law((*data, extra), Fraction(1, 2), 1, 3)
            assert all(renyi(p, r, a) <= a / 8 + 1e-9 for a in (1.1, 3, 30))


def test_draws_follow_the_law_and_not_one_ten_percent_off(monkeypatch):
    data = [*range(16), 3, 3]
    bits = seeded(9)
    m = Quantile(0.5, bounds=(0, 15), granule=1, epsilon=1)

    def seen(draws):
        return folded(np.bincount([int(m.release(data, entropy=bits)) for _ in range(draws)], minlength=16))

    def folded(cells):  # few cells make the test sharper: ranks 0, 1 and more away
        ranks = [min(2, int(distance(data, y, 0.5))) for y in range(16)]
        return [sum(c for c, r in zip(cells, ranks, strict=True) if r == rank) for rank in sorted(set(ranks))]

    found = seen(12_000)
    half = Fraction(1, 2)
    assert fits_cells(found, folded(law(data, half, 1.0, 16)))
    assert not fits_cells(found, folded(law(data, half, 1.1, 16)))
    assert not fits_cells(found, folded(law(data, half, 0.9, 16)))
    monkeypatch.setattr(line, "_FAR", 0.2)  # many draws are won outside the window now: the exact path
    assert fits_cells(seen(1_500), folded(law(data, half, 1.0, 16)))


@pytest.mark.parametrize(
    ("data", "expected"),
    [([7.25] * 500, 7.25), (np.full(500, -50.0), 0.0), (np.full(500, 1e300), 100.0), ([3] * 500, 3.0)],
)
def test_constant_data(data, expected):
    assert Quantile(0.5, bounds=(0, 100), epsilon=1).release(data, entropy=seeded(1)) == expected


@pytest.mark.parametrize("data", [[], [5], [5.5, 5.5], np.empty(0), np.array([], dtype=np.int64), range(0), [True]])
def test_tiny_data_never_fails(data):
    for q in (0, 0.5, 1):
        assert 0 <= Quantile(q, bounds=(0, 100), epsilon=1).release(data) <= 100


def test_accuracy_in_ranks():
    data = np.random.default_rng(3).normal(50, 10, 2001)
    for q in (0, 0.1, 0.5, 1):
        m = Quantile(q, bounds=(0, 100), epsilon=1)
        bits = seeded(10)
        error = m.accuracy(0.05)
        off = [abs(np.sum(data <= m.release(data, entropy=bits)) - q * 2001) for _ in range(100)]
        assert sum(x > error + 1 for x in off) <= 25


def test_bounds_and_types():
    m = Quantile(0.5, bounds=(0, 1), epsilon=1)
    released = m.release(np.random.default_rng(1).random(1000))
    assert (released / m.granule).is_integer()
    exact = [Fraction(1, 3)] * 900
    assert m.release(exact, entropy=seeded(1)) == pytest.approx(1 / 3, abs=m.granule)
    wide = Quantile(0.5, bounds=(0, 2**51), granule=1, epsilon=1)
    assert wide.release([2**50 + 1] * 300, entropy=seeded(1)) == 2**50 + 1


@pytest.mark.parametrize(
    ("data", "meant"),
    [
        ([1.0, math.nan], [1.0]),
        ([math.nan], []),
        ([math.inf, 3.0, -math.inf], [15, 3, 0]),
        (np.array([math.nan, 2.0, math.inf], dtype=np.float32), [2, 15]),
        ([Fraction(7, 2), math.nan, 4], [Fraction(7, 2), 4]),
        ([10**400, math.inf, Fraction(1, 3)], [15, 15, Fraction(1, 3)]),
    ],
)
@pytest.mark.parametrize("make", [Quantile, lambda q, **how: Quantiles([q, 1], **how)], ids=["one", "many"])
def test_no_value_is_an_error(data, meant, make):
    """An error that only one of two neighbours gives tells them apart: a NaN takes no part, infinity is a bound."""
    m = make(0.5, bounds=(0, 15), granule=1, epsilon=1)
    for seed in range(5):
        assert np.array_equal(m.release(data, entropy=seeded(seed)), m.release(meant, entropy=seeded(seed)))


@pytest.mark.parametrize("other", [0.5, -1, 2**63, 2**70, Fraction(1, 3), math.nan, math.inf])
def test_how_a_value_is_read_does_not_depend_on_the_others(other):
    """One float in a list would let numpy round all its large integers: a hundred points moved by one neighbour."""
    large = 2**60 + 511
    assert [x for x in sorted_values([large] * 3 + [other]).tolist() if x == large] == [large] * 3
    assert [x for x in sorted_values(np.array([large, other], dtype=object)).tolist() if x == large] == [large]


@pytest.mark.parametrize("neighbours", [ADD_REMOVE, REPLACE])
def test_a_missing_value_moves_scores_no_further_than_another(neighbours):
    """Of all data sets of three values or NaNs on a line of four points, the law keeps its promise."""
    m = Quantile(0.25, bounds=(0, 3), granule=1, epsilon=1, neighbours=neighbours)
    values = [0.0, 1.0, 3.0, math.nan]
    for rest in itertools.product(values, repeat=2):
        sets = [[*rest, v] for v in values] if neighbours is REPLACE else [list(rest), *([*rest, v] for v in values)]
        laws = [law([x for x in data if not math.isnan(x)], m.q, 1 / m.scale) for data in sets]
        pairs = itertools.permutations(laws, 2) if neighbours is REPLACE else ((laws[0], other) for other in laws[1:])
        assert all(max_divergence(a, b) <= 1 + 1e-9 and max_divergence(b, a) <= 1 + 1e-9 for a, b in pairs)


@pytest.mark.parametrize("bad", [[[1, 2], [3, 4]], "text", 5, ["a"], None, [None, 1.0]])
def test_bad_values_are_refused(bad):
    with pytest.raises(InvalidParameter, match=r"values|scores"):
        Quantile(0.5, bounds=(0, 1), epsilon=1).release(bad)


@pytest.mark.parametrize(
    "bad",
    [{"q": 1.5}, {"q": -0.1}, {"bounds": (1, 0)}, {"granule": 3}, {"granule": 4}, {"granule": 2**-60}, {"epsilon": 0}],
)
def test_bad_parameters(bad):
    good = {"q": 0.5, "bounds": (0, 1), "epsilon": 1} | bad
    with pytest.raises(InvalidParameter):
        Quantile(good.pop("q"), **good)


def test_repr_and_explanation():
    m = Quantile(0.5, bounds=(0, 100), epsilon=1)
    assert repr(m).startswith("Quantile(0.5, promise=PureDP(1), bounds=(0.0, 100.0)")
    assert m == Quantile("0.5", bounds=(0, 100), epsilon=1)
    assert "ranks off" in m.explain()
